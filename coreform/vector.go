package coreform

import "iter"

// Vector is a persistent vector: a trie of 32-way nodes with the last, partly
// filled leaf kept apart. Its shape depends only on its length, so the digests
// of the nodes can be cached and an update re-hashes O(log n) of them.
type Vector struct {
	n     int
	shift uint // 5 × levels of inner nodes
	root  *vecNode
	tail  []Value // the last leaf; empty iff the vector is
	last  shape   // of the tail
	shape shape
	edit  edit // as for maps
	cell  DigestCell
}

const vecBits, vecWidth, vecMask = 5, 32, 31

// vecNode is a leaf (vals) or an inner node (kids).
type vecNode struct {
	kids  []*vecNode
	vals  []Value
	shape shape // of the content, not counting the vector's own level
	cell  DigestCell
}

func newVecLeaf(vals []Value) *vecNode {
	n := &vecNode{vals: vals}
	for _, v := range vals {
		n.shape.add(v)
	}
	return n
}

func newVecInner(kids []*vecNode) *vecNode {
	n := &vecNode{kids: kids}
	for _, k := range kids {
		n.shape.merge(k.shape)
	}
	return n
}

var emptyVec = &Vector{shape: shape{}.outer()}

// vecPair is a vector of two elements in one piece of memory: what the entries of
// a map become.
type vecPair struct {
	v    Vector
	vals [2]Value
}

// VecPair returns the vector of two values.
func VecPair(a, b Value) Value {
	p := &vecPair{vals: [2]Value{a, b}}
	p.v.n, p.v.tail = 2, p.vals[:]
	p.v.last.add(a)
	p.v.last.add(b)
	p.v.shape = p.v.last.outer()
	return Value{ref: &p.v}
}

// Vec returns the vector of the given values. It takes ownership of vs.
func Vec(vs ...Value) Value {
	if len(vs) == 0 {
		return Value{ref: emptyVec}
	}
	tailLen := (len(vs)-1)&vecMask + 1
	full := len(vs) - tailLen
	level := make([]*vecNode, 0, full/vecWidth)
	for i := 0; i < full; i += vecWidth {
		level = append(level, newVecLeaf(vs[i:i+vecWidth:i+vecWidth]))
	}
	v := &Vector{n: len(vs), tail: vs[full:]}
	for _, x := range v.tail {
		v.last.add(x)
	}
	for len(level) > 1 || (len(level) == 1 && v.shift == 0) {
		next := make([]*vecNode, 0, (len(level)+vecMask)/vecWidth)
		for i := 0; i < len(level); i += vecWidth {
			next = append(next, newVecInner(level[i:min(i+vecWidth, len(level))]))
		}
		level = next
		v.shift += vecBits
	}
	if len(level) == 1 {
		v.root = level[0]
	}
	v.finish()
	return Value{ref: v}
}

func (v *Vector) finish() {
	var s shape
	if v.root != nil {
		s.merge(v.root.shape)
	}
	s.merge(v.last)
	v.shape = s.outer()
}

// Len returns the number of elements.
func (v *Vector) Len() int { return v.n }

func (v *Vector) tailStart() int {
	if v.n == 0 {
		return 0
	}
	return (v.n - 1) &^ vecMask
}

// leaf returns the elements of the leaf that holds element i.
func (v *Vector) leaf(i int) []Value {
	if i >= v.tailStart() {
		return v.tail
	}
	node := v.root
	for s := v.shift; s > 0; s -= vecBits {
		node = node.kids[i>>s&vecMask]
	}
	return node.vals
}

// At returns element i; 0 ≤ i < Len.
func (v *Vector) At(i int) Value { return v.leaf(i)[i&vecMask] }

// All yields the elements in order.
func (v *Vector) All() iter.Seq2[int, Value] {
	return func(yield func(int, Value) bool) {
		for i := 0; i < v.n; i += vecWidth {
			for j, x := range v.leaf(i) {
				if !yield(i+j, x) {
					return
				}
			}
		}
	}
}

// Leaves yields the elements in order, up to 32 at a time. The slices must not be
// changed.
func (v *Vector) Leaves() iter.Seq[[]Value] {
	return func(yield func([]Value) bool) {
		for i := 0; i < v.n; i += vecWidth {
			if !yield(v.leaf(i)) {
				return
			}
		}
	}
}

// Slice returns the elements as a new slice that the caller owns.
func (v *Vector) Slice() []Value {
	out := make([]Value, 0, v.n)
	for _, x := range v.All() {
		out = append(out, x)
	}
	return out
}

// Set returns the vector with element i replaced; 0 ≤ i < Len. It allocates
// O(log n).
func (v *Vector) Set(i int, x Value) Value {
	w := &Vector{n: v.n, shift: v.shift, root: v.root, tail: v.tail, last: v.last}
	if i >= v.tailStart() {
		w.setTail(replaced(v.tail, i&vecMask, x))
	} else {
		w.root = v.setIn(v.root, v.shift, i, x)
	}
	w.finish()
	return Value{ref: w}
}

func (v *Vector) setTail(vals []Value) {
	v.tail, v.last = vals, shape{}
	for _, x := range vals {
		v.last.add(x)
	}
}

// setIn recurses once per level: at most 13 for 2^63 elements.
func (v *Vector) setIn(node *vecNode, s uint, i int, x Value) *vecNode {
	at := i >> s & vecMask
	if s == 0 {
		return newVecLeaf(replaced(node.vals, at, x))
	}
	return newVecInner(replaced(node.kids, at, v.setIn(node.kids[at], s-vecBits, i, x)))
}

func replaced[T any](in []T, at int, x T) []T {
	out := make([]T, max(len(in), at+1))
	copy(out, in)
	out[at] = x
	return out
}

// Push returns the vector with x added at the end. It allocates O(log n).
func (v *Vector) Push(x Value) Value {
	w := &Vector{n: v.n, shift: v.shift, root: v.root, tail: v.tail, last: v.last}
	if w.tailFull() {
		w.storeTail()
	}
	w.tail = replaced(w.tail, len(w.tail), x)
	w.last.add(x)
	w.n++
	w.finish()
	return Value{ref: w}
}

func (v *Vector) tailFull() bool { return len(v.tail) == vecWidth }

// storeTail makes the full tail a leaf of the trie, and the tail empty.
func (v *Vector) storeTail() {
	v.root, v.shift = v.withLeaf(&vecNode{vals: v.tail, shape: v.last})
	v.tail, v.last = nil, shape{}
}

// Take is Push for a caller that gives v away; see [Map.Take].
func (v *Vector) Take(x Value) Value {
	line := v.edit
	if _, hashed := v.cell.load(); line == 0 || hashed {
		line = edit(edits.Add(1))
	}
	w := v
	if v.edit != line {
		room := min(vecWidth, 2*len(v.tail))
		w = &Vector{n: v.n, shift: v.shift, root: v.root, tail: append(make([]Value, 0, room), v.tail...), last: v.last, edit: line}
	}
	if w.tailFull() {
		w.storeTail()
	}
	w.tail = append(w.tail, x)
	w.last.add(x)
	w.n++
	w.finish()
	return Value{ref: w}
}

// Share says that somebody else may hold v from now on.
func (v *Vector) Share() {
	if v.edit != 0 {
		v.edit = 0
	}
}

// withLeaf returns the trie with a full leaf added after its last one.
func (v *Vector) withLeaf(leaf *vecNode) (*vecNode, uint) {
	at := v.n - vecWidth // index of the leaf's first element
	if v.root == nil {
		return newVecInner([]*vecNode{leaf}), vecBits
	}
	if at>>v.shift >= vecWidth { // the trie is full: one level more
		return newVecInner([]*vecNode{v.root, vecPath(v.shift, leaf)}), v.shift + vecBits
	}
	return v.addIn(v.root, v.shift, at, leaf), v.shift
}

func (v *Vector) addIn(node *vecNode, s uint, at int, leaf *vecNode) *vecNode {
	i := at >> s & vecMask
	var kid *vecNode
	switch {
	case s == vecBits:
		kid = leaf
	case i < len(node.kids):
		kid = v.addIn(node.kids[i], s-vecBits, at, leaf)
	default:
		kid = vecPath(s-vecBits, leaf)
	}
	return newVecInner(replaced(node.kids, i, kid))
}

func vecPath(s uint, leaf *vecNode) *vecNode {
	node := leaf
	for ; s > 0; s -= vecBits {
		node = newVecInner([]*vecNode{node})
	}
	return node
}
