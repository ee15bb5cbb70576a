package canonjson

import (
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// unescape appends what a string literal stands for to dst. The literal, with
// its quotes, has passed the grammar and is UTF-8. When an escape is a surrogate
// without its other half, ok is false and at is its offset in the literal
// (spec: CJ-STR-2).
func unescape(dst, literal []byte) (out []byte, at int, ok bool) {
	body := literal[:len(literal)-1]
	for i := 1; i < len(body); {
		if body[i] != '\\' {
			dst = append(dst, body[i])
			i++
			continue
		}
		if body[i+1] != 'u' {
			dst = append(dst, simpleEscape(body[i+1]))
			i += 2
			continue
		}
		r, n := hexEscape(body[i:]), 6
		if utf16.IsSurrogate(r) {
			r, n = utf16.DecodeRune(r, hexEscape(body[i+6:])), 12
			if r == utf8.RuneError {
				return dst, i, false
			}
		}
		dst = utf8.AppendRune(dst, r)
		i += n
	}
	return dst, 0, true
}

// hexEscape returns the code unit of the \uXXXX that s begins with, or -1.
func hexEscape(s []byte) rune {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return -1
	}
	v, err := strconv.ParseUint(string(s[2:6]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(v)
}

func simpleEscape(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return c // quote, backslash, slash
}

// appendQuoted writes a string literal with the only escapes the canonical form
// has: quote, backslash, and the controls below U+0020 (spec: CJ-STR-1).
func appendQuoted(dst, s []byte) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for _, c := range s {
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c >= 0x20:
			dst = append(dst, c)
		case c == '\b':
			dst = append(dst, `\b`...)
		case c == '\f':
			dst = append(dst, `\f`...)
		case c == '\n':
			dst = append(dst, `\n`...)
		case c == '\r':
			dst = append(dst, `\r`...)
		case c == '\t':
			dst = append(dst, `\t`...)
		default:
			dst = append(dst, `\u00`...)
			dst = append(dst, hex[c>>4], hex[c&15])
		}
	}
	return append(dst, '"')
}

// compareUTF16 orders two UTF-8 strings by their UTF-16 code units, without
// converting them (spec: CJ-ORD-1). UTF-8 orders by code point; the two differ
// only where a character above U+FFFF, a pair of units from D800 on, meets one
// of U+E000 to U+FFFF.
func compareUTF16(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		x, y := a[i], b[i]
		if x == y {
			continue
		}
		// From EE on a byte starts a character, in both strings, because the
		// bytes before are equal.
		if x >= 0xee && y >= 0xee && (x >= 0xf0) != (y >= 0xf0) {
			x, y = y, x
		}
		return int(x) - int(y)
	}
	return len(a) - len(b)
}
