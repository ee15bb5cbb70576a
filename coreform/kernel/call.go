package kernel

import (
	"github.com/gcrun/gcrun/coreform"
)

// absorbed stands in an argument slot whose argument a call has already used:
// the value of that call has taken the place of the function.
var (
	absorbedToken = &Token{id: ^uint64(0)}
	absorbed      = coreform.FromOther(absorbedToken)
)

func isAbsorbed(v Value) bool {
	t, ok := v.Ref().(*Token)
	return ok && t == absorbedToken
}

// waitsFor reports whether f, given n arguments, still wants more, so that the
// next argument may be evaluated without anything in between being observable.
func waitsFor(f, firstArg Value, n int) bool {
	fn, ok := f.Ref().(*Fn)
	return ok && fn.remaining() > n && !isAbsorbed(firstArg)
}

// chargeLevel charges for the closure that the function at stack[at] would be
// after n arguments, had it been built.
func (m *Machine) chargeLevel(at, n int) bool {
	fn := m.stack[at].Ref().(*Fn)
	k := len(fn.args) + n
	return m.work(fn.proto.levelSteps()) && m.alloc(fn.proto.levelUnits(k))
}

// applyEarly is called between two arguments of a call when the function wants
// no more than the arguments it has: the call happens now, its value takes the
// place of the function, and the arguments are marked absorbed. It reports true
// when a frame was pushed.
func (m *Machine) applyEarly(sp, n int) bool {
	at := sp - 1 - n
	first := m.firstArg(at+1, sp)
	if first == sp { // all absorbed already: nothing new to apply
		return false
	}
	f := m.stack[at]
	if waitsFor(f, Value{}, sp-first) {
		m.chargeLevel(at, sp-first)
		return false
	}
	count := sp - first
	// The call runs above the stack, on copies, so that the layout the code
	// relies on stays as it is.
	m.reserve(sp + count + 1)
	m.stack[sp] = f
	copy(m.stack[sp+1:], m.stack[first:sp])
	for i := first; i < sp; i++ {
		m.stack[i] = absorbed
	}
	v, done := m.applyAt(sp, count, 1, at, sp, m.here())
	if m.fault != nil {
		return false
	}
	if done {
		m.stack[at] = v
	}
	return !done
}

// firstArg returns where the arguments that are still there begin.
func (m *Machine) firstArg(from, sp int) int {
	for from < sp && isAbsorbed(m.stack[from]) {
		from++
	}
	return from
}

// invoke performs the call of the function below the n arguments on top of the
// stack. It reports true when a frame was pushed or replaced; else the value is
// in the function's place, or the fault is set.
func (m *Machine) invoke(sp, n int, tail bool) bool {
	at := sp - 1 - n
	first := m.firstArg(at+1, sp)
	if first == sp {
		return false
	}
	where := m.here()
	if fn, ok := m.stack[at].Ref().(*Fn); ok && tail && fn.proto.native == nil && fn.remaining() == sp-first {
		return m.tailCall(fn, first, sp-first, where)
	}
	v, done := m.applyAt(at, sp-first, first-at, at, at+1, where)
	if done && m.fault == nil {
		m.stack[at] = v
	}
	return !done && m.fault == nil
}

// here is the call being executed, as far as the user's source is concerned.
func (m *Machine) here() site {
	if m.frames.len() == 0 {
		return site{}
	}
	fr := m.frames.top()
	if fr.p == nil || fr.p.unit.library {
		return fr.site
	}
	return site{fr.p, fr.pc - 1}
}

// applyAt applies the function at stack[at] to count arguments at
// stack[at+skip:], which are on top of the stack. When that takes a frame, its
// value goes to stack[ret] and leaves the stack top high; then done is false.
//
// Natives that call functions do so by returning here (a trampoline): a chain
// of natives calling natives, which data can make as long as it likes, must not
// grow the host stack.
func (m *Machine) applyAt(at, count, skip, ret, top int, where site) (v Value, done bool) {
	depth := m.frames.len()
	c := &m.call
	for {
		m.sp = at + skip + count
		c.called = false
		v, done = m.applyOnce(at, count, skip, ret, top, where)
		if m.fault != nil || !done && !c.called {
			return Value{}, false
		}
		if c.called && c.then != nil && !m.pushWait(m.stack[at].Ref().(*Fn), c.then, ret, top, where) {
			return Value{}, false
		}
		for !c.called && m.frames.len() > depth { // our natives wait for v
			if v = m.resumeTop(v); m.fault != nil {
				return Value{}, false
			}
		}
		if !c.called {
			return v, true
		}
		if m.frames.len() > depth {
			w := m.frames.top()
			ret, top, where = int(w.base), int(w.base)+1, w.site
		}
		at, count, skip = m.placeCall(top), 1, 1
	}
}

// pushWait adds the frame of a native that waits for the value of a call.
func (m *Machine) pushWait(native *Fn, then resumer, ret, top int, where site) bool {
	if !m.alloc(frameUnits) {
		return false
	}
	m.frames.push(frame{fn: native, base: int32(top), ret: int32(ret), top: int32(top), site: where})
	m.waits = append(m.waits, then)
	return true
}

// resumeTop gives v to the native that waits on top. Unless it calls again, its
// frame is popped and its value returned.
func (m *Machine) resumeTop(v Value) Value {
	w := m.frames.top()
	c := &m.call
	c.called = false
	c.prim, c.op, c.site = nil, w.name(), w.site
	share(v)
	if v = m.waits[len(m.waits)-1].resume(c, v); !c.called {
		m.frames.pop()
		m.waits[len(m.waits)-1] = nil
		m.waits = m.waits[:len(m.waits)-1]
	}
	return v
}

// placeCall puts the call a native asked for above everything in use.
func (m *Machine) placeCall(top int) int {
	m.reserve(top + 3)
	m.stack[top+1], m.stack[top+2] = m.call.f, m.call.arg
	return top + 1
}

// applyOnce is one application: an error, a partial application, a native, or a
// frame for code (then it returns false without c.called).
func (m *Machine) applyOnce(at, count, skip, ret, top int, where site) (v Value, done bool) {
	f := m.stack[at]
	fn, ok := f.Ref().(*Fn)
	if !ok {
		if !isError(f) { // applying an error gives the error
			m.fault = m.fatal("core/fatal/not-callable", "a value that is not a function is applied: "+describe(f),
				"only functions can be called; check the head of this form")
		}
		return f, true
	}
	args := m.stack[at+skip : at+skip+count]
	switch {
	case count < fn.remaining():
		return m.partial(fn, args), true
	case fn.proto.native != nil:
		return m.native(fn, args, where)
	}
	base := at + skip
	if k := len(fn.args); k > 0 {
		m.reserve(base + k + count)
		copy(m.stack[base+k:], m.stack[base:base+count])
		copy(m.stack[base:], fn.args)
	}
	if m.pushFrame(fn, base, ret, top) {
		m.frames.top().site = where
	}
	return Value{}, false
}

func (m *Machine) partial(fn *Fn, args []Value) Value {
	k := len(fn.args) + len(args)
	if !m.work(fn.proto.levelSteps()) || !m.alloc(fn.proto.levelUnits(k)) {
		return Value{}
	}
	all := make([]Value, 0, k)
	all = append(append(all, fn.args...), args...)
	for _, a := range args {
		share(a)
	}
	return coreform.FromOther(&Fn{proto: fn.proto, caps: fn.caps, args: all})
}

// tailCall replaces the current frame by a call of fn.
func (m *Machine) tailCall(fn *Fn, first, count int, where site) bool {
	p, k := fn.proto, len(fn.args)
	if !m.alloc(p.units) {
		return false
	}
	fr := m.frames.top()
	base := int(fr.base)
	m.reserve(max(base+p.stack, first+count) + k)
	copy(m.stack[base+k:], m.stack[first:first+count])
	copy(m.stack[base:], fn.args)
	fr.p, fr.fn, fr.pc, fr.site = p, fn, 0, where
	if m.watch != nil {
		m.turnTo(p)
	}
	return true
}

// native runs a native with all its arguments.
func (m *Machine) native(fn *Fn, args []Value, where site) (v Value, done bool) {
	n := fn.proto.native
	if len(fn.args) > 0 {
		all := make([]Value, 0, n.Arity)
		args = append(append(all, fn.args...), args...)
	}
	for i, a := range args {
		if n.Errors>>i&1 == 0 && isError(a) {
			return a, true
		}
		share(a)
	}
	c := &m.call
	c.prim, c.op, c.site = nil, n.Name, where
	if m.watch != nil {
		return m.watchNative(n, args)
	}
	v = n.Fn(c, args)
	return v, !c.called
}

// primitive runs a primitive on its arguments; units are charged first.
func (m *Machine) primitive(p *primitive, args []Value, units int64) Value {
	if units > 0 && !m.alloc(units) {
		return Value{}
	}
	c := &m.call
	c.prim = p // where it is called is only asked for errors
	if len(args) != p.arity {
		return c.TypeError()
	}
	for i, a := range args {
		if p.errors>>i&1 == 0 && isError(a) {
			return a
		}
		if (p.looks|p.takes)>>i&1 == 0 {
			share(a)
		}
	}
	if m.watch != nil {
		return m.watch.result(flows[p.name], args, p.fn(c, args))
	}
	return p.fn(c, args)
}

// describe names a value for a message, without its content.
func describe(v Value) string {
	if o := v.AsOther(); o != nil {
		return "a " + o.TypeName()
	}
	return "a value of type " + v.Kind().String()
}
