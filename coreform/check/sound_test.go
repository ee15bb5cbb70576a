package check

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/coreform/kernel"
	"github.com/gcrun/gcrun/coreform/prelude"
	"github.com/gcrun/gcrun/effects/guest"
	"github.com/gcrun/gcrun/internal/testkit"
)

// sources returns the modules of testdata that are written one after the other
// with their values, those of testdata/check, and the examples.
func sources(t testing.TB) []string {
	t.Helper()
	var out []string
	root := testkit.Root(t)
	for _, path := range testkit.Files(t, filepath.Join(root, "testdata", "language", "*.txt")) {
		chunk := ""
		for _, line := range strings.Split(read(t, path), "\n") {
			if i := strings.LastIndex(line, "=> "); i >= 0 {
				out = append(out, chunk+line[:i])
				chunk = ""
				continue
			}
			chunk += line + "\n"
		}
	}
	for _, path := range testkit.Files(t, filepath.Join(root, "testdata", "check", "*.txtar")) {
		_, src, _ := strings.Cut(read(t, path), "-- m.gc --\n")
		src, _, _ = strings.Cut(src, "-- want --\n")
		out = append(out, src)
		out = append(out, strings.Split(src, "\n")...) // or the first fault would hide the others
	}
	for _, path := range testkit.Files(t, filepath.Join(root, "examples", "*", "*.gc")) {
		out = append(out, read(t, path))
	}
	return out
}

func read(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// sound checks a source, runs it, and compares: the value is of a kind that was
// found, and a name that was not bound was reported. It reports whether there was
// a value of which something was known.
func sound(t *testing.T, src string) bool {
	t.Helper()
	problems, err := Module("t.gc", []byte(src), prelude.Library())
	if err != nil {
		t.Fatalf("%q: %v", src, err)
	}
	for i, p := range problems {
		line, col := coreform.Position([]byte(src), p.Offset)
		if p.Offset < 0 || p.Offset > len(src) || p.Line != line || p.Col != col || p.Message == "" || p.Hint == "" {
			t.Errorf("%q: %+v", src, p)
		}
		if i > 0 && p.Offset < problems[i-1].Offset {
			t.Errorf("%q: %+v comes before %+v", src, problems[i-1], p)
		}
	}
	limits := kernel.Limits{Steps: 20_000, LiveUnits: 1 << 16, AllocUnits: 1 << 18}
	program, err := kernel.Load("t.gc", []byte(src), prelude.Library(), limits)
	if err != nil {
		if len(problems) == 0 {
			t.Errorf("%q cannot be loaded, but has no problems: %v", src, err)
		}
		return false
	}
	forms, _ := coreform.ReadModule([]byte(src), coreform.Limits{})
	forms, _ = coreform.CanonicalizeModule(forms, coreform.Limits{})
	a, err := newAnalysis(forms, prelude.Library(), &report{})
	if err != nil {
		t.Fatal(err)
	}
	a.module()
	v, err := program.Eval(context.Background())
	if fatal, ok := errors.AsType[*guest.Fatal](err); ok {
		unboundReported(t, a, src, fatal, problems)
		return false
	} else if err != nil {
		t.Fatalf("%q: %v", src, err)
	}
	if k := kindOf(v); k&allowedResult(a.last.kinds) == 0 {
		t.Errorf("%q gives %s, but is said to be %s", src, coreform.FormatLossy(v, 200), a.last.kinds)
	}
	return a.last.kinds&kAny != kAny
}

// allowedResult is the kinds of values that are of the kinds found.
func allowedResult(k kinds) kinds {
	if k&kAsk != 0 {
		k |= kEffect
	}
	return k
}

// unboundReported looks for the report of a name that ended a run. A name that is
// only not defined yet may be used there without certainty.
func unboundReported(t *testing.T, a *analysis, src string, fatal *guest.Fatal, problems []Problem) {
	t.Helper()
	if fatal.Code != "core/fatal/unbound-symbol" || fatal.Span.File != "t.gc" || len(problems) > maxProblems {
		return
	}
	name := src[fatal.Span.Off:fatal.Span.End]
	if _, defined := a.defs[name]; defined {
		return
	}
	for _, p := range problems {
		if p.Code == "check/unbound" && p.Offset == fatal.Span.Off {
			return
		}
	}
	t.Errorf("%q ends because %s is not bound, and that is not reported", src, name)
}

// Functions that call each other in a long row, the last first, are found out
// only so far; what is found is right all the same.
//
// spec: CHK-KIND-3
func TestSoundWithoutEnd(t *testing.T) {
	for _, n := range []int{1, 5, 11, 12, 13, 23, 24, 25, 40, 200} {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "(def f%d (fn (x) (f%d x)))\n(def v%d (fn (x) v%d))\n", i, i+1, i, i+1)
		}
		fmt.Fprintf(&b, "(def f%d (fn (x) (core/int::add x 1)))\n(def v%d \"s\")\n", n, n)
		known := sound(t, b.String()+"(f0 1)")
		if n < 10 && !known {
			t.Errorf("nothing is known of a row of %d", n)
		}
		sound(t, b.String()+"(v0 1)")
	}
}

// What is known of one of two values is what is known of the other too: join is
// the least that holds of both.
func TestJoin(t *testing.T) {
	f, g := &function{arity: 2}, &function{arity: 2}
	all := []value{{}, of(kInt), of(kStr | kErr), of(kFn), anything, {kinds: kFn, fn: f}, {kinds: kFn, fn: f, given: 1}, {kinds: kFn | kNil, fn: g}}
	for _, v := range all {
		if v.join(v) != v || v.join(value{}) != v {
			t.Errorf("%v joined with itself or nothing is another", v)
		}
		for _, w := range all {
			vw := v.join(w)
			if vw != w.join(v) || vw.join(v) != vw || vw.kinds != v.kinds|w.kinds {
				t.Errorf("%v, %v: %v, %v", v, w, vw, w.join(v))
			}
			for _, x := range all {
				if vw.join(x) != v.join(w.join(x)) {
					t.Errorf("%v, %v, %v: the order matters", v, w, x)
				}
			}
		}
	}
}

// spec: CHK-KIND-1, CHK-KIND-3
func TestSound(t *testing.T) {
	all := sources(t)
	known := 0
	for _, src := range all {
		if sound(t, src) {
			known++
		}
	}
	t.Logf("of %d values something is known in %d", len(all), known)
	if known < len(all)/3 {
		t.Errorf("of %d values something is known in %d only", len(all), known)
	}
}

func FuzzModule(f *testing.F) {
	for _, src := range sources(f) {
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src string) {
		if len(src) < 10_000 {
			sound(t, src)
		}
	})
}
