package prelude_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/coreform/kernel"
)

// pieces are texts of few different characters, so that they occur in each other.
func pieces(most int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "é", ",", "日", "", "ab"}), 0, most).Draw(t, "pieces"), "")
	})
}

// joinedSource is an expression for a string: literal, or joined of long pieces and
// then cut out again, so that it is a tree for whoever looks into it first.
func joinedSource(t *rapid.T, s string) string {
	if !rapid.Bool().Draw(t, "joined") {
		return strconvQuote(s)
	}
	at := 0
	if n := len([]rune(s)); n > 0 {
		at = len(string([]rune(s)[:rapid.IntRange(0, n).Draw(t, "at")]))
	}
	pad := strings.Repeat("é", 300)
	return fmt.Sprintf("(core/str::slice (core/str::concat (core/str::concat %s %s) (core/str::concat %s %s)) %d %d)",
		strconvQuote(pad), strconvQuote(s[:at]), strconvQuote(s[at:]), strconvQuote(pad), len(pad), len(s))
}

func strconvQuote(s string) string { return `"` + coreform.EscapeStr(s) + `"` }

// Strings are split, searched and cut as Go does it, and joining what was split
// gives the string again.
//
// spec: LANG-LIB-4
func TestStringFunctions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, sep := pieces(30).Draw(t, "s"), pieces(3).Draw(t, "sep")
		src, sepSrc := joinedSource(t, s), strconvQuote(sep)
		is := func(format string, want any, args ...any) {
			t.Helper()
			if got := value(t, fmt.Sprintf(format, args...)); got != fmt.Sprint(want) {
				t.Fatalf("%s: %s, want %v", fmt.Sprintf(format, args...), got, want)
			}
		}
		is("(core/str::join (core/str::split %s %s) %s)", strconvQuote(s), src, sepSrc, sepSrc)
		is("(core/vec::len (core/str::split %s %s))", len(strings.Split(s, sep)), src, sepSrc)
		is("(core/str::starts-with? %s %s)", strings.HasPrefix(s, sep), src, sepSrc)
		is("(core/str::ends-with? %s %s)", strings.HasSuffix(s, sep), src, sepSrc)
		index := func(i int) string {
			if i < 0 {
				return "nil"
			}
			return fmt.Sprint(i)
		}
		is("(core/str::index-of %s %s)", index(strings.Index(s, sep)), src, sepSrc)
		from := rapid.IntRange(0, len(s)).Draw(t, "from")
		to := rapid.IntRange(from, len(s)).Draw(t, "to")
		part, found := "error core/text-range-error", "error core/text-range-error"
		inside := func(i int) bool { return i < len(s) && s[i]&0xC0 == 0x80 }
		if !inside(from) {
			if found = index(strings.Index(s[from:], sep)); found != "nil" {
				found = fmt.Sprint(from + strings.Index(s[from:], sep))
			}
			if !inside(to) {
				part = strconvQuote(s[from:to])
			}
		}
		is("(core/str::index-from %s %s %d)", found, src, sepSrc, from)
		is("(core/str::slice %s %d %d)", part, src, from, to-from)
	})
}

// terms are small, so that many are equal or begin alike.
func terms(depth int) *rapid.Generator[coreform.Value] {
	atoms := []coreform.Value{{}, coreform.Bool(false), coreform.Bool(true), coreform.Int(-1), coreform.Int(1), coreform.Str(""), coreform.Str("a"),
		coreform.Str("ab"), coreform.BytesOf([]byte("a")), coreform.BytesOf([]byte("b")), coreform.Sym("a"), coreform.Sym("ab")}
	return rapid.Custom(func(t *rapid.T) coreform.Value {
		kind := rapid.IntRange(0, 5).Draw(t, "kind")
		if depth == 0 || kind < 3 {
			return rapid.SampledFrom(atoms).Draw(t, "atom")
		}
		parts := rapid.SliceOfN(terms(depth-1), 0, 4).Draw(t, "parts")
		switch kind {
		case 3:
			return coreform.Vec(parts...)
		case 4:
			return coreform.List(parts...)
		}
		var es []coreform.Entry
		for i := 0; i+1 < len(parts); i += 2 {
			es = append(es, coreform.Entry{Key: parts[i], Value: parts[i+1]})
		}
		return coreform.MapOf(es...)
	})
}

func quoted(t *rapid.T, v coreform.Value) string {
	text, err := coreform.PrintTerm(v, coreform.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return "'" + string(text)
}

// core/term::compare is the order of terms, and costs the same both ways round.
//
// spec: LANG-LIB-4
func TestCompareIsTheOrderOfTerms(t *testing.T) {
	equal := 0
	rapid.Check(t, func(t *rapid.T) {
		a, b := terms(3).Draw(t, "a"), terms(3).Draw(t, "b")
		if rapid.IntRange(0, 3).Draw(t, "same") == 0 {
			b = a
		}
		want := coreform.Compare(a, b)
		if want == 0 {
			equal++
		}
		src := fmt.Sprintf("(core/term::compare %s %s)", quoted(t, a), quoted(t, b))
		v, p, err := eval(src, kernel.Limits{})
		if err != nil || show(v) != fmt.Sprint(want) {
			t.Fatalf("%s: %s %v, want %d", src, show(v), err, want)
		}
		back := fmt.Sprintf("(core/term::compare %s %s)", quoted(t, b), quoted(t, a))
		w, q, err := eval(back, kernel.Limits{})
		if err != nil || show(w) != fmt.Sprint(-want) || p.Usage() != q.Usage() {
			t.Fatalf("%s: %s %v, want %d and %+v", back, show(w), err, -want, p.Usage())
		}
	})
	if equal == 0 {
		t.Error("no two terms were equal")
	}
}

// A term that shares its parts, and so is larger as a tree than any machine, ends
// in the limit of steps.
//
// spec: LANG-STEP-2
func TestCompareOfSharedParts(t *testing.T) {
	const double = `(def twice (fn (n v) (if (core/int::eq? n 0) v (twice (core/int::sub n 1) (core/vec::push (core/vec::push [] v) v)))))`
	if got := limitOf(t, double+`(core/term::compare (twice 60 1) (twice 60 1))`, kernel.Limits{Steps: 1_000_000}); got != "steps" {
		t.Errorf("ended by %q", got)
	}
}

// Sorting is stable and in term order, whatever the elements.
//
// spec: LANG-LIB-4
func TestSortIsStable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.SliceOfN(rapid.IntRange(0, 9), 0, 60).Draw(t, "keys")
		type row struct{ key, at int }
		var rows []row
		var src strings.Builder
		for i, k := range keys {
			rows = append(rows, row{k, i})
			fmt.Fprintf(&src, "[%d %d] ", k, i)
		}
		slices.SortStableFunc(rows, func(a, b row) int { return a.key - b.key })
		want := "nil"
		if len(rows) > 0 {
			var parts []string
			for _, r := range rows {
				parts = append(parts, fmt.Sprintf("[%d %d]", r.key, r.at))
			}
			want = "(" + strings.Join(parts, " ") + ")"
		}
		for _, sorted := range []string{
			"(core/list::sort-by '(%s) (fn (x) (core/vec::get x 0)))",
			"(core/vec::to-list (core/vec::sort-by [%s] (fn (x) (core/vec::get x 0))))",
		} {
			if got := value(t, fmt.Sprintf(sorted, src.String())); got != want {
				t.Fatalf("%s\n got %s\nwant %s", src.String(), got, want)
			}
		}
	})
}
