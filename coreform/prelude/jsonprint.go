package prelude

import (
	"errors"
	"iter"
	"math"
	"slices"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/coreform/kernel"
	"github.com/gcrun/gcrun/effects/ops"
)

// noJSON says that a value, or a name of an object, has no form in JSON.
type noJSON struct {
	found string // its kind
	place string // "value" or "name"
}

func (e *noJSON) Error() string { return "a " + e.found + " as " + e.place }

func printJSON(c *kernel.Call, a []Value) Value {
	if !c.Alloc(kernel.TextUnits(0)) {
		return Value{}
	}
	p := &jsonPrinter{c: c, w: &textWriter{c: c, keep: true}}
	err := p.document(a[0])
	if e, ok := errors.AsType[*noJSON](err); ok {
		return sealed(c, ops.CodeType, entry(":found", coreform.Str(e.found)),
			entry(":kind", coreform.Str("type")), entry(":place", coreform.Str(e.place)))
	}
	if err != nil {
		return failure(c, err)
	}
	return coreform.Str(string(p.w.buf))
}

// jsonPrinter writes canonical JSON with its own stack. (spec JSON-PRINT-1)
type jsonPrinter struct {
	c     *kernel.Call
	w     *textWriter
	buf   []byte // not yet written
	open  []*jsonCursor
	terms int64 // printed, and those of open arrays and objects still to be printed
	err   error // the first; nothing is written after it
}

// jsonCursor is an array or object of which something is written.
type jsonCursor struct {
	vec     *coreform.Vector // of an array
	entries []coreform.Entry // of an object that is small or had to be sorted
	next    func() (Value, Value, bool)
	stop    func() // of next; nil for others
	i       int
}

func (p *jsonPrinter) document(v Value) error {
	defer func() {
		for len(p.open) > 0 {
			p.leave()
		}
	}()
	p.count(1)
	p.value(v)
	for len(p.open) > 0 && p.err == nil {
		p.advance(p.open[len(p.open)-1])
	}
	p.flush()
	return p.err
}

// advance writes the next element or member of the innermost array or object, or
// its end.
func (p *jsonPrinter) advance(f *jsonCursor) {
	first := f.i == 0
	f.i++
	if f.vec != nil {
		if f.i > f.vec.Len() {
			p.leave()
			p.text("]")
			return
		}
		if !first {
			p.text(",")
		}
		p.value(f.vec.At(f.i - 1))
		return
	}
	name, v, ok := f.member()
	if !ok {
		p.leave()
		p.text("}")
		return
	}
	if !first {
		p.text(",")
	}
	s, _ := name.AsStr()
	p.quoted(s)
	p.text(":")
	p.value(v)
}

func (f *jsonCursor) member() (name, v Value, ok bool) {
	if f.next != nil {
		return f.next()
	}
	if f.i > len(f.entries) {
		return name, v, false
	}
	e := f.entries[f.i-1]
	return e.Key, e.Value, true
}

func (p *jsonPrinter) leave() {
	if f := p.open[len(p.open)-1]; f.stop != nil {
		f.stop()
	}
	p.open[len(p.open)-1] = nil
	p.open = p.open[:len(p.open)-1]
}

// value writes an atom, or the beginning of an array or object.
func (p *jsonPrinter) value(v Value) {
	switch v.Kind() {
	case coreform.KindNil:
		p.text("null")
	case coreform.KindBool:
		if b, _ := v.AsBool(); b {
			p.text("true")
		} else {
			p.text("false")
		}
	case coreform.KindInt:
		p.integer(v)
	case coreform.KindStr:
		s, _ := v.AsStr()
		p.quoted(s)
	case coreform.KindVec:
		x, _ := v.AsVec()
		if p.enter(int64(x.Len())) {
			p.open = append(p.open, &jsonCursor{vec: x})
			p.text("[")
		}
	case coreform.KindMap:
		m, _ := v.AsMap()
		if unscaled, scale, ok := decimalOf(m); ok {
			p.decimal(unscaled, scale)
		} else if p.enter(2 * int64(m.Len())) {
			p.object(m)
		}
	default:
		p.fail(&noJSON{kindOf(v), "value"})
	}
}

// kindOf names the kind of a value as core/data::tag does, or what is not data.
func kindOf(v Value) string {
	if o := v.AsOther(); o != nil {
		return o.TypeName()
	}
	return v.Kind().String()
}

// enter counts the parts of an array or object before any is printed, so that
// those that wait never are more than the limit allows.
func (p *jsonPrinter) enter(parts int64) bool {
	if d := int64(len(p.open)) + 1; d > jsonDepth {
		p.fail(&coreform.LimitError{Dimension: coreform.DimDepth, Observed: d, Limit: jsonDepth})
	}
	p.count(parts)
	return p.err == nil
}

func (p *jsonPrinter) count(n int64) {
	if p.terms += n; p.terms > jsonTerms {
		p.fail(&coreform.LimitError{Dimension: coreform.DimTerms, Observed: p.terms, Limit: jsonTerms})
	}
}

func (p *jsonPrinter) fail(err error) {
	if p.err == nil {
		p.err = err
	}
}

// fewMembers is how many members of an object are copied rather than walked: a
// walk that can be paused takes longer to begin.
const fewMembers = 64

// object opens an object. Its members are those of the map in order, except where
// names with characters beyond U+FFFF meet others from U+E000 on, which UTF-16
// orders otherwise.
func (p *jsonPrinter) object(m *coreform.Map) {
	sort, ok := p.names(m)
	if !ok {
		return
	}
	f := &jsonCursor{}
	switch n := int64(m.Len()); {
	case sort && !p.c.Alloc(2+3*n):
		p.fail(errStopped)
		return
	case sort:
		f.entries = m.Entries()
		slices.SortFunc(f.entries, func(a, b coreform.Entry) int { return compareUTF16(nameOf(a), nameOf(b)) })
	case n <= fewMembers:
		f.entries = m.Entries()
	default:
		f.next, f.stop = iter.Pull2(m.All())
	}
	p.open = append(p.open, f)
	p.text("{")
}

// names checks that the keys of a map are names and charges for their order. It
// reports whether they have to be sorted.
func (p *jsonPrinter) names(m *coreform.Map) (sort, ok bool) {
	const batch = 1 << 12 // steps
	n, bytes, charged := int64(0), int64(0), int64(0)
	var private, astral bool
	for k := range m.All() {
		s, isStr := k.AsStr()
		if !isStr {
			p.fail(&noJSON{kindOf(k), "name"})
			return false, false
		}
		n++
		bytes += int64(len(s))
		if due := bytes/64 + n/8 - charged; due >= batch {
			if !p.c.WorkSteps(due) || p.c.Interrupted() {
				p.fail(errStopped)
				return false, false
			}
			charged += due
		}
		for i := 0; i < len(s) && !(private && astral); i++ {
			private = private || s[i]&0xFE == 0xEE
			astral = astral || s[i] >= 0xF0
		}
	}
	if !p.c.WorkSteps(nameSteps(n, bytes) - charged) {
		p.fail(errStopped)
		return false, false
	}
	return private && astral, true
}

// compareUTF16 compares two strings by the code units of their UTF-16 forms: as
// UTF-8 does, but what begins with EE or EF, U+E000 to U+FFFF, is after all else.
func compareUTF16(a, b string) int {
	for i := range min(len(a), len(b)) {
		if x, y := a[i], b[i]; x != y {
			return unitOrder(x) - unitOrder(y)
		}
	}
	return len(a) - len(b)
}

func unitOrder(c byte) int {
	if c&0xFE == 0xEE {
		return int(c) + 0x100
	}
	return int(c)
}

// integer writes all digits of an integer.
func (p *jsonPrinter) integer(v Value) {
	p.text(p.digits(v))
}

// digits returns the digits of an integer, after charging for them.
func (p *jsonPrinter) digits(v Value) string {
	if _, short := v.AsInt64(); !short {
		n, _ := v.AsBigInt()
		least := int64(float64(n.BitLen()-1) * math.Log10(2))
		l := (int64(n.BitLen()) + 63) / 64
		if p.tooLong(least) || !p.c.WorkSteps(convertSteps(l)) {
			p.fail(errStopped)
			return ""
		}
	}
	text := v.IntText()
	n := int64(len(text))
	if text[0] == '-' {
		n--
	}
	if p.tooLong(n) {
		return ""
	}
	return text
}

func (p *jsonPrinter) tooLong(digits int64) bool {
	if digits <= jsonDigits {
		return false
	}
	p.fail(&coreform.LimitError{Dimension: coreform.DimDigits, Observed: digits, Limit: jsonDigits})
	return true
}
