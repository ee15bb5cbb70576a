package coreform

import "io"

// The layout is that of GenesisCode's pretty printer. All widths are bytes of
// UTF-8, and closing delimiters at the end of a line are not counted.
const (
	lineWidth  = 100
	indentStep = 2
)

// AppendTerm appends the canonical text of a term to dst. On an error dst is
// returned as it was. The errors: [ErrNotTerm]; a *[LimitError] for the depth
// of the term, the bytes or terms of the text or the digits of an integer; a
// [Fault] if a blob cannot be read. It does not recurse beyond a few levels and
// its time is proportional to the text. (spec CF-PRINT-1 … 9)
func AppendTerm(dst []byte, v Value, lim Limits) ([]byte, error) {
	return appendTerms(dst, []Value{v}, lim, false)
}

// PrintTerm returns the canonical text of a term, without newline at the end.
// Errors are those of [AppendTerm].
func PrintTerm(v Value, lim Limits) ([]byte, error) { return AppendTerm(nil, v, lim) }

// PrintModule returns the canonical text of a module: each form's text and a
// newline, with an empty line between forms. The byte and term limits are for
// the whole. Errors are those of [AppendTerm].
func PrintModule(forms []Value, lim Limits) ([]byte, error) {
	return appendTerms(nil, forms, lim, true)
}

func appendTerms(dst []byte, vs []Value, lim Limits, module bool) ([]byte, error) {
	p := printer{buf: dst, base: len(dst), lim: lim.withDefaults()}
	if err := p.terms(vs, module); err != nil {
		return dst[:p.base], err
	}
	return p.buf, nil
}

// StreamTerms is how many terms [WriteTerm] and the hashes take at most. A
// value that shares its parts can be exponentially larger as a text than in
// memory, and must end in an error rather than never.
const StreamTerms = 64 << 20

// streamLimits bounds what is written without limits of the caller.
var streamLimits = Limits{MaxDepth: MaximumDepth, MaxBytes: 1<<63 - 1, MaxTerms: StreamTerms, MaxDigits: 1<<31 - 1}

// WriteTerm writes the canonical text of a term to w in pieces, holding little
// of it at a time; content of blobs is copied through. Only the depth
// (MaximumDepth) and the number of terms (StreamTerms) are limited. Errors are
// those of [AppendTerm] and of w.
func WriteTerm(w io.Writer, v Value) error { return writeTerms(w, []Value{v}, streamLimits, false) }

// WriteModule is [WriteTerm] for a module, see [PrintModule].
func WriteModule(w io.Writer, forms []Value) error { return writeTerms(w, forms, streamLimits, true) }

func writeTerms(w io.Writer, vs []Value, lim Limits, module bool) error {
	p := printer{buf: make([]byte, 0, streamBuffer(vs)), w: w, lim: lim}
	if err := p.terms(vs, module); err != nil {
		return err
	}
	p.flush()
	return p.err
}

// streamBuffer is the size of the buffer to begin with: most terms are atoms
// or small.
func streamBuffer(vs []Value) int {
	if len(vs) == 1 && vs[0].Depth() == 0 {
		return 64
	}
	return 1024
}

// terms prints terms one after another, refusing what is no term.
func (p *printer) terms(vs []Value, module bool) error {
	for i, v := range vs {
		if !v.IsTerm() {
			return ErrNotTerm
		}
		if d := v.Depth(); d > p.lim.MaxDepth {
			return &LimitError{Dimension: DimDepth, Observed: int64(d), Limit: int64(p.lim.MaxDepth)}
		}
		if module && i > 0 {
			p.newline()
		}
		p.term(v)
		if module {
			p.newline()
		}
		if p.err != nil {
			return p.err
		}
	}
	return nil
}

// printer lays out terms with its own stack. For every element it looks ahead
// at most lineWidth bytes to see whether it fits on the line, so no width needs
// to be remembered and the time stays proportional to the text.
type printer struct {
	output
	frames []frame
	lossy  bool // show what has no canonical text as #<kind>
	looks  int  // terms looked at ahead; tests bound it
}

// frame is a container of which the first line is written.
type frame struct {
	indent  int   // of its elements
	list    Value // list: the chain still to be written
	vec     *Vector
	i       int // vector: index of the next element
	entries *mapCursor
	// pending is the value of a map entry whose key was laid out on lines of
	// its own.
	pending    Value
	hasPending bool
}

// term prints v beginning at column 0.
func (p *printer) term(v Value) {
	p.lineStart = p.pos()
	p.lay(v, 0)
	for len(p.frames) > 0 && p.err == nil {
		p.advance(&p.frames[len(p.frames)-1])
	}
	p.frames = p.frames[:0]
}

// advance writes the next element of the innermost open container, or closes
// it. f is not used after an element is laid out, which may move the frames.
func (p *printer) advance(f *frame) {
	switch {
	case f.vec != nil:
		if f.i == f.vec.n {
			p.leave(']')
			return
		}
		f.i++
		p.layNext(f.vec.At(f.i-1), f.indent)
	case f.hasPending:
		f.hasPending = false
		p.layNext(f.pending, f.indent+indentStep)
	case f.entries != nil:
		e, ok := f.entries.next()
		if !ok {
			p.leave('}')
			return
		}
		p.entry(e, f)
	default:
		pair, ok := f.list.ref.(*Pair)
		if !ok {
			if !f.list.IsNil() { // lossy only
				p.byte(' ')
				p.text(improperText)
			}
			p.leave(')')
			return
		}
		f.list = pair.cdr
		p.layNext(pair.car, f.indent)
	}
}

func (p *printer) leave(closing byte) {
	p.byte(closing)
	p.frames[len(p.frames)-1] = frame{}
	p.frames = p.frames[:len(p.frames)-1]
}

func (p *printer) layNext(v Value, indent int) {
	p.newline()
	p.lay(v, indent)
}

// entry writes the next entry of a map, on one line if it fits.
func (p *printer) entry(e *Entry, f *frame) {
	if wk := p.look(e.Key, lineWidth-f.indent-1); wk >= 0 && p.look(e.Value, lineWidth-f.indent-1-wk) >= 0 {
		p.newline()
		p.spaces(f.indent)
		p.flat(e.Key)
		p.byte(' ')
		p.flat(e.Value)
		return
	}
	f.pending, f.hasPending = e.Value, true
	p.layNext(e.Key, f.indent)
}

// lay writes the first line of v, and its only one if it fits or is an atom.
// What remains is left in a frame.
func (p *printer) lay(v Value, indent int) {
	p.spaces(indent)
	if p.isAtom(v) || p.look(v, lineWidth-indent) >= 0 {
		p.flat(v)
		return
	}
	p.count()
	f := frame{indent: indent + indentStep}
	switch r := v.ref.(type) {
	case *Vector:
		p.byte('[')
		f.vec = r
	case *Map:
		p.byte('{')
		f.entries = newMapCursor(r)
	case *Pair:
		p.byte('(')
		f.list = v
		if p.hasFlat(r.car) {
			f.list = p.listHead(r)
		}
	}
	p.frames = append(p.frames, f)
}

// listHead writes the first element, and the second if it fits, behind the
// opening parenthesis. It returns the rest of the list.
func (p *printer) listHead(r *Pair) Value {
	p.flat(r.car)
	second, ok := r.cdr.ref.(*Pair)
	if !ok || p.pos()-p.lineStart >= lineWidth {
		return r.cdr
	}
	if p.look(second.car, lineWidth-1-int(p.pos()-p.lineStart)) < 0 {
		return r.cdr
	}
	p.byte(' ')
	p.flat(second.car)
	return second.cdr
}

// flat writes v on one line: an atom, or what has a one-line form. It recurses
// as look does.
func (p *printer) flat(v Value) {
	if p.err != nil {
		return
	}
	p.count()
	switch r := v.ref.(type) {
	case *Pair:
		if p.isAtom(v) {
			break
		}
		p.byte('(')
		for ok := true; ok; {
			p.flat(r.car)
			if r, ok = r.cdr.ref.(*Pair); ok {
				p.byte(' ')
			}
		}
		p.byte(')')
		return
	case *Vector:
		p.byte('[')
		for i, x := range r.All() {
			if i > 0 {
				p.byte(' ')
			}
			p.flat(x)
		}
		p.byte(']')
		return
	case *Map:
		p.byte('{')
		for i, e := range r.small {
			if i > 0 {
				p.byte(' ')
			}
			p.flat(e.Key)
			p.byte(' ')
			p.flat(e.Value)
		}
		p.byte('}')
		return
	}
	p.atom(v)
}

// mapCursor walks a map in key order, holding only the way to where it is.
type mapCursor struct {
	es    []Entry // left of the part it is in
	stack []*mapNode
}

func newMapCursor(m *Map) *mapCursor {
	c := &mapCursor{es: m.small}
	c.descend(m.root)
	return c
}

func (c *mapCursor) descend(n *mapNode) {
	for ; n != nil; n = n.left {
		c.stack = append(c.stack, n)
	}
}

func (c *mapCursor) next() (*Entry, bool) {
	if len(c.es) == 0 {
		if len(c.stack) == 0 {
			return nil, false
		}
		n := c.stack[len(c.stack)-1]
		c.stack = c.stack[:len(c.stack)-1]
		c.descend(n.right)
		c.es = n.es
	}
	e := &c.es[0]
	c.es = c.es[1:]
	return e, true
}
