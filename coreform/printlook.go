package coreform

import "slices"

// isAtom reports whether v is written without looking inside.
func (p *printer) isAtom(v Value) bool {
	switch v.ref.(type) {
	case *Pair:
		return p.lossy && p.improper(v)
	case *Vector, *Map:
		return false
	}
	return true
}

// hasFlat reports whether v has a one-line form, however long.
func (p *printer) hasFlat(v Value) bool {
	switch r := v.ref.(type) {
	case *Pair:
		return p.isAtom(v) || p.look(v, lineWidth) >= 0
	case *Vector:
		return p.smallVector(r)
	case *Map:
		return p.smallMap(r)
	}
	return true
}

func (p *printer) smallVector(r *Vector) bool {
	if r.n > 3 {
		return false
	}
	p.looks += r.n
	return r.n == 0 || !slices.ContainsFunc(r.tail, func(v Value) bool { return !p.isAtom(v) })
}

func (p *printer) smallMap(r *Map) bool {
	if r.Len() > 2 {
		return false
	}
	p.looks += 2 * r.Len()
	return !slices.ContainsFunc(r.small, func(e Entry) bool { return !p.isAtom(e.Key) || !p.isAtom(e.Value) })
}

// look returns the bytes of the one-line form of v, or -1 if there is none or
// it has more than budget bytes. It looks at no more than budget terms, and
// recurses at most budget/2 deep, since every level takes two bytes.
func (p *printer) look(v Value, budget int) int {
	p.looks++
	if budget < 1 {
		return -1
	}
	w := 2
	switch r := v.ref.(type) {
	case *Pair:
		if !p.isAtom(v) {
			return p.lookList(r, budget)
		}
	case *Vector:
		if !p.smallVector(r) {
			return -1
		}
		for i := 0; i < r.n && w >= 0; i++ {
			w = p.lookMore(r.tail[i], i > 0, w, budget)
		}
		return within(w, budget)
	case *Map:
		if !p.smallMap(r) {
			return -1
		}
		for i, e := range r.small {
			w = p.lookMore(e.Key, i > 0, w, budget)
			w = p.lookMore(e.Value, true, w, budget)
		}
		return within(w, budget)
	}
	return within(p.atomWidth(v, budget), budget)
}

func (p *printer) lookList(r *Pair, budget int) int {
	if 2*int64(r.shape.depth) > int64(budget) {
		return -1
	}
	w, ok := p.lookMore(r.car, false, 2, budget), true
	for w >= 0 {
		if r, ok = r.cdr.ref.(*Pair); !ok {
			break
		}
		w = p.lookMore(r.car, true, w, budget)
	}
	return within(w, budget)
}

// lookMore adds one more element, and the space before it, to a width.
func (p *printer) lookMore(v Value, space bool, w, budget int) int {
	if w < 0 {
		return -1
	}
	if space {
		w++
	}
	k := p.look(v, budget-w)
	if k < 0 {
		return -1
	}
	return w + k
}

func within(w, budget int) int {
	if w > budget {
		return -1
	}
	return w
}
