package kernel

import (
	"github.com/gcrun/gcrun/coreform"
)

// Call is what a native or primitive can do beside computing: charge for its
// work, make errors, and call functions. It is valid during the call only.
type Call struct {
	m    *Machine
	prim *primitive // that runs; nil for a native
	op   string     // the native that runs
	site site       // and where it was called

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
func TextUnits(n int64) int64 { return coreform.TextUnits(n) }

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
	op, where := c.op, c.site
	if c.prim != nil {
		op, where = c.prim.name, c.m.here()
	}
	return coreform.FromOther(&Sealed{token: tokenError, payload: payload, trace: c.m.traceHere(op, where)})
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
