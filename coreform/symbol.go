package coreform

import (
	"strings"
	"unicode/utf8"
)

// class sorts the bytes that can begin or end a token.
type class uint8

const (
	classSymbol  class = iota // may stand in a symbol
	classSpace                // space, tab, LF, CR
	classDelim                // ( ) [ ] { } ' " ;
	classControl              // other ASCII control characters
	classC2                   // 0xC2, which may begin a C1 control character
)

var classes = func() (t [256]class) {
	for c := range byte(0x20) {
		t[c] = classControl
	}
	t[0x7F] = classControl
	t[0xC2] = classC2
	for _, c := range []byte(" \t\n\r") {
		t[c] = classSpace
	}
	for _, c := range []byte("()[]{}'\";") {
		t[c] = classDelim
	}
	return t
}()

// bom is the byte order mark, U+FEFF.
const bom = "\uFEFF"

// isC1 reports whether b, valid UTF-8 that begins with 0xC2, begins with one of
// the control characters U+0080 … U+009F.
func isC1(b []byte) bool { return len(b) > 1 && b[1] < 0xA0 }

func isDigit(c byte) bool { return c-'0' <= 9 }

// ValidSymbol reports whether text would read back as the symbol of that text.
// Not valid are: the empty text; nil, true and false; text that begins with a
// digit, with - and a digit, or with a byte order mark; text that holds white
// space, a delimiter, a quote or another control character (category Cc); and
// what is not UTF-8. (spec CF-TERM-2)
func ValidSymbol(text string) bool {
	if text == "" || text == "nil" || text == "true" || text == "false" || !utf8.ValidString(text) {
		return false
	}
	if isDigit(text[0]) || (text[0] == '-' && len(text) > 1 && isDigit(text[1])) || strings.HasPrefix(text, bom) {
		return false
	}
	for i := range len(text) {
		switch classes[text[i]] {
		case classSymbol:
		case classC2:
			if text[i+1] < 0xA0 {
				return false
			}
		default:
			return false
		}
	}
	return true
}
