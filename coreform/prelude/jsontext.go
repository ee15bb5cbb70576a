package prelude

import (
	"unicode/utf16"
	"unicode/utf8"
)

// jsonText is a text that is valid UTF-8, and how far it is scanned.
type jsonText struct {
	src []byte
	pos int
}

func (t *jsonText) skipSpace() {
	for t.pos < len(t.src) {
		switch t.src[t.pos] {
		case ' ', '\t', '\n', '\r':
			t.pos++
		default:
			return
		}
	}
}

func (t *jsonText) literal(word string, kind int) (jsonEvent, *jsonFault) {
	start := t.pos
	if len(t.src)-start < len(word) || string(t.src[start:start+len(word)]) != word {
		return jsonEvent{}, &jsonFault{"unexpected", start}
	}
	t.pos += len(word)
	return jsonEvent{kind: kind, start: start, end: t.pos}, nil
}

// plainInString reports whether a byte stands for itself in a string.
func plainInString(c byte) bool { return c >= ' ' && c != '"' && c != '\\' }

// str scans the string that begins here.
func (t *jsonText) str(kind int) (jsonEvent, *jsonFault) {
	start, shorter := t.pos, 0 // by how much escapes shorten
	for i := start + 1; i < len(t.src); {
		c := t.src[i]
		switch {
		case plainInString(c):
			i++
		case c == '"':
			t.pos = i + 1
			return jsonEvent{kind: kind, start: start, end: t.pos, size: t.pos - start - 2 - shorter}, nil
		case c == '\\':
			r, n := escapeAt(t.src, i)
			if n == 0 {
				return jsonEvent{}, &jsonFault{"escape", i}
			}
			i += n
			shorter += n - utf8.RuneLen(r)
		default:
			return jsonEvent{}, &jsonFault{"unexpected", i}
		}
	}
	return jsonEvent{}, &jsonFault{"unexpected", start}
}

// escapeAt returns what the escape at src[at] stands for and its length, 0 if it
// is none. A surrogate pair is one escape, half of one is none.
func escapeAt(src []byte, at int) (r rune, n int) {
	if at+1 >= len(src) {
		return 0, 0
	}
	switch c := src[at+1]; c {
	case '"', '\\', '/':
		return rune(c), 2
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	}
	first, ok := codeUnit(src, at)
	if !ok {
		return 0, 0
	}
	if !utf16.IsSurrogate(first) {
		return first, 6
	}
	second, _ := codeUnit(src, at+6) // 0 is no surrogate
	if r = utf16.DecodeRune(first, second); r == utf8.RuneError {
		return 0, 0
	}
	return r, 12
}

// codeUnit returns the value of the \uXXXX at src[at], if there is one.
func codeUnit(src []byte, at int) (rune, bool) {
	if at+6 > len(src) || src[at] != '\\' || src[at+1] != 'u' {
		return 0, false
	}
	v := rune(0)
	for _, c := range src[at+2 : at+6] {
		switch {
		case '0' <= c && c <= '9':
			v = v<<4 | rune(c-'0')
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			v = v<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return v, true
}

// unescaped returns the content of a string or name that was scanned.
func (t *jsonText) unescaped(e jsonEvent) string {
	content := t.src[e.start+1 : e.end-1]
	if len(content) == e.size {
		return string(content)
	}
	out := make([]byte, 0, e.size)
	for i, plain := 0, 0; ; i++ {
		if i == len(content) {
			return string(append(out, content[plain:]...))
		}
		if content[i] == '\\' {
			r, n := escapeAt(content, i)
			out = utf8.AppendRune(append(out, content[plain:i]...), r)
			i += n - 1
			plain = i + 1
		}
	}
}

// digits passes digits and reports whether there are any.
func (t *jsonText) digits() bool {
	start := t.pos
	for t.pos < len(t.src) && t.src[t.pos] >= '0' && t.src[t.pos] <= '9' {
		t.pos++
	}
	return t.pos > start
}

// at reports whether the next byte is one of two, and passes it if so.
func (t *jsonText) at(a, b byte) bool {
	if t.pos < len(t.src) && (t.src[t.pos] == a || t.src[t.pos] == b) {
		t.pos++
		return true
	}
	return false
}

// num scans the number that begins here.
func (t *jsonText) num() (jsonEvent, *jsonFault) {
	start := t.pos
	t.at('-', '-')
	ok := t.at('0', '0') || t.digits()
	if ok && t.at('.', '.') {
		ok = t.digits()
	}
	if ok && t.at('e', 'E') {
		t.at('+', '-')
		ok = t.digits()
	}
	if !ok {
		return jsonEvent{}, &jsonFault{"unexpected", start}
	}
	return jsonEvent{kind: jsonNum, start: start, end: t.pos}, nil
}
