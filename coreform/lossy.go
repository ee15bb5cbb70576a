package coreform

import (
	"errors"
	"unicode/utf8"
)

const (
	improperText   = "#<improper-pair>"
	unreadableText = "#<unreadable-bytes>"
	ellipsis       = "…"
)

func otherText(o Other) string { return "#<" + o.TypeName() + ">" }

// FormatLossy shows any value to a person: terms as the printer writes them,
// everything else as #<kind>. It returns at most limit bytes; what is longer is
// cut and ends in "…" (or is empty if limit does not even hold that). Time and
// memory are bounded by limit whatever v is. The text may be that of another
// value as well and must not be hashed. It is not made safe for a terminal
// beyond what string literals escape.
func FormatLossy(v Value, limit int) string {
	if limit < 1 {
		return ""
	}
	p := printer{lossy: true, output: output{lim: streamLimits, partial: true}}
	p.lim.MaxBytes, p.lim.MaxDigits = int64(limit), limit
	p.term(v)
	if p.err == nil {
		return string(p.buf)
	}
	var fault Fault
	if errors.As(p.err, &fault) {
		return cut(string(p.buf)+unreadableText, limit, false)
	}
	return cut(string(p.buf), limit, true)
}

// cut shortens s to limit bytes, the ellipsis included.
func cut(s string, limit int, always bool) string {
	if len(s) <= limit && !always {
		return s
	}
	if limit < len(ellipsis) {
		return ""
	}
	n := min(len(s), limit-len(ellipsis))
	for n > 0 && n < len(s) && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + ellipsis
}

// maxChain is how far a chain of pairs is followed to see how it ends.
const maxChain = 4096

// improper reports whether a chain of pairs ends in something other than nil.
// A longer chain than maxChain counts as a list; advance marks its end.
func (p *printer) improper(v Value) bool {
	r, ok := v.ref.(*Pair)
	if !ok || r.shape.flags&hasImproper == 0 {
		return false
	}
	for range maxChain {
		next, ok := r.cdr.ref.(*Pair)
		if !ok {
			return !r.cdr.IsNil()
		}
		r = next
	}
	return false
}
