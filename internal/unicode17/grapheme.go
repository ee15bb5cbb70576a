package unicode17

import (
	"iter"

	"github.com/clipperhouse/uax29/v2/graphemes"
)

// Graphemes yields the extended grapheme clusters of s in order. Joined they
// are s. The whole walk takes time linear in len(s) and allocates nothing per
// cluster.
func Graphemes(s string) iter.Seq[string] {
	return func(yield func(string) bool) {
		it := graphemes.FromString(s)
		for it.Next() {
			if !yield(it.Value()) {
				return
			}
		}
	}
}

// GraphemeLen returns the number of extended grapheme clusters in s.
func GraphemeLen(s string) int {
	n := 0
	for it := graphemes.FromString(s); it.Next(); {
		n++
	}
	return n
}

// GraphemeSlice returns the n clusters of s that follow the first start ones,
// as a substring of s. ok is false when start or n is negative or s has fewer
// than start+n clusters; an empty slice at the very end is in range.
func GraphemeSlice(s string, start, n int) (sub string, ok bool) {
	if start < 0 || n < 0 {
		return "", false
	}
	it := graphemes.FromString(s)
	for range start {
		if !it.Next() {
			return "", false
		}
	}
	from := it.End()
	for range n {
		if !it.Next() {
			return "", false
		}
	}
	return s[from:it.End()], true
}
