package coreform

import (
	"bytes"
	"math/big"
	"strconv"
	"unicode/utf8"
)

// token is the kind of a token: its first byte for delimiters and the quote
// prefix, tokAtom for what is a term by itself, tokEOF at the end.
type token byte

const (
	tokEOF  token = 0
	tokAtom token = 'a'
)

// scanner cuts a source into tokens, one at a time, so that errors surface in
// source order. src is valid UTF-8.
type scanner struct {
	src       []byte
	pos       int
	maxDigits int
	// seen remembers symbols by a hash of their text, to share them. It is nil
	// when the result must share nothing.
	seen *[256]*symbol
}

// next returns the next token, where it begins, and the term if it is an atom.
// It ends at s.pos.
func (s *scanner) next() (tok token, off int, v Value, err *ReadError) {
	s.skip()
	off = s.pos
	if off >= len(s.src) {
		return tokEOF, off, v, nil
	}
	switch c := s.src[off]; {
	case c == '"':
		v, err = s.str(off)
	case classes[c] == classDelim:
		s.pos++
		return token(c), off, v, nil
	case isDigit(c) || (c == '-' && off+1 < len(s.src) && isDigit(s.src[off+1])):
		v, err = s.integer(off)
	case c == 'b' && off+1 < len(s.src) && s.src[off+1] == '"':
		v, err = s.bytes(off)
	default:
		v, err = s.symbol(off)
	}
	return tokAtom, off, v, err
}

// skip passes white space and comments.
func (s *scanner) skip() {
	for s.pos < len(s.src) {
		switch c := s.src[s.pos]; {
		case classes[c] == classSpace:
			s.pos++
		case c == ';':
			n := bytes.IndexByte(s.src[s.pos:], '\n')
			if n < 0 {
				s.pos = len(s.src)
				return
			}
			s.pos += n + 1
		default:
			return
		}
	}
}

func (s *scanner) symbol(off int) (Value, *ReadError) {
	i, h := off, uint32(0)
scan:
	for ; i < len(s.src); i++ {
		c := s.src[i]
		switch classes[c] {
		case classSymbol:
			h = h*31 + uint32(c)
		case classC2:
			if isC1(s.src[i:]) {
				return Value{}, controlError(s.src, i)
			}
			h = h*31 + uint32(c)
		case classControl:
			return Value{}, controlError(s.src, i)
		default:
			break scan
		}
	}
	text := s.src[off:i]
	if text[0] == bom[0] && bytes.HasPrefix(text, []byte(bom)) {
		return Value{}, bomError(off)
	}
	s.pos = i
	switch string(text) {
	case "nil":
		return Value{}, nil
	case "true":
		return Bool(true), nil
	case "false":
		return Bool(false), nil
	}
	if s.seen == nil {
		return Sym(string(text)), nil
	}
	slot := &s.seen[(h^h>>8)&0xFF]
	if *slot == nil || (*slot).name != string(text) {
		*slot = &symbol{string(text)}
	}
	return Value{ref: *slot}, nil
}

func controlError(src []byte, off int) *ReadError {
	r, _ := utf8.DecodeRune(src[off:])
	return &ReadError{Kind: ReadUnexpected, Offset: off,
		Message: "control character U+" + hex4(r) + " in a symbol",
		Hint:    "remove it, or write it as an escape in a string"}
}

func bomError(off int) *ReadError {
	return &ReadError{Kind: ReadUnexpected, Offset: off,
		Message: "byte order mark (U+FEFF) at the beginning of a token",
		Hint:    "save the file as UTF-8 without byte order mark"}
}

func hex4(r rune) string {
	const digits = "0123456789ABCDEF"
	return string([]byte{digits[r>>12&15], digits[r>>8&15], digits[r>>4&15], digits[r&15]})
}

func (s *scanner) integer(off int) (Value, *ReadError) {
	i := off
	if s.src[i] == '-' {
		i++
	}
	first := i
	for i < len(s.src) && isDigit(s.src[i]) {
		i++
	}
	s.pos = i
	digits := s.src[first:i]
	neg := first > off
	if len(digits) <= 18 {
		n := int64(0)
		for _, c := range digits {
			n = n*10 + int64(c-'0')
		}
		if neg {
			n = -n
		}
		return Int(n), nil
	}
	digits = bytes.TrimLeft(digits, "0")
	if len(digits) > s.maxDigits {
		return Value{}, &ReadError{Kind: ReadInt, Offset: off,
			Message: "integer of " + strconv.Itoa(len(digits)) + " digits; at most " + strconv.Itoa(s.maxDigits) + " are allowed",
			Hint:    "raise the limit on digits, or keep the number as a string"}
	}
	n := parseDigits(digits)
	if neg {
		n.Neg(n)
	}
	return BigInt(n), nil
}

// parseDigits halves long numbers, because the conversion of math/big takes
// time quadratic in the digits. The recursion is as deep as the logarithm.
func parseDigits(digits []byte) *big.Int {
	const short = 1200
	if len(digits) <= short {
		n := new(big.Int)
		if len(digits) > 0 {
			n.SetString(string(digits), 10)
		}
		return n
	}
	low := len(digits) / 2
	n := parseDigits(digits[:len(digits)-low])
	n.Mul(n, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(low)), nil))
	return n.Add(n, parseDigits(digits[len(digits)-low:]))
}

// str reads the string literal whose opening quote is at off.
func (s *scanner) str(off int) (Value, *ReadError) {
	text, err := s.quoted(off, off+1, false)
	if err != nil {
		return Value{}, err
	}
	return Str(string(text)), nil
}

// bytes reads the bytes literal whose b is at off.
func (s *scanner) bytes(off int) (Value, *ReadError) {
	text, err := s.quoted(off, off+2, true)
	if err != nil {
		return Value{}, err
	}
	return BytesOf(bytes.Clone(text)), nil
}

// quoted returns the content of the literal that begins at off and whose text
// begins at from. It is part of the source if there are no escapes. The escape
// \xHH means an octet if octets is set, else a code point.
func (s *scanner) quoted(off, from int, octets bool) ([]byte, *ReadError) {
	var out []byte
	i, plain := from, from // src[plain:i] is still to be copied
	for i < len(s.src) {
		switch s.src[i] {
		case '"':
			s.pos = i + 1
			if out == nil {
				return s.src[from:i], nil
			}
			return append(out, s.src[plain:i]...), nil
		case '\\':
			out = append(out, s.src[plain:i]...)
			var n int
			var err *ReadError
			if out, n, err = appendEscape(out, s.src, i, octets); err != nil {
				return nil, err
			}
			i += n
			plain = i
		default:
			i++
		}
	}
	what := "string"
	if octets {
		what = "bytes literal"
	}
	return nil, &ReadError{Kind: ReadUnexpected, Offset: off, Message: what + " is not closed",
		Hint: "add the closing quote \""}
}

// appendEscape appends what the escape at src[at] stands for and returns its
// length in the source.
func appendEscape(out, src []byte, at int, octets bool) ([]byte, int, *ReadError) {
	if at+1 >= len(src) {
		return nil, 0, escapeError(at, "the source ends after a backslash")
	}
	switch c := src[at+1]; c {
	case '\\', '"':
		return append(out, c), 2, nil
	case 'n':
		return append(out, '\n'), 2, nil
	case 'r':
		return append(out, '\r'), 2, nil
	case 't':
		return append(out, '\t'), 2, nil
	case 'x':
		n, ok := hexDigits(src, at+2, 2)
		switch {
		case !ok:
			return nil, 0, escapeError(at, `\x needs two hexadecimal digits`)
		case octets:
			return append(out, byte(n)), 4, nil
		}
		return utf8.AppendRune(out, n), 4, nil
	case 'u':
		n, ok := hexDigits(src, at+2, 4)
		switch {
		case !ok:
			return nil, 0, escapeError(at, `\u needs four hexadecimal digits`)
		case !utf8.ValidRune(n):
			return nil, 0, escapeError(at, `\u`+hex4(n)+` is a surrogate, not a character`)
		}
		return utf8.AppendRune(out, n), 6, nil
	}
	r, _ := utf8.DecodeRune(src[at+1:])
	return nil, 0, escapeError(at, "unknown escape \\"+printable(r))
}

func escapeError(at int, message string) *ReadError {
	return &ReadError{Kind: ReadEscape, Offset: at, Message: message,
		Hint: `the escapes are \\ \" \n \r \t \xHH \uHHHH; other characters are written as they are`}
}

// printable shows a character in a message without letting it act there.
func printable(r rune) string {
	if strconv.IsPrint(r) {
		return string(r)
	}
	q := strconv.QuoteRuneToASCII(r)
	return "(" + q[1:len(q)-1] + ")"
}

func hexDigits(src []byte, at, n int) (rune, bool) {
	if at+n > len(src) {
		return 0, false
	}
	v := rune(0)
	for _, c := range src[at : at+n] {
		switch {
		case isDigit(c):
			v = v<<4 | rune(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			v = v<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return v, true
}
