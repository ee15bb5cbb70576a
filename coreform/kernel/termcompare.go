package kernel

import (
	"cmp"
	"strings"

	"github.com/gcrun/gcrun/coreform"
)

var termNatives = []Native{{Name: "core/term::compare", Arity: 2, Fn: termCompare}}

// comparison orders two terms as coreform.Compare does and charges for what it
// has compared until the answer is known: ⌊bytes/64⌋ + ⌊nodes/8⌋ steps, of two
// texts the bytes of the shorter one. It takes no shortcut for shared objects,
// because what is shared must not be observable; a term that shares its parts
// and is larger as a tree than in memory ends in the step limit.
type comparison struct {
	meter
	stack []side // what is left to compare, the next on top
}

// side is a pair of values, or two containers with what is compared next.
type side struct {
	a, b   Value
	i      int              // elements of two vectors that are done
	ea, eb []coreform.Entry // of two maps, what is left
	opened bool
}

// termCompare is core/term::compare.
func termCompare(c *Call, a []Value) Value {
	if !a[0].IsTerm() || !a[1].IsTerm() {
		return c.TypeError()
	}
	w := comparison{meter: meter{c: c, factor: 1}, stack: []side{{a: a[0], b: a[1]}}}
	order := 0
	for order == 0 && len(w.stack) > 0 {
		var ok bool
		if order, ok = w.step(); !ok {
			return Value{}
		}
	}
	if !w.flush() {
		return Value{}
	}
	return coreform.Int(int64(order))
}

// step compares what is on top of the stack, or opens it. It reports false when
// the run is over.
func (w *comparison) step() (order int, ok bool) {
	top := &w.stack[len(w.stack)-1]
	if top.opened {
		return w.next(top), true
	}
	a, b := top.a, top.b
	kind := a.Kind()
	if kind != b.Kind() {
		return coreform.Compare(a, b), w.add(0)
	}
	switch kind {
	case coreform.KindPair:
		p, _ := a.AsPair()
		q, _ := b.AsPair()
		*top = side{a: p.Cdr(), b: q.Cdr()} // the heads come before it
		w.stack = append(w.stack, side{a: p.Car(), b: q.Car()})
		return 0, w.add(0)
	case coreform.KindVec:
		top.opened = true
		return 0, w.add(0)
	case coreform.KindMap:
		x, _ := a.AsMap()
		y, _ := b.AsMap()
		if !w.c.WorkSteps(int64(min(x.Len(), y.Len())) / 8) {
			return 0, false
		}
		top.ea, top.eb, top.opened = firstEntries(x, y.Len()), firstEntries(y, x.Len()), true
		return 0, w.add(0)
	}
	w.stack = w.stack[:len(w.stack)-1]
	if !w.add(min(atomBytes(a), atomBytes(b))) {
		return 0, false
	}
	if kind == coreform.KindStr { // no more than what is charged, nor is it put in one piece
		n := min(a.StrLen(), b.StrLen())
		if order = strings.Compare(a.StrPart(0, n), b.StrPart(0, n)); order == 0 {
			order = cmp.Compare(a.StrLen(), b.StrLen())
		}
		return order, true
	}
	return coreform.Compare(a, b), true
}

// firstEntries are the entries of a map that can be compared with those of one
// of n entries.
func firstEntries(m *coreform.Map, n int) []coreform.Entry {
	n = min(n, m.Len())
	out := make([]coreform.Entry, 0, n)
	for k, v := range m.All() {
		if len(out) == n {
			break
		}
		out = append(out, coreform.Entry{Key: k, Value: v})
	}
	return out
}

// next puts the next elements of two open containers on the stack, or says what
// their lengths say when one has no more.
func (w *comparison) next(top *side) int {
	if x, isVec := top.a.AsVec(); isVec {
		y, _ := top.b.AsVec()
		if i := top.i; i < x.Len() && i < y.Len() {
			top.i++
			w.stack = append(w.stack, side{a: x.At(i), b: y.At(i)})
			return 0
		}
		w.stack = w.stack[:len(w.stack)-1]
		return cmp.Compare(x.Len(), y.Len())
	}
	if len(top.ea) > 0 && len(top.eb) > 0 {
		x, y := top.ea[0], top.eb[0]
		top.ea, top.eb = top.ea[1:], top.eb[1:]
		w.stack = append(w.stack, side{a: x.Value, b: y.Value}, side{a: x.Key, b: y.Key})
		return 0
	}
	x, _ := top.a.AsMap()
	y, _ := top.b.AsMap()
	w.stack = w.stack[:len(w.stack)-1]
	return cmp.Compare(x.Len(), y.Len())
}
