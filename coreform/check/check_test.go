package check_test

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/coreform/check"
	"github.com/gcrun/gcrun/coreform/kernel"
	"github.com/gcrun/gcrun/coreform/prelude"
	"github.com/gcrun/gcrun/internal/testkit"
)

func module(t testing.TB, src []byte) []check.Problem {
	t.Helper()
	problems, err := check.Module("m.gc", src, prelude.Library())
	if err != nil {
		t.Fatal(err)
	}
	return problems
}

// lines is one line for each problem, as in testdata/check.
func lines(problems []check.Problem) string {
	var b strings.Builder
	for _, p := range problems {
		fmt.Fprintf(&b, "%d:%d %s %s: %s | %s\n", p.Line, p.Col, p.Severity, p.Code, p.Message, p.Hint)
	}
	return b.String()
}

// The cases of testdata/check: a module, and the problems it has. With -update
// the problems are written.
//
// spec: CHK-MOD-1, CHK-MOD-2, CHK-CODE-1, CHK-NAME-1, CHK-NAME-2, CHK-CALL-1, CHK-CALL-2, CHK-CALL-3,
// CHK-COND-1, CHK-COND-2, CHK-VEC-1, CHK-OP-1, CHK-OP-2, CHK-OP-3, CHK-DEF-1, CHK-DEF-2, CHK-DEF-3, ERR-CHECK-1
func TestCases(t *testing.T) {
	codes := map[string]bool{}
	for _, path := range testkit.Files(t, filepath.Join(testkit.Root(t), "testdata", "check", "*.txtar")) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			a, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if len(a.Files) != 2 || a.Files[0].Name != "m.gc" || a.Files[1].Name != "want" {
				t.Fatal("not m.gc and want")
			}
			problems := module(t, a.Files[0].Data)
			for _, p := range problems {
				codes[p.Code] = true
			}
			a.Files[1].Data = []byte(lines(problems))
			testkit.Golden(t, path, txtar.Format(a))
		})
	}
	codes["check/too-many"] = true // TestTooMany
	delete(codes, "core/bad-form")
	delete(codes, "core/parse/escape")
	checkCodes(t, slices.Sorted(maps.Keys(codes)))
}

// checkCodes compares the codes that cases show with those of the specification.
func checkCodes(t *testing.T, shown []string) {
	t.Helper()
	var table []string
	for _, line := range strings.Split(read(t, "check.md"), "\n") {
		if cells := strings.Split(line, "|"); len(cells) == 6 && strings.Contains(cells[1], "check/") {
			table = append(table, strings.Trim(cells[1], " `"))
		}
	}
	slices.Sort(table)
	if !slices.Equal(shown, table) {
		t.Errorf("the cases show %q, CHK-CODE-1 has %q", shown, table)
	}
	_, text, _ := strings.Cut(read(t, "errors.md"), "**ERR-CHECK-1**")
	text, _, _ = strings.Cut(text, "\n\n")
	if listed := regexp.MustCompile("check/[a-z-]+").FindAllString(text, -1); !slices.Equal(shown, listed) {
		t.Errorf("the cases show %q, ERR-CHECK-1 has %q", shown, listed)
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(testkit.Root(t), "spec", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// Positions are those of package coreform, and problems are in order.
//
// spec: CHK-MOD-1
func TestPlaces(t *testing.T) {
	src := []byte("; é\n\n  (f é)\n\t(g \"é\" h)\r\n(i)")
	problems := module(t, src)
	if len(problems) != 5 {
		t.Fatalf("%d problems:\n%s", len(problems), lines(problems))
	}
	checkPlaces(t, src, problems)
}

func checkPlaces(t *testing.T, src []byte, problems []check.Problem) {
	t.Helper()
	for i, p := range problems {
		if p.Offset < 0 || p.Offset > len(src) || p.File != "m.gc" || p.Code == "" || p.Message == "" || p.Hint == "" {
			t.Errorf("%+v", p)
			continue
		}
		if line, col := coreform.Position(src, p.Offset); line != p.Line || col != p.Col {
			t.Errorf("%d:%d, want %d:%d: %+v", p.Line, p.Col, line, col, p)
		}
		if i > 0 && p.Code != "check/too-many" {
			before := problems[i-1]
			if cmp.Or(cmp.Compare(before.Offset, p.Offset), cmp.Compare(before.Code, p.Code)) > 0 {
				t.Errorf("%+v comes before %+v", before, p)
			}
		}
	}
}

// The examples have no problems, and neither has the library, but that its
// names are its own, and those of its other files that programs do not see.
//
// spec: CHK-MOD-4
func TestShippedSourcesAreClean(t *testing.T) {
	for _, path := range testkit.Files(t, filepath.Join(testkit.Root(t), "examples", "*", "*.gc")) {
		src, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if problems := module(t, src); len(problems) > 0 {
			t.Errorf("%s:\n%s", path, lines(problems))
		}
	}
	for _, path := range testkit.Files(t, filepath.Join(testkit.Root(t), "coreform", "prelude", "*.gc")) {
		src, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		problems := slices.DeleteFunc(module(t, src), func(p check.Problem) bool {
			return p.Code == "check/hides-library" || p.Code == "check/unbound" && strings.Contains(p.Message, "::%")
		})
		if len(problems) > 0 {
			t.Errorf("%s:\n%s", path, lines(problems))
		}
	}
}

// spec: CHK-MOD-3
func TestTooMany(t *testing.T) {
	src := []byte(strings.Repeat("(def a (if 1 2 nowhere))\n", 1000) + "(nowhere 1) [a]")
	problems := module(t, src)
	if len(problems) != 1001 {
		t.Fatalf("%d problems", len(problems))
	}
	checkPlaces(t, src, problems)
	last := problems[1000]
	if last.Code != "check/too-many" || last.Severity != check.Error || last.Offset != len(src) || !strings.HasPrefix(last.Message, "1001 more") {
		t.Errorf("%+v", last)
	}
	src = []byte("(def x 1) " + strings.Repeat("[x]", 1001))
	problems = module(t, src)
	if last = problems[1000]; last.Severity != check.Warning || !strings.HasPrefix(last.Message, "1 more problem ") {
		t.Errorf("%+v", last)
	}
}

// What is long or deep is checked in bounded time and memory.
func TestLargeModules(t *testing.T) {
	chain := func(n int) string { // each calls the next, the last first
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "(def f%d (fn (x) (f%d x)))\n", i, i+1)
		}
		fmt.Fprintf(&b, "(def f%d (fn (x) (core/int::add x 1)))\n(f0 1)", n)
		return b.String()
	}
	var vars strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&vars, "(v%d %d)", i, i)
	}
	for name, c := range map[string]struct {
		src  string
		want int
	}{
		"chain of functions": {chain(20_000), 0},
		"deep":               {strings.Repeat("(if (core/int::add ", 450) + "1 2" + strings.Repeat(") 1 2)", 450), 450},
		"deep fn":            {"(fn (" + strings.Repeat("x", 3) + ") " + strings.Repeat("(fn (y) ", 900) + "y" + strings.Repeat(")", 901), 0},
		"many variables":     {"(let (" + vars.String() + ") (vx 1))", 1},
		"a long name":        {"(" + strings.Repeat("n", 1<<20) + " 1)", 1},
		"nothing":            {"", 0},
	} {
		problems := module(t, []byte(c.src))
		if len(problems) != c.want {
			t.Errorf("%s: %d problems, want %d:\n%.2000s", name, len(problems), c.want, lines(problems))
		}
		for _, p := range problems {
			if len(p.Message) > 1000 {
				t.Errorf("%s: a message of %d bytes", name, len(p.Message))
			}
		}
	}
}

// A misplaced def is told in the words of loading.
//
// spec: CHK-MOD-2
func TestLoadErrorsAreTheSame(t *testing.T) {
	for _, src := range []string{"(fn (x) (def y 1))", "(if", "(let (x) 1)", "\"\\q\"", strings.Repeat("'", 2000) + "a"} {
		_, want := kernel.Load("m.gc", []byte(src), prelude.Library(), kernel.Limits{})
		problems := module(t, []byte(src))
		if len(problems) != 1 || want == nil {
			t.Errorf("%.40q: %v:\n%s", src, want, lines(problems))
			continue
		}
		p := problems[0]
		if load, ok := want.(*kernel.LoadError); ok && (p.Message != load.Message || p.Hint != load.Hint || p.Offset != load.Span.Off) {
			t.Errorf("%q: %+v, want %+v", src, p, load)
		}
		if !strings.Contains(want.Error(), p.Message) || p.Severity != check.Error {
			t.Errorf("%.40q: %+v, want %v", src, p, want)
		}
	}
}

// Two checks of a source say the same.
func TestDeterministic(t *testing.T) {
	for _, path := range testkit.Files(t, filepath.Join(testkit.Root(t), "testdata", "check", "*.txtar")) {
		src, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		src = bytes.ReplaceAll(src, []byte("-- "), []byte("; "))
		if a, b := module(t, src), module(t, src); !reflect.DeepEqual(a, b) {
			t.Errorf("%s:\n%s\n%s", path, lines(a), lines(b))
		}
	}
}
