package kernel

import "github.com/gcrun/gcrun/coreform"

// liveUnits counts what the machine can still reach, each shared object once,
// by the rule of spec LIM-MEM-3: a vector 2 + n, a map 2 + 3n, text 1 +
// ⌈bytes/16⌉ (a blob 4), a symbol ⌈bytes/16⌉, a pair 2, a function 2 +
// captures, a frame 4, anything else on the heap 1. Small integers, Booleans and
// nil are part of what holds them. Symbols and strings of up to 64 bytes count
// wherever they stand: whether two are one object depends on whether an answer
// came from a handler or from a log, and must not be seen. It does not recurse, and
// stops when it has counted more than the limit: a small program can make values
// whose versions count far more than the memory they share.
func (m *Machine) liveUnits() int64 {
	clear(m.stack[min(m.sp, m.high):m.high]) // let go of what is dead
	w := liveWalk{limit: m.limits.LiveUnits, seen: map[any]struct{}{},
		pairs: make(map[*coreform.Pair]struct{}, m.lastPairs)}
	defer func() { m.lastPairs = len(w.pairs) }()
	for i := range m.frames {
		w.units += frameUnits
		if wait := m.frames[i].wait; wait != nil {
			w.push(wait.values()...)
		}
		if fn := m.frames[i].fn; fn != nil {
			w.push(fn.caps...)
		}
	}
	w.push(m.stack[:m.sp]...)
	if m.roots != nil {
		m.roots(func(v Value) { w.push(v) })
	}
	for len(w.stack) > 0 && w.units <= w.limit {
		v := w.stack[len(w.stack)-1]
		w.stack = w.stack[:len(w.stack)-1]
		if p, ok := v.AsPair(); ok {
			w.list(p)
		} else {
			w.visit(v)
		}
	}
	return w.units
}

type liveWalk struct {
	units, limit int64
	stack        []Value                     // seen, its parts not yet
	pairs        map[*coreform.Pair]struct{} // apart, because there are most of them
	seen         map[any]struct{}
}

// push notes values that are reachable; what was seen before is not noted
// again, so the stack never holds more than there are objects.
func (w *liveWalk) push(vs ...Value) {
	for _, v := range vs {
		w.add(v)
	}
}

func (w *liveWalk) add(v Value) {
	if p, ok := v.AsPair(); ok {
		if w.unseen(p) {
			w.stack = append(w.stack, v)
		}
		return
	}
	id := v.Identity()
	if id == nil || isAbsorbed(v) {
		return
	}
	if small(v) {
		w.units += atomUnits(v)
		return
	}
	n := len(w.seen)
	if w.seen[id] = struct{}{}; len(w.seen) > n {
		w.stack = append(w.stack, v)
	}
}

func (w *liveWalk) unseen(p *coreform.Pair) bool {
	n := len(w.pairs)
	w.pairs[p] = struct{}{}
	return len(w.pairs) > n // one access instead of two
}

// small reports whether a value counts at every place it stands.
func small(v Value) bool {
	if s, ok := v.AsStr(); ok {
		return len(s) <= 64
	}
	return v.Kind() == coreform.KindSym
}

// list counts a chain of pairs, the first of which is marked as seen.
func (w *liveWalk) list(p *coreform.Pair) {
	for w.units <= w.limit {
		w.units += 2
		w.add(p.Car())
		next, ok := p.Cdr().AsPair()
		if !ok {
			w.add(p.Cdr())
			return
		}
		if !w.unseen(next) {
			return
		}
		p = next
	}
}

func (w *liveWalk) visit(v Value) {
	switch v.Kind() {
	case coreform.KindVec:
		x, _ := v.AsVec()
		if w.units += 2 + int64(x.Len()); w.units > w.limit {
			return
		}
		for _, e := range x.All() {
			w.add(e)
		}
	case coreform.KindMap:
		x, _ := v.AsMap()
		if w.units += 2 + 3*int64(x.Len()); w.units > w.limit {
			return
		}
		for k, e := range x.All() {
			w.add(k)
			w.add(e)
		}
	case coreform.KindOther:
		w.other(v.AsOther())
	default:
		w.units += atomUnits(v)
	}
}

func (w *liveWalk) other(o coreform.Other) {
	if fn, ok := o.(*Fn); ok {
		w.units += 2 + int64(len(fn.caps)+len(fn.args))
		w.push(fn.caps...)
		w.push(fn.args...)
		return
	}
	w.units++
	_, kids := o.Parts()
	w.push(kids...)
}

// atomUnits is what an atom takes.
func atomUnits(v Value) int64 {
	if b, ok := v.AsBytes(); ok {
		if !b.InMemory() {
			return 4
		}
		return TextUnits(b.Len())
	}
	if s, ok := v.AsStr(); ok {
		return TextUnits(int64(len(s)))
	}
	if s, ok := v.AsSym(); ok { // one unit for the usual ones
		return max(1, TextUnits(int64(len(s)))-1)
	}
	if n, ok := v.AsBigInt(); ok {
		return TextUnits(int64(n.BitLen()+7) / 8)
	}
	return 1
}
