package kernel

import (
	"math/big"
	"math/bits"
	"strconv"

	"github.com/gcrun/gcrun/coreform"
)

// primitive is an operation of the (prim op …) form. Its arguments are never
// sealed errors except where errors says so (bit i for argument i): an error in
// any other place is the result. A call with another number of arguments is a
// type error.
type primitive struct {
	name   string
	arity  int
	errors uint32
	looks  uint32 // arguments that it only looks at (bit i)
	takes  uint32 // arguments that it may change if nobody else holds them
	fn     func(c *Call, args []Value) Value
}

// primitives is the table of all of them, in the order of spec/language.md.
var primitives = concat(intPrimitives, decPrimitives, dataPrimitives, mapPrimitives, vecPrimitives, symPrimitives,
	strPrimitives, bytesPrimitives)

func concat(tables ...[]primitive) []primitive {
	var all []primitive
	for _, t := range tables {
		all = append(all, t...)
	}
	return all
}

// PrimitiveNames returns the names of all primitives, in the order of the table.
func PrimitiveNames() []string {
	names := make([]string, len(primitives))
	for i, p := range primitives {
		names[i] = p.name
	}
	return names
}

// primitiveIndex finds a primitive by name.
var primitiveIndex = func() map[string]int {
	at := make(map[string]int, len(primitives))
	for i, p := range primitives {
		at[p.name] = i
	}
	return at
}()

var intPrimitives = []primitive{
	{name: "int/add", arity: 2, fn: func(c *Call, a []Value) Value { return intOp(c, opIntAdd, a) }},
	{name: "int/sub", arity: 2, fn: func(c *Call, a []Value) Value { return intOp(c, opIntSub, a) }},
	{name: "int/mul", arity: 2, fn: func(c *Call, a []Value) Value { return intOp(c, opIntMul, a) }},
	{name: "int/div", arity: 2, fn: func(c *Call, a []Value) Value { return intDivMod(c, a, false) }},
	{name: "int/mod", arity: 2, fn: func(c *Call, a []Value) Value { return intDivMod(c, a, true) }},
	{name: "int/eq?", arity: 2, fn: func(c *Call, a []Value) Value { return intOp(c, opIntEq, a) }},
	{name: "int/lt?", arity: 2, fn: func(c *Call, a []Value) Value { return intOp(c, opIntLt, a) }},
	{name: "int/to-str", arity: 1, fn: intToStr},
}

// fastInt computes on two 64-bit integers when the result is one as well.
func fastInt(op opcode, a, b Value) (Value, bool) {
	x, okx := a.AsInt64()
	y, oky := b.AsInt64()
	if !okx || !oky {
		return Value{}, false
	}
	switch op {
	case opIntAdd:
		s := x + y
		return coreform.Int(s), (s > x) == (y > 0)
	case opIntSub:
		s := x - y
		return coreform.Int(s), (s < x) == (y > 0)
	case opIntMul:
		hi, lo := bits.Mul64(magnitude(x), magnitude(y))
		if hi != 0 || lo > 1<<63-1 {
			return Value{}, false
		}
		return coreform.Int(x * y), true
	case opIntLt:
		return coreform.Bool(x < y), true
	}
	return coreform.Bool(x == y), true
}

func magnitude(x int64) uint64 {
	if x < 0 {
		return -uint64(x)
	}
	return uint64(x)
}

func limbs(n *big.Int) int64 { return int64(n.BitLen()+63) / 64 }

func twoInts(a []Value) (x, y *big.Int, ok bool) {
	x, okx := a[0].AsBigInt()
	y, oky := a[1].AsBigInt()
	return x, y, okx && oky
}

func intOp(c *Call, op opcode, a []Value) Value {
	if v, ok := fastInt(op, a[0], a[1]); ok {
		return v
	}
	x, y, ok := twoInts(a)
	if !ok {
		return c.TypeError()
	}
	nx, ny := limbs(x), limbs(y)
	switch op {
	case opIntLt, opIntEq:
		if !c.WorkSteps(min(nx, ny) / 8) {
			return Value{}
		}
		if op == opIntLt {
			return coreform.Bool(x.Cmp(y) < 0)
		}
		return coreform.Bool(x.Cmp(y) == 0)
	case opIntMul:
		if !c.WorkSteps(nx*ny/8) || !c.RoomForInt(nx+ny) {
			return Value{}
		}
		return coreform.BigInt(new(big.Int).Mul(x, y))
	}
	if !c.WorkSteps(max(nx, ny)/8) || !c.RoomForInt(max(nx, ny)+1) {
		return Value{}
	}
	if op == opIntAdd {
		return coreform.BigInt(new(big.Int).Add(x, y))
	}
	return coreform.BigInt(new(big.Int).Sub(x, y))
}

// intDivMod is Euclidean: the remainder is never negative.
func intDivMod(c *Call, a []Value, mod bool) Value {
	if v, ok := fastDivMod(a[0], a[1], mod); ok {
		return v
	}
	x, y, ok := twoInts(a)
	if !ok {
		return c.TypeError()
	}
	if y.Sign() == 0 {
		return c.NumericError()
	}
	nx, ny := limbs(x), limbs(y)
	if !c.WorkSteps(nx*ny/8) || !c.RoomForInt(max(nx, ny)+1) {
		return Value{}
	}
	q, r := new(big.Int).DivMod(x, y, new(big.Int))
	if mod {
		return coreform.BigInt(r)
	}
	return coreform.BigInt(q)
}

// fastDivMod divides two 64-bit integers, unless the quotient is not one.
func fastDivMod(a, b Value, mod bool) (Value, bool) {
	x, okx := a.AsInt64()
	y, oky := b.AsInt64()
	if !okx || !oky || y == 0 || y == -1 {
		return Value{}, false
	}
	q, r := x/y, x%y
	if r < 0 { // Go truncates: one step back makes the remainder positive
		if y > 0 {
			q, r = q-1, r+y
		} else {
			q, r = q+1, r-y
		}
	}
	if mod {
		return coreform.Int(r), true
	}
	return coreform.Int(q), true
}

func intToStr(c *Call, a []Value) Value {
	if n, ok := a[0].AsInt64(); ok {
		return c.NewStr(strconv.FormatInt(n, 10))
	}
	n, ok := a[0].AsBigInt()
	if !ok {
		return c.TypeError()
	}
	return c.decimalText(n, 0)
}

// decimalText makes the text of n × 10^-scale. Text of a large number takes
// time quadratic in its words.
func (c *Call) decimalText(n *big.Int, scale int) Value {
	l := limbs(n)
	digits := int64(n.BitLen())*30_103/100_000 + 1 // not less than there are: log₁₀ 2 is a little less
	if !c.WorkSteps(l*l/8) || !c.Alloc(TextUnits(digits+int64(scale)+3)) {
		return Value{}
	}
	s := fixedText(n.String(), scale)
	if !c.m.lenLimit("string-len", int64(len(s)), c.m.limits.StringLen) {
		return Value{}
	}
	return coreform.Str(s)
}
