package prelude

import (
	"bytes"

	"github.com/gcrun/gcrun/coreform"
)

// jsonNumber is the exact value of a number literal: the digits
// (whole+fraction)[first:last], which have no zero at either end, then zeros, with
// the point before the last scale digits. Zero has no digits. Only one of zeros
// and scale is not 0. (spec JSON-NUM-1)
type jsonNumber struct {
	neg             bool
	whole, fraction []byte
	first, last     int
	zeros, scale    int64
}

// digits is how many digits the integer, or the decimal without its point, has.
func (n *jsonNumber) digits() int64 { return int64(n.last-n.first) + n.zeros }

// largestExponent is where exponents saturate: no text is long enough for its
// digits to bring such a number back into range.
const largestExponent = 1 << 40

// readJSONNumber takes a literal of the grammar apart, without any work that its
// exponent decides. It reports false for a number that is out of range.
func readJSONNumber(literal []byte) (n jsonNumber, ok bool) {
	n.neg = literal[0] == '-'
	mantissa := bytes.TrimPrefix(literal, []byte{'-'})
	exponent := int64(0)
	if i := bytes.IndexAny(mantissa, "eE"); i >= 0 {
		exponent = jsonExponent(mantissa[i+1:])
		mantissa = mantissa[:i]
	}
	n.whole, n.fraction, _ = bytes.Cut(mantissa, []byte{'.'})
	all := len(n.whole) + len(n.fraction)
	for n.first < all && n.digit(n.first) == '0' {
		n.first++
	}
	n.last = all
	for n.last > n.first && n.digit(n.last-1) == '0' {
		n.last--
	}
	if n.first == n.last {
		return jsonNumber{}, true // also if an exponent follows
	}
	if place := exponent + int64(len(n.whole)-n.last); place >= 0 { // of the last digit
		n.zeros = place
	} else {
		n.scale = -place
	}
	return n, n.scale <= jsonScale && n.digits() <= jsonDigits
}

func (n *jsonNumber) digit(i int) byte {
	if i < len(n.whole) {
		return n.whole[i]
	}
	return n.fraction[i-len(n.whole)]
}

func jsonExponent(s []byte) int64 {
	e := int64(0)
	for _, c := range bytes.TrimLeft(s, "+-") {
		e = min(e*10+int64(c-'0'), largestExponent)
	}
	if s[0] == '-' {
		return -e
	}
	return e
}

// value makes the integer or decimal.
func (n *jsonNumber) value() Value {
	if n.scale == 0 {
		return n.unscaled()
	}
	return coreform.MapOf(coreform.Entry{Key: decimalKind, Value: fixedDecimal},
		coreform.Entry{Key: decimalScale, Value: coreform.Int(n.scale)}, coreform.Entry{Key: decimalUnscaled, Value: n.unscaled()})
}

// unscaled makes the integer of all digits.
func (n *jsonNumber) unscaled() Value {
	if n.digits() <= shortDigits {
		u := int64(0)
		for i := n.first; i < n.last+int(n.zeros); i++ {
			if u *= 10; i < n.last {
				u += int64(n.digit(i) - '0')
			}
		}
		if n.neg {
			u = -u
		}
		return coreform.Int(u)
	}
	text := make([]byte, 0, n.digits()+1)
	if n.neg {
		text = append(text, '-')
	}
	split := len(n.whole)
	text = append(text, n.whole[min(n.first, split):min(n.last, split)]...)
	text = append(text, n.fraction[max(n.first, split)-split:max(n.last, split)-split]...)
	text = append(text, bytes.Repeat([]byte{'0'}, int(n.zeros))...)
	v, err := coreform.ReadTerm(text, coreform.Limits{MaxDigits: jsonDigits})
	if err != nil {
		panic("BUG: prelude: digits that are no integer: " + err.Error())
	}
	return v
}
