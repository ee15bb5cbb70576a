package spelling

import (
	"testing"

	"pgregory.net/rapid"
)

// Distance is the one written as its recurrence, as far as it is told to look.
func TestDistanceLaw(t *testing.T) {
	var slow func(a, b string) int
	slow = func(a, b string) int {
		switch {
		case a == "" || b == "":
			return len(a) + len(b)
		case a[0] == b[0]:
			return slow(a[1:], b[1:])
		}
		d := 1 + min(slow(a[1:], b), slow(a, b[1:]), slow(a[1:], b[1:]))
		if len(a) > 1 && len(b) > 1 && a[0] == b[1] && a[1] == b[0] {
			d = min(d, 1+slow(a[2:], b[2:]))
		}
		return d
	}
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[abc]{0,6}`)
		a, b, limit := word.Draw(t, "a"), word.Draw(t, "b"), rapid.IntRange(1, 8).Draw(t, "limit")
		if got, want := Distance(a, b, limit), min(slow(a, b), limit); got != want {
			t.Fatalf("%q %q: %d, want %d", a, b, got, want)
		}
	})
}
