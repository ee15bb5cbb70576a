package gclog

import "github.com/gcrun/gcrun/internal/digest"

// The transcript root is a Merkle tree in the shape of RFC 6962, section 2.1,
// with two derive-key domains in place of its prefix bytes. (spec LOG-ID-1)
var (
	leafDomain = digest.NewDomain("gcrun 2026-11 transcript leaf")
	nodeDomain = digest.NewDomain("gcrun 2026-11 transcript node")
)

// frontier is a Merkle tree that only grows: the roots of its perfect subtrees,
// largest first, one for every set bit of n. Adding a leaf and asking for the
// root cost O(log n). Leaf kinds begin with different numbers, so a leaf of one
// kind is never one of another.
type frontier struct {
	n     uint64
	roots []digest.Digest
}

// add adds a leaf by its preimage.
func (t *frontier) add(leaf []byte) {
	h := leafDomain.Sum(leaf)
	for i := t.n; i&1 == 1; i >>= 1 {
		last := len(t.roots) - 1
		h = nodeDomain.Sum(t.roots[last][:], h[:])
		t.roots = t.roots[:last]
	}
	t.roots = append(t.roots, h)
	t.n++
}

// root returns the root over the leaves so far; there must be one.
func (t *frontier) root() digest.Digest {
	last := len(t.roots) - 1
	h := t.roots[last]
	for i := last - 1; i >= 0; i-- {
		h = nodeDomain.Sum(t.roots[i][:], h[:])
	}
	return h
}
