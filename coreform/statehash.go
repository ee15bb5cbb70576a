package coreform

import (
	"encoding/binary"
	"sync"
	"sync/atomic"

	"github.com/gcrun/gcrun/internal/digest"
)

// StateHashProfile is the number of the state-hash profile that logs name. The
// hashes are those of profile 1, which gets its number when it is frozen, with
// the log format; until then logs say 0. (spec/state-hash.md)
const StateHashProfile = 0

var stateDomain = digest.NewDomain("gcrun 2026-12 state hash, profile 1")

// DigestCell remembers a digest. It may be read and filled concurrently. The
// zero cell is empty.
type DigestCell struct{ p atomic.Pointer[digest.Digest] }

func (c *DigestCell) load() (digest.Digest, bool) {
	if p := c.p.Load(); p != nil {
		return *p, true
	}
	return digest.Digest{}, false
}

func (c *DigestCell) store(d digest.Digest) { c.p.Store(&d) }

// StateHash is the digest of a value in the state-hash profile: for comparable
// values it is equal iff [Equal] says so. Containers, functions and programs
// remember theirs, so hashing a changed version of a large value costs what
// changed. It does not recurse. It panics with a [Fault] if a blob cannot be
// read. (spec SH-VAL-1 … 3)
func StateHash(v Value) digest.Digest {
	h := hashers.Get().(*stateHasher)
	defer h.release()
	if n := nodeOf(v); n != nil {
		return h.node(n)
	}
	h.buf = appendChild(h.buf[:0], v)
	return stateDomain.Sum(h.buf)
}

// Tags of the preimages. The first byte decides how the rest reads; every
// variable part is preceded by its length or is the last.
const (
	tagNil, tagFalse, tagTrue, tagInt, tagBigInt     = 0, 1, 2, 3, 4
	tagStr, tagBytes, tagSym, tagNode                = 5, 6, 7, 8
	tagLongStr, tagPair, tagVec, tagVecLeaf          = 16, 17, 18, 19
	tagVecInner, tagMapSmall, tagMapTree, tagMapNode = 20, 21, 22, 23
	tagMapLeaf, tagOther                             = 24, 25
)

const inlineText = 40 // longer strings and symbols enter by digest

// stateNode is a part of a value that remembers its digest.
type stateNode interface {
	stateCell() *DigestCell
	// eachKid calls f for every value or node below.
	eachKid(value func(Value), node func(stateNode))
	// appendPreimage appends what is hashed; all kids have their digests.
	appendPreimage(b []byte) []byte
}

// nodeOf returns the node of a value that has one.
func nodeOf(v Value) stateNode {
	switch r := v.ref.(type) {
	case *Pair:
		return r
	case *Vector:
		return r
	case *Map:
		return r
	case Other:
		return otherNode{r}
	}
	return nil
}

type stateHasher struct {
	stack []stateNode
	buf   []byte
}

// release gives h back, forgetting what a Fault may have left on the stack.
func (h *stateHasher) release() {
	clear(h.stack)
	h.stack = h.stack[:0]
	hashers.Put(h)
}

var hashers = sync.Pool{New: func() any { return new(stateHasher) }}

// node hashes a node after everything below it, with its own stack.
func (h *stateHasher) node(n stateNode) digest.Digest {
	base := len(h.stack)
	h.stack = append(h.stack, n)
	pushNode := func(k stateNode) {
		if _, done := k.stateCell().load(); !done {
			h.stack = append(h.stack, k)
		}
	}
	pushValue := func(v Value) {
		if k := nodeOf(v); k != nil {
			pushNode(k)
		}
	}
	for len(h.stack) > base {
		top := h.stack[len(h.stack)-1]
		if _, done := top.stateCell().load(); !done {
			before := len(h.stack)
			top.eachKid(pushValue, pushNode)
			if len(h.stack) > before {
				continue
			}
			h.buf = top.appendPreimage(h.buf[:0])
			top.stateCell().store(stateDomain.Sum(h.buf))
		}
		h.stack[len(h.stack)-1] = nil
		h.stack = h.stack[:len(h.stack)-1]
	}
	d, _ := n.stateCell().load()
	return d
}

// appendChild appends what stands for v inside a preimage: small atoms as
// themselves, everything else by digest, which must be known for nodes.
func appendChild(b []byte, v Value) []byte {
	switch r := v.ref.(type) {
	case nil:
		return append(b, tagNil)
	case *boolTag:
		return append(b, tagFalse+byte(v.num))
	case *intTag:
		return binary.BigEndian.AppendUint64(append(b, tagInt), uint64(v.num))
	case *bigInt:
		sign := byte(0)
		if r.n.Sign() < 0 {
			sign = 1
		}
		return appendFramed(append(b, tagBigInt, sign), string(r.n.Bytes()))
	case *symbol:
		return appendText(b, tagSym, r.name, nil)
	case *str:
		return appendText(b, tagStr, r.s, &r.cell)
	case *joined:
		return appendText(b, tagStr, r.flat(), &r.cell)
	case *Bytes:
		b = binary.BigEndian.AppendUint64(append(b, tagBytes), uint64(r.n))
		d := r.ContentDigest()
		return append(b, d[:]...)
	}
	d, ok := nodeOf(v).stateCell().load()
	if !ok {
		panic("BUG: coreform: state hash of a part asked before its own parts")
	}
	return append(append(b, tagNode), d[:]...)
}

func appendFramed(b []byte, s string) []byte {
	return append(binary.BigEndian.AppendUint32(b, uint32(len(s))), s...)
}

func appendText(b []byte, tag byte, s string, cell *DigestCell) []byte {
	if len(s) <= inlineText {
		return append(append(b, tag, byte(len(s))), s...)
	}
	var d digest.Digest
	ok := false
	if cell != nil {
		d, ok = cell.load()
	}
	if !ok {
		d = stateDomain.Sum([]byte{tagLongStr, tag}, []byte(s))
		if cell != nil {
			cell.store(d)
		}
	}
	return append(append(b, tag, 0xFF), d[:]...)
}

func (p *Pair) stateCell() *DigestCell { return &p.cell }

func (p *Pair) eachKid(value func(Value), _ func(stateNode)) {
	value(p.car)
	value(p.cdr)
}

func (p *Pair) appendPreimage(b []byte) []byte {
	return appendChild(appendChild(append(b, tagPair), p.car), p.cdr)
}

func (v *Vector) stateCell() *DigestCell { return &v.cell }

func (v *Vector) eachKid(value func(Value), node func(stateNode)) {
	if v.root != nil {
		node(v.root)
	}
	for _, x := range v.tail {
		value(x)
	}
}

func (v *Vector) appendPreimage(b []byte) []byte {
	b = binary.BigEndian.AppendUint64(append(b, tagVec), uint64(v.n))
	if v.root != nil {
		b = appendDigest(b, &v.root.cell)
	}
	if len(v.tail) > 0 {
		var room [512]byte
		d := stateDomain.Sum(appendLeaf(room[:0], v.tail))
		b = append(b, d[:]...)
	}
	return b
}

func appendDigest(b []byte, c *DigestCell) []byte {
	d, _ := c.load()
	return append(b, d[:]...)
}

func (n *vecNode) stateCell() *DigestCell { return &n.cell }

func (n *vecNode) eachKid(value func(Value), node func(stateNode)) {
	for _, k := range n.kids {
		node(k)
	}
	for _, v := range n.vals {
		value(v)
	}
}

func (n *vecNode) appendPreimage(b []byte) []byte {
	if n.kids == nil {
		return appendLeaf(b, n.vals)
	}
	b = append(b, tagVecInner)
	for _, k := range n.kids {
		b = appendDigest(b, &k.cell)
	}
	return b
}

func appendLeaf(b []byte, vals []Value) []byte {
	b = append(b, tagVecLeaf)
	for _, v := range vals {
		b = appendChild(b, v)
	}
	return b
}

func (m *Map) stateCell() *DigestCell { return &m.cell }

func (m *Map) eachKid(value func(Value), node func(stateNode)) {
	if m.root != nil {
		node(m.root)
	}
	for _, e := range m.small {
		value(e.Key)
		value(e.Value)
	}
}

func (m *Map) appendPreimage(b []byte) []byte {
	if m.root != nil {
		b = binary.BigEndian.AppendUint64(append(b, tagMapTree), uint64(m.root.size))
		return appendDigest(b, &m.root.cell)
	}
	return appendEntries(append(b, tagMapSmall, byte(len(m.small))), m.small)
}

func (n *mapNode) stateCell() *DigestCell { return &n.cell }

func (n *mapNode) eachKid(value func(Value), node func(stateNode)) {
	for _, k := range [...]*mapNode{n.left, n.right} {
		if k != nil {
			node(k)
		}
	}
	for _, e := range n.es {
		value(e.Key)
		value(e.Value)
	}
}

func (n *mapNode) appendPreimage(b []byte) []byte {
	if n.isLeaf() {
		return appendEntries(append(b, tagMapLeaf, byte(n.size)), n.es)
	}
	b = append(b, tagMapNode)
	for _, k := range [...]*mapNode{n.left, n.right} {
		if k == nil {
			b = append(b, 0)
		} else {
			b = appendDigest(append(b, 1), &k.cell)
		}
	}
	return appendEntries(b, n.es)
}

func appendEntries(b []byte, es []Entry) []byte {
	for _, e := range es {
		b = appendChild(appendChild(b, e.Key), e.Value)
	}
	return b
}

// otherNode adapts an Other, whose methods are the evaluator's.
type otherNode struct{ Other }

func (o otherNode) stateCell() *DigestCell { return o.Cell() }

func (o otherNode) eachKid(value func(Value), _ func(stateNode)) {
	_, kids := o.Parts()
	for _, k := range kids {
		value(k)
	}
}

func (o otherNode) appendPreimage(b []byte) []byte {
	label, kids := o.Parts()
	b = appendFramed(append(b, tagOther), o.TypeName())
	b = appendFramed(b, string(label))
	for _, k := range kids {
		b = appendChild(b, k)
	}
	return b
}
