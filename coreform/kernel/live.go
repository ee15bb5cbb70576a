package kernel

import (
	"iter"

	"github.com/gcrun/gcrun/coreform"
)

// liveUnits counts what the machine can still reach, each shared object once,
// by the rule of spec LIM-MEM-3: a vector 2 + n, a map 2 + 3n, text 1 +
// ⌈bytes/16⌉ (a blob 4), a symbol ⌈bytes/16⌉, a pair 2, a function 2 +
// captures, a frame what it charged, anything else on the heap 1. Small
// integers, Booleans and nil are part of what holds them. Symbols and strings of
// up to 64 bytes, empty vectors and empty maps count wherever they stand:
// whether two are one object depends on whether an answer came from a handler or
// from a log, and must not be seen. It does not recurse, and stops when it has
// counted more than the limit: a small program can make values whose versions
// count far more than the memory they share.
func (m *Machine) liveUnits() int64 {
	clear(m.stack[min(m.sp, m.high):m.high]) // let go of what is dead
	w := liveWalk{limit: m.limits.LiveUnits}
	for i := range m.frames.len() {
		if fr := m.frames.at(i); fr.p != nil {
			w.units += fr.p.units
			w.push(fr.fn.caps...)
		} else {
			w.units += frameUnits
		}
	}
	for _, wait := range m.waits {
		w.push(wait.values()...)
	}
	w.push(m.stack[:m.sp]...)
	if m.roots != nil {
		m.roots(func(v Value) { w.add(v) })
	}
	for len(w.stack) > 0 && w.units <= w.limit {
		v := w.stack[len(w.stack)-1]
		w.stack = w.stack[:len(w.stack)-1]
		w.visit(v)
	}
	return w.units
}

type liveWalk struct {
	units, limit int64
	stack        []Value // seen, its parts not yet
	seen         addressSet
}

// push notes values that are reachable.
func (w *liveWalk) push(vs ...Value) {
	for _, v := range vs {
		w.add(v)
	}
}

// add notes a value that is reachable. What has parts and was not seen before is
// put on the stack, which so never holds more than there are objects.
func (w *liveWalk) add(v Value) {
	units, object := v.InlineUnits()
	w.units += units
	if !object || isAbsorbed(v) || !w.seen.add(v.Address()) {
		return
	}
	switch r := v.Ref().(type) {
	case *coreform.Pair:
		w.stack = append(w.stack, v)
	case *coreform.Vector:
		if w.units += 2 + int64(r.Len()) + r.InlineUnits(); r.HasObjects() {
			w.stack = append(w.stack, v)
		}
	case *coreform.Map:
		if w.units += 2 + 3*int64(r.Len()) + r.InlineUnits(); r.HasObjects() {
			w.stack = append(w.stack, v)
		}
	case *Fn:
		if w.units += 2 + int64(len(r.caps)+len(r.args)); len(r.caps)+len(r.args) > 0 {
			w.stack = append(w.stack, v)
		}
	case coreform.Other:
		w.stack = append(w.stack, v)
	default:
		w.units += objectUnits(v)
	}
}

// visit looks at the parts of what was noted.
func (w *liveWalk) visit(v Value) {
	switch r := v.Ref().(type) {
	case *coreform.Pair:
		w.list(r)
	case *coreform.Vector:
		w.each(r.Objects())
	case *coreform.Map:
		w.each(r.Objects())
	case coreform.Other:
		w.other(r)
	}
}

// each notes the objects in a container.
func (w *liveWalk) each(objects iter.Seq[Value]) {
	if w.units > w.limit {
		return
	}
	for v := range objects {
		w.add(v)
	}
}

// list counts a chain of pairs, the first of which is noted as seen.
func (w *liveWalk) list(p *coreform.Pair) {
	for w.units <= w.limit {
		w.units += 2
		w.add(p.Car())
		cdr := p.Cdr()
		next, ok := cdr.AsPair()
		if !ok {
			w.add(cdr)
			return
		}
		if !w.seen.add(cdr.Address()) {
			return
		}
		p = next
	}
}

func (w *liveWalk) other(o coreform.Other) {
	switch o := o.(type) {
	case *Fn:
		w.push(o.caps...)
		w.push(o.args...)
	case *Sealed:
		w.sealed(o)
	case *Effect:
		w.units++
		w.add(o.value)
		if o.req != nil {
			w.push(o.req.payload, o.req.k)
		}
		if o.binds != nil {
			w.add(coreform.FromOther(o.binds))
		}
	case *bound:
		w.binds(o)
	default:
		w.units++
		_, kids := o.Parts()
		w.push(kids...)
	}
}

// sealed counts what is sealed again and again, the outermost of which is noted as
// seen.
func (w *liveWalk) sealed(s *Sealed) {
	for w.units <= w.limit {
		w.units++
		w.add(coreform.FromOther(s.token))
		inner, ok := s.payload.Ref().(*Sealed)
		if !ok {
			w.add(s.payload)
			return
		}
		if s = inner; !w.seen.add(coreform.FromOther(s).Address()) {
			return
		}
	}
}

// binds counts a chain of bound functions, the first of which is noted as seen.
func (w *liveWalk) binds(b *bound) {
	for w.units <= w.limit {
		w.units++
		w.add(coreform.FromOther(b.f))
		if b = b.next; b == nil || !w.seen.add(coreform.FromOther(b).Address()) {
			return
		}
	}
}

// objectUnits is what an atom takes that is an object.
func objectUnits(v Value) int64 {
	switch v.Kind() {
	case coreform.KindBytes:
		if b, _ := v.AsBytes(); b.InMemory() {
			return TextUnits(b.Len())
		}
		return blobUnits
	case coreform.KindStr:
		return TextUnits(int64(v.StrLen()))
	}
	n, _ := v.AsBigInt()
	return TextUnits(int64(n.BitLen()+7) / 8)
}
