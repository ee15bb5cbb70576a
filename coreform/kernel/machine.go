package kernel

import (
	"context"

	"github.com/gcrun/gcrun/coreform"
)

// Machine evaluates compiled code on stacks of its own, so that how deep a
// program recurses is a question of its memory limit and never of the host
// stack (spec LANG-EVAL-3). It is used by one goroutine at a time.
type Machine struct {
	stack  []Value // slots and temporaries of all frames
	sp     int     // above it nothing is alive, where memory may be counted
	high   int     // above it nothing was ever used in this run
	frames frameStack
	waits  []resumer // of the frames of natives that wait, innermost last
	ctx    context.Context
	limits Limits
	roots  func(visit func(Value)) // values alive outside the stacks

	steps     int64
	room      int64 // units that may be charged before a limit is looked at
	granted   int64 // all units charged, and room
	counted   int64 // units charged when what is alive was last counted
	lastCount int64 // units alive then
	nextCount int64 // units to charge until the next count
	pairs     int64
	nextToken uint64
	watch     *watch            // of a program that is watched
	loading   *string           // the definition being loaded, nil afterwards
	seals     map[string]uint64 // seals made so far while each was loading
	runSeals  uint64            // and since
	traces    map[traceKey]*trace

	// fault ends the run: a *guest.Fatal, ctx's error or a host fault. It is
	// set where something goes wrong and looked at before going on.
	fault error
	call  Call // the one handed to natives and primitives
}

// resumer continues a native when the function it called has a value. It
// returns the native's value, or what callThen returns.
type resumer interface {
	resume(c *Call, v Value) Value
	values() []Value // what it holds, for counting memory
}

func newMachine(limits Limits) *Machine {
	m := &Machine{limits: limits.filled(), nextToken: firstUserToken}
	m.nextCount = m.countAfter()
	m.grant()
	m.call.m = m
	return m
}

// runForm evaluates one compiled top-level form.
func (m *Machine) runForm(ctx context.Context, p *proto) (Value, error) {
	return m.enter(ctx, func() bool { return m.pushFrame(&Fn{proto: p}, 0, 0, 1) })
}

// apply applies a function to one argument, from outside.
func (m *Machine) apply(ctx context.Context, f, arg Value) (Value, error) {
	return m.enter(ctx, func() bool {
		m.reserve(2)
		share(arg)
		m.stack[0], m.stack[1] = f, arg
		v, done := m.applyAt(0, 1, 1, 0, 1, site{})
		m.stack[0] = v
		return !done
	})
}

// enter runs the machine from empty stacks until it has a value. start returns
// true when there is something to run, else the value is on the stack.
func (m *Machine) enter(ctx context.Context, start func() bool) (v Value, err error) {
	defer coreform.CatchFault(&err)
	m.ctx = ctx
	m.frames.reset()
	m.waits = m.waits[:0]
	m.reserve(1)
	if running := start(); m.fault == nil && running {
		m.run()
	}
	v = m.stack[0]
	share(v)
	clear(m.stack[:m.high])
	m.high = 0
	if m.fault != nil {
		return Value{}, m.fault
	}
	return v, nil
}

// reserve makes room for n stack values.
func (m *Machine) reserve(n int) {
	m.high = max(m.high, n)
	if n > len(m.stack) {
		// What is not used yet is not touched, so doubling costs less memory than
		// growing by less and copying more often.
		grown := make([]Value, max(n, 2*len(m.stack), 256))
		copy(grown, m.stack)
		m.stack = grown
	}
}

// pushFrame starts a call of fn, whose arguments (all of them) are already in
// the slots at base.
func (m *Machine) pushFrame(fn *Fn, base, ret, top int) bool {
	p := fn.proto
	m.reserve(base + p.stack)
	clear(m.stack[base+p.arity : base+p.slots])
	m.sp = base + p.slots
	if !m.alloc(p.units) {
		return false
	}
	m.frames.push(frame{p: p, fn: fn, base: int32(base), ret: int32(ret), top: int32(top)})
	if m.watch != nil {
		m.turnTo(p)
	}
	return true
}

// run executes until the frames are used up or something failed. The value of
// the first frame ends at stack[0]. It is the one big loop: splitting it costs
// a fifth of the speed, because sp, pc and the code live in registers here.
func (m *Machine) run() {
	var (
		fr   = m.frames.top()
		code = fr.p.code
		pc   = int(fr.pc)
		base = int(fr.base)
		sp   = base + fr.p.slots
	)
	for {
		in := &code[pc]
		pc++
		if m.steps += int64(in.steps); m.steps > m.limits.Steps {
			fr.pc = int32(pc)
			m.work(0)
			return
		}
		switch in.op {
		case opConst:
			m.stack[sp] = fr.p.consts[in.a]
			sp++
		case opLocal:
			v := m.stack[base+int(in.a)]
			share(v)
			m.stack[sp] = v
			sp++
		case opBorrow:
			m.stack[sp] = m.stack[base+int(in.a)]
			sp++
		case opMove:
			slot := &m.stack[base+int(in.a)]
			m.stack[sp], *slot = *slot, Value{}
			sp++
		case opCapture:
			m.stack[sp] = fr.fn.caps[in.a]
			sp++
		case opStore:
			sp--
			m.stack[base+int(in.a)] = m.stack[sp]
		case opPop:
			sp--
		case opJump:
			pc = int(in.a)
		case opJumpFalse:
			sp--
			if !m.stack[sp].Truthy() {
				pc = int(in.a)
			}
		case opIntAdd, opIntSub, opIntMul, opIntLt, opIntEq:
			inl := fr.p.protos[in.a].inline
			fr.pc, m.sp = int32(pc), sp
			v, ok := fastInt(in.op, m.stack[sp-2], m.stack[sp-1])
			if ok {
				m.alloc(inl.units)
			} else {
				v = m.primitive(inl.prim, m.stack[sp-2:sp], inl.units)
			}
			if m.fault != nil {
				return
			}
			sp--
			m.stack[sp-1] = v
		case opIntLocals, opIntConst:
			inl := fr.p.protos[in.a].inline
			x, y := m.stack[base+int(in.x)], &m.stack[base+int(in.b)]
			if in.op == opIntConst {
				y = &fr.p.consts[in.b]
			}
			fr.pc, m.sp = int32(pc), sp // what is alive may be counted
			v, ok := fastInt(in.of, x, *y)
			if ok {
				m.alloc(inl.units)
			} else {
				m.sp = sp + 2
				m.stack[sp], m.stack[sp+1] = x, *y
				v = m.primitive(inl.prim, m.stack[sp:sp+2], inl.units)
			}
			if m.fault != nil {
				return
			}
			m.stack[sp] = v
			sp++
		case opPrim, opInline:
			n := int(in.b)
			fr.pc, m.sp = int32(pc), sp
			var v Value
			if in.op == opPrim {
				v = m.primitive(&primitives[in.a], m.stack[sp-n:sp], 0)
			} else {
				inl := fr.p.protos[in.a].inline
				v = m.primitive(inl.prim, m.stack[sp-n:sp], inl.units)
			}
			if m.fault != nil {
				return
			}
			sp -= n
			m.stack[sp] = v
			sp++
		case opGlobal:
			c := &fr.p.unit.cells[in.a]
			if !c.set {
				fr.pc = int32(pc)
				if v, ok := m.unset(fr.p.unit, c); ok {
					m.stack[sp] = v
					sp++
					continue
				}
				return
			}
			m.stack[sp] = c.v
			sp++
		case opDefinition:
			v, err := fr.p.unit.refs[in.a].load()
			if err != nil {
				m.fault = err
				return
			}
			m.stack[sp] = v
			sp++
		case opArg:
			n := int(in.a)
			fr.pc, m.sp = int32(pc), sp
			pushed := false
			if waitsFor(m.stack[sp-1-n], m.stack[sp-n], n) {
				m.chargeLevel(sp-1-n, n)
			} else {
				pushed = m.applyEarly(sp, n)
				fr = m.frames.top()
			}
			if m.fault != nil {
				return
			}
			if pushed {
				code, pc, base = fr.p.code, int(fr.pc), int(fr.base)
				sp = base + fr.p.slots
			}
		case opCall, opTailCall:
			n := int(in.a)
			fr.pc, m.sp = int32(pc), sp
			pushed := m.invoke(sp, n, in.op == opTailCall)
			if m.fault != nil {
				return
			}
			fr = m.frames.top()
			if pushed {
				code, pc, base = fr.p.code, int(fr.pc), int(fr.base)
				sp = base + fr.p.slots
			} else {
				sp -= n // an opReturn follows every tail call
			}
		case opReturn:
			if fr, sp = m.unwind(m.stack[sp-1]); fr == nil {
				return
			}
			code, pc, base = fr.p.code, int(fr.pc), int(fr.base)
		default:
			fr.pc, m.sp = int32(pc), sp
			if sp = m.slow(fr, in, sp); m.fault != nil {
				return
			}
		}
	}
}

// unwind pops the current frame, gives v to what is below and returns the next
// code frame with the height of its stack. It returns nil when there is none, or
// on a fault.
func (m *Machine) unwind(v Value) (fr *frame, sp int) {
	done := *m.frames.top()
	m.frames.pop()
	for {
		m.stack[done.ret] = v
		if m.frames.len() == 0 {
			return nil, 0
		}
		below := m.frames.top()
		if m.watch != nil {
			m.turn(m.watch.cost(below.name()))
		}
		if below.p != nil {
			return below, int(done.top)
		}
		done = *below
		m.sp = int(done.base) + 1
		if v = m.resumeTop(v); m.fault != nil {
			return nil, 0
		}
		if !m.call.called { // the native is done and its frame popped
			continue
		}
		top := int(done.base) + 1
		next, ready := m.applyAt(m.placeCall(top), 1, 1, int(done.base), top, done.site)
		if m.fault != nil {
			return nil, 0
		}
		if !ready {
			f := m.frames.top()
			return f, int(f.base) + f.p.slots
		}
		v, done = next, frame{ret: done.base, top: int32(top)}
	}
}

// unset is the value of a cell whose def has not run: the library binding of
// that name, else the run ends.
func (m *Machine) unset(u *unit, c *cell) (Value, bool) {
	u.coarse = true
	if c.fallback != nil {
		u.mu.Lock()
		u.coarse = true
		u.mu.Unlock()
		v, err := c.fallback.load()
		if err != nil {
			m.fault = err
		}
		return v, err == nil
	}
	m.fault = m.fatal("core/fatal/unbound-symbol", "the name "+c.name+" is not bound here",
		"define it before this is evaluated, or check its spelling")
	return Value{}, false
}

// slow executes the instructions that are not worth a place in the loop, and
// returns the new stack height.
func (m *Machine) slow(fr *frame, in *instr, sp int) int {
	var v Value
	n := 0 // values taken
	switch in.op {
	case opClosure:
		v = m.closure(fr, fr.p.protos[in.a])
	case opMap:
		n = int(in.b)
		v = m.mapLiteral(fr.p.consts[in.a], m.stack[sp-n:sp])
	case opBadPrim:
		name, _ := fr.p.consts[in.a].AsSym()
		m.fault = m.fatal("core/fatal/unknown-primitive", "there is no primitive "+name, "check its spelling; spec/language.md lists them")
	case opBranch: // opJump or nothing follows, in code that is watched
		m.decide(m.stack[sp-1])
		return sp
	case opNewToken:
		if m.alloc(1) {
			v = coreform.FromOther(m.newToken())
		}
	case opSeal:
		n = 2
		v = m.sealWith(m.stack[sp-2], m.stack[sp-1])
	case opUnseal:
		n = 2
		v = m.unsealWith(m.stack[sp-2], m.stack[sp-1])
	case opDefine:
		n = 1
		c := &fr.p.unit.cells[in.a]
		c.v, c.set = m.stack[sp-1], true
		share(c.v)
	}
	m.stack[sp-n] = v
	return sp - n + 1
}

func (m *Machine) closure(fr *frame, p *proto) Value {
	if !m.alloc(2 + int64(len(p.captures))) {
		return Value{}
	}
	fn := &Fn{proto: p}
	if len(p.captures) > 0 {
		fn.caps = make([]Value, len(p.captures))
		for i, c := range p.captures {
			if c.local {
				fn.caps[i] = m.stack[int(fr.base)+c.index]
				share(fn.caps[i])
			} else {
				fn.caps[i] = fr.fn.caps[c.index]
			}
		}
	}
	return coreform.FromOther(fn)
}

func (m *Machine) mapLiteral(template Value, values []Value) Value {
	t, _ := template.AsMap()
	if !m.alloc(2+3*int64(t.Len())) || !m.lenLimit("map-len", int64(t.Len()), m.limits.MapLen) {
		return Value{}
	}
	es := t.Entries()
	for i := range es {
		es[i].Value = values[i]
		share(values[i])
	}
	return coreform.MapOf(es...)
}

func (m *Machine) newToken() *Token {
	t := &Token{id: m.nextToken}
	m.nextToken++
	if m.loading == nil {
		t.origin, t.ordinal = tokenRunning, m.runSeals
		m.runSeals++
		return t
	}
	if m.seals == nil {
		m.seals = make(map[string]uint64)
	}
	t.origin, t.def, t.ordinal = tokenLoading, *m.loading, m.seals[*m.loading]
	m.seals[*m.loading]++
	return t
}

func (m *Machine) sealWith(v, token Value) Value {
	t, ok := token.Ref().(*Token)
	if !ok {
		return m.typeErrorUnless(token)
	}
	if !m.alloc(1) {
		return Value{}
	}
	share(v)
	return seal(t, v)
}

func (m *Machine) unsealWith(v, token Value) Value {
	t, ok := token.Ref().(*Token)
	if !ok {
		return m.typeErrorUnless(token)
	}
	p, _ := unseal(v, t)
	if m.watch != nil {
		p = m.watch.result(flowOuter, []Value{v}, p)
	}
	return p
}

// typeErrorUnless is a type error about v, unless v is itself an error.
func (m *Machine) typeErrorUnless(v Value) Value {
	if isError(v) {
		return v
	}
	return m.call.TypeError()
}

func (m *Machine) lenLimit(dimension string, n, limit int64) bool {
	if n > limit {
		m.exhausted(dimension, n, limit)
		return false
	}
	return true
}
