package coreform

import (
	"bytes"
	"io"
	"strings"
)

// Compare is the total order on terms (spec CF-ORDER-1 … 4): by kind; false
// before true; numeric; strings and symbols by UTF-8 bytes; bytes by octets;
// pairs car first; vectors element by element, then by length; maps entry by
// entry in key order, key then value, then by length. It returns -1, 0 or 1. On
// values that are not data it orders by kind only and says 0 for two of them.
// It does not recurse. It panics with a [Fault] if a blob cannot be read.
func Compare(a, b Value) int {
	if c, done := compareAtoms(a, b); done {
		return c
	}
	w := walk2{}
	w.push(a, b)
	for {
		a, b, ok := w.next()
		if !ok {
			return 0
		}
		c, done := compareAtoms(a, b)
		if !done && !w.known(a, b) {
			c = w.enter(a, b)
		}
		if c != 0 {
			return c
		}
	}
}

// compareAtoms decides when the kinds differ or both are atoms.
func compareAtoms(a, b Value) (c int, done bool) {
	switch ra := a.ref.(type) {
	case *intTag:
		if _, ok := b.ref.(*intTag); ok {
			return compareInt64(a.num, b.num), true
		}
	case *symbol:
		if rb, ok := b.ref.(*symbol); ok {
			return strings.Compare(ra.name, rb.name), true
		}
	case *str:
		if rb, ok := b.ref.(*str); ok {
			return strings.Compare(ra.s, rb.s), true
		}
	}
	ka, kb := a.Kind(), b.Kind()
	if ka != kb {
		return compareInt64(int64(ka), int64(kb)), true
	}
	switch ka {
	case KindNil, KindOther:
		return 0, true
	case KindBool:
		return compareInt64(a.num, b.num), true
	case KindInt:
		x, _ := a.AsBigInt()
		y, _ := b.AsBigInt()
		return x.Cmp(y), true
	case KindStr:
		x, _ := a.AsStr()
		y, _ := b.AsStr()
		return strings.Compare(x, y), true
	case KindBytes:
		return compareBytes(a.ref.(*Bytes), b.ref.(*Bytes)), true
	}
	return 0, a.ref == b.ref // the same container is equal to itself
}

func compareBytes(a, b *Bytes) int {
	if a == b || (a.n == b.n && !a.InMemory() && !b.InMemory() && a.ContentDigest() == b.ContentDigest()) {
		return 0
	}
	if a.InMemory() && b.InMemory() {
		return bytes.Compare(a.data, b.data)
	}
	return compareStreams(a, b)
}

// compareStreams compares without holding more than a piece of each side.
func compareStreams(a, b *Bytes) int {
	ra, rb := a.Reader(), b.Reader()
	pa, pb := make([]byte, flushSize), make([]byte, flushSize)
	for left := min(a.n, b.n); left > 0; {
		n := min(left, flushSize)
		for _, side := range []struct {
			r io.Reader
			p []byte
		}{{ra, pa[:n]}, {rb, pb[:n]}} {
			if _, err := io.ReadFull(side.r, side.p); err != nil {
				panic(Fault{err})
			}
		}
		if c := bytes.Compare(pa[:n], pb[:n]); c != 0 {
			return c
		}
		left -= n
	}
	return compareInt64(a.n, b.n)
}

func compareInt64(a, b int64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// Equal reports structural equality, the language's core/eq?: data by content,
// comparable others by their parts, functions and effect programs never. It
// does not recurse. It panics with a [Fault] if a blob cannot be read.
func Equal(a, b Value) bool {
	w := walk2{}
	w.push(a, b)
	for {
		a, b, ok := w.next()
		if !ok {
			return true
		}
		if !a.IsData() || !b.IsData() {
			if !w.enterOthers(a, b) {
				return false
			}
			continue
		}
		c, done := compareAtoms(a, b)
		if !done {
			if sizeOf(a) != sizeOf(b) {
				return false
			}
			if !w.known(a, b) {
				c = w.enter(a, b)
			}
		}
		if c != 0 {
			return false
		}
	}
}

// sizeOf is the length of a vector or map, and 0 for the rest.
func sizeOf(v Value) int {
	switch r := v.ref.(type) {
	case *Vector:
		return r.n
	case *Map:
		return r.Len()
	}
	return 0
}

// walk2 walks two values of the same kind side by side, without recursion. Each
// frame is a cursor over two containers.
type walk2 struct {
	frames []frame2
	one    bool // a single pair of values is waiting in a, b
	a, b   Value

	// A value that shares its parts can be exponentially larger as a tree than
	// in memory. So a walk that has opened many containers begins to ask
	// digests, which are computed once per object, and to remember what it has
	// opened.
	opened int
	seen   map[[2]any]struct{}
}

const manyContainers = 1 << 16

// known reports whether two containers of one kind are known to be equal, or
// were opened before, so that there is no need to look again.
func (w *walk2) known(a, b Value) bool {
	if w.opened++; w.opened <= manyContainers {
		return false
	}
	if a.IsData() && b.IsData() {
		return StateHash(a) == StateHash(b)
	}
	both := [2]any{a.ref, b.ref}
	if _, ok := w.seen[both]; ok {
		return true
	}
	if w.seen == nil {
		w.seen = map[[2]any]struct{}{}
	}
	w.seen[both] = struct{}{}
	return false
}

type frame2 struct {
	a, b       Value // pairs: what is left of the two chains; vectors: themselves
	ea, eb     []Entry
	i          int
	valueTurn  bool // maps: the key of entry i was compared
	ka, kb     []Value
	lastResult int // what the lengths say once all common elements are equal
}

func (w *walk2) push(a, b Value) { w.a, w.b, w.one = a, b, true }

// enter opens two containers of one kind. It returns a result only when both
// are done at once by their lengths.
func (w *walk2) enter(a, b Value) int {
	f := frame2{a: a, b: b}
	switch ra := a.ref.(type) {
	case *Vector:
		f.lastResult = compareInt64(int64(ra.n), int64(b.ref.(*Vector).n))
	case *Map:
		rb := b.ref.(*Map)
		f.ea, f.eb = ra.Entries(), rb.Entries()
		f.lastResult = compareInt64(int64(len(f.ea)), int64(len(f.eb)))
	}
	if f.lastResult != 0 { // compared after the common part
		w.frames = append(w.frames, frame2{a: Int(int64(f.lastResult)), b: Int(0), i: -1})
	}
	w.frames = append(w.frames, f)
	return 0
}

// enterOthers opens two values of which at least one is not data. It reports
// false when they are known to differ.
func (w *walk2) enterOthers(a, b Value) bool {
	oa, ob := a.AsOther(), b.AsOther()
	if oa == nil && ob == nil {
		if a.Kind() != b.Kind() || sizeOf(a) != sizeOf(b) {
			return false
		}
		if !w.known(a, b) {
			w.enter(a, b)
		}
		return true
	}
	if oa == nil || ob == nil || oa.TypeName() != ob.TypeName() || oa.Equality() != ob.Equality() {
		return false
	}
	switch {
	case oa.Equality() == EqualNever:
		return false
	case oa.Equality() == EqualHash:
		return StateHash(a) == StateHash(b)
	case w.known(a, b):
		return true
	}
	// One object may differ from itself: it may hold a function.
	la, ka := oa.Parts()
	lb, kb := ob.Parts()
	if !bytes.Equal(la, lb) || len(ka) != len(kb) {
		return false
	}
	w.frames = append(w.frames, frame2{ka: ka, kb: kb})
	return true
}

// next returns the next two values to compare.
func (w *walk2) next() (a, b Value, ok bool) {
	if w.one {
		w.one = false
		return w.a, w.b, true
	}
	for len(w.frames) > 0 {
		f := &w.frames[len(w.frames)-1]
		if a, b, ok := f.next(); ok {
			return a, b, true
		}
		w.frames = w.frames[:len(w.frames)-1]
	}
	return Value{}, Value{}, false
}

func (f *frame2) next() (a, b Value, ok bool) {
	switch ra := f.a.ref.(type) {
	case *intTag: // the verdict of two lengths
		f.i++
		return f.a, f.b, f.i == 0
	case *Pair:
		rb := f.b.ref.(*Pair)
		a, b = ra.car, rb.car
		f.a, f.b = ra.cdr, rb.cdr
		if f.a.Kind() != KindPair || f.b.Kind() != KindPair {
			// The tails are compared last, as two values in their own right.
			f.ka, f.kb, f.i = []Value{f.a}, []Value{f.b}, 0
			f.a, f.b = Value{}, Value{}
		}
		return a, b, true
	case *Vector:
		rb := f.b.ref.(*Vector)
		if f.i >= ra.n || f.i >= rb.n {
			return Value{}, Value{}, false
		}
		f.i++
		return ra.At(f.i - 1), rb.At(f.i - 1), true
	case *Map:
		if f.i >= len(f.ea) || f.i >= len(f.eb) {
			return Value{}, Value{}, false
		}
		x, y := f.ea[f.i], f.eb[f.i]
		if f.valueTurn = !f.valueTurn; f.valueTurn {
			return x.Key, y.Key, true
		}
		f.i++
		return x.Value, y.Value, true
	}
	if f.i >= len(f.ka) {
		return Value{}, Value{}, false
	}
	f.i++
	return f.ka[f.i-1], f.kb[f.i-1], true
}
