package coreform

import (
	"strings"
	"sync"
)

// joined is a string that was made by joining others and that nobody has looked
// into yet: a balanced tree of pieces. A program that builds a text piece by
// piece so copies each byte a few times instead of once for every piece after
// it. Whoever looks gets the text in one piece, which is kept instead of the tree.
type joined struct {
	n    int
	mu   sync.Mutex
	root *rope // nil once text is there
	text string
	cell DigestCell
}

// rope is a leaf with text, or an inner node of two parts. It is immutable.
type rope struct {
	left, right *rope
	text        string
	n           int
	height      int
}

// ropeLeaf is how many bytes a leaf has at most. Strings up to that length are
// joined by copying.
const ropeLeaf = 512

// ConcatStr returns the string a followed by b, which are strings of together
// less than 2^31 bytes. It copies at most 512 bytes of what is longer, and makes
// O(log n) nodes.
func ConcatStr(a, b Value) Value {
	n := a.StrLen() + b.StrLen()
	switch {
	case a.StrLen() == 0:
		return b
	case b.StrLen() == 0:
		return a
	case n <= ropeLeaf:
		x, _ := a.AsStr()
		y, _ := b.AsStr()
		return Str(x + y)
	}
	return Value{ref: &joined{n: n, root: joinRopes(a.rope(), b.rope())}}
}

// StrLen returns the bytes of a string, 0 of other values. It does not look into
// the string.
func (v Value) StrLen() int {
	switch r := v.ref.(type) {
	case *str:
		return len(r.s)
	case *joined:
		return r.n
	}
	return 0
}

// rope returns a string as a tree.
func (v Value) rope() *rope {
	if j, ok := v.ref.(*joined); ok {
		j.mu.Lock()
		defer j.mu.Unlock()
		if j.root != nil {
			return j.root
		}
		return &rope{text: j.text, n: j.n}
	}
	s := v.ref.(*str).s
	return &rope{text: s, n: len(s)}
}

// flat returns the text in one piece.
func (j *joined) flat() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.root != nil {
		j.text, j.root = j.root.flatten(), nil
	}
	return j.text
}

func (r *rope) flatten() string {
	var b strings.Builder
	b.Grow(r.n)
	stack := []*rope{r}
	for len(stack) > 0 {
		r = stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for r.left != nil {
			stack = append(stack, r.right)
			r = r.left
		}
		b.WriteString(r.text)
	}
	return b.String()
}

func newRope(l, r *rope) *rope {
	return &rope{left: l, right: r, n: l.n + r.n, height: max(l.height, r.height) + 1}
}

// joinRopes joins two trees. Leaves that meet become one if they are short, so
// that neighbours have more than ropeLeaf bytes together. It and what it calls
// recurse on heights, which are logarithmic.
func joinRopes(l, r *rope) *rope {
	switch {
	case r.left == nil && l.last().n+r.n <= ropeLeaf:
		return l.withLast(r.text)
	case l.left == nil && r.first().n+l.n <= ropeLeaf:
		return r.withFirst(l.text)
	}
	return balanced(l, r)
}

func (r *rope) last() *rope {
	for r.right != nil {
		r = r.right
	}
	return r
}

func (r *rope) first() *rope {
	for r.left != nil {
		r = r.left
	}
	return r
}

func (r *rope) withLast(s string) *rope {
	if r.left == nil {
		return &rope{text: r.text + s, n: r.n + len(s)}
	}
	return newRope(r.left, r.right.withLast(s))
}

func (r *rope) withFirst(s string) *rope {
	if r.left == nil {
		return &rope{text: s + r.text, n: r.n + len(s)}
	}
	return newRope(r.left.withFirst(s), r.right)
}

// balanced joins two balanced trees, as AVL trees are joined: down the side of
// the higher one to where the other fits, and with rotations back up.
func balanced(l, r *rope) *rope {
	switch {
	case l.height > r.height+1:
		t := balanced(l.right, r)
		if t.height <= l.left.height+1 {
			return newRope(l.left, t)
		}
		if m := t.left; m.height > t.right.height {
			return newRope(newRope(l.left, m.left), newRope(m.right, t.right))
		}
		return newRope(newRope(l.left, t.left), t.right)
	case r.height > l.height+1:
		t := balanced(l, r.left)
		if t.height <= r.right.height+1 {
			return newRope(t, r.right)
		}
		if m := t.right; m.height > t.left.height {
			return newRope(newRope(t.left, m.left), newRope(m.right, r.right))
		}
		return newRope(t.left, newRope(t.right, r.right))
	}
	return newRope(l, r)
}
