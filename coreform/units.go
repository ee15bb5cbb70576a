package coreform

import "iter"

// smallText is the length up to which strings count wherever they stand.
const smallText = 64

// TextUnits is what text of n bytes takes in units of 16 bytes. (spec LIM-MEM-1)
func TextUnits(n int64) int64 { return 1 + (n+15)/16 }

// InlineUnits tells how v counts in the memory of a program: units of 16 bytes
// for every place where v stands, or, for an object, once however many places
// hold it. Whether two short texts are one object depends on whether an answer
// came from a handler or from a log, and there is one empty vector and one empty
// map for all programs, so these count by place. (spec LIM-MEM-3)
func (v Value) InlineUnits() (units int64, object bool) {
	switch r := v.ref.(type) {
	case nil, *boolTag, *intTag:
		return 0, false
	case *symbol: // one unit for the usual ones
		return max(1, TextUnits(int64(len(r.name)))-1), false
	case *str:
		if len(r.s) <= smallText {
			return TextUnits(int64(len(r.s))), false
		}
	case *Vector:
		if r.n == 0 {
			return 2, false
		}
	case *Map:
		if r.Len() == 0 {
			return 2, false
		}
	}
	return 0, true
}

// InlineUnits returns the sum over the elements of what they count at their
// place. It takes constant time.
func (v *Vector) InlineUnits() int64 { return int64(v.shape.inline) }

// HasObjects reports whether an element is an object. It takes constant time.
func (v *Vector) HasObjects() bool { return v.shape.flags&hasObjects != 0 }

// Objects yields the elements that are objects, in order. It does not visit
// parts of the vector that have none.
func (v *Vector) Objects() iter.Seq[Value] {
	return func(yield func(Value) bool) {
		nodes := make([]*vecNode, 0, 2*vecWidth)
		if v.root != nil {
			nodes = append(nodes, v.root)
		}
		for len(nodes) > 0 {
			n := nodes[len(nodes)-1]
			nodes = nodes[:len(nodes)-1]
			if n.shape.flags&hasObjects == 0 {
				continue
			}
			for i := len(n.kids) - 1; i >= 0; i-- {
				nodes = append(nodes, n.kids[i])
			}
			if !yieldObjects(n.vals, yield) {
				return
			}
		}
		if v.last.flags&hasObjects != 0 {
			yieldObjects(v.tail, yield)
		}
	}
}

func yieldObjects(vs []Value, yield func(Value) bool) bool {
	for _, x := range vs {
		if _, object := x.InlineUnits(); object && !yield(x) {
			return false
		}
	}
	return true
}

// InlineUnits returns the sum over keys and values of what they count at their
// place. It takes constant time.
func (m *Map) InlineUnits() int64 { return int64(m.shape.inline) }

// HasObjects reports whether a key or value is an object. It takes constant time.
func (m *Map) HasObjects() bool { return m.shape.flags&hasObjects != 0 }

// Objects yields the keys and values that are objects, in no particular but
// always the same order. It does not visit parts of the map that have none.
func (m *Map) Objects() iter.Seq[Value] {
	return func(yield func(Value) bool) {
		if m.shape.flags&hasObjects == 0 {
			return
		}
		if !yieldEntries(m.small, yield) {
			return
		}
		nodes := []*mapNode{m.root}
		for len(nodes) > 0 {
			n := nodes[len(nodes)-1]
			nodes = nodes[:len(nodes)-1]
			if n == nil || n.shape.flags&hasObjects == 0 {
				continue
			}
			if !yieldEntries(n.es, yield) {
				return
			}
			nodes = append(nodes, n.right, n.left)
		}
	}
}

func yieldEntries(es []Entry, yield func(Value) bool) bool {
	for i := range es {
		if !yieldObjects([]Value{es[i].Key, es[i].Value}, yield) {
			return false
		}
	}
	return true
}
