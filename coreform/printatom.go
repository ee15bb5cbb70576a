package coreform

import (
	"io"
	"math"
	"math/big"
	"strconv"
)

// output collects text in a buffer, or hands it to a writer in pieces.
type output struct {
	buf       []byte
	base      int       // where the text begins in buf
	w         io.Writer // nil: everything stays in buf
	sent      int64     // bytes of the text already given to w
	lineStart int64     // where in the text the current line begins
	lim       Limits
	partial   bool  // at the limit, write the part of a text that fits
	printed   int64 // terms so far
	err       error // the first error; nothing is written after it
}

const flushSize = 32 << 10

// pos returns the length of the text so far.
func (o *output) pos() int64 { return o.sent + int64(len(o.buf)-o.base) }

// room checks that n more bytes may be written, and makes place for them in
// the buffer when they go to a writer.
func (o *output) room(n int) bool {
	if o.err != nil {
		return false
	}
	if need := o.pos() + int64(n); need > o.lim.MaxBytes {
		o.err = &LimitError{Dimension: DimBytes, Observed: need, Limit: o.lim.MaxBytes}
		return false
	}
	if o.w != nil && len(o.buf)+n > flushSize {
		o.flush()
	}
	return o.err == nil
}

func (o *output) flush() {
	if o.err != nil || len(o.buf) == 0 {
		return
	}
	o.sent += int64(len(o.buf))
	if _, err := o.w.Write(o.buf); err != nil {
		o.err = err
	}
	o.buf = o.buf[:0]
}

func (o *output) byte(c byte) {
	if o.room(1) {
		o.buf = append(o.buf, c)
	}
}

func (o *output) newline() {
	o.byte('\n')
	o.lineStart = o.pos()
}

func (o *output) spaces(n int) {
	const blank = "                                "
	for ; n > 0; n -= len(blank) {
		o.text(blank[:min(n, len(blank))])
	}
}

// text writes s as it is.
func (o *output) text(s string) {
	for o.w != nil && len(s) > flushSize && o.err == nil {
		o.text(s[:flushSize])
		s = s[flushSize:]
	}
	if o.room(len(s)) {
		o.buf = append(o.buf, s...)
	} else if fits := o.lim.MaxBytes - o.pos(); o.partial && int64(len(s)) > fits {
		o.buf = append(o.buf, s[:fits]...)
	}
}

// count counts one more term.
func (o *output) count() {
	if o.printed++; o.printed > o.lim.MaxTerms && o.err == nil {
		o.err = &LimitError{Dimension: DimTerms, Observed: o.printed, Limit: o.lim.MaxTerms}
	}
}

// atom writes v, which is not a container.
func (p *printer) atom(v Value) {
	switch r := v.ref.(type) {
	case nil:
		p.text("nil")
	case *boolTag:
		p.text(strconv.FormatBool(v.num != 0))
	case *intTag:
		if p.room(decimalWidth(v.num)) {
			p.buf = strconv.AppendInt(p.buf, v.num, 10)
		}
	case *bigInt:
		p.bigInt(r.n)
	case *symbol:
		p.text(r.name)
	case *str, *joined:
		s, _ := v.AsStr()
		p.byte('"')
		p.escaped(s)
		p.byte('"')
	case *Bytes:
		p.text(`b"`)
		p.octets(r)
		p.byte('"')
	case *Pair:
		p.text(improperText)
	case Other:
		p.text(otherText(r))
	}
}

func (p *printer) bigInt(n *big.Int) {
	// The number of bits bounds the digits from below, before they are made.
	if least := int64(float64(n.BitLen()-1) * math.Log10(2)); least > int64(p.lim.MaxDigits) {
		p.digitsError(least)
		return
	}
	text := n.String()
	digits := len(text)
	if text[0] == '-' {
		digits--
	}
	if digits > p.lim.MaxDigits {
		p.digitsError(int64(digits))
		return
	}
	p.text(text)
}

func (p *printer) digitsError(n int64) {
	if p.err == nil {
		p.err = &LimitError{Dimension: DimDigits, Observed: n, Limit: int64(p.lim.MaxDigits)}
	}
}

// escaped writes the content of a string literal. Control characters are the
// ASCII ones and C2 80 … C2 9F, so bytes can be looked at one by one.
func (o *output) escaped(s string) {
	plain := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if !needsEscape[c] {
			continue
		}
		if c == 0xC2 && s[i+1] >= 0xA0 {
			continue
		}
		o.text(s[plain:i])
		if c == 0xC2 {
			i++
			c = s[i]
		}
		plain = i + 1
		o.text(escapeOf(c))
	}
	o.text(s[plain:])
}

// escapeOf returns the escape of a quote, backslash or control character.
func escapeOf(c byte) string {
	switch c {
	case '"':
		return `\"`
	case '\\':
		return `\\`
	case '\n':
		return `\n`
	case '\r':
		return `\r`
	case '\t':
		return `\t`
	}
	return `\u` + hex4(rune(c))
}

// needsEscape marks the bytes that may begin something to be escaped.
var needsEscape = func() (t [256]bool) {
	for c, class := range classes {
		t[c] = class == classControl || class == classC2
	}
	for _, c := range []byte("\"\\\n\r\t") {
		t[c] = true
	}
	return t
}()

// octets writes the content of a bytes literal, reading a blob in pieces.
func (o *output) octets(b *Bytes) {
	if b.blob == nil {
		o.octetText(b.data)
		return
	}
	r, chunk := b.Reader(), make([]byte, min(b.n, flushSize))
	for left := b.n; left > 0 && o.err == nil; {
		part := chunk[:min(left, int64(len(chunk)))]
		if _, err := io.ReadFull(r, part); err != nil {
			o.err = Fault{err}
			return
		}
		o.octetText(part)
		left -= int64(len(part))
	}
}

func (o *output) octetText(b []byte) {
	for len(b) > 0 {
		part := b[:min(len(b), 1024)]
		b = b[len(part):]
		for _, c := range part {
			if !o.room(octetWidth(c)) {
				return
			}
			o.buf = appendOctet(o.buf, c)
		}
	}
}

func octetWidth(c byte) int {
	switch {
	case c == '"' || c == '\\' || c == '\n' || c == '\r' || c == '\t':
		return 2
	case c >= 0x20 && c <= 0x7E:
		return 1
	}
	return 4
}

func appendOctet(dst []byte, c byte) []byte {
	switch octetWidth(c) {
	case 1:
		return append(dst, c)
	case 2:
		return append(dst, escapeOf(c)...)
	}
	h := hex4(rune(c))
	return append(dst, '\\', 'x', h[2], h[3])
}

// atomWidth returns the bytes of an atom's text, or something above budget if
// it has more.
func (p *printer) atomWidth(v Value, budget int) int {
	const over = math.MaxInt
	switch r := v.ref.(type) {
	case nil:
		return len("nil")
	case *boolTag:
		return len("false") - int(v.num)
	case *intTag:
		return decimalWidth(v.num)
	case *bigInt:
		if r.n.BitLen() > 4*budget { // a digit has less than four bits
			return over
		}
		return len(r.n.String())
	case *symbol:
		return len(r.name)
	case *str, *joined:
		if v.StrLen()+2 > budget {
			return over
		}
		s, _ := v.AsStr()
		return len(`""`) + escapedWidth(s)
	case *Bytes:
		if r.n+3 > int64(budget) {
			return over
		}
		content, err := r.Load()
		if err != nil && p.err == nil {
			p.err = err
		}
		w := len(`b""`)
		for _, c := range content {
			w += octetWidth(c)
		}
		return w
	case *Pair:
		return len(improperText)
	case Other:
		return len(otherText(r))
	}
	return over
}

func decimalWidth(n int64) int {
	w, u := 1, uint64(n)
	if n < 0 {
		w, u = 2, -u
	}
	for ; u >= 10; u /= 10 {
		w++
	}
	return w
}

func escapedWidth(s string) int {
	w := len(s)
	for i := 0; i < len(s); i++ {
		c := s[i]
		if !needsEscape[c] || (c == 0xC2 && s[i+1] >= 0xA0) {
			continue
		}
		n := 1
		if c == 0xC2 {
			i++
			c, n = s[i], 2
		}
		w += len(escapeOf(c)) - n
	}
	return w
}

// EscapeStr returns the text of a string between the quotes of its literal.
func EscapeStr(s string) string {
	o := output{lim: streamLimits}
	o.escaped(s)
	return string(o.buf)
}

// EscapeBytes returns the text of octets between the quotes of their literal.
func EscapeBytes(b []byte) string {
	out := make([]byte, 0, len(b))
	for _, c := range b {
		out = appendOctet(out, c)
	}
	return string(out)
}
