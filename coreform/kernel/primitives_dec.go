package kernel

import (
	"math/big"
	"strings"

	"github.com/gcrun/gcrun/coreform"
)

// A decimal is the map {:num/kind :fixed-decimal :num/scale s :num/unscaled u}
// of value u × 10^-s, 0 ≤ s ≤ maxScale; other keys are ignored. Results are
// normalized: no trailing zeros after the point, zero is 0 × 10^0.
type decimal struct {
	unscaled *big.Int
	scale    int
}

const maxScale = 4096

var (
	decKind     = coreform.Sym(":num/kind")
	decScale    = coreform.Sym(":num/scale")
	decUnscaled = coreform.Sym(":num/unscaled")
	decFixed    = coreform.Sym(":fixed-decimal")
)

var decPrimitives = []primitive{
	{name: "dec/parse", arity: 1, fn: onStr(decParse)},
	{name: "dec/to-str", arity: 1, fn: func(c *Call, a []Value) Value {
		d, ok := c.decimal(a[0])
		switch {
		case c.Failed():
			return Value{}
		case !ok:
			return c.TypeError()
		}
		return c.decimalText(d.unscaled, d.scale)
	}},
	{name: "dec/from-int", arity: 1, fn: func(c *Call, a []Value) Value {
		n, ok := a[0].AsBigInt()
		if !ok {
			return c.TypeError()
		}
		return c.newDecimal(decimal{n, 0})
	}},
	{name: "dec/add", arity: 2, fn: twoDecimals(func(c *Call, x, y decimal) Value {
		return c.newDecimal(decimal{new(big.Int).Add(x.unscaled, y.unscaled), x.scale})
	}, true)},
	{name: "dec/sub", arity: 2, fn: twoDecimals(func(c *Call, x, y decimal) Value {
		return c.newDecimal(decimal{new(big.Int).Sub(x.unscaled, y.unscaled), x.scale})
	}, true)},
	{name: "dec/mul", arity: 2, fn: twoDecimals(decMul, false)},
	{name: "dec/eq?", arity: 2, fn: twoDecimals(func(_ *Call, x, y decimal) Value {
		return coreform.Bool(x.unscaled.Cmp(y.unscaled) == 0)
	}, true)},
	{name: "dec/lt?", arity: 2, fn: twoDecimals(func(_ *Call, x, y decimal) Value {
		return coreform.Bool(x.unscaled.Cmp(y.unscaled) < 0)
	}, true)},
}

// twoDecimals makes a primitive of two decimals, brought to one scale if align.
func twoDecimals(f func(c *Call, x, y decimal) Value, align bool) func(*Call, []Value) Value {
	return func(c *Call, a []Value) Value {
		x, okx := c.decimal(a[0])
		y, oky := c.decimal(a[1])
		switch {
		case c.Failed():
			return Value{}
		case !okx || !oky:
			return c.TypeError()
		case align && !(c.rescale(&x, y.scale) && c.rescale(&y, x.scale)):
			return Value{}
		}
		return f(c, x, y)
	}
}

// decimal takes a decimal apart and normalizes it.
func (c *Call) decimal(v Value) (d decimal, ok bool) {
	m, isMap := v.AsMap()
	if !isMap {
		return d, false
	}
	kind, _ := m.Get(decKind)
	scale, _ := m.Get(decScale)
	unscaled, _ := m.Get(decUnscaled)
	n, isInt := unscaled.AsBigInt()
	s, isIndex := index(scale)
	if !kind.IsSym(":fixed-decimal") || !isInt || !isIndex || s > maxScale {
		return d, false
	}
	return c.normalize(decimal{n, int(s)})
}

// scaleLimbs is an upper bound of the words of 10^scale.
func scaleLimbs(scale int) int64 { return int64(scale)/19 + 1 }

// scaleWork charges for multiplying or dividing n by 10^scale.
func (c *Call) scaleWork(n *big.Int, scale int) bool {
	l, s := limbs(n), scaleLimbs(scale)
	return c.WorkSteps(l*s/8) && c.RoomForInt(l+s)
}

func pow10(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

// normalize strips zeros behind the point, largest powers of ten first.
func (c *Call) normalize(d decimal) (decimal, bool) {
	if d.unscaled.Sign() == 0 || d.scale == 0 {
		if d.unscaled.Sign() == 0 {
			d.scale = 0
		}
		return d, true
	}
	if d.unscaled.Bit(0) != 0 { // odd: no zeros
		return d, true
	}
	if !c.scaleWork(d.unscaled, d.scale) {
		return d, false
	}
	for step := maxScale; step > 0; step /= 2 {
		if step > d.scale {
			continue
		}
		q, r := new(big.Int).QuoRem(d.unscaled, pow10(step), new(big.Int))
		if r.Sign() == 0 {
			d = decimal{q, d.scale - step}
		}
	}
	return d, true
}

// rescale brings d to a scale, if that is larger than its own.
func (c *Call) rescale(d *decimal, scale int) bool {
	if scale <= d.scale {
		return true
	}
	if !c.scaleWork(d.unscaled, scale-d.scale) {
		return false
	}
	*d = decimal{new(big.Int).Mul(d.unscaled, pow10(scale-d.scale)), scale}
	return true
}

func decMul(c *Call, x, y decimal) Value {
	if x.scale+y.scale > maxScale {
		return c.NumericError()
	}
	nx, ny := limbs(x.unscaled), limbs(y.unscaled)
	if !c.WorkSteps(nx*ny/8) || !c.RoomForInt(nx+ny) {
		return Value{}
	}
	return c.newDecimal(decimal{new(big.Int).Mul(x.unscaled, y.unscaled), x.scale + y.scale})
}

func (c *Call) newDecimal(d decimal) Value {
	d, ok := c.normalize(d)
	if !ok || !c.RoomForMap(3) || !d.unscaled.IsInt64() && !c.RoomForInt(limbs(d.unscaled)) {
		return Value{}
	}
	return coreform.MapOf(
		coreform.Entry{Key: decKind, Value: decFixed},
		coreform.Entry{Key: decScale, Value: coreform.Int(int64(d.scale))},
		coreform.Entry{Key: decUnscaled, Value: coreform.BigInt(d.unscaled)},
	)
}

// decParse reads [+-]digits[.digits].
func decParse(c *Call, s string) Value {
	if !c.Work(int64(len(s)), 0) {
		return Value{}
	}
	unsigned := s
	if s != "" && (s[0] == '+' || s[0] == '-') {
		unsigned = s[1:]
	}
	whole, fraction, point := strings.Cut(unsigned, ".")
	if !isDigits(whole) || point && !isDigits(fraction) || len(fraction) > maxScale {
		return c.NumericError()
	}
	l := scaleLimbs(len(whole) + len(fraction))
	if !c.RoomForInt(l) || !c.WorkSteps(l*l/8) {
		return Value{}
	}
	n, _ := new(big.Int).SetString(whole+fraction, 10)
	if s[0] == '-' {
		n.Neg(n)
	}
	return c.newDecimal(decimal{n, len(fraction)})
}

func isDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// fixedText puts the point into the decimal text of an integer.
func fixedText(digits string, scale int) string {
	if scale == 0 {
		return digits
	}
	sign := ""
	if digits[0] == '-' {
		sign, digits = "-", digits[1:]
	}
	if missing := scale + 1 - len(digits); missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}
	at := len(digits) - scale
	return sign + digits[:at] + "." + digits[at:]
}
