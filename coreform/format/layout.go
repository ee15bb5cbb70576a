package format

import (
	"bytes"
	"unicode/utf8"
)

const (
	lineWidth = 80
	// deepest is where indentation stops. Without it a text could be as large as
	// the source times its depth.
	deepest = lineWidth
	// shortHead is the longest head under whose first argument the others stand.
	shortHead = 6
	// hugColumn is the last column where a broken argument may begin beside its
	// head: further right there is no room for it.
	hugColumn = 40
	// shortLabel is the longest key or name that a broken value stands beside.
	shortLabel = 16
)

type printer struct {
	builder
	out   []byte
	col   int // of what is written next
	line  int
	marks []mark
	max   int  // bytes of the result
	over  bool // it was more; nothing is written any more
	work  int64
}

func (p *printer) byte(c byte) {
	if p.over = p.over || len(p.out) >= p.max; !p.over {
		p.out = append(p.out, c)
		p.col++
	}
}

// text writes part of the source.
func (p *printer) text(from, to int32) {
	text := p.src[from:to]
	if p.over = p.over || len(text) > p.max-len(p.out); p.over {
		return
	}
	p.out = append(p.out, text...)
	if n := bytes.LastIndexByte(text, '\n'); n >= 0 {
		p.line += bytes.Count(text, []byte{'\n'})
		p.col = 0
		text = text[n+1:]
	}
	p.col += utf8.RuneCount(text)
}

func (p *printer) newline(column int) {
	p.byte('\n')
	p.line++
	p.col = 0
	for range min(column, deepest) {
		p.byte(' ')
	}
}

// gap writes what stands between an item and what is before it: nothing where
// the item is the first of its container, else a space or, if below is set, a
// line end. Comments always need one; column is for what begins a line.
func (p *printer) gap(it *item, first, below bool, column int) {
	if it.c0 < it.c1 {
		p.remarks(p.comments[it.c0:it.c1], first, column)
		below, first = true, false
	}
	switch {
	case first:
	case below:
		if it.blank {
			p.newline(0)
		}
		p.newline(column)
	default:
		p.byte(' ')
	}
}

// remarks writes comments. If they are first in their container or source, no
// empty line stands before them.
func (p *printer) remarks(cs []comment, first bool, column int) {
	for i, c := range cs {
		p.work++
		m := mark{column: int32(min(column, deepest)), kind: c.kind}
		if c.kind == trailing {
			m.column = int32(p.col)
		} else if len(p.out) > 0 {
			if c.blank && !(first && i == 0) {
				p.newline(0)
			}
			p.newline(0)
		}
		m.line, m.at = int32(p.line), int32(len(p.out))
		p.marks = append(p.marks, m)
		p.text(c.off, c.end)
	}
}

// below places the item on a line of its own, beside on the line that is being
// written. column is where it goes if a comment is in the way, tail how many
// closing delimiters follow it.
func (p *printer) below(i int, column, tail int) {
	p.gap(&p.items[i], false, true, column)
	p.lay(i, tail)
}

func (p *printer) beside(i int, column, tail int) {
	p.gap(&p.items[i], false, false, column)
	p.lay(i, tail)
}

// first places the first item of a container.
func (p *printer) first(i int, column, tail int) {
	p.gap(&p.items[i], true, false, column)
	p.lay(i, tail)
}

// tail returns how many closing delimiters follow directly behind the element k
// of the container i, which itself has tail of them behind it.
func (p *printer) tail(i, k, tail int) int {
	it := &p.items[i]
	if p.items[k].next != it.next || it.d0 < it.d1 {
		return 0
	}
	return tail + 1
}

// fits reports whether an item fits on one line beginning at column.
func (p *printer) fits(i, column, tail int) bool {
	p.looks++
	it := &p.items[i]
	if it.kind == atom && it.width < 0 { // its first line counts
		n := bytes.IndexByte(p.src[it.off:it.end], '\n')
		return column+int(it.quotes)+utf8.RuneCount(p.src[it.off:int(it.off)+n]) <= lineWidth
	}
	return it.width >= 0 && column+int(it.width)+tail <= lineWidth
}

// lay writes an item, on one line if it fits.
func (p *printer) lay(i, tail int) {
	if p.items[i].kind == atom || p.fits(i, p.col, tail) {
		p.flat(i)
		return
	}
	p.broken(i, tail)
}

// open writes the quote prefixes of an item, and its opening delimiter.
func (p *printer) open(it *item) {
	p.work++
	for range it.quotes {
		p.byte('\'')
	}
	if it.kind != atom {
		p.byte(p.src[it.off])
	}
}

// flat writes an item on one line. What fits there is not deep.
func (p *printer) flat(i int) {
	it := &p.items[i]
	p.open(it)
	if it.kind == atom {
		p.text(it.off, it.end)
		return
	}
	for k := i + 1; k < int(it.next); k = int(p.items[k].next) {
		if k > i+1 {
			p.byte(' ')
		}
		p.flat(k)
	}
	p.byte(p.src[it.end-1])
}

// broken writes a container over several lines.
func (p *printer) broken(i, tail int) {
	it := &p.items[i]
	p.open(it)
	at := p.col - 1
	column := at + 1 // of elements, and of a closing delimiter that cannot stay with them
	switch {
	case int(it.next) == i+1:
	case it.kind == call:
		column = p.call(i, at, 1, tail)
	case it.kind == primCall:
		column = p.call(i, at, 2, tail)
	case it.kind == begin:
		column = p.body(i, at, 1, tail)
	case it.kind == branch, it.kind == function, it.kind == let:
		column = p.body(i, at, 2, tail)
	case it.kind == def:
		column = p.definition(i, at, tail)
	case it.kind == rows, it.kind == params:
		p.filled(i, column, tail)
	case it.kind == binding:
		p.first(i+1, column, 0)
		p.value(i, i+1, at, tail)
		column = at + 2
	case it.kind == mapping:
		p.mapping(i, column, tail)
	default:
		p.column(i, column, tail)
	}
	p.close(i, column)
}

func (p *printer) close(i, column int) {
	it := &p.items[i]
	if it.d0 < it.d1 {
		p.remarks(p.comments[it.d0:it.d1], int(it.next) == i+1, column)
		p.newline(column)
	}
	p.byte(p.src[it.end-1])
}

// column writes elements below each other.
func (p *printer) column(i, column, tail int) {
	it := &p.items[i]
	for k := i + 1; k < int(it.next); k = int(p.items[k].next) {
		p.gap(&p.items[k], k == i+1, true, column)
		p.lay(k, p.tail(i, k, tail))
	}
}

// filled writes as many elements on a line as fit, but keeps the author's line
// ends between rows.
func (p *printer) filled(i, column, tail int) {
	it := &p.items[i]
	for k := i + 1; k < int(it.next); k = int(p.items[k].next) {
		t := p.tail(i, k, tail)
		below := it.kind == rows && p.items[k].newline || !p.fits(k, p.col+1, t)
		p.gap(&p.items[k], k == i+1, below, column)
		p.lay(k, t)
	}
}

// mapping writes an entry on a line, or more.
func (p *printer) mapping(i, column, tail int) {
	it := &p.items[i]
	for k := i + 1; k < int(it.next); {
		p.gap(&p.items[k], k == i+1, true, column)
		p.lay(k, 0)
		p.value(i, k, column, tail)
		k = int(p.items[p.items[k].next].next)
	}
}

// value writes what belongs to a key or name, which is the item label of the
// container i and has been written: beside it if it fits or the label is short,
// else below. What begins a line stands two columns behind at.
func (p *printer) value(i, label, at, tail int) {
	k := int(p.items[label].next)
	t := p.tail(i, k, tail)
	w := p.items[label].width
	switch {
	case p.fits(k, p.col+1, t):
		p.beside(k, at+2, t)
	case w >= 0 && p.opensBeside(k, p.col+1):
		p.function(k, at, t)
	case w >= 0 && w <= shortLabel:
		p.beside(k, at+2, t)
	default:
		p.below(k, at+2, t)
	}
}
