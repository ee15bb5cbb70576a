package kernel

import (
	"bytes"

	"github.com/gcrun/gcrun/coreform"
)

// equality compares two values node by node and charges for what it has
// compared: ⌊bytes/64⌋ + ⌊nodes/8⌋ steps. Text of different length is not
// looked at. It takes no shortcut for shared objects, because what is shared
// must not be observable, and no digests, because whether they are known is not.
type equality struct {
	meter
	stack [][2]Value // containers and sealed values still to compare
}

func coreEq(c *Call, a []Value) Value {
	e := equality{meter: meter{c: c, factor: 1}}
	same := e.compare(a[0], a[1])
	for same && len(e.stack) > 0 {
		top := e.stack[len(e.stack)-1]
		e.stack = e.stack[:len(e.stack)-1]
		same = e.parts(top[0], top[1])
	}
	e.flush()
	return coreform.Bool(same)
}

// compare compares two values, leaving the parts of containers for later. It
// reports false when the values differ or the run is over.
func (e *equality) compare(a, b Value) bool {
	kind := a.Kind()
	if kind != b.Kind() {
		return e.add(0) && false
	}
	switch kind {
	case coreform.KindPair, coreform.KindVec, coreform.KindMap:
		e.stack = append(e.stack, [2]Value{a, b})
		return e.add(0)
	case coreform.KindOther:
		return e.others(a, b)
	case coreform.KindBytes:
		x, _ := a.AsBytes()
		y, _ := b.AsBytes()
		return x.Len() == y.Len() && e.add(x.Len()) && equalBytes(x, y)
	}
	size := atomBytes(a)
	if size != atomBytes(b) {
		return e.add(0) && false
	}
	return e.add(size) && coreform.Compare(a, b) == 0
}

// equalBytes compares content of equal length. A blob is compared by digest,
// which is its name, so its content is not loaded.
func equalBytes(x, y *coreform.Bytes) bool {
	if x.InMemory() && y.InMemory() {
		return bytes.Equal(x.MustLoad(), y.MustLoad())
	}
	return x.ContentDigest() == y.ContentDigest()
}

func (e *equality) others(a, b Value) bool {
	x, y := a.AsOther(), b.AsOther()
	if !e.add(0) || x.TypeName() != y.TypeName() {
		return false
	}
	switch x.Equality() {
	case coreform.EqualNever:
		return false
	case coreform.EqualHash:
		return coreform.StateHash(a) == coreform.StateHash(b)
	}
	e.stack = append(e.stack, [2]Value{a, b}) // what is sealed can be sealed again without end
	return true
}

// sealed compares tokens or sealed values by label and parts.
func (e *equality) sealed(a, b Value) bool {
	labelX, partsX := a.AsOther().Parts()
	labelY, partsY := b.AsOther().Parts()
	if !bytes.Equal(labelX, labelY) || len(partsX) != len(partsY) {
		return false
	}
	for i := range partsX {
		if !e.compare(partsX[i], partsY[i]) {
			return false
		}
	}
	return true
}

// parts compares what two containers of one kind hold.
func (e *equality) parts(a, b Value) bool {
	switch a.Kind() {
	case coreform.KindPair:
		return e.chains(a, b)
	case coreform.KindOther:
		return e.sealed(a, b)
	case coreform.KindVec:
		x, _ := a.AsVec()
		y, _ := b.AsVec()
		if x.Len() != y.Len() {
			return false
		}
		for i, v := range x.All() {
			if !e.compare(v, y.At(i)) {
				return false
			}
		}
		return true
	}
	x, _ := a.AsMap()
	y, _ := b.AsMap()
	if x.Len() != y.Len() {
		return false
	}
	other := y.Entries()
	i := 0
	for k, v := range x.All() {
		if !e.compare(k, other[i].Key) || !e.compare(v, other[i].Value) {
			return false
		}
		i++
	}
	return true
}

// chains compares two lists without leaving a trace of each pair.
func (e *equality) chains(a, b Value) bool {
	for {
		x, _ := a.AsPair()
		y, _ := b.AsPair()
		if !e.compare(x.Car(), y.Car()) {
			return false
		}
		a, b = x.Cdr(), y.Cdr()
		if a.Kind() != coreform.KindPair || b.Kind() != coreform.KindPair {
			return e.compare(a, b)
		}
		if !e.add(0) {
			return false
		}
	}
}
