package prelude

// writeSize is how much text waits until it is written and charged for.
const writeSize = 32 << 10

func (p *jsonPrinter) flush() {
	if p.err == nil && len(p.buf) > 0 {
		if _, err := p.w.Write(p.buf); err != nil {
			p.err = err
		}
	}
	p.buf = p.buf[:0]
}

// text writes s as it is.
func (p *jsonPrinter) text(s string) {
	for p.err == nil && len(p.buf)+len(s) > writeSize {
		n := writeSize - len(p.buf)
		p.buf = append(p.buf, s[:n]...)
		s = s[n:]
		p.flush()
	}
	if p.err == nil {
		p.buf = append(p.buf, s...)
	}
}

// quoted writes a string with the escapes it needs and no others. (spec
// JSON-PRINT-2)
func (p *jsonPrinter) quoted(s string) {
	p.text(`"`)
	plain := 0
	for i := 0; i < len(s); i++ {
		if c := s[i]; !plainInString(c) {
			p.text(s[plain:i])
			p.text(jsonEscape(c))
			plain = i + 1
		}
		if p.err != nil {
			return
		}
	}
	p.text(s[plain:])
	p.text(`"`)
}

// jsonEscape is the escape of a quote, backslash or control character.
func jsonEscape(c byte) string {
	switch c {
	case '"':
		return `\"`
	case '\\':
		return `\\`
	case '\b':
		return `\b`
	case '\f':
		return `\f`
	case '\n':
		return `\n`
	case '\r':
		return `\r`
	case '\t':
		return `\t`
	}
	const hex = "0123456789abcdef"
	return string([]byte{'\\', 'u', '0', '0', hex[c>>4], hex[c&15]})
}
