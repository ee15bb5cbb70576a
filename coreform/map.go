package coreform

import (
	"encoding/binary"
	"iter"
	"slices"
)

// Map is a persistent map from terms to values, kept in term order.
//
// Up to smallMap entries it is a sorted slice. Beyond that it is a treap: a
// search tree by key that is at the same time a heap by a priority taken from
// the key's digest. A treap's shape is a function of its keys alone, so node
// digests can be cached and an update re-hashes O(log n) nodes, whatever the
// order of insertion was. Someone who searches for keys with rising priorities
// can make it deeper, but only as the square root of the effort, and no walk
// recurses. (A hash trie was tried on paper: it needs a sort for every ordered
// walk, and maps are walked in order wherever they are printed, hashed or
// turned into entries.)
type Map struct {
	small []Entry // sorted; used iff root is nil
	root  *mapNode
	shape shape
	cell  DigestCell
}

// Entry is one key and its value.
type Entry struct{ Key, Value Value }

const smallMap = 8

type mapNode struct {
	Entry
	left, right *mapNode
	prio        uint64
	size        int
	shape       shape // of the content, not counting the map's own level
	cell        DigestCell
}

var emptyMap = &Map{shape: shape{}.outer()}

// MapOf returns the map of the given entries; of entries with equal keys the
// last counts. Keys must be terms (IsTerm). It sorts es in place and takes
// ownership of it.
func MapOf(es ...Entry) Value {
	if len(es) == 0 {
		return Value{ref: emptyMap}
	}
	if !slices.IsSortedFunc(es, func(a, b Entry) int { return Compare(a.Key, b.Key) }) {
		slices.SortStableFunc(es, func(a, b Entry) int { return Compare(a.Key, b.Key) })
	}
	out := es[:1]
	for _, e := range es[1:] {
		if last := &out[len(out)-1]; Compare(last.Key, e.Key) == 0 {
			last.Value = e.Value
		} else {
			out = append(out, e)
		}
	}
	if len(out) <= smallMap {
		return newSmallMap(out)
	}
	return newTreeMap(buildTreap(out))
}

func newSmallMap(es []Entry) Value {
	if len(es) == 0 {
		return Value{ref: emptyMap}
	}
	var s shape
	for _, e := range es {
		s.add(e.Key)
		s.add(e.Value)
	}
	return Value{ref: &Map{small: es, shape: s.outer()}}
}

func newTreeMap(root *mapNode) Value {
	return Value{ref: &Map{root: root, shape: root.shape.outer()}}
}

// Len returns the number of entries.
func (m *Map) Len() int {
	if m.root != nil {
		return m.root.size
	}
	return len(m.small)
}

// Get returns the value of a key and whether there is one.
func (m *Map) Get(key Value) (Value, bool) {
	if m.root == nil {
		i, ok := m.find(key)
		if !ok {
			return Value{}, false
		}
		return m.small[i].Value, true
	}
	for n := m.root; n != nil; {
		switch c := Compare(key, n.Key); {
		case c == 0:
			return n.Value, true
		case c < 0:
			n = n.left
		default:
			n = n.right
		}
	}
	return Value{}, false
}

func (m *Map) find(key Value) (int, bool) {
	return slices.BinarySearchFunc(m.small, key, func(e Entry, k Value) int { return Compare(e.Key, k) })
}

// All yields the entries in key order.
func (m *Map) All() iter.Seq2[Value, Value] {
	return func(yield func(Value, Value) bool) {
		for _, e := range m.small {
			if !yield(e.Key, e.Value) {
				return
			}
		}
		var stack []*mapNode
		for n := m.root; n != nil || len(stack) > 0; {
			for ; n != nil; n = n.left {
				stack = append(stack, n)
			}
			n = stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if !yield(n.Key, n.Value) {
				return
			}
			n = n.right
		}
	}
}

// Entries returns the entries in key order as a new slice.
func (m *Map) Entries() []Entry {
	out := make([]Entry, 0, m.Len())
	for k, v := range m.All() {
		out = append(out, Entry{k, v})
	}
	return out
}

// Put returns the map with key bound to value. key must be a term.
func (m *Map) Put(key, value Value) Value {
	if m.root != nil {
		return newTreeMap(treapPut(m.root, key, value))
	}
	i, found := m.find(key)
	es := make([]Entry, 0, len(m.small)+1)
	es = append(es, m.small...)
	if found {
		es[i].Value = value
	} else {
		es = slices.Insert(es, i, Entry{key, value})
	}
	if len(es) > smallMap {
		return newTreeMap(buildTreap(es))
	}
	return newSmallMap(es)
}

// Remove returns the map without key.
func (m *Map) Remove(key Value) Value {
	if _, ok := m.Get(key); !ok {
		return Value{ref: m}
	}
	if m.root == nil || m.root.size == smallMap+1 {
		es := slices.DeleteFunc(m.Entries(), func(e Entry) bool { return Compare(e.Key, key) == 0 })
		return newSmallMap(es)
	}
	return newTreeMap(treapRemove(m.root, key))
}

// Merge returns m overlaid by over.
func (m *Map) Merge(over *Map) Value {
	if over.Len() > m.Len()/4 {
		return MapOf(append(m.Entries(), over.Entries()...)...)
	}
	out := Value{ref: m}
	for k, v := range over.All() {
		out = out.ref.(*Map).Put(k, v)
	}
	return out
}

func newMapNode(e Entry, prio uint64, l, r *mapNode) *mapNode {
	n := &mapNode{Entry: e, prio: prio, left: l, right: r, size: 1}
	n.shape.add(e.Key)
	n.shape.add(e.Value)
	for _, kid := range [...]*mapNode{l, r} {
		if kid != nil {
			n.size += kid.size
			n.shape.merge(kid.shape)
		}
	}
	return n
}

// priority is the heap order of a key: the head of its state hash.
func priority(key Value) uint64 {
	d := StateHash(key)
	return binary.BigEndian.Uint64(d[:])
}

// above reports whether a node of priority p and key k belongs above n. Equal
// priorities, which can be searched for, are ordered by key.
func above(p uint64, k Value, n *mapNode) bool {
	return p > n.prio || (p == n.prio && Compare(k, n.Key) < 0)
}

// buildTreap builds the treap of sorted, distinct entries in linear time, with
// the stack that holds the right spine.
func buildTreap(es []Entry) *mapNode {
	type open struct {
		Entry
		prio uint64
		left *mapNode
	}
	var spine []open
	// closeTo closes spine elements down to length n, returning their tree.
	closeTo := func(n int) *mapNode {
		var tree *mapNode
		for len(spine) > n {
			o := spine[len(spine)-1]
			spine = spine[:len(spine)-1]
			tree = newMapNode(o.Entry, o.prio, o.left, tree)
		}
		return tree
	}
	for _, e := range es {
		p := priority(e.Key)
		n := len(spine)
		// An earlier key wins ties, so only strictly lower priorities go below.
		for n > 0 && spine[n-1].prio < p {
			n--
		}
		left := closeTo(n)
		spine = append(spine, open{e, p, left})
	}
	return closeTo(0)
}

// step is one node passed on the way down and the side that was taken.
type step struct {
	n    *mapNode
	left bool
}

// rebuild copies the nodes of a path from the bottom up around a new subtree.
func rebuild(path []step, sub *mapNode) *mapNode {
	for i := len(path) - 1; i >= 0; i-- {
		n := path[i].n
		if path[i].left {
			sub = newMapNode(n.Entry, n.prio, sub, n.right)
		} else {
			sub = newMapNode(n.Entry, n.prio, n.left, sub)
		}
	}
	return sub
}

func treapPut(root *mapNode, key, value Value) *mapNode {
	var path []step
	prio := priority(key)
	n := root
	for n != nil && !above(prio, key, n) {
		c := Compare(key, n.Key)
		if c == 0 {
			return rebuild(path, newMapNode(Entry{n.Key, value}, n.prio, n.left, n.right))
		}
		path = append(path, step{n, c < 0})
		if c < 0 {
			n = n.left
		} else {
			n = n.right
		}
	}
	// key is not below n: an equal key would have an equal priority, and is not
	// above itself.
	l, r := split(n, key)
	return rebuild(path, newMapNode(Entry{key, value}, prio, l, r))
}

// split divides a treap that does not hold key into the keys before and after.
func split(n *mapNode, key Value) (l, r *mapNode) {
	var path []step
	for n != nil {
		less := Compare(key, n.Key) < 0
		path = append(path, step{n, less})
		if less {
			n = n.left
		} else {
			n = n.right
		}
	}
	for i := len(path) - 1; i >= 0; i-- {
		n := path[i].n
		if path[i].left {
			r = newMapNode(n.Entry, n.prio, r, n.right)
		} else {
			l = newMapNode(n.Entry, n.prio, n.left, l)
		}
	}
	return l, r
}

func treapRemove(root *mapNode, key Value) *mapNode {
	var path []step
	n := root
	for {
		c := Compare(key, n.Key)
		if c == 0 {
			break
		}
		path = append(path, step{n, c < 0})
		if c < 0 {
			n = n.left
		} else {
			n = n.right
		}
	}
	return rebuild(path, join(n.left, n.right))
}

// join merges two treaps, all keys of l being before those of r.
func join(l, r *mapNode) *mapNode {
	var path []step
	for l != nil && r != nil {
		if above(l.prio, l.Key, r) {
			path = append(path, step{l, false})
			l = l.right
		} else {
			path = append(path, step{r, true})
			r = r.left
		}
	}
	if l == nil {
		l = r
	}
	return rebuild(path, l)
}
