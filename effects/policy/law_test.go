package policy

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// naive matches by trying every way.
func naive(pattern, parts []string) bool {
	if len(pattern) == 0 {
		return len(parts) == 0
	}
	if pattern[0] == "**" {
		for i := range len(parts) + 1 {
			if naive(pattern[1:], parts[i:]) {
				return true
			}
		}
		return false
	}
	return len(parts) > 0 && naiveComponent(pattern[0], parts[0]) && naive(pattern[1:], parts[1:])
}

func naiveComponent(pattern, s string) bool {
	switch {
	case pattern == "":
		return s == ""
	case pattern[0] == '*':
		return naiveComponent(pattern[1:], s) || s != "" && naiveComponent(pattern, s[1:])
	}
	return s != "" && pattern[0] == s[0] && naiveComponent(pattern[1:], s[1:])
}

// spec: POL-PATHS-1
func TestMatchPathLaw(t *testing.T) {
	hits := 0
	rapid.Check(t, func(t *rapid.T) {
		pattern := rapid.SliceOfN(rapid.StringMatching(`\*\*|[ab*]{1,4}`), 1, 5).Draw(t, "pattern")
		for i, p := range pattern {
			if strings.Contains(p, "**") && p != "**" {
				pattern[i] = strings.ReplaceAll(p, "**", "*")
			}
		}
		parts := rapid.SliceOfN(rapid.StringMatching(`[ab]{1,5}`), 1, 5).Draw(t, "parts")
		want := naive(pattern, parts)
		if got := matchPath(pattern, parts); got != want {
			t.Fatalf("%v on %v: %v", pattern, parts, got)
		}
		if want {
			hits++
		}
	})
	if hits == 0 {
		t.Error("nothing ever matched")
	}
}

// Long patterns take no long time. spec: POL-PATHS-1
func TestMatchPathIsNotExponential(t *testing.T) {
	pattern := append(strings.Split(strings.Repeat("**/a/", 400), "/")[:800], "b")
	if matchPath(pattern, strings.Split(strings.Repeat("a/", 2000)+"a", "/")) {
		t.Error("matches")
	}
	if matchComponent(strings.Repeat("*a", 2000)+"b", strings.Repeat("a", 255)) {
		t.Error("matches")
	}
}

// The place of any offset is that of counting to it, whatever was asked before.
func TestCursorLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := []byte(rapid.StringMatching(`[aé\n\r]{0,40}`).Draw(t, "src"))
		c := cursor{src: src}
		for _, off := range rapid.SliceOf(rapid.IntRange(0, len(src))).Draw(t, "offsets") {
			for off < len(src) && off > 0 && src[off]&0xc0 == 0x80 {
				off--
			}
			before := string(src[:off])
			want := place{1 + strings.Count(before, "\n"), 1 + len([]rune(before[strings.LastIndexByte(before, '\n')+1:]))}
			if got := c.place(off); got != want {
				t.Fatalf("offset %d of %q: %v, want %v", off, src, got, want)
			}
		}
	})
}
