package coreform_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gcrun/gcrun/coreform"
)

// spec: CF-CANON-1 CF-CANON-2 CF-CANON-3 CF-CANON-4 CF-CANON-5 CF-CANON-6
func TestCanonicalExamples(t *testing.T) {
	for _, c := range [][2]string{
		{`(let () 7)`, `(let nil 7)`},
		{`( (7) )`, `7`},
		{`'((7))`, `(quote ((7)))`},
		{`(fn (x y) x y)`, `(fn (x) (fn (y) (begin x y)))`},
		{`(f a b c)`, `(((f a) b) c)`},
		{`{(f a b) (f a b)}`, "{\n  (f a b) ((f a) b)}"},
		{`[1 2 3 4]`, "[\n  1\n  2\n  3\n  4]"},
		{`{:a 1 :b 2 :c 3}`, "{\n  :a 1\n  :b 2\n  :c 3}"},
		{`((fn (y) y) (def x 1))`, `((fn (y) y) (def x 1))`},
		{`(begin (f a b))`, `(begin ((f a) b))`},
		{`(let ((x (f 1 2)) (if 3)) x if)`, `(let ((x ((f 1) 2)) (if 3)) (begin x if))`},
		{`(prim int/add (f 1 2) 3 4)`, `(prim int/add ((f 1) 2) 3 4)`},
		{`(seal)`, `(seal)`},
		{`((seal) (seal (g 1 2) t))`, `((seal) (seal ((g 1) 2) t))`},
		{`{:b (f 1 2) :a 1 :b (g 1 2) :c (if) :c 0}`, "{\n  :a 1\n  :b ((g 1) 2)\n  :c 0}"},
		{`[(f 1 2) (if)]`, `[(f 1 2) (if)]`},
		{`(((f)))`, `f`},
	} {
		// A vector holding lists has no one-line form.
		want := c[1]
		if c[0] == `[(f 1 2) (if)]` {
			want = "[\n  (f 1 2)\n  (if)]"
		}
		got, err := canonicalText(c[0])
		if err != nil || got != want+"\n" {
			t.Errorf("%s: %s, %v, want %s", c[0], got, err, want)
		}
		v, err := coreform.CanonicalizeTerm(mustRead(t, c[0]), coreform.Limits{})
		if err != nil || mustPrint(t, v) != want {
			t.Errorf("%s as a term: %v", c[0], err)
		}
	}
}

// checkParallel reports canonical nodes whose kids are not those of the term.
func checkParallel(t testing.TB, src []byte, n coreform.Node, code bool) {
	t.Helper()
	if n.Off < 0 || n.End < n.Off || n.End > len(src) {
		t.Fatalf("range [%d,%d)", n.Off, n.End)
	}
	var parts []coreform.Value
	switch n.Term.Kind() {
	case coreform.KindPair:
		parts, _ = coreform.ListElems(n.Term)
	case coreform.KindVec:
		v, _ := n.Term.AsVec()
		parts = v.Slice()
	case coreform.KindMap:
		m, _ := n.Term.AsMap()
		for k, v := range m.All() {
			parts = append(parts, k, v)
		}
		if !code {
			return // source order
		}
	}
	if len(parts) != len(n.Kids) {
		t.Fatalf("%d kids for %s", len(n.Kids), mustPrint(t, n.Term))
	}
	quoted := len(parts) > 0 && n.Term.Kind() == coreform.KindPair && parts[0].IsSym("quote")
	for i, k := range n.Kids {
		if !coreform.Equal(k.Term, parts[i]) {
			t.Fatalf("kid %d of %s is %s", i, mustPrint(t, n.Term), mustPrint(t, k.Term))
		}
		key := n.Term.Kind() == coreform.KindMap && i%2 == 0
		checkParallel(t, src, k, code && !quoted && !key && n.Term.Kind() != coreform.KindVec)
	}
}

// spec: CF-CANON-8 CF-CANON-9
func TestCanonicalNodes(t *testing.T) {
	sources := []string{string(ordinarySource(t, 0))}
	for _, c := range loadVectors(t).Cases {
		if c.CanonicalModule != nil {
			sources = append(sources, c.Source)
		}
	}
	for _, src := range sources {
		nodes, err := coreform.ReadModule([]byte(src), coreform.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		canon, err := coreform.CanonicalizeModule(nodes, coreform.Limits{})
		if err != nil {
			t.Fatalf("%q: %v", src, err)
		}
		again, err := coreform.CanonicalizeModule(canon, coreform.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range canon {
			checkParallel(t, []byte(src), canon[i], true)
			if !sameNodes(canon[i:i+1], again[i:i+1]) {
				t.Errorf("%q: canonicalizing again changes form %d", src, i)
			}
		}
	}
}

func sameNodes(a, b []coreform.Node) bool {
	return slices.EqualFunc(a, b, func(x, y coreform.Node) bool {
		return x.Off == y.Off && x.End == y.End && coreform.Equal(x.Term, y.Term) && sameNodes(x.Kids, y.Kids)
	})
}

// spec: CF-CANON-9
func TestCanonicalRanges(t *testing.T) {
	src := "(fn (a b) (g a b) 1)"
	n, err := coreform.ReadTermNode([]byte(src), coreform.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := coreform.Canonicalize(n, coreform.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	inner := c.Kids[2]
	begin := inner.Kids[2]
	call := begin.Kids[1]
	for _, x := range []struct {
		n         coreform.Node
		text, src string
	}{
		{c, "(fn (a) (fn (b) (begin ((g a) b) 1)))", src},
		{c.Kids[1], "(a)", "a"},
		{inner, "(fn (b) (begin ((g a) b) 1))", src},
		{inner.Kids[1], "(b)", "b"},
		{begin, "(begin ((g a) b) 1)", "(g a b) 1"},
		{call, "((g a) b)", "(g a b)"},
		{call.Kids[0], "(g a)", "(g a b)"},
		{call.Kids[0].Kids[1], "a", "a"},
	} {
		if got := mustPrint(t, x.n.Term); got != x.text || src[x.n.Off:x.n.End] != x.src {
			t.Errorf("%s from %q, want %s from %q", got, src[x.n.Off:x.n.End], x.text, x.src)
		}
	}
}

// n arguments or parameters count n toward the depth.
//
// spec: CF-CANON-10 CF-TERM-3
func TestCanonicalDepth(t *testing.T) {
	names := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, " a%d", i)
		}
		return b.String()
	}
	for _, c := range []struct {
		src string
		ok  bool
	}{
		{"(f" + names(1000) + ")", true},
		{"(f" + names(1001) + ")", false},
		{"(fn (" + names(999) + ") 1)", true},
		{"(fn (" + names(1000) + ") 1)", false}, // the last has a parameter list
		{"(quote (" + names(5000) + "))", true},
		{"(prim x " + names(5000) + ")", true},
		{"(f (f" + names(999) + ") 1)", false},
		{"(f 1 (f" + names(999) + "))", true},
		{"{:a (f" + names(1000) + ")}", false},
		{"(let ((x (f" + names(998) + "))) 1)", false},
		{"(let ((x (f" + names(997) + "))) 1)", true},
	} {
		_, err := canonicalText(c.src)
		if (err == nil) != c.ok {
			t.Errorf("%.12s… (%d bytes): %v", c.src, len(c.src), err)
		}
		var ce *coreform.CanonError
		var limit *coreform.LimitError
		if err != nil && (!errors.As(err, &ce) || ce.Code() != "core/resource-exhausted" || !errors.As(err, &limit) || ce.Off < 0) {
			t.Errorf("%.12s…: %v", c.src, err)
		}
	}
	nodes, err := coreform.ReadModule([]byte("(f"+names(5000)+")"), coreform.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := coreform.CanonicalizeModule(nodes, coreform.Limits{MaxDepth: 5000}); err != nil {
		t.Error(err)
	}
	if _, err := coreform.CanonicalizeModule(nodes, coreform.Limits{MaxDepth: 4999}); err == nil {
		t.Error("5000 arguments within depth 4999")
	}
}

// A form number is that of the module.
//
// spec: CF-CANON-7
func TestCanonErrorForm(t *testing.T) {
	nodes, err := coreform.ReadModule([]byte("1 (f) (if)"), coreform.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	var ce *coreform.CanonError
	if _, err := coreform.CanonicalizeModule(nodes, coreform.Limits{}); !errors.As(err, &ce) || ce.Form != 2 || ce.Off != 6 {
		t.Errorf("%v", err)
	}
}

// Terms a program made: improper pairs, functions, shared parts.
//
// spec: CF-CANON-2 CF-CANON-10 CF-TERM-1
func TestHostileTerms(t *testing.T) {
	sym := coreform.Sym
	improper := coreform.Cons(sym("f"), coreform.Int(1))
	for name, v := range map[string]coreform.Value{
		"call":     improper,
		"quote":    coreform.Cons(sym("quote"), sym("x")),
		"argument": coreform.List(sym("f"), improper),
		"params":   coreform.List(sym("fn"), coreform.Cons(sym("x"), sym("y")), sym("x")),
		"bindings": coreform.List(sym("let"), coreform.Cons(coreform.Value{}, sym("y")), sym("x")),
		"binding":  coreform.List(sym("let"), coreform.List(coreform.Cons(sym("y"), sym("y"))), sym("x")),
		"value":    coreform.MapOf(coreform.Entry{Key: sym("k"), Value: improper}),
	} {
		var ce *coreform.CanonError
		if _, err := coreform.CanonicalizeTerm(v, coreform.Limits{}); !errors.As(err, &ce) || ce.Code() != "core/bad-form" {
			t.Errorf("%s: %v", name, err)
		}
	}
	quoted := coreform.List(sym("quote"), improper)
	if v, err := coreform.CanonicalizeTerm(quoted, coreform.Limits{}); err != nil || !coreform.Equal(v, quoted) {
		t.Errorf("improper data: %v", err)
	}
	if _, err := coreform.CanonicalizeTerm(coreform.List(sym("f"), coreform.FromOther(testOther{})), coreform.Limits{}); !errors.Is(err, coreform.ErrNotTerm) {
		t.Errorf("function: %v", err)
	}
	shared := sym("x")
	for range 60 {
		shared = coreform.List(sym("f"), shared, shared)
	}
	var limit *coreform.LimitError
	if _, err := coreform.CanonicalizeTerm(shared, coreform.Limits{MaxTerms: 100_000}); !errors.As(err, &limit) || limit.Dimension != coreform.DimTerms {
		t.Errorf("shared: %v", err)
	}
}

// Many names in one list are checked in less than quadratic time, and right.
//
// spec: CF-CANON-5 CF-CANON-6
func TestManyNames(t *testing.T) {
	for _, n := range []int{7, 8, 9, 50_000} {
		for dup := range 2 {
			var b strings.Builder
			b.WriteString("(let (")
			for i := range n {
				fmt.Fprintf(&b, "(v%d 1)", i)
			}
			if dup == 1 {
				b.WriteString("(v3 1)")
			}
			b.WriteString(") 1)")
			if _, err := canonicalText(b.String()); (err != nil) != (dup == 1) {
				t.Errorf("%d names, duplicate %d: %v", n, dup, err)
			}
		}
	}
}
