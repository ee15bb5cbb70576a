package kernel

import (
	"math/bits"

	"github.com/gcrun/gcrun/coreform"
)

// maxTextBytes is the length no string or bytes value in memory can exceed,
// whatever the limits are.
const maxTextBytes = 1<<31 - 1

// roomForText is RoomForStr or RoomForBytes for count pieces of size bytes.
func (c *Call) roomForText(room func(int64) bool, count, size int64) bool {
	hi, lo := bits.Mul64(uint64(count), uint64(size))
	if hi != 0 || lo >= 1<<62 {
		lo = 1<<62 - 1
	}
	return room(int64(lo))
}

// meter charges for looking at a value while it is looked at: ⌊bytes/64⌋ +
// ⌊nodes/8⌋ steps, times a factor. A value that shares its parts can be
// exponentially larger as a tree than in memory; the charge is for the tree, so
// such a walk ends in the step limit.
type meter struct {
	c            *Call
	factor       int64
	bytes, nodes int64 // not yet charged
	total        int64 // nodes in all
}

// meterBatch is how many nodes may go uncharged for a while.
const meterBatch = 1 << 12

// add notes one node of that many bytes.
func (m *meter) add(bytes int64) bool {
	m.nodes++
	m.total++
	m.bytes += bytes
	return (m.nodes < meterBatch && m.bytes < 64*meterBatch) || m.flush()
}

// flush charges whole steps and keeps the rest.
func (m *meter) flush() bool {
	steps := m.bytes/64 + m.nodes/8
	m.bytes, m.nodes = m.bytes%64, m.nodes%8
	return m.c.WorkSteps(steps*m.factor) && !m.c.Interrupted()
}

// atomBytes is the size of an atom's content for charging.
func atomBytes(v Value) int64 {
	switch v.Kind() {
	case coreform.KindStr:
		return int64(v.StrLen())
	case coreform.KindSym:
		s, _ := v.AsSym()
		return int64(len(s))
	case coreform.KindBytes:
		b, _ := v.AsBytes()
		return b.Len()
	case coreform.KindInt:
		if _, small := v.AsInt64(); !small {
			n, _ := v.AsBigInt()
			return 8 * limbs(n)
		}
	}
	return 0
}

func isContainer(v Value) bool {
	k := v.Kind()
	return k == coreform.KindPair || k == coreform.KindVec || k == coreform.KindMap
}

// walk looks at everything inside data, as a tree.
func (m *meter) walk(v Value) bool {
	if !isContainer(v) {
		return m.add(atomBytes(v))
	}
	stack := []Value{v}
	visit := func(x Value) bool {
		if isContainer(x) {
			stack = append(stack, x)
			return true
		}
		return m.add(atomBytes(x))
	}
	for len(stack) > 0 {
		v, stack = stack[len(stack)-1], stack[:len(stack)-1]
		if !m.add(0) || !eachPart(v, visit) {
			return false
		}
	}
	return true
}

// eachPart calls f for the parts of a container until it reports false.
func eachPart(v Value, f func(Value) bool) bool {
	switch v.Kind() {
	case coreform.KindPair:
		p, _ := v.AsPair()
		return f(p.Car()) && f(p.Cdr())
	case coreform.KindVec:
		x, _ := v.AsVec()
		for _, e := range x.All() {
			if !f(e) {
				return false
			}
		}
	case coreform.KindMap:
		x, _ := v.AsMap()
		for k, e := range x.All() {
			if !f(k) || !f(e) {
				return false
			}
		}
	}
	return true
}

// TermSize is TermWork that also returns how many nodes the term has as a tree.
func (c *Call) TermSize(v Value, factor int64) (nodes int64, ok bool) {
	m := meter{c: c, factor: factor}
	ok = m.walk(v) && m.flush()
	return m.total, ok
}

// TermWork charges factor × (⌊bytes/64⌋ + ⌊nodes/8⌋) steps for work on all of a
// term, seen as a tree, before that work is done. When it reports false the
// native returns at once.
func (c *Call) TermWork(v Value, factor int64) bool {
	_, ok := c.TermSize(v, factor)
	return ok
}

// keyWork charges for comparing a key with those of a map of n entries. Keys
// that are short atoms cost nothing.
func (c *Call) keyWork(key Value, n int) bool {
	if !isContainer(key) && atomBytes(key) < 64/8 {
		return true
	}
	return c.TermWork(key, max(1, bitLen(n)))
}

func bitLen(n int) int64 { return int64(bits.Len64(uint64(n))) }
