package coreform

import (
	"cmp"
	"encoding/binary"
	"iter"
	"slices"
	"sync/atomic"
)

// Map is a persistent map from terms to values, kept in term order.
//
// Up to smallMap entries it is a sorted slice. Beyond that it is a treap: a
// search tree by key that is at the same time a heap by a priority taken from
// the key's digest, in which every part of up to smallMap entries is a sorted
// slice again. The shape is a function of the keys alone, so node digests can be
// cached and an update re-hashes O(log n) nodes, whatever the order of insertion
// was. Someone who searches for keys with rising priorities can make it deeper,
// but only as the square root of the effort, and no walk recurses.
//
// Roads not taken: a hash trie needs a sort for every ordered walk, and maps are
// walked in order wherever they are printed, hashed or turned into entries. Trees
// of wider nodes whose bounds the keys decide (as in content-defined chunking)
// copy more bytes for an update, because long nodes are hit most. A treap down to
// single entries made twice the garbage.
type Map struct {
	small []Entry // sorted; used iff root is nil
	root  *mapNode
	shape shape
	edit  edit // not 0 while whoever made the map is the only one who holds it
	cell  DigestCell
}

// edit names a line of updates of which only the last version can still be
// reached. What such a map made for itself, which carries the same name, is
// changed in place.
type edit uint64

var edits atomic.Uint64

// Entry is one key and its value.
type Entry struct{ Key, Value Value }

const smallMap = 8

// mapNode is a part of a tree. With up to smallMap entries it is a leaf, else an
// inner node: the one entry with the highest priority, and the parts before and
// after it (nil for none).
type mapNode struct {
	es          []Entry // shared by the copies of an inner node
	left, right *mapNode
	prio        uint32 // of the entry of an inner node
	size        uint32
	edit        edit
	prios       *leafPrios // of a leaf, so that it can be divided without hashing; may be missing
	shape       shape      // of the content, not counting the map's own level
	cell        DigestCell
}

// leafPrios are the priorities of the entries of a leaf, and room for one more.
type leafPrios [smallMap + 1]uint32

func (n *mapNode) isLeaf() bool { return n.size <= smallMap }

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
	return newTreeMap(buildTree(out, nil, 0))
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
		return int(m.root.size)
	}
	return len(m.small)
}

// Get returns the value of a key and whether there is one.
func (m *Map) Get(key Value) (Value, bool) {
	es := m.small
	for n := m.root; n != nil; {
		if n.isLeaf() {
			es = n.es
			break
		}
		switch c := compareKeys(key, n.es[0].Key); {
		case c == 0:
			return n.es[0].Value, true
		case c < 0:
			n = n.left
		default:
			n = n.right
		}
	}
	if i, ok := find(es, key); ok {
		return es[i].Value, true
	}
	return Value{}, false
}

// find returns where a key is or belongs among sorted entries, and whether it is
// there.
func find(es []Entry, key Value) (int, bool) {
	lo, hi := 0, len(es)
	for lo < hi {
		mid := (lo + hi) / 2
		switch c := compareKeys(es[mid].Key, key); {
		case c == 0:
			return mid, true
		case c < 0:
			lo = mid + 1
		default:
			hi = mid
		}
	}
	return lo, false
}

// compareKeys is Compare, quick for the keys that are most common.
func compareKeys(a, b Value) int {
	if _, ok := a.ref.(*intTag); ok {
		if _, ok := b.ref.(*intTag); ok {
			return cmp.Compare(a.num, b.num)
		}
	}
	return Compare(a, b)
}

// All yields the entries in key order.
func (m *Map) All() iter.Seq2[Value, Value] {
	return func(yield func(Value, Value) bool) {
		for _, e := range m.small {
			if !yield(e.Key, e.Value) {
				return
			}
		}
		stack := make([]*mapNode, 0, usualPath)
		for n := m.root; n != nil || len(stack) > 0; {
			for ; n != nil; n = n.left {
				stack = append(stack, n)
			}
			n = stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			for _, e := range n.es {
				if !yield(e.Key, e.Value) {
					return
				}
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
func (m *Map) Put(key, value Value) Value { return m.put(Entry{key, value}, 0) }

// Take is Put for a caller that gives m away: nobody will look at m any more. The
// result belongs to the caller alone until [Map.Share] is called, which must
// happen before anybody else can get hold of it; then Take on it changes it in
// place. Of a map that is shared it is as Put.
func (m *Map) Take(key, value Value) Value {
	e := m.edit
	if _, hashed := m.cell.load(); e == 0 || hashed {
		e = edit(edits.Add(1))
	}
	return m.put(Entry{key, value}, e)
}

// Share says that somebody else may hold m from now on.
func (m *Map) Share() {
	if m.edit != 0 {
		m.edit = 0
	}
}

// put is Put in a line of updates, 0 for none.
func (m *Map) put(e Entry, line edit) Value {
	out := m
	if line == 0 || m.edit != line {
		out = &Map{edit: line}
	}
	switch {
	case m.root != nil:
		out.small, out.root = nil, treePut(m.root, e, line)
		out.shape = out.root.shape.outer()
		return Value{ref: out}
	case m == out && len(m.small) < smallMap:
		out.small, _ = insertSorted(m.small, e)
	default:
		out.small, _ = putSorted(m.small, e, line)
	}
	if len(out.small) > smallMap {
		out.small, out.root = nil, buildTree(out.small, nil, line)
		out.shape = out.root.shape.outer()
		return Value{ref: out}
	}
	var s shape
	for _, x := range out.small {
		s.merge(entryShape(x))
	}
	out.shape = s.outer()
	return Value{ref: out}
}

// putSorted returns a copy of es with e in its place, and where there was an
// entry with that key, else -1. In a line of updates it has room for more.
func putSorted(es []Entry, e Entry, line edit) (out []Entry, old int) {
	n := len(es)
	if line != 0 && n < smallMap {
		n = smallMap - 1
	}
	out = make([]Entry, len(es), n+1)
	copy(out, es)
	return insertSorted(out, e)
}

// cloned is a copy of the entries of a leaf, in a line of updates with room for
// all that a leaf can have.
func cloned(es []Entry, line edit) []Entry {
	room := len(es)
	if line != 0 && room > 0 {
		room = smallMap + 1
	}
	return append(make([]Entry, 0, room), es...)
}

// insertSorted puts e into es itself.
func insertSorted(es []Entry, e Entry) (out []Entry, old int) {
	i, found := find(es, e.Key)
	if found {
		es[i].Value = e.Value
		return es, i
	}
	return slices.Insert(es, i, e), -1
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
	return newTreeMap(treeRemove(m.root, key))
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

// entryShape is what an entry adds to the shape of what holds it.
func entryShape(e Entry) (s shape) {
	s.add(e.Key)
	s.add(e.Value)
	return s
}

// newLeaf makes a leaf of 1 to smallMap sorted entries, nil of none. It takes
// ownership of es.
func newLeaf(es []Entry, line edit) *mapNode {
	if len(es) == 0 {
		return nil
	}
	n := &mapNode{es: es, size: uint32(len(es)), edit: line}
	for _, e := range es {
		n.shape.merge(entryShape(e))
	}
	return n
}

// newNode makes the node of an entry (a slice of one) and the parts before and
// after it: a leaf if all together are few.
func newNode(e []Entry, prio uint32, l, r *mapNode, line edit) *mapNode {
	n := &mapNode{es: e, prio: prio, left: l, right: r, size: 1, shape: entryShape(e[0]), edit: line}
	for _, kid := range [...]*mapNode{l, r} {
		if kid != nil {
			n.size += kid.size
			n.shape.merge(kid.shape)
		}
	}
	if !n.isLeaf() {
		return n
	}
	room := n.size
	if line != 0 {
		room = smallMap
	}
	es := make([]Entry, 0, room)
	if l != nil {
		es = append(es, l.es...)
	}
	es = append(es, e[0])
	if r != nil {
		es = append(es, r.es...)
	}
	return &mapNode{es: es, size: n.size, shape: n.shape, edit: line}
}

// priority is the heap order of a key: the head of its state hash.
func priority(key Value) uint32 {
	d := StateHash(key)
	return binary.BigEndian.Uint32(d[:])
}

// above reports whether an entry of priority p and key k belongs above the inner
// node n. Equal priorities are ordered by key.
func above(p uint32, k Value, n *mapNode) bool {
	return p > n.prio || (p == n.prio && Compare(k, n.es[0].Key) < 0)
}

// buildTree builds the tree of more than smallMap sorted, distinct entries in
// linear time, with the stack that holds the right spine. prios are their
// priorities, nil if they are not known.
func buildTree(es []Entry, prios []uint32, line edit) *mapNode {
	if prios == nil {
		prios = make([]uint32, len(es))
		for i, e := range es {
			prios[i] = priority(e.Key)
		}
	}
	type open struct {
		at, from int // its entry, and the first entry below it
		prio     uint32
		left     *mapNode
	}
	var spine []open
	// part is the node of es[from:to], which exists already unless it is a leaf.
	part := func(from, to int, n *mapNode) *mapNode {
		if to-from <= smallMap {
			leaf := newLeaf(cloned(es[from:to], line), line)
			if line != 0 && leaf != nil {
				leaf.prios = new(leafPrios)
				copy(leaf.prios[:], prios[from:to])
			}
			return leaf
		}
		return n
	}
	// closeTo closes spine elements down to length n; all entries below them are
	// before to. It returns the node of the last, or nil if that will be a leaf.
	closeTo := func(n, to int) *mapNode {
		var tree *mapNode
		for len(spine) > n {
			o := spine[len(spine)-1]
			spine = spine[:len(spine)-1]
			if to-o.from > smallMap {
				tree = newNode(slices.Clone(es[o.at:o.at+1]), o.prio, part(o.from, o.at, o.left), part(o.at+1, to, tree), line)
			}
		}
		return tree
	}
	for i, p := range prios {
		n, from := len(spine), i
		// An earlier key wins ties, so only strictly lower priorities go below.
		for n > 0 && spine[n-1].prio < p {
			n--
			from = spine[n].from
		}
		left := closeTo(n, i)
		spine = append(spine, open{i, from, p, left})
	}
	return closeTo(0, len(es))
}

// step is one node passed on the way down and the side that was taken.
type step struct {
	n    *mapNode
	left bool
}

// usualPath is the room for a path that is kept off the heap.
const usualPath = 48

// rebuild makes the nodes of a path anew, from the bottom up, around sub.
func rebuild(path []step, sub *mapNode) *mapNode {
	for i := len(path) - 1; i >= 0; i-- {
		n := path[i].n
		if path[i].left {
			sub = newNode(n.es, n.prio, sub, n.right, 0)
		} else {
			sub = newNode(n.es, n.prio, n.left, sub, 0)
		}
	}
	return sub
}

// grow is rebuild where sub has added entries more than the node it replaces and
// s more of shape. It does not look at the nodes beside the path, which are
// mostly in no cache. Nodes of the line of updates are changed in place.
func grow(path []step, sub *mapNode, added uint32, s shape, line edit) *mapNode {
	for i := len(path) - 1; i >= 0; i-- {
		n := path[i].n
		if line == 0 || n.edit != line {
			old := n
			n = &mapNode{es: old.es, left: old.left, right: old.right, prio: old.prio, size: old.size, shape: old.shape, edit: line}
		}
		n.size += added
		n.shape.merge(s)
		if path[i].left {
			n.left = sub
		} else {
			n.right = sub
		}
		sub = n
	}
	return sub
}

func treePut(root *mapNode, e Entry, line edit) *mapNode {
	path := make([]step, 0, usualPath)
	prio := priority(e.Key)
	n := root
	for n != nil && !n.isLeaf() && !above(prio, e.Key, n) {
		c := compareKeys(e.Key, n.es[0].Key)
		if c == 0 {
			return replace(path, n, 0, e.Value, line)
		}
		path = append(path, step{n, c < 0})
		if c < 0 {
			n = n.left
		} else {
			n = n.right
		}
	}
	s := entryShape(e)
	switch {
	case n == nil:
		es, _ := putSorted(nil, e, line)
		n = &mapNode{es: es, size: 1, shape: s, edit: line}
		if line != 0 {
			n.prios = &leafPrios{prio}
		}
	case !n.isLeaf(): // an equal key would be above itself, so n does not hold one
		l, r := split(n, e.Key, line)
		below := n.shape
		below.merge(s)
		n = &mapNode{es: []Entry{e}, prio: prio, left: l, right: r, size: n.size + 1, shape: below, edit: line}
	default:
		old := 0
		if n, old = putLeaf(n, e, prio, s, line); old >= 0 {
			return replace(path, n, old, e.Value, line)
		}
	}
	return grow(path, n, 1, s, line)
}

// putLeaf returns a leaf with an entry more, whose shape is s, or the tree it
// becomes when it is full. If it has an entry with that key, it is returned as it
// is, and where.
func putLeaf(n *mapNode, e Entry, prio uint32, s shape, line edit) (out *mapNode, old int) {
	i, found := find(n.es, e.Key)
	if found {
		return n, i
	}
	if line != 0 && n.edit == line {
		if n.prios != nil {
			copy(n.prios[i+1:], n.prios[i:n.size])
			n.prios[i] = prio
		}
		n.es = slices.Insert(n.es, i, e)
		if len(n.es) > smallMap {
			var prios []uint32
			if n.prios != nil {
				prios = n.prios[:]
			}
			return buildTree(n.es, prios, line), -1
		}
		n.size++
		n.shape.merge(s)
		return n, -1
	}
	es, _ := putSorted(n.es, e, line)
	if len(es) > smallMap {
		return buildTree(es, nil, line), -1
	}
	whole := n.shape
	whole.merge(s)
	return &mapNode{es: es, size: n.size + 1, shape: whole, edit: line}, -1
}

// replace makes a path anew on which entry i of the last node n has another
// value.
func replace(path []step, n *mapNode, i int, value Value, line edit) *mapNode {
	was := entryShape(n.es[i])
	es := n.es
	if line == 0 || n.edit != line || !n.isLeaf() { // copies of an inner node share its entry
		es = slices.Clone(es)
	}
	es[i].Value = value
	is := entryShape(es[i])
	if was.depth != is.depth || was.flags != is.flags {
		if n.isLeaf() {
			return rebuild(path, newLeaf(es, 0))
		}
		return rebuild(path, newNode(es, n.prio, n.left, n.right, 0))
	}
	change := shape{inline: is.inline - was.inline} // modulo 2^32
	if line != 0 && n.edit == line {
		n.es = es
		n.shape.merge(change)
		return grow(path, n, 0, change, line)
	}
	whole := n.shape
	whole.merge(change)
	sub := &mapNode{es: es, left: n.left, right: n.right, prio: n.prio, size: n.size, shape: whole, edit: line}
	return grow(path, sub, 0, change, line)
}

// split divides a tree that does not hold key into the keys before and after.
func split(n *mapNode, key Value, line edit) (l, r *mapNode) {
	path := make([]step, 0, usualPath)
	for n != nil && !n.isLeaf() {
		less := Compare(key, n.es[0].Key) < 0
		path = append(path, step{n, less})
		if less {
			n = n.left
		} else {
			n = n.right
		}
	}
	if n != nil {
		i, _ := find(n.es, key)
		l, r = newLeaf(cloned(n.es[:i], line), line), newLeaf(cloned(n.es[i:], line), line)
	}
	for i := len(path) - 1; i >= 0; i-- {
		n := path[i].n
		if path[i].left {
			r = newNode(n.es, n.prio, r, n.right, line)
		} else {
			l = newNode(n.es, n.prio, n.left, l, line)
		}
	}
	return l, r
}

func treeRemove(root *mapNode, key Value) *mapNode {
	var path []step
	n := root
	for !n.isLeaf() {
		c := Compare(key, n.es[0].Key)
		if c == 0 {
			return rebuild(path, join(n.left, n.right))
		}
		path = append(path, step{n, c < 0})
		if c < 0 {
			n = n.left
		} else {
			n = n.right
		}
	}
	i, _ := find(n.es, key)
	return rebuild(path, newLeaf(slices.Delete(slices.Clone(n.es), i, i+1), 0))
}

// join merges two trees, all keys of l being before those of r.
func join(l, r *mapNode) *mapNode {
	var path []step
	for l != nil && r != nil && !l.isLeaf() && !r.isLeaf() {
		if above(l.prio, l.es[0].Key, r) {
			path = append(path, step{l, false})
			l = l.right
		} else {
			path = append(path, step{r, true})
			r = r.left
		}
	}
	return rebuild(path, joinLeaf(l, r))
}

// joinLeaf is join where one of the trees is a leaf or nil.
func joinLeaf(l, r *mapNode) *mapNode {
	switch {
	case l == nil:
		return r
	case r == nil:
		return l
	case l.isLeaf() && r.isLeaf():
		es := append(slices.Clone(l.es), r.es...)
		if len(es) > smallMap {
			return buildTree(es, nil, 0)
		}
		return newLeaf(es, 0)
	case !l.isLeaf():
		l, r = r, l // the order of keys finds their place
	}
	for _, e := range l.es {
		r = treePut(r, e, 0)
	}
	return r
}
