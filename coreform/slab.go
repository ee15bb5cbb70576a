package coreform

// slab hands out parts of larger allocations. It is for the terms and nodes of
// a source, which live and die together: a part keeps the whole chunk alive.
// What a program can make again and again must not come from one.
type slab[T any] struct {
	free []T
	size int // of the chunk made last
}

const largestChunk = 256

// take returns n zeroed elements, of which the caller is the only owner.
func (s *slab[T]) take(n int) []T {
	if n > len(s.free) {
		if n > largestChunk/4 {
			return make([]T, n)
		}
		s.size = min(max(2*s.size, 2*n, 16), largestChunk)
		s.free = make([]T, s.size)
	}
	out := s.free[:n:n]
	s.free = s.free[n:]
	return out
}

// pairs makes lists of pairs that come from a slab.
type pairs struct{ slab[Pair] }

// cons is [Cons] with the pair in p.
func cons(p *Pair, car, cdr Value) Value {
	p.init(car, cdr)
	return Value{ref: p}
}

// list returns the proper list of the given values.
func (s *pairs) list(vs []Value) Value {
	ps, l := s.take(len(vs)), Value{}
	for i := len(vs) - 1; i >= 0; i-- {
		l = cons(&ps[i], vs[i], l)
	}
	return l
}

// listOf returns the proper list of the terms of nodes.
func (s *pairs) listOf(kids []Node) Value {
	ps, l := s.take(len(kids)), Value{}
	for i := len(kids) - 1; i >= 0; i-- {
		l = cons(&ps[i], kids[i].Term, l)
	}
	return l
}
