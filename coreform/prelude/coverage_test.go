package prelude_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/coreform/kernel"
	"github.com/gcrun/gcrun/coreform/prelude"
	"github.com/gcrun/gcrun/internal/testkit"
)

// casesPerName is how many cases have to use each primitive and each name of the
// library.
const casesPerName = 3

// namesIn returns the symbols of a source, none if it cannot be read.
func namesIn(src string) map[string]bool {
	names := map[string]bool{}
	terms, err := coreform.ReadTerms([]byte(src), coreform.Limits{})
	if err != nil {
		return names // a case about source that cannot be read
	}
	for len(terms) > 0 {
		v := terms[len(terms)-1]
		terms = terms[:len(terms)-1]
		if s, ok := v.AsSym(); ok {
			names[s] = true
		}
		if p, ok := v.AsPair(); ok {
			terms = append(terms, p.Car(), p.Cdr())
		}
		if m, ok := v.AsMap(); ok {
			for _, e := range m.All() {
				terms = append(terms, e)
			}
		}
	}
	return names
}

// Every name of the language is used by several cases.
//
// spec: LANG-PRIM-1, LANG-PRIM-2, LANG-PRIM-3, LANG-NAT-1, LANG-LIB-1, LANG-LIB-2, LANG-LIB-3
func TestCasesNameEverything(t *testing.T) {
	uses := map[string]int{}
	for _, c := range readCases(t) {
		for name := range namesIn(c.src) {
			uses[name]++
		}
	}
	primitives, library := kernel.PrimitiveNames(), prelude.Library().Names()
	if len(primitives) != 57 || len(library) < 100 {
		t.Errorf("%d primitives, %d names in the library", len(primitives), len(library))
	}
	for _, name := range append(primitives, library...) {
		if uses[name] < casesPerName {
			t.Errorf("%d cases use %s, want %d", uses[name], name, casesPerName)
		}
	}
}

var (
	codeRow      = regexp.MustCompile("(?m)^\\| `(core/fatal/[a-z-]+)` \\|")
	dimensionRow = regexp.MustCompile("(?m)^\\| [^|]+ \\| `([a-z-]+)` \\|")
)

// column returns what a table of the specification names, at least least times.
func column(t *testing.T, file string, row *regexp.Regexp, least int) []string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(testkit.Root(t), "spec", file))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, m := range row.FindAllSubmatch(data, -1) {
		names = append(names, string(m[1]))
	}
	if len(names) < least {
		t.Fatalf("spec/%s names only %q", file, names)
	}
	return names
}

// Every code that reading and evaluating give, and every dimension of the limits
// of a run, is what some case ends with.
//
// spec: LANG-ERR-2, LANG-EVAL-4, ERR-FATAL-1, ERR-FATAL-2
func TestCasesReachEveryCode(t *testing.T) {
	reached := map[string]bool{}
	for _, c := range readCases(t) {
		want := c.want
		if i := strings.LastIndex(want, "; "); strings.HasPrefix(want, "program: ") && i >= 0 {
			want = want[i+2:]
		}
		words := strings.Fields(strings.TrimPrefix(want, "program: "))
		if len(words) >= 2 && slices.Contains([]string{"error", "fatal", "limit"}, words[0]) {
			reached[words[0]+" "+words[1]] = true
		}
	}
	var all []string
	for _, code := range kernel.ErrorCodes() {
		all = append(all, "error "+code)
	}
	for _, code := range column(t, "errors.md", codeRow, 3) {
		all = append(all, "fatal "+code)
	}
	for _, dimension := range column(t, "limits.md", dimensionRow, 9) {
		all = append(all, "limit "+dimension)
	}
	slices.Sort(all)
	for _, end := range all {
		if !reached[end] {
			t.Errorf("no case ends with %q", end)
		}
	}
}

// spec: CF-READ-7
func TestSourceThatCannotBeRead(t *testing.T) {
	for src, want := range map[string]string{
		"(core/int::add 1 \xff)": "refused core/parse/utf8 at 17",
		"\xef\xbb\xbf1":          "refused core/parse/unexpected at 0",
		"'":                      "refused core/parse/eof at 1",
		`"\z"`:                   "refused core/parse/escape at 1",
		"a\x00b":                 "refused core/parse/unexpected at 1",
		strings.Repeat("9", coreform.DefaultDigits+1): "refused core/parse/int at 0",
		strings.Repeat("[", coreform.DefaultDepth+1):  "refused core/parse/depth at 1000",
		strings.Repeat("1 ", coreform.DefaultTerms+1): "refused core/parse/size at 16777216",
		strings.Repeat(" ", coreform.DefaultBytes+1):  "refused core/parse/size at 67108864",
	} {
		if got, _ := runCase(src, kernel.Limits{}); got != want {
			t.Errorf("%.40q: %s, want %s", src, got, want)
		}
	}
}
