package prelude

import (
	"strconv"
	"strings"

	"github.com/gcrun/gcrun/coreform"
)

var (
	decimalKind     = coreform.Sym(":num/kind")
	fixedDecimal    = coreform.Sym(":fixed-decimal")
	decimalScale    = coreform.Sym(":num/scale")
	decimalUnscaled = coreform.Sym(":num/unscaled")
)

// decimalOf takes a map apart that is a decimal. (spec LANG-DEC-1)
func decimalOf(m *coreform.Map) (unscaled Value, scale int64, ok bool) {
	kind, ok := m.Get(decimalKind)
	if !ok || !kind.IsSym(":fixed-decimal") {
		return Value{}, 0, false
	}
	s, _ := m.Get(decimalScale)
	unscaled, _ = m.Get(decimalUnscaled)
	scale, ok = s.AsInt64()
	return unscaled, scale, ok && 0 <= scale && scale <= jsonScale && unscaled.IsInt()
}

// decimal writes a decimal with all its digits: as an integer if it is one, else
// with a point, and below 10⁻⁶ with an exponent. (spec JSON-NUM-2)
func (p *jsonPrinter) decimal(unscaled Value, scale int64) {
	digits := p.digits(unscaled)
	if p.err != nil {
		return
	}
	if digits[0] == '-' {
		p.text("-")
		digits = digits[1:]
	}
	for scale > 0 && len(digits) > 1 && digits[len(digits)-1] == '0' {
		digits, scale = digits[:len(digits)-1], scale-1
	}
	point := len(digits) - int(scale) // digits before it
	switch {
	case scale == 0, digits == "0":
		p.text(digits)
	case point > 0:
		p.text(digits[:point])
		p.text(".")
		p.text(digits[point:])
	case point > -6:
		p.text("0.")
		p.text(strings.Repeat("0", -point))
		p.text(digits)
	default:
		p.text(digits[:1])
		if len(digits) > 1 {
			p.text(".")
			p.text(digits[1:])
		}
		p.text("e")
		p.text(strconv.Itoa(point - 1))
	}
}
