package coreform

import (
	"fmt"
	"unicode/utf8"
)

// ReadModule reads a whole source: zero or more terms. Symbols of equal text
// may share one heap object. It does not recurse, stops at the first error and
// takes memory proportional to what it has read. Errors are *[ReadError]. (spec
// CF-READ-1 … 9)
func ReadModule(src []byte, lim Limits) ([]Node, error) {
	r, err := newReader(src, lim, true)
	if err != nil {
		return nil, err
	}
	for {
		more, err := r.term()
		if err != nil {
			return nil, err
		}
		if !more {
			return r.take(0), nil
		}
	}
}

// ReadTerms reads zero or more terms without positions. Nothing inside the
// results is shared. Errors are as for [ReadModule].
func ReadTerms(src []byte, lim Limits) ([]Value, error) {
	r, err := newReader(src, lim, false)
	if err != nil {
		return nil, err
	}
	for {
		more, err := r.term()
		if err != nil {
			return nil, err
		}
		if !more {
			return r.vals, nil
		}
	}
}

// ReadTerm reads a source that holds exactly one term, without positions.
// Nothing inside the result is shared. Errors are as for [ReadModule].
func ReadTerm(src []byte, lim Limits) (Value, error) {
	r, err := newReader(src, lim, false)
	if err != nil {
		return Value{}, err
	}
	if err := r.only(); err != nil {
		return Value{}, err
	}
	return r.vals[0], nil
}

// ReadTermNode is [ReadTerm] with positions. Symbols may be shared.
func ReadTermNode(src []byte, lim Limits) (Node, error) {
	r, err := newReader(src, lim, true)
	if err != nil {
		return Node{}, err
	}
	if err := r.only(); err != nil {
		return Node{}, err
	}
	return r.take(0)[0], nil
}

// reader keeps its own stack. vals holds the finished terms whose container is
// still open, and places, if positions are wanted, what a Node adds to each.
type reader struct {
	scanner
	lim    Limits
	vals   []Value
	places []place
	nodes  bool
	open   []openTerm
	left   int64 // terms that may still be read
	// Used with positions only: terms of a program's own making must not keep
	// each other alive.
	pairs pairs
	kids  slab[Node]
}

type place struct {
	off, end int
	kids     []Node
}

// openTerm is a container, or a quote prefix, that waits for what is inside.
type openTerm struct {
	by    token // ( [ { '
	off   int
	start int // index in vals of its first element
}

func newReader(src []byte, lim Limits, nodes bool) (*reader, error) {
	lim = lim.withDefaults()
	if int64(len(src)) > lim.MaxBytes {
		return nil, &ReadError{Kind: ReadSize, Offset: int(lim.MaxBytes),
			Message: fmt.Sprintf("the source has %d bytes; at most %d are allowed", len(src), lim.MaxBytes),
			Hint:    "split it, or raise the limit on bytes"}
	}
	if !utf8.Valid(src) {
		return nil, invalidUTF8(src)
	}
	r := &reader{scanner: scanner{src: src, maxDigits: lim.MaxDigits}, lim: lim, nodes: nodes, left: lim.MaxTerms}
	if nodes {
		r.seen = new([256]*symbol)
	}
	return r, nil
}

func invalidUTF8(src []byte) *ReadError {
	off := 0
	for off < len(src) {
		r, n := utf8.DecodeRune(src[off:])
		if r == utf8.RuneError && n == 1 {
			break
		}
		off += n
	}
	return &ReadError{Kind: ReadUTF8, Offset: off, Message: fmt.Sprintf("byte 0x%02X is not UTF-8 here", src[off]),
		Hint: `save the source as UTF-8; bytes that are no text are written b"\xHH"`}
}

// only reads one term and then the end of the source.
func (r *reader) only() error {
	more, err := r.term()
	if err != nil {
		return err
	}
	if !more {
		return r.eof()
	}
	tok, off, _, serr := r.next()
	switch {
	case serr != nil: // a bad token is reported as what it is
		return serr
	case tok != tokEOF:
		return &ReadError{Kind: ReadUnexpected, Offset: off, Message: "more than one term",
			Hint: "exactly one term is allowed here"}
	}
	return nil
}

func (r *reader) eof() *ReadError {
	return &ReadError{Kind: ReadEOF, Offset: len(r.src), Message: "the source ends where a term is expected",
		Hint: "add the missing term"}
}

// term reads the next term that stands in no container, or says that there is
// no more. Its result is a *ReadError or nil.
func (r *reader) term() (bool, error) {
	for {
		tok, off, v, serr := r.next()
		if serr != nil {
			return false, serr
		}
		switch tok {
		case tokAtom:
			if err := r.count(off); err != nil {
				return false, err
			}
			r.push(v, place{off: off, end: r.pos})
		case '(', '[', '{', '\'':
			if err := r.enter(tok, off); err != nil {
				return false, err
			}
			continue
		case ')', ']', '}':
			if err := r.leave(tok, off); err != nil {
				return false, err
			}
		default:
			if len(r.open) == 0 {
				return false, nil
			}
			return false, r.unclosed()
		}
		r.quoteFinished()
		if len(r.open) == 0 {
			return true, nil
		}
	}
}

func (r *reader) push(v Value, p place) {
	r.vals = append(r.vals, v)
	if r.nodes {
		r.places = append(r.places, p)
	}
}

func (r *reader) count(off int) error {
	if r.left--; r.left < 0 {
		return &ReadError{Kind: ReadSize, Offset: off,
			Message: fmt.Sprintf("the source holds more than %d terms", r.lim.MaxTerms),
			Hint:    "split it, or raise the limit on terms"}
	}
	return nil
}

func (r *reader) enter(tok token, off int) error {
	if len(r.open) >= r.lim.MaxDepth {
		return &ReadError{Kind: ReadDepth, Offset: off,
			Message: fmt.Sprintf("nested more than %d deep", r.lim.MaxDepth),
			Hint:    "give inner parts a name, or raise the limit on depth"}
	}
	r.open = append(r.open, openTerm{by: tok, off: off, start: len(r.vals)})
	return r.count(off)
}

// unclosed is the error at the end of a source with something open.
func (r *reader) unclosed() error {
	top := r.open[len(r.open)-1]
	if top.by == '\'' {
		return r.eof()
	}
	return &ReadError{Kind: ReadUnexpected, Offset: top.off, Message: "this " + string(rune(top.by)) + " is never closed",
		Hint: "add the missing " + string(rune(closer(top.by)))}
}

func closer(t token) token {
	switch t {
	case '(':
		return ')'
	case '[':
		return ']'
	}
	return '}'
}

func (r *reader) leave(tok token, off int) error {
	unexpected := func(hint string) error {
		return &ReadError{Kind: ReadUnexpected, Offset: off, Message: "unexpected " + string(rune(tok)), Hint: hint}
	}
	if len(r.open) == 0 {
		return unexpected("nothing is open here; remove it")
	}
	top := r.open[len(r.open)-1]
	switch {
	case top.by == '\'':
		return unexpected("a term must follow the quote before it")
	case closer(top.by) != tok:
		return unexpected(fmt.Sprintf("the %c at byte %d is open and needs %c", top.by, top.off, closer(top.by)))
	case tok == '}' && (len(r.vals)-top.start)%2 != 0:
		return &ReadError{Kind: ReadUnexpected, Offset: top.off, Message: "this map has a key without a value",
			Hint: "add the value of the last key"}
	}
	r.finish(top)
	return nil
}

// quoteFinished closes the quote prefixes whose term has just been read.
func (r *reader) quoteFinished() {
	for len(r.open) > 0 && r.open[len(r.open)-1].by == '\'' {
		r.finish(r.open[len(r.open)-1])
	}
}

var quoteSymbol = &symbol{"quote"}

// finish replaces the elements of the innermost open container by the term
// they make.
func (r *reader) finish(top openTerm) {
	elems := r.vals[top.start:]
	if top.by == '\'' {
		r.insertQuote(top)
		elems = r.vals[top.start:]
	}
	p := place{off: top.off, end: r.pos}
	if r.nodes {
		p.kids = r.take(top.start)
	}
	var v Value
	switch top.by {
	case '[':
		v = Vec(append([]Value(nil), elems...)...)
	case '{':
		es := make([]Entry, 0, len(elems)/2)
		for i := 0; i < len(elems); i += 2 {
			es = append(es, Entry{elems[i], elems[i+1]})
		}
		v = MapOf(es...)
	default:
		if r.nodes {
			v = r.pairs.list(elems)
		} else {
			v = List(elems...)
		}
	}
	clear(elems)
	r.vals = r.vals[:top.start]
	r.open = r.open[:len(r.open)-1]
	r.push(v, p)
}

// insertQuote puts the symbol quote before the term on top of the stack.
func (r *reader) insertQuote(top openTerm) {
	q := &symbol{"quote"}
	if r.nodes {
		q = quoteSymbol
	}
	last := len(r.vals) - 1
	r.vals = append(r.vals, r.vals[last])
	r.vals[last] = Value{ref: q}
	if r.nodes {
		r.places = append(r.places, r.places[last])
		r.places[last] = place{off: top.off, end: top.off + 1}
	}
}

// take returns the nodes of the terms from an index on, and forgets their
// places. It returns nil when there are none.
func (r *reader) take(start int) []Node {
	n := len(r.vals) - start
	if n == 0 {
		return nil
	}
	out := r.kids.take(n)
	for i := range out {
		p := &r.places[start+i]
		out[i] = Node{Term: r.vals[start+i], Off: p.off, End: p.end, Kids: p.kids}
		p.kids = nil
	}
	r.places = r.places[:start]
	return out
}
