package prelude_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/coreform/kernel"
	"github.com/gcrun/gcrun/coreform/prelude"
	"github.com/gcrun/gcrun/effects/ops"
	"github.com/gcrun/gcrun/internal/testkit"
)

// Every name of the library is documented, and nothing else is.
//
// spec: LIB-DOC-1
func TestEveryNameIsDocumented(t *testing.T) {
	names := prelude.Library().Names()
	for _, name := range names {
		d, ok := prelude.Doc(name)
		if !ok {
			t.Errorf("%s is not documented", name)
			continue
		}
		family, _, _ := strings.Cut(name, "::")
		if !strings.Contains(name, "::") {
			family = "core"
		}
		if d.Name != name || d.Family != family && d.Family != "core" {
			t.Errorf("%s is documented as %s of %s", name, d.Name, d.Family)
		}
		if !strings.HasSuffix(strings.TrimRight(d.Text, ")"), ".") || d.Errors == "" || d.Steps == "" || len(d.Examples) == 0 || d.Summary() == "" {
			t.Errorf("%s: %+v lacks something", name, d)
		}
	}
	seen := map[string]bool{}
	for _, f := range prelude.Families() {
		if seen[f.Name] || f.Title == "" || f.Text == "" || len(f.Names) == 0 {
			t.Errorf("family %+v", f)
		}
		seen[f.Name] = true
		for _, name := range f.Names {
			if seen[name] || !slices.Contains(names, name) {
				t.Errorf("%s is documented and no name of the library, or twice", name)
			}
			seen[name] = true
		}
	}
	if _, ok := prelude.Doc("core/list::%merge"); ok {
		t.Error("a part of the library is documented")
	}
}

// arguments returns how many arguments a name takes, and how they are called in its
// definition, nil for natives.
func arguments(t *testing.T, name string) (n int, names []string) {
	t.Helper()
	d, ok := prelude.Library().Describe(name)
	if !ok {
		t.Fatalf("%s is not described", name)
	}
	if alias, isAlias := d.Expr.Term.AsSym(); isAlias {
		n, _ = arguments(t, alias)
		return n, nil
	}
	for e := d.Expr; len(e.Kids) == 3 && e.Kids[0].Term.IsSym("fn"); e = e.Kids[2] {
		arg, _ := e.Kids[1].Kids[0].Term.AsSym()
		names = append(names, arg)
	}
	return d.Arity, names
}

// The documented arguments are those of the definition, in its order.
//
// spec: LIB-DOC-1, LIB-ARG-1
func TestDocumentedArguments(t *testing.T) {
	withNames := 0
	for _, name := range prelude.Library().Names() {
		d, _ := prelude.Doc(name)
		n, names := arguments(t, name)
		if len(d.Args) != n || names != nil && !slices.Equal(d.Args, names) {
			t.Errorf("%s takes %d arguments %v, documented are %v", name, n, names, d.Args)
		}
		if names != nil {
			withNames++
		}
		native := names == nil && n > 0
		if d.Source == "" && !native && name != "core/contract::genesis" {
			t.Errorf("%s has no source", name)
		}
		if d.Source != "" && !strings.HasPrefix(d.Source, "(def "+name+" ") {
			t.Errorf("%s has the source %q", name, d.Source)
		}
	}
	if withNames < 80 {
		t.Errorf("only %d definitions have named arguments", withNames)
	}
}

// exampleResult evaluates an example and says what it gives in the words of the
// documentation.
func exampleResult(src string) (string, *ops.Op, coreform.Value) {
	v, _, err := eval(src, kernel.Limits{})
	if err != nil {
		return failureText(err), nil, v
	}
	if o := v.AsOther(); o == nil || o.TypeName() != "effect-program" {
		return show(v), nil, v
	}
	p, err := loadWith(src, kernel.Limits{})
	if err != nil {
		return failureText(err), nil, v
	}
	s, err := p.Step(context.Background(), 0, nil)
	switch {
	case err != nil:
		return failureText(err), nil, v
	case s.Done != nil:
		return "a program whose value is " + show(s.Done.Value), nil, v
	}
	op, _ := ops.Lookup(s.Request.Op)
	return "asks " + s.Request.Op + " " + show(s.Request.Payload), op, s.Request.Payload
}

// Every example gives what is written under it, and what it asks for is what the
// operation accepts.
//
// spec: LIB-DOC-1, LIB-ASK-1
func TestExamples(t *testing.T) {
	asked := map[string]bool{}
	n := 0
	for _, name := range prelude.Library().Names() {
		d, _ := prelude.Doc(name)
		for _, e := range d.Examples {
			n++
			got, op, payload := exampleResult(e.Source)
			if got != e.Result {
				t.Errorf("%s: %s\n got %s\nwant %s", name, e.Source, got, e.Result)
			}
			if !namesIn(e.Source)[name] {
				t.Errorf("%s: %s does not use it", name, e.Source)
			}
			if op == nil {
				if strings.HasPrefix(got, "asks ") {
					t.Errorf("%s: %s is no operation", name, got)
				}
				continue
			}
			asked[op.Name] = true
			if problem := ops.CheckPayload(op, payload); problem != nil {
				t.Errorf("%s: %s does not accept %s: %v", name, op.Name, show(payload), problem)
			}
		}
	}
	if n < 200 {
		t.Errorf("only %d examples", n)
	}
	for _, op := range ops.Names() {
		if !asked[op] {
			t.Errorf("no function of the library is shown to ask for %s", op)
		}
	}
}

// libraryPage is spec/library.md.
func libraryPage(t *testing.T) []byte {
	t.Helper()
	intro, err := os.ReadFile(filepath.Join("testdata", "library-intro.md"))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.Write(intro)
	for _, f := range prelude.Families() {
		fmt.Fprintf(&b, "\n## %s: `%s`\n\n%s\n", f.Title, f.Name, f.Text)
		for _, name := range f.Names {
			d, _ := prelude.Doc(name)
			fmt.Fprintf(&b, "\n### `%s` %s\n\n%s\n\n", name, strings.Join(d.Args, " "), d.Text)
			fmt.Fprintf(&b, "- *errors*: %s\n- *steps*: %s\n\n```\n", d.Errors, d.Steps)
			for _, e := range d.Examples {
				fmt.Fprintf(&b, "%s\n=> %s\n", e.Source, e.Result)
			}
			b.WriteString("```\n")
		}
	}
	return []byte(strings.ReplaceAll(b.String(), " \n", "\n"))
}

// spec/library.md says what the documentation says. After a change:
//
//	go test ./coreform/prelude -run LibraryPage -update
//
// spec: LIB-DOC-1, LIB-DOC-2, LIB-STEP-1
func TestLibraryPage(t *testing.T) {
	testkit.Golden(t, filepath.Join(testkit.Root(t), "spec", "library.md"), libraryPage(t))
}
