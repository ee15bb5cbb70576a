package kernel

import (
	"maps"
	"slices"

	"github.com/gcrun/gcrun/coreform"
)

// closure compiles a chain of unary fn forms as one proto.
func (f *fnState) closure(n coreform.Node, tail bool) error {
	u := f.unit
	inner := &fnState{unit: u, outer: f, p: &proto{unit: u, name: u.name, ordinal: u.chains}}
	u.chains++
	p := inner.p
	body := n
	for head(body) == "fn" {
		param, _ := body.Kids[1].Kids[0].Term.AsSym()
		body = body.Kids[2]
		p.params = append(p.params, param)
		p.bodies = append(p.bodies, body.Term)
		inner.scope = append(inner.scope, local{param, p.arity})
		p.arity++
	}
	p.slots = p.arity
	p.usedParam = make([]bool, p.arity)
	if err := inner.expr(body, true); err != nil {
		return err
	}
	p.seal()
	p.refs = slices.Sorted(maps.Keys(inner.refs))
	p.noteInline()
	p.markMoves()
	f.p.protos = append(f.p.protos, p)
	f.emit(opClosure, int32(len(f.p.protos)-1), 0, n)
	f.push(1)
	f.yield(tail, n)
	return nil
}

// call compiles a chain of applications ((f a) b) as one call.
func (f *fnState) call(n coreform.Node, tail bool) error {
	args, fn := []coreform.Node{n.Kids[1]}, n.Kids[0]
	for fn.Term.Kind() == coreform.KindPair && len(fn.Kids) == 2 && !isSpecial(head(fn)) {
		f.pending++ // the visit of the inner application
		args = append(args, fn.Kids[1])
		fn = fn.Kids[0]
	}
	for i, j := 0, len(args)-1; i < j; i, j = i+1, j-1 {
		args[i], args[j] = args[j], args[i]
	}
	if in := f.inlinable(fn, len(args)); in != nil {
		f.uses(in.name)
		return f.inlineCall(in, n, args, tail)
	}
	if err := f.expr(fn, false); err != nil {
		return err
	}
	f.heads++
	for i, a := range args {
		if err := f.expr(a, false); err != nil {
			return err
		}
		if i < len(args)-1 {
			f.emit(opArg, int32(i+1), int32(len(args)), n)
		}
	}
	op := opCall
	if tail {
		op = opTailCall
	}
	f.emit(op, int32(len(args)), 0, n)
	f.heads--
	f.push(-len(args))
	f.yield(tail, n) // for a native, whose value comes back here
	return nil
}

func isSpecial(name string) bool {
	switch name {
	case "quote", "def", "fn", "if", "begin", "let", "prim", "seal", "unseal":
		return true
	}
	return false
}

// inlinable returns how to run a call of a library function that only wraps a
// primitive, given all its arguments. Such a call charges what the real one
// would, so that nothing but time tells them apart.
func (f *fnState) inlinable(fn coreform.Node, nargs int) *proto {
	name, ok := fn.Term.AsSym()
	if !ok || f.unit.lib.watches() {
		return nil
	}
	if d := f.libraryName(name); d != nil {
		if p := d.function(); p != nil && p.inline != nil && p.arity == nargs {
			return p
		}
	}
	return nil
}

// libraryName returns the library definition that name means here, nil if it
// means something else.
func (f *fnState) libraryName(name string) *definition {
	for s := f; s != nil; s = s.outer {
		for _, l := range s.scope {
			if l.name == name {
				return nil
			}
		}
	}
	if _, ok := f.unit.names[name]; ok {
		return nil
	}
	return f.unit.find(name)
}

func (f *fnState) inlineCall(p *proto, n coreform.Node, args []coreform.Node, tail bool) error {
	f.pending++ // the visit of the function's name
	first := len(f.p.code)
	for i, a := range args {
		if i > 0 { // the inner fn form, visited once the argument before is there
			f.pending += int32(p.levelSteps())
		}
		if err := f.expr(a, false); err != nil {
			return err
		}
	}
	f.p.protos = append(f.p.protos, p)
	op := opInline
	if special, ok := fastPrimitives[p.inline.prim.name]; ok {
		op = special
	}
	if p.inline.prim.looks&1 != 0 && f.p.code[first].op == opLocal && allAtoms(args) {
		f.p.code[first].op = opBorrow
	}
	f.pending += int32(p.inline.steps)
	if op != opInline && allAtoms(args) && f.fuse(op, n) {
		f.push(1 - len(args))
		f.yield(tail, n)
		return nil
	}
	f.emit(op, int32(len(f.p.protos)-1), int32(len(args)), n)
	f.push(1 - len(args))
	f.yield(tail, n)
	return nil
}

// allAtoms reports whether nothing can happen while the arguments of a call are
// evaluated.
func allAtoms(args []coreform.Node) bool {
	for _, a := range args {
		if k := a.Term.Kind(); k == coreform.KindPair || k == coreform.KindMap {
			return false
		}
	}
	return true
}

// fuse replaces the two instructions of the operands of op, which are atoms, if they get a
// variable and a variable or constant, and the call by one instruction. It charges
// what the three would, before the call instead of between.
func (f *fnState) fuse(op opcode, n coreform.Node) bool {
	code := f.p.code
	at := len(code) - 2
	if at < 0 || code[at].op != opLocal || code[at].a > 1<<16-1 {
		return false
	}
	with := opIntLocals
	switch code[at+1].op {
	case opLocal:
	case opConst:
		with = opIntConst
	default:
		return false
	}
	steps := code[at].steps + code[at+1].steps + f.pending
	fused := instr{op: with, of: op, x: uint16(code[at].a), steps: steps, a: int32(len(f.p.protos) - 1), b: code[at+1].a}
	f.p.code = append(code[:at], fused)
	f.p.spans = append(f.p.spans[:at], span{int32(n.Off), int32(n.End)})
	f.pending = 0
	return true
}

// fastPrimitives have instructions of their own when they are inlined.
var fastPrimitives = map[string]opcode{
	"int/add": opIntAdd, "int/sub": opIntSub, "int/mul": opIntMul, "int/lt?": opIntLt, "int/eq?": opIntEq,
}

// noteInline recognises a body that is one primitive on the parameters in order.
func (p *proto) noteInline() {
	if !p.unit.library || len(p.captures) > 0 || len(p.code) != p.arity+2 {
		return
	}
	for i, in := range p.code[:p.arity] {
		if in.op != opLocal || int(in.a) != i {
			return
		}
	}
	last := p.code[p.arity]
	if last.op != opPrim || int(last.b) != p.arity || primitives[last.a].arity != p.arity {
		return
	}
	in := &inlined{prim: &primitives[last.a], units: frameUnits}
	for k := 1; k < p.arity; k++ {
		in.units += p.levelUnits(k)
	}
	for _, c := range p.code {
		in.steps += int64(c.steps)
	}
	p.inline = in
}
