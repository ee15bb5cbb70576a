package unicode17

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var clusterCases = []struct {
	name string
	want []string
}{
	{"empty", nil},
	{"ascii", []string{"a", "b", "c"}},
	{"mark", []string{"e\u0301", "x"}},
	{"crlf", []string{"\r\n", "\n", "\r", "a"}},
	{"hangul", []string{"\u1100\u1161\u11a8", "\u1100"}},
	{"flags", []string{"\U0001f1e9\U0001f1ea", "\U0001f1eb\U0001f1f7", "\U0001f1ee"}},
	{"family", []string{"\U0001f468\u200d\U0001f469\u200d\U0001f467", "!"}},
	{"skin tone", []string{"\U0001f44d\U0001f3fd"}},
	{"spacing mark", []string{"\u0915\u093e"}},
	{"prepend", []string{"\u0600a"}},
	{"conjunct", []string{"\u0915\u094d\u0937", "a"}},
	{"zwj without pictograph", []string{"a\u200d", "b"}},
	{"variation selector", []string{"\u2764\ufe0f", "x"}},
	{"control between", []string{"a", "\u0000", "\u0301"}},
}

func TestClusters(t *testing.T) {
	for _, c := range clusterCases {
		s := strings.Join(c.want, "")
		if got := slices.Collect(Graphemes(s)); !slices.Equal(got, c.want) {
			t.Errorf("%s: clusters of %+q = %+q, want %+q", c.name, s, got, c.want)
		}
		if got := GraphemeLen(s); got != len(c.want) {
			t.Errorf("%s: length %d, want %d", c.name, got, len(c.want))
		}
	}
}

func TestGraphemeSlice(t *testing.T) {
	const s = "ae\u0301\U0001f1e9\U0001f1eaz"
	for _, c := range []struct {
		start, n int
		want     string
		ok       bool
	}{
		{0, 4, s, true}, {0, 0, "", true}, {4, 0, "", true}, {1, 1, "e\u0301", true},
		{2, 2, "\U0001f1e9\U0001f1eaz", true}, {5, 0, "", false}, {4, 1, "", false},
		{-1, 1, "", false}, {0, -1, "", false}, {0, 5, "", false},
	} {
		got, ok := GraphemeSlice(s, c.start, c.n)
		if got != c.want || ok != c.ok {
			t.Errorf("GraphemeSlice(%d, %d) = %+q, %v, want %+q, %v", c.start, c.n, got, ok, c.want, c.ok)
		}
	}
}

func TestClusterLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "s")
		parts := slices.Collect(Graphemes(s))
		if strings.Join(parts, "") != s || len(parts) != GraphemeLen(s) {
			t.Fatalf("clusters of %+q do not add up", s)
		}
		k := rapid.IntRange(0, len(parts)).Draw(t, "k")
		head, ok1 := GraphemeSlice(s, 0, k)
		tail, ok2 := GraphemeSlice(s, k, len(parts)-k)
		if !ok1 || !ok2 || head+tail != s {
			t.Fatalf("slices of %+q at %d do not add up", s, k)
		}
	})
}
