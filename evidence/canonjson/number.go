package canonjson

import (
	"bytes"
	"strconv"
)

// decimal is the exact value of a number literal: 0.digits × 10^exp, negative if
// neg. digits has no zero at either end; zero has no digits.
type decimal struct {
	neg    bool
	digits []byte
	exp    int64
}

// expBound is where exponents saturate. No literal is long enough for its digits
// to bring such an exponent back into the range of a double (spec: CJ-NUM-2).
const expBound = 1 << 40

// readDecimal reads a literal of the JSON grammar. Digits go to buf, which the
// result may alias.
func readDecimal(literal, buf []byte) decimal {
	var d decimal
	if literal[0] == '-' {
		d.neg = true
		literal = literal[1:]
	}
	mantissa, exponent := literal, []byte(nil)
	if i := bytes.IndexAny(literal, "eE"); i >= 0 {
		mantissa, exponent = literal[:i], literal[i+1:]
	}
	whole, fraction, _ := bytes.Cut(mantissa, []byte{'.'})
	digits := append(append(buf[:0], whole...), fraction...)
	significant := bytes.TrimLeft(digits, "0")
	d.exp = int64(len(whole)-(len(digits)-len(significant))) + readExponent(exponent)
	d.digits = bytes.TrimRight(significant, "0")
	if len(d.digits) == 0 {
		return decimal{}
	}
	return d
}

func readExponent(s []byte) int64 {
	neg := len(s) > 0 && s[0] == '-'
	e := int64(0)
	for _, c := range bytes.TrimLeft(s, "+-") {
		e = min(e*10+int64(c-'0'), expBound)
	}
	if neg {
		return -e
	}
	return e
}

// float rounds to the nearest double. It says overflow for what is beyond the
// largest one and underflow for what is not zero and would become zero.
//
// strconv reads no more than five digits of an exponent: to it 1 followed by
// 10000 zeros and e-100000 is 1. So it gets the normalized number, and only when
// the exponent is near the range at all.
func (d decimal) float(buf []byte) (f float64, code Code) {
	switch {
	case len(d.digits) == 0:
		return 0, ""
	case d.exp > 310:
		return 0, CodeNumberOverflow
	case d.exp < -330:
		return 0, CodeNumberUnderflow
	}
	text := append(buf[:0], "0."...)
	text = append(text, d.digits...)
	text = append(text, 'e')
	text = strconv.AppendInt(text, d.exp, 10)
	f, err := strconv.ParseFloat(string(text), 64)
	switch {
	case err != nil:
		return 0, CodeNumberOverflow
	case f == 0:
		return 0, CodeNumberUnderflow
	case d.neg:
		f = -f
	}
	return f, ""
}

func (d decimal) equal(o decimal) bool {
	return d.neg == o.neg && d.exp == o.exp && bytes.Equal(d.digits, o.digits)
}

// appendFloat writes a finite double as ECMAScript's Number::toString does, as
// RFC 8785 section 3.2.2.3 asks (spec: CJ-NUM-1).
func appendFloat(dst []byte, f float64) []byte {
	if f == 0 {
		return append(dst, '0') // also for minus zero
	}
	var buf [32]byte
	e := strconv.AppendFloat(buf[:0], f, 'e', -1, 64)
	d := readDecimal(e, make([]byte, 0, 32))
	if d.neg {
		dst = append(dst, '-')
	}
	k, n := len(d.digits), int(d.exp)
	switch {
	case k <= n && n <= 21:
		dst = append(dst, d.digits...)
		return appendZeros(dst, n-k)
	case 0 < n && n <= 21:
		dst = append(dst, d.digits[:n]...)
		dst = append(dst, '.')
		return append(dst, d.digits[n:]...)
	case -6 < n && n <= 0:
		dst = appendZeros(append(dst, "0."...), -n)
		return append(dst, d.digits...)
	}
	dst = append(dst, d.digits[0])
	if k > 1 {
		dst = append(dst, '.')
		dst = append(dst, d.digits[1:]...)
	}
	dst = append(dst, 'e')
	if n > 0 {
		dst = append(dst, '+')
	}
	return strconv.AppendInt(dst, int64(n-1), 10)
}

func appendZeros(dst []byte, n int) []byte {
	for range n {
		dst = append(dst, '0')
	}
	return dst
}

// smallInteger reports whether a literal is an integer of at most 15 digits,
// which every double holds and prints as it is. (The grammar has no leading
// zeros; minus zero prints as 0.)
func smallInteger(literal []byte) bool {
	digits := bytes.TrimPrefix(literal, []byte{'-'})
	if len(digits) > 15 || string(literal) == "-0" {
		return false
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}
