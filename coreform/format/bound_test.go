package format

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/gcrun/gcrun/coreform"
)

// shapes are sources that grow with n in the ways that could cost more than
// they are long.
var shapes = map[string]func(n int) string{
	"atoms":     func(n int) string { return strings.Repeat("ab ", n) },
	"list":      func(n int) string { return "(" + strings.Repeat("ab ", n) + ")" },
	"call":      func(n int) string { return "(f " + strings.Repeat("(g x) ", n) + ")" },
	"long call": func(n int) string { return "(core/effect::bind " + strings.Repeat("(g x) y ", n) + ")" },
	"vector":    func(n int) string { return "[" + strings.Repeat("(g x) ", n) + "]" },
	"rows":      func(n int) string { return "[" + strings.Repeat("1 2\n", n) + "]" },
	"map":       func(n int) string { return "{" + strings.Repeat(":key (g x) ", n) + "}" },
	"let": func(n int) string {
		return "(let (" + strings.Repeat("(name (core/int::add 1 2)) ", n) + ") x)"
	},
	"remarks":   func(n int) string { return "(f " + strings.Repeat("(g x) ; why\n", n) + ")" },
	"goes on":   func(n int) string { return "x ; why\n" + strings.Repeat("  ; why\n", n) },
	"comments":  func(n int) string { return strings.Repeat("; why\n", n) },
	"blank":     func(n int) string { return "a" + strings.Repeat("\n", n) + "b" },
	"string":    func(n int) string { return `(f "` + strings.Repeat("ab\n", n) + `" x ; y` + "\n)" },
	"one line":  func(n int) string { return `(f "` + strings.Repeat("ab ", n) + `" x) ; y` + "\n; z" },
	"long line": func(n int) string { return strings.Repeat("(f x) ", n) + "; y" },
	"deep": func(n int) string {
		return strings.Repeat(strings.Repeat("(f x ", 900)+strings.Repeat(")", 900), n/900)
	},
	"deep and wide": func(n int) string {
		return strings.Repeat("(", 500) + strings.Repeat("(g x)\n", n) + strings.Repeat(")", 500)
	},
	"carried": func(n int) string { return strings.Repeat("((((a ; x\n)\n)\n)\n)", n) },
}

// Work is counted, not timed: four times the source is at most four times the
// items looked at and bytes written, and some.
//
// spec: FMT-LAW-4
func TestWorkIsLinear(t *testing.T) {
	for name, shape := range shapes {
		small, large := shape(2000), shape(8000)
		_, w1, err1 := source([]byte(small), coreform.Limits{})
		_, w4, err2 := source([]byte(large), coreform.Limits{})
		if err1 != nil || err2 != nil {
			t.Fatalf("%s: %v, %v", name, err1, err2)
		}
		if ratio := float64(w4) / float64(w1) / (float64(len(large)) / float64(len(small))); ratio > 1.1 {
			t.Errorf("%s: %d bytes cost %d, %d cost %d", name, len(small), w1, len(large), w4)
		}
		if most := int64(100 * len(large)); w4 > most {
			t.Errorf("%s: %d bytes cost %d", name, len(large), w4)
		}
	}
}

// A text that would be longer than the limit is an error, and is not made.
//
// spec: FMT-TEXT-5
func TestResultIsBounded(t *testing.T) {
	src := []byte(shapes["deep and wide"](4000))
	for _, most := range []int64{int64(len(src)), 100_000} {
		out, err := Source(src, coreform.Limits{MaxBytes: most})
		var limit *coreform.LimitError
		if out != nil || !errors.As(err, &limit) || limit.Dimension != coreform.DimBytes || limit.Limit != most || limit.Observed <= most {
			t.Errorf("%d bytes, %v", len(out), err)
		}
	}
	out, err := Source(src, coreform.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		most int
		ok   bool
	}{{len(out), true}, {len(out) - 1, false}} {
		got, err := Source(src, coreform.Limits{MaxBytes: int64(c.most)})
		if (err == nil) != c.ok || c.ok && len(got) != len(out) {
			t.Errorf("limit %d: %d bytes, %v", c.most, len(got), err)
		}
	}
	// Padding before comments counts too.
	remarks := []byte("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa ; x\nb ; y\n")
	out, err = Source(remarks, coreform.Limits{})
	if err != nil || len(out) <= len(remarks) {
		t.Fatalf("%q, %v", out, err)
	}
	if _, err = Source(remarks, coreform.Limits{MaxBytes: int64(len(out) - 1)}); err == nil {
		t.Error("padding is not counted")
	}
}

// spec: FMT-LINE-4
func TestIndentationEnds(t *testing.T) {
	out := laws(t, []byte(shapes["deep"](900)), coreform.Limits{})
	most := 0
	for line := range strings.Lines(string(out)) {
		most = max(most, len(line)-len(strings.TrimLeft(line, " ")))
	}
	if most != 80 {
		t.Errorf("indentation goes to %d", most)
	}
}

// The recursion goes as deep as the limit on depth and needs little stack there.
//
// spec: FMT-LAW-4
func TestDepth(t *testing.T) {
	defer debug.SetMaxStack(debug.SetMaxStack(32 << 20))
	const most = coreform.MaximumDepth
	for _, c := range []struct{ open, inner, end string }{
		{"(", "x", ")"}, {"[", "x", "]"}, {"'", "x", ""}, {"(f x ", "x", " ; c\n)"}, {"{x ", "x", "}"}, {"(a ", "\"\n\"", ")"},
		{"(let ((a ", "1", ")) a)"}, {"(fn (x) ", "x", ")"}, {"(def x ", "x", ")"}, {"(core/effect::bind p (fn (x) ", "x", "))"},
		{"(if x y ", "z", ")"}, {"( ; c\n", ";c\n", ";c\n)"},
	} {
		per := strings.Count(c.open, "(") + strings.Count(c.open, "[") + strings.Count(c.open, "{") + strings.Count(c.open, "'") -
			strings.Count(c.open, ")")
		for _, depth := range []int{coreform.DefaultDepth, most} {
			n := (depth - 1) / per
			src := strings.Repeat(c.open, n) + c.inner + strings.Repeat(c.end, n)
			lim := coreform.Limits{MaxDepth: depth}
			if depth == coreform.DefaultDepth {
				laws(t, []byte(src), lim)
			} else if _, err := Source([]byte(src), lim); err != nil {
				t.Errorf("%q, %d deep: %v", c.open, depth, err)
			}
			_, err := Source([]byte(strings.Repeat(c.open, depth+1)), lim)
			var read *coreform.ReadError
			if !errors.As(err, &read) || read.Kind != coreform.ReadDepth {
				t.Errorf("%q, deeper than %d: %v", c.open, depth, err)
			}
		}
	}
}

// Formatting allocates about as much again as reading, which is bounded by bytes
// and terms, and some for every byte.
//
// spec: FMT-LAW-4
func TestMemoryIsBounded(t *testing.T) {
	for name, shape := range shapes {
		src := []byte(shape(20_000))
		var out []byte
		reading := allocated(func() { _, _ = coreform.ReadModule(src, coreform.Limits{}) })
		all := allocated(func() { out, _ = Source(src, coreform.Limits{}) })
		if most := reading + reading/2 + uint64(20*len(src)+20*len(out)); all-reading > most {
			t.Errorf("%s: %d bytes for a source of %d and a result of %d; reading takes %d", name, all-reading, len(src), len(out), reading)
		}
	}
}

func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// Ten megabytes are formatted, or refused because the result would be too long.
//
// spec: FMT-LAW-4 FMT-TEXT-5
func TestLargeSources(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for _, c := range []struct {
		shape   string
		refused bool
	}{{"call", false}, {"remarks", false}, {"deep and wide", true}} {
		shape := shapes[c.shape]
		src := []byte(shape(10 << 20 / (len(shape(9000)) / 9000)))
		out, err := Source(src, coreform.Limits{})
		var limit *coreform.LimitError
		if refused := errors.As(err, &limit) && limit.Dimension == coreform.DimBytes; refused != c.refused || !refused && err != nil {
			t.Errorf("%s: %d bytes of %d, %v", c.shape, len(out), len(src), err)
		}
	}
}

func TestReaderErrors(t *testing.T) {
	for src, want := range map[string]string{
		"(a": "core/parse/unexpected 0", "a\n 'b)": "core/parse/unexpected 5", `"\q"`: "core/parse/escape 1", "'": "core/parse/eof 1",
		"\xff": "core/parse/utf8 0", "{a}": "core/parse/unexpected 0", "\uFEFFa": "core/parse/unexpected 0",
	} {
		out, err := Source([]byte(src), coreform.Limits{})
		var read *coreform.ReadError
		if !errors.As(err, &read) || out != nil || fmt.Sprint(read.Code(), " ", read.Offset) != want {
			t.Errorf("%q: %q, %v", src, out, err)
		}
	}
}
