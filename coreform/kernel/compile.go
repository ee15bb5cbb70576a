package kernel

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/effects/guest"
	"github.com/gcrun/gcrun/internal/digest"
)

// unit is one loaded module, or one library definition: what names in its code
// mean and where its text is.
type unit struct {
	library bool
	file    string
	hash    digest.Digest // module hash
	cells   []cell
	names   map[string]int // module-level names to cells
	lib     *Library
	refs    []*definition // library definitions the code refers to
	refAt   map[string]int32
	name    string // definition being compiled
	chains  int    // fn chains compiled so far, for ordinals in library code

	loaded bool // all forms were evaluated
	coarse bool // a name is defined twice, or was looked up before its definition

	mu        sync.Mutex // of what follows: hashes may be asked for by anyone
	grain     grain
	defs      map[string]*written
	defHashes map[string]digest.Digest
}

// cell holds a module-level binding. It is empty until its def ran.
type cell struct {
	name     string
	v        Value
	set      bool
	fallback *definition // library binding of the same name
}

// LoadError is a module that reads and canonicalizes but cannot be run.
type LoadError struct {
	Code    string
	Message string
	Hint    string
	Span    guest.Span
}

func (e *LoadError) Error() string { return e.Code + ": " + e.Message }

// fnState is the compilation of one fn chain.
type fnState struct {
	unit    *unit
	outer   *fnState
	p       *proto
	scope   []local         // innermost last
	refs    map[string]bool // names of module and library that are used
	pending int32           // visits not yet charged to an instruction
	depth   int             // temporaries on the stack
	heads   int             // of these, functions whose arguments are being evaluated
}

type local struct {
	name string
	slot int
}

// compileForm compiles one top-level form as a function of no arguments.
func compileForm(u *unit, n coreform.Node) (*proto, error) {
	f := &fnState{unit: u, p: &proto{unit: u, name: u.name}}
	var err error
	if name, expr, ok := definitionOf(n); ok {
		u.name, f.p.name = name, name
		if err = f.expr(expr, false); err == nil {
			u.define(name, expr.Term, slices.Sorted(maps.Keys(f.refs)))
			f.emit(opDefine, int32(u.names[name]), 0, n)
			f.emit(opReturn, 0, 0, n)
		}
	} else {
		err = f.expr(n, true)
	}
	f.p.seal()
	f.p.markMoves()
	return f.p, err
}

// definitionOf takes a canonical (def name expr) apart.
func definitionOf(n coreform.Node) (name string, expr coreform.Node, ok bool) {
	if head(n) != "def" {
		return "", coreform.Node{}, false
	}
	name, _ = n.Kids[1].Term.AsSym()
	return name, n.Kids[2], true
}

// head returns the symbol at the head of a list form, "" if there is none.
func head(n coreform.Node) string {
	if len(n.Kids) == 0 || n.Term.Kind() != coreform.KindPair {
		return ""
	}
	s, _ := n.Kids[0].Term.AsSym()
	return s
}

func (f *fnState) emit(op opcode, a, b int32, n coreform.Node) int {
	f.p.code = append(f.p.code, instr{op: op, steps: f.pending, a: a, b: b})
	f.p.spans = append(f.p.spans, span{int32(n.Off), int32(n.End)})
	f.pending = 0
	return len(f.p.code) - 1
}

// push notes that the code emitted last leaves n more temporaries.
func (f *fnState) push(n int) {
	f.depth += n
	f.p.stack = max(f.p.stack, f.depth)
	f.p.room = max(f.p.room, f.depth-f.heads)
}

// seal ends the compilation of p. What a frame costs does not count functions
// about to be called, because code that inlines a call never holds one.
func (p *proto) seal() {
	p.stack += p.slots
	p.units = frameUnits + int64(max(0, p.slots+p.room-freeRoom))
}

// yield emits the return of a value that stands in tail position.
func (f *fnState) yield(tail bool, n coreform.Node) {
	if tail {
		f.emit(opReturn, 0, 0, n)
		f.depth--
	}
}

func (f *fnState) constant(v Value) int32 {
	f.p.consts = append(f.p.consts, v)
	return int32(len(f.p.consts) - 1)
}

// expr compiles one expression. It recurses on canonical depth, which the
// canonicalizer bounds (spec LIM-DEPTH-1).
func (f *fnState) expr(n coreform.Node, tail bool) error {
	f.pending++
	switch n.Term.Kind() {
	case coreform.KindSym:
		f.symbol(n)
		f.yield(tail, n)
		return nil
	case coreform.KindMap:
		return f.mapLiteral(n, tail)
	case coreform.KindPair:
		return f.form(n, tail)
	}
	f.literal(n.Term, n, tail)
	return nil
}

func (f *fnState) literal(v Value, n coreform.Node, tail bool) {
	f.emit(opConst, f.constant(v), 0, n)
	f.push(1)
	f.yield(tail, n)
}

func (f *fnState) symbol(n coreform.Node) {
	name, _ := n.Term.AsSym()
	op, at := f.resolve(name)
	f.emit(op, at, 0, n)
	f.push(1)
}

// resolve finds what a name means here: a lexical variable, a module-level
// name, a library name, or, for keywords, itself (design: keywords stand for
// themselves). An unbound name gets a cell that is never set.
func (f *fnState) resolve(name string) (opcode, int32) {
	if op, at, ok := f.lexical(name); ok {
		return op, int32(at)
	}
	u := f.unit
	at, inModule := u.names[name]
	d := u.find(name)
	if !inModule && d == nil && strings.HasPrefix(name, ":") {
		return opConst, f.constant(coreform.Sym(name))
	}
	f.uses(name)
	switch {
	case inModule:
		return opGlobal, int32(at)
	case d != nil:
		return opDefinition, u.ref(d)
	}
	return opGlobal, int32(u.cell(name))
}

// uses notes that the code being compiled, and all code around it, depends on a
// name of the module or library.
func (f *fnState) uses(name string) {
	for ; f != nil; f = f.outer {
		if f.refs == nil {
			f.refs = make(map[string]bool)
		}
		f.refs[name] = true
	}
}

func (f *fnState) lexical(name string) (op opcode, at int, ok bool) {
	for i := len(f.scope) - 1; i >= 0; i-- {
		if f.scope[i].name == name {
			slot := f.scope[i].slot
			if slot < f.p.arity {
				f.p.usedParam[slot] = true
			}
			return opLocal, slot, true
		}
	}
	for i, c := range f.p.captures {
		if c.name == name {
			return opCapture, i, true
		}
	}
	if f.outer == nil {
		return 0, 0, false
	}
	op, at, ok = f.outer.lexical(name)
	if !ok {
		return 0, 0, false
	}
	f.p.captures = append(f.p.captures, capture{name: name, local: op == opLocal, index: at})
	return opCapture, len(f.p.captures) - 1, true
}

func (u *unit) cell(name string) int {
	at, ok := u.names[name]
	if !ok {
		at = len(u.cells)
		u.names[name] = at
		u.cells = append(u.cells, cell{name: name, fallback: u.find(name)})
	}
	return at
}

func (u *unit) ref(d *definition) int32 {
	at, ok := u.refAt[d.name]
	if !ok {
		at = int32(len(u.refs))
		u.refs = append(u.refs, d)
		u.refAt[d.name] = at
	}
	return at
}

// mapLiteral compiles the values in key order; keys are data.
func (f *fnState) mapLiteral(n coreform.Node, tail bool) error {
	m, _ := n.Term.AsMap()
	at := f.constant(n.Term)
	values := valueNodes(n, m)
	for _, v := range values {
		if err := f.expr(v, false); err != nil {
			return err
		}
	}
	f.emit(opMap, at, int32(len(values)), n)
	f.push(1 - len(values))
	f.yield(tail, n)
	return nil
}

// valueNodes returns the value nodes of a map literal in key order. In a node
// kids are in source order and of equal keys the last counts.
func valueNodes(n coreform.Node, m *coreform.Map) []coreform.Node {
	byKey := make([]coreform.Entry, 0, len(n.Kids)/2)
	for i := 0; i+1 < len(n.Kids); i += 2 {
		byKey = append(byKey, coreform.Entry{Key: n.Kids[i].Term, Value: coreform.Int(int64(i + 1))})
	}
	index, _ := coreform.MapOf(byKey...).AsMap()
	out := make([]coreform.Node, 0, m.Len())
	for k := range m.All() {
		at, _ := index.Get(k)
		i, _ := at.AsInt64()
		out = append(out, n.Kids[i])
	}
	return out
}

func (f *fnState) form(n coreform.Node, tail bool) error {
	kids := n.Kids
	switch head(n) {
	case "quote":
		f.literal(kids[1].Term, n, tail)
		return nil
	case "def":
		return f.fail(n, "core/bad-form", "def is only allowed at the top level of a module", "move the def out of the form around it, or use let")
	case "fn":
		return f.closure(n, tail)
	case "if":
		return f.conditional(n, tail)
	case "begin":
		for _, k := range kids[1 : len(kids)-1] {
			if err := f.expr(k, false); err != nil {
				return err
			}
			f.emit(opPop, 0, 0, k)
			f.push(-1)
		}
		return f.expr(kids[len(kids)-1], tail)
	case "let":
		return f.let(n, tail)
	case "prim":
		return f.prim(n, tail)
	case "seal", "unseal":
		return f.sealForm(n, tail)
	}
	return f.call(n, tail)
}

func (f *fnState) fail(n coreform.Node, code, message, hint string) error {
	return &LoadError{Code: code, Message: message, Hint: hint,
		Span: guest.Span{File: f.unit.file, Off: n.Off, End: n.End}}
}

func (f *fnState) conditional(n coreform.Node, tail bool) error {
	if err := f.expr(n.Kids[1], false); err != nil {
		return err
	}
	if f.unit.lib.watches() {
		f.emit(opBranch, 0, 0, n)
	}
	jumpElse := f.emit(opJumpFalse, 0, 0, n)
	f.push(-1)
	depth := f.depth
	if err := f.expr(n.Kids[2], tail); err != nil {
		return err
	}
	jumpEnd := -1
	if !tail {
		jumpEnd = f.emit(opJump, 0, 0, n)
	}
	f.p.code[jumpElse].a = int32(len(f.p.code))
	f.depth = depth
	if err := f.expr(n.Kids[3], tail); err != nil {
		return err
	}
	if jumpEnd >= 0 {
		f.p.code[jumpEnd].a = int32(len(f.p.code))
	}
	return nil
}

func (f *fnState) let(n coreform.Node, tail bool) error {
	mark := len(f.scope)
	for _, b := range n.Kids[1].Kids {
		if err := f.expr(b.Kids[1], false); err != nil {
			return err
		}
		name, _ := b.Kids[0].Term.AsSym()
		slot := f.p.slots
		f.p.slots++
		f.emit(opStore, int32(slot), 0, b)
		f.push(-1)
		f.scope = append(f.scope, local{name, slot})
	}
	err := f.expr(n.Kids[2], tail)
	f.scope = f.scope[:mark]
	return err
}

func (f *fnState) prim(n coreform.Node, tail bool) error {
	name, _ := n.Kids[1].Term.AsSym()
	args := n.Kids[2:]
	for _, a := range args {
		if err := f.expr(a, false); err != nil {
			return err
		}
	}
	if at, ok := primitiveIndex[name]; ok {
		f.emit(opPrim, int32(at), int32(len(args)), n)
	} else {
		f.emit(opBadPrim, f.constant(coreform.Sym(name)), int32(len(args)), n)
	}
	f.push(1 - len(args))
	f.yield(tail, n)
	return nil
}

func (f *fnState) sealForm(n coreform.Node, tail bool) error {
	op := opNewToken
	for _, k := range n.Kids[1:] {
		if err := f.expr(k, false); err != nil {
			return err
		}
		op = opSeal
	}
	if head(n) == "unseal" {
		op = opUnseal
	}
	f.emit(op, 0, 0, n)
	f.push(1 - len(n.Kids[1:]))
	f.yield(tail, n)
	return nil
}
