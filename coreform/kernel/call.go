package kernel

import (
	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/effects/guest"
)

// absorbed stands in an argument slot whose argument a call has already used:
// the value of that call has taken the place of the function.
var absorbed = coreform.FromOther(&Token{id: ^uint64(0)})

func isAbsorbed(v Value) bool { return v.AsOther() == absorbed.AsOther() }

// waitsFor reports whether f, given n arguments, still wants more, so that the
// next argument may be evaluated without anything in between being observable.
func waitsFor(f, firstArg Value, n int) bool {
	fn, ok := f.AsOther().(*Fn)
	return ok && fn.remaining() > n && !isAbsorbed(firstArg)
}

// chargeLevel charges for the closure that the function at stack[at] would be
// after n arguments, had it been built.
func (m *Machine) chargeLevel(at, n int) bool {
	fn := m.stack[at].AsOther().(*Fn)
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
	if fn, ok := m.stack[at].AsOther().(*Fn); ok && tail && fn.proto.native == nil && fn.remaining() == sp-first {
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
	if len(m.frames) == 0 {
		return site{}
	}
	fr := &m.frames[len(m.frames)-1]
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
	depth := len(m.frames)
	c := &m.call
	for {
		m.sp = at + skip + count
		c.called = false
		v, done = m.applyOnce(at, count, skip, ret, top, where)
		if m.fault != nil || !done && !c.called {
			return Value{}, false
		}
		if c.called && c.then != nil && !m.pushWait(c.then, ret, top, where) {
			return Value{}, false
		}
		for !c.called && len(m.frames) > depth { // our natives wait for v
			if v = m.resumeTop(v); m.fault != nil {
				return Value{}, false
			}
		}
		if !c.called {
			return v, true
		}
		if len(m.frames) > depth {
			w := &m.frames[len(m.frames)-1]
			ret, top, where = w.base, w.base+1, w.site
		}
		at, count, skip = m.placeCall(top), 1, 1
	}
}

// pushWait adds the frame of a native that waits for the value of a call.
func (m *Machine) pushWait(then resumer, ret, top int, where site) bool {
	if !m.alloc(frameUnits) {
		return false
	}
	m.frames = append(m.frames, frame{wait: then, base: top, ret: ret, top: top, site: where})
	return true
}

// resumeTop gives v to the native that waits on top. Unless it calls again, its
// frame is popped and its value returned.
func (m *Machine) resumeTop(v Value) Value {
	w := &m.frames[len(m.frames)-1]
	c := &m.call
	c.called, c.site = false, w.site
	if v = w.wait.resume(c, v); !c.called {
		m.frames = m.frames[:len(m.frames)-1]
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
	fn, ok := f.AsOther().(*Fn)
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
		m.frames[len(m.frames)-1].site = where
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
	return coreform.FromOther(&Fn{proto: fn.proto, caps: fn.caps, args: all})
}

// tailCall replaces the current frame by a call of fn.
func (m *Machine) tailCall(fn *Fn, first, count int, where site) bool {
	if !m.alloc(frameUnits) {
		return false
	}
	fr := &m.frames[len(m.frames)-1]
	p, k := fn.proto, len(fn.args)
	m.reserve(max(fr.base+p.stack, first+count) + k)
	copy(m.stack[fr.base+k:], m.stack[first:first+count])
	copy(m.stack[fr.base:], fn.args)
	fr.p, fr.fn, fr.pc, fr.site = p, fn, 0, where
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
	}
	c := &m.call
	c.site = where
	v = n.Fn(c, args)
	return v, !c.called
}

// primitive runs a primitive on its arguments; units are charged first.
func (m *Machine) primitive(p *primitive, args []Value, units int64) Value {
	if units > 0 && !m.alloc(units) {
		return Value{}
	}
	c := &m.call
	c.site = m.here()
	if len(args) != p.arity {
		return c.TypeError()
	}
	for i, a := range args {
		if p.errors>>i&1 == 0 && isError(a) {
			return a
		}
	}
	return p.fn(c, args)
}

// Call is what a native or primitive can do beside computing: charge for its
// work, make errors, and call functions. It is valid during the call only.
type Call struct {
	m    *Machine
	site site

	called bool // a call of f with arg is asked for
	f, arg Value
	then   resumer
}

// Alloc charges units of 16 bytes before they are allocated. When it reports
// false the run is over and the native returns at once.
func (c *Call) Alloc(units int64) bool { return c.m.alloc(units) }

// Work charges steps for work that grows with input, before it is done:
// ⌊bytes/64⌋ + ⌊nodes/8⌋. When it reports false the native returns at once.
func (c *Call) Work(bytes, nodes int64) bool { return c.m.work(bytes/64 + nodes/8) }

// WorkSteps charges an amount of steps given by a formula of its own.
func (c *Call) WorkSteps(steps int64) bool { return c.m.work(steps) }

// TextUnits is what a new string or bytes value of n bytes takes.
func TextUnits(n int64) int64 { return 1 + (n+15)/16 }

// NewStr charges for a string and makes it; the length limit applies.
func (c *Call) NewStr(s string) Value {
	if !c.RoomForStr(int64(len(s))) {
		return Value{}
	}
	return coreform.Str(s)
}

// RoomForStr checks and charges for a string of n bytes before it is built.
func (c *Call) RoomForStr(n int64) bool {
	return c.m.lenLimit("string-len", n, c.m.limits.StringLen) && c.m.alloc(TextUnits(n)) &&
		c.m.lenLimit("string-len", n, maxTextBytes)
}

// RoomForBytes checks and charges for a bytes value of n octets.
func (c *Call) RoomForBytes(n int64) bool {
	return c.m.lenLimit("bytes-len", n, c.m.limits.BytesLen) && c.m.alloc(TextUnits(n)) &&
		c.m.lenLimit("bytes-len", n, maxTextBytes)
}

// RoomForVec checks and charges for a vector of n elements.
func (c *Call) RoomForVec(n int64) bool {
	return c.m.lenLimit("vec-len", n, c.m.limits.VecLen) && c.m.alloc(2+n)
}

// RoomForMap checks and charges for a map of n entries.
func (c *Call) RoomForMap(n int64) bool {
	return c.m.lenLimit("map-len", n, c.m.limits.MapLen) && c.m.alloc(2+3*n)
}

// RoomForUpdate charges for one update of a persistent container of n
// elements: 4 + 2 × bitlen(n).
func (c *Call) RoomForUpdate(n int64) bool {
	bits := int64(0)
	for ; n > 0; n >>= 1 {
		bits++
	}
	return c.m.alloc(4 + 2*bits)
}

// RoomForPairs counts and charges for n pairs.
func (c *Call) RoomForPairs(n int64) bool {
	if c.m.pairs += n; !c.m.lenLimit("pair-cells", c.m.pairs, c.m.limits.PairCells) {
		return false
	}
	return c.m.alloc(2 * n)
}

// LenLimit checks a length against one of the shape limits without charging.
func (c *Call) LenLimit(dimension string, n int64) bool {
	limit := map[string]int64{"vec-len": c.m.limits.VecLen, "map-len": c.m.limits.MapLen,
		"bytes-len": c.m.limits.BytesLen, "string-len": c.m.limits.StringLen}[dimension]
	return c.m.lenLimit(dimension, n, limit)
}

// RoomForInt checks the size of an integer of that many 64-bit words.
func (c *Call) RoomForInt(limbs int64) bool {
	return c.m.lenLimit("int-limbs", limbs, maxIntLimbs) && c.m.alloc(1+(limbs+1)/2)
}

// Exhausted ends the run because a size cannot even be represented.
func (c *Call) Exhausted(dimension string, observed, limit int64) {
	c.m.exhausted(dimension, observed, limit)
}

// Failed reports whether the run is over (a limit was hit); natives that loop
// look at it.
func (c *Call) Failed() bool { return c.m.fault != nil }

// Interrupted looks at the context of the run; natives that loop long call it
// now and then and return when it reports true.
func (c *Call) Interrupted() bool {
	if c.m.fault == nil && c.m.ctx != nil {
		c.m.fault = c.m.ctx.Err()
	}
	return c.m.fault != nil
}

// Error makes a sealed error with the payload {:error/code :error/context
// :error/message} and remembers where.
func (c *Call) Error(code string, context Value) Value {
	return c.ErrorOf(ErrorPayload(code, context))
}

// ErrorOf seals any payload as an error and remembers where.
func (c *Call) ErrorOf(payload Value) Value {
	return coreform.FromOther(&Sealed{token: tokenError, payload: payload, site: c.m.spanOf(c.site)})
}

// TypeError is the sealed error of an argument of the wrong type.
func (c *Call) TypeError() Value { return c.ErrorOf(typeErrorPayload) }

// NumericError is the sealed error of arithmetic.
func (c *Call) NumericError() Value { return c.ErrorOf(numericErrorPayload) }

// TextRangeError is the sealed error of a text position out of range.
func (c *Call) TextRangeError() Value { return c.ErrorOf(textRangeErrorPayload) }

// callThen asks for f to be applied to arg once the native has returned. Its
// value is given to then, or is the value of the native if then is nil. In a
// resumer, then must be nil: the same resumer gets the value. The native returns
// at once with what callThen returns.
func (c *Call) callThen(f, arg Value, then resumer) Value {
	c.called, c.f, c.arg, c.then = true, f, arg, then
	return Value{}
}

// describe names a value for a message, without its content.
func describe(v Value) string {
	if o := v.AsOther(); o != nil {
		return "a " + o.TypeName()
	}
	return "a value of type " + v.Kind().String()
}

// fatal makes the error that ends a run, with place and call stack.
func (m *Machine) fatal(code, message, hint string) *guest.Fatal {
	f := &guest.Fatal{Code: code, Message: message, Hint: hint}
	for i := len(m.frames) - 1; i >= 0 && len(f.Stack) < 64; i-- {
		fr := &m.frames[i]
		if fr.p == nil || fr.p.unit == nil || fr.p.unit.library {
			continue
		}
		sp := m.spanOf(site{fr.p, fr.pc - 1})
		f.Stack = append(f.Stack, guest.Frame{Name: fr.p.name, Span: sp})
	}
	if len(m.frames) > 0 {
		f.Span = m.spanOf(m.here())
	}
	return f
}

func (m *Machine) spanOf(s site) guest.Span {
	if s.p == nil || s.p.unit == nil || s.pc < 0 || s.pc >= len(s.p.spans) {
		return guest.Span{}
	}
	sp := s.p.spans[s.pc]
	return guest.Span{File: s.p.unit.file, Off: int(sp.off), End: int(sp.end)}
}
