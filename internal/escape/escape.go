// Package escape makes text that a program, a log or a file name controls safe
// to show a person on a terminal.
//
// There is one transformation, used for every message meant for people (never
// for bytes that are stored, hashed or sent as JSON). What a terminal would act
// on, or what would be invisible or reorder its neighbours, is replaced by a
// visible escape; everything else stays as it is:
//
//   - C0 controls, DEL and C1 controls: \n, \t, \r, or \x1b, \x7f, \u009b;
//   - format characters (category Cf: bidirectional marks, embeddings,
//     overrides and isolates, zero-width joiners, soft hyphen, tags), line and
//     paragraph separators, variation selectors, the other default-ignorable
//     characters (such as Hangul fillers) and noncharacters: \u202e, \U000e0041;
//   - bytes that are not UTF-8: \xff, one escape for each byte.
//
// The Arabic and other prepended concatenation marks are category Cf but have a
// glyph, so they stay. Emoji that need a joiner or a variation selector are
// shown in pieces: two texts that differ only invisibly must not look equal.
//
// A backslash is left alone, so the result is for reading, not for decoding.
//
// [Line] is for text inside one line, [Lines] keeps line feeds. The Max forms
// read only as much of the text as they show. All functions are pure and safe
// for use by several goroutines.
package escape

import (
	"strconv"
	"unicode"
	"unicode/utf8"
)

// Line returns s with everything unsafe escaped, line feeds included, so the
// result never spans lines.
func Line(s string) string { return text(s, len(s), false) }

// Lines returns s with everything unsafe except line feeds escaped. A carriage
// return before a line feed is escaped like any other.
func Lines(s string) string { return text(s, len(s), true) }

// LineMax is Line for text of any length: it shows at most max bytes of s (cut
// between characters) and, when that is not all, ends in "… (N bytes)" with N
// the length of s. Each byte shown takes at most four bytes of output, so the
// result is at most 4*max+40 bytes long. A max below 0 counts as 0.
func LineMax(s string, max int) string { return text(s, max, false) }

// LinesMax is Lines with the bound of LineMax.
func LinesMax(s string, max int) string { return text(s, max, true) }

// text is the one function behind the others.
func text(s string, max int, keepLF bool) string {
	shown := s[:cut(s, max)]
	i := firstHidden(shown, keepLF)
	if i == len(shown) && len(shown) == len(s) {
		return s
	}
	out := make([]byte, 0, len(shown)+len(shown)/4+40)
	out = append(out, shown[:i]...)
	for i < len(shown) {
		r, n := utf8.DecodeRuneInString(shown[i:])
		out = appendRune(out, r, shown[i:i+n], keepLF)
		i += n
	}
	if len(shown) < len(s) {
		out = append(out, "… ("...)
		out = strconv.AppendInt(out, int64(len(s)), 10)
		out = append(out, " bytes)"...)
	}
	return string(out)
}

// cut returns the largest length up to max that does not split a character.
func cut(s string, max int) int {
	if max >= len(s) {
		return len(s)
	}
	if max <= 0 {
		return 0
	}
	// A character has at most four bytes; if none starts in the last three
	// before the cut, these bytes are not UTF-8 and may be parted anywhere.
	for i := max; i > max-utf8.UTFMax && i >= 0; i-- {
		if utf8.RuneStart(s[i]) {
			return i
		}
	}
	return max
}

// firstHidden returns the offset of the first character to escape, or len(s).
func firstHidden(s string, keepLF bool) int {
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if (r == utf8.RuneError && n == 1) || hidden(r, keepLF) {
			return i
		}
		i += n
	}
	return len(s)
}

func appendRune(out []byte, r rune, raw string, keepLF bool) []byte {
	if r == utf8.RuneError && len(raw) == 1 {
		return appendHex(append(out, `\x`...), uint32(raw[0]), 2)
	}
	if !hidden(r, keepLF) {
		return append(out, raw...)
	}
	switch {
	case r == '\n':
		return append(out, `\n`...)
	case r == '\t':
		return append(out, `\t`...)
	case r == '\r':
		return append(out, `\r`...)
	case r < utf8.RuneSelf:
		return appendHex(append(out, `\x`...), uint32(r), 2)
	case r < 0x10000:
		return appendHex(append(out, `\u`...), uint32(r), 4)
	}
	return appendHex(append(out, `\U`...), uint32(r), 8)
}

func appendHex(out []byte, v uint32, digits int) []byte {
	const hex = "0123456789abcdef"
	for i := digits - 1; i >= 0; i-- {
		out = append(out, hex[v>>(4*i)&15])
	}
	return out
}

// hidden reports whether r must not reach a terminal as it is.
func hidden(r rune, keepLF bool) bool {
	switch {
	case r == '\n':
		return !keepLF
	case r < 0x20 || r == 0x7f:
		return true
	case r < 0x7f:
		return false
	case r < 0xa0:
		return true // C1
	case r&0xfffe == 0xfffe || r >= 0xfdd0 && r <= 0xfdef:
		return true // noncharacters
	}
	return unicode.In(r, invisible...) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}

var invisible = []*unicode.RangeTable{
	unicode.Cf,
	unicode.Zl,
	unicode.Zp,
	unicode.Variation_Selector,
	unicode.Other_Default_Ignorable_Code_Point,
}
