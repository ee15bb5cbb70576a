package format

// arguments is what decides about the layout of a call.
type arguments struct {
	first, last int
	column      int  // of the first one beside the head
	fit         bool // each fits on a line of its own at column
	lead        bool // all but the last fit beside the head
	stacked     bool // the author put one that is not the last below another
	end         int  // where the last would begin beside them
}

// look finds out about the arguments of the call i from k on.
func (p *printer) look(i, k, tail int) arguments {
	a := arguments{first: k, column: p.col + 1, fit: true, lead: true, end: p.col + 1}
	for end := int(p.items[i].next); k < end; k = int(p.items[k].next) {
		it := &p.items[k]
		a.fit = a.fit && it.width >= 0 && p.fits(k, a.column, p.tail(i, k, tail))
		if a.last = k; int(it.next) < end {
			a.lead = a.lead && it.width >= 0 && it.c0 == it.c1
			a.stacked = a.stacked || k != a.first && it.newline
			a.end = min(a.end+int(it.width)+1, tooWide)
		}
	}
	a.lead = a.lead && a.end-1 <= lineWidth
	return a
}

// call writes a call of which heads elements are the head, from the parenthesis
// at column at on. It returns the column of what begins a line.
func (p *printer) call(i, at, heads, tail int) int {
	k, line := i+1, p.line
	for h := range heads {
		p.gap(&p.items[k], h == 0, false, at+2)
		p.lay(k, p.tail(i, k, tail))
		k = int(p.items[k].next)
	}
	if k == int(p.items[i].next) {
		return at + 2
	}
	a := p.look(i, k, tail)
	beside := p.line == line && p.items[k].c0 == p.items[k].c1
	short := beside && p.col-at-1 <= shortHead
	column := at + 2
	if short && a.fit {
		column = a.column
	}
	switch {
	case p.items[k].newline && !p.isAtom(k): // the author left the head alone
		column = at + 2
		p.tight(k)
		p.below(k, column, p.tail(i, k, tail))
		p.rest(i, k, column, tail)
	case beside && a.lead && p.opensBeside(a.last, a.end) && !p.fits(a.last, column, p.tail(i, a.last, tail)):
		p.run(a.first, a.last)
		p.function(a.last, at, p.tail(i, a.last, tail))
	case beside && a.lead && !a.stacked && a.first != a.last && p.isAtom(a.first) && !p.isAtom(a.last):
		p.run(a.first, a.last)
		p.below(a.last, column, p.tail(i, a.last, tail))
	case short && a.column <= hugColumn && !p.isAtom(k) && !p.fits(k, a.column, p.tail(i, k, tail)):
		column = a.column
		p.beside(k, column, p.tail(i, k, tail))
		p.rest(i, k, column, tail)
	default:
		p.spread(i, k, column, tail)
	}
	return column
}

// run writes the elements from first up to end, which fit, beside each other.
func (p *printer) run(first, end int) {
	for k := first; k < end; k = int(p.items[k].next) {
		p.beside(k, 0, 0)
	}
}

// rest writes the elements behind k below each other.
func (p *printer) rest(i, k, column, tail int) {
	end := int(p.items[i].next)
	for k = int(p.items[k].next); k < end; k = int(p.items[k].next) {
		p.below(k, column, p.tail(i, k, tail))
	}
}

// spread writes beside the head the first argument, if it fits, and if that is
// an atom also the atoms that follow it. The rest stands below.
func (p *printer) spread(i, k, column, tail int) {
	end := int(p.items[i].next)
	run := true
	for first := k; k < end; k = int(p.items[k].next) {
		t := p.tail(i, k, tail)
		isAtom := p.isAtom(k)
		beside := run && (isAtom || k == first) && p.fits(k, p.col+1, t)
		run = run && isAtom
		p.gap(&p.items[k], false, !beside, column)
		p.lay(k, t)
	}
}

// body writes a form of which lead elements stand on the first line and the rest
// two columns behind the parenthesis at column at, which it returns.
func (p *printer) body(i, at, lead, tail int) int {
	it := &p.items[i]
	p.first(i+1, at+2, p.tail(i, i+1, tail))
	last := i + 1
	if lead == 2 {
		last = int(p.items[last].next)
		p.gap(&p.items[last], false, false, at+2)
		if it.kind == let && p.several(last) {
			p.broken(last, 0)
		} else {
			p.lay(last, 0)
		}
	}
	if k := int(p.items[last].next); k < int(it.next) {
		p.tight(k)
	}
	p.rest(i, last, at+2, tail)
	return at + 2
}

// tight drops an empty line before the first part of a body.
func (p *printer) tight(k int) {
	if it := &p.items[k]; it.c0 == it.c1 {
		it.blank = false
	} else {
		p.comments[it.c0].blank = false
	}
}

// several reports whether an item is the bindings of a let, and more than one:
// these never share a line when the let does not fit on one.
func (p *printer) several(i int) bool {
	it := &p.items[i]
	return it.kind == bindings && int(it.next) > i+1 && p.items[i+1].next != it.next
}

// definition writes a def. The body of a function that is defined stands two
// columns behind the parenthesis of the def.
func (p *printer) definition(i, at, tail int) int {
	name := int(p.items[i+1].next)
	v := int(p.items[name].next)
	p.first(i+1, at+2, 0)
	p.beside(name, at+2, 0)
	t := p.tail(i, v, tail)
	switch {
	case p.opensBeside(v, p.col+1):
		p.function(v, at, t)
	case p.isAtom(v) && p.fits(v, p.col+1, t):
		p.beside(v, at+2, t)
	default:
		p.below(v, at+2, t)
	}
	return at + 2
}

// function writes a function beside what is on the line. Its body stands two
// columns behind the parenthesis of what it is the last part of.
func (p *printer) function(i, at, tail int) {
	p.byte(' ')
	p.open(&p.items[i])
	p.close(i, p.body(i, at, 2, tail))
}

// opensBeside reports whether an item is a function of which head and parameters
// fit on the line that is being written, from a column on.
func (p *printer) opensBeside(i, column int) bool {
	it := &p.items[i]
	if it.kind != function || it.quotes > 0 || it.c0 < it.c1 {
		return false
	}
	head := &p.items[i+1]
	params := &p.items[head.next]
	if head.c0 < head.c1 || params.c0 < params.c1 {
		return false
	}
	return p.fits(int(head.next), column+len("(fn "), 0)
}
