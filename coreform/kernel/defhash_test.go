package kernel_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/coreform/kernel"
	"github.com/gcrun/gcrun/effects/guest"
)

// asks is the continuation hash of the first request of a program.
func asks(t *testing.T, lib *kernel.Library, src string) string {
	t.Helper()
	p, err := kernel.Load("t.gc", []byte(src), lib, kernel.Limits{})
	if err != nil {
		t.Fatalf("%s: %v", src, err)
	}
	s, err := p.Step(t.Context(), 0, nil)
	if err != nil || s.Request == nil {
		t.Fatalf("%s: %v, asks for nothing", src, err)
	}
	return s.Request.ContHash.String()
}

func library(t *testing.T, edit func(natives []kernel.Native, revisions map[string]uint32)) *kernel.Library {
	t.Helper()
	natives, revisions := kernel.CoreNatives(), map[string]uint32{}
	if edit != nil {
		edit(natives, revisions)
	}
	lib, err := kernel.NewLibrary(natives, nil, revisions, testLibrary)
	if err != nil {
		t.Fatal(err)
	}
	return lib
}

const askingModule = `
(def leaf (fn (x) (prim int/add x 1)))
(def mid (fn (x) (leaf (core/plus x 2))))
(def even (fn (n) (if (prim int/eq? n 0) true (odd (prim int/sub n 1)))))
(def odd (fn (n) (if (prim int/eq? n 0) false (even (prim int/sub n 1)))))
(def key (seal))
(def far (fn (x) (core/const x x)))
(core/effect::perform 'a/b nil (fn (x) (if (even x) (mid x) (seal x key))))
`

// A continuation does not change with what it cannot reach.
//
// spec: SH-ALL-1, SH-DEF-1, SH-DEF-2, SH-SEAL-1
func TestUnrelatedEditsKeepHashes(t *testing.T) {
	lib := library(t, nil)
	want := asks(t, lib, askingModule)
	for name, edit := range map[string]func(string) string{
		"definition before": func(s string) string { return "(def more (fn (x) (leaf x)))" + s },
		"seal before":       func(s string) string { return "(def lock (seal))" + s },
		"definition after": func(s string) string {
			return strings.Replace(s, "(core/effect::perform", "(def more leaf) (core/effect::perform", 1)
		},
		"form before":         func(s string) string { return "(prim int/add 1 2)" + s },
		"unreachable changed": func(s string) string { return strings.Replace(s, "(core/const x x)", "(mid (core/const x 5))", 1) },
		"unreachable renamed": func(s string) string { return strings.Replace(s, "(def far", "(def further", 1) },
		"comments and space":  func(s string) string { return "; a comment\n" + strings.ReplaceAll(s, " ", "  ; and another\n") },
		"abbreviations":       func(s string) string { return strings.Replace(s, "(fn (x) (leaf", "(fn (x) (begin (leaf", 1) },
		"order of definitions": func(s string) string {
			leaf := "(def leaf (fn (x) (prim int/add x 1)))"
			return strings.Replace(strings.Replace(s, leaf, "", 1), "(core/effect::perform", leaf+"(core/effect::perform", 1)
		},
	} {
		src := edit(askingModule)
		if name == "abbreviations" { // one that must change it: begin is a visit
			src = strings.Replace(src, "(core/plus x 2))))", "(core/plus x 2)))))", 1)
			if asks(t, lib, src) == want {
				t.Errorf("%s: the hash did not change", name)
			}
			continue
		}
		if src == askingModule || asks(t, lib, src) != want {
			t.Errorf("%s: the hash changed", name)
		}
	}
}

// A continuation changes with whatever it can reach.
//
// spec: SH-FN-1, SH-DEF-1, SH-DEF-2, SH-DEF-3, SH-DEF-4, SH-LIB-1
func TestReachableEditsChangeHashes(t *testing.T) {
	lib := library(t, nil)
	seen := map[string]string{asks(t, lib, askingModule): "as it was"}
	for name, edit := range map[string][2]string{
		"the continuation":            {"(mid x) (seal", "(mid 1) (seal"},
		"definition it names":         {"(core/plus x 2)", "(core/plus x 3)"},
		"definition behind that":      {"(prim int/add x 1)", "(prim int/add x 9)"},
		"library function behind":     {"(core/plus x 2)", "(core/int::sub x 2)"},
		"alias of a library function": {"(core/plus x 2)", "(core/int::add x 2)"},
		"member of a group":           {"false (even", "nil (even"},
		"other member of the group":   {"true (odd", "1 (odd"},
		"variable of a definition":    {"(def leaf (fn (x) (prim int/add x 1)))", "(def leaf (fn (y) (prim int/add y 1)))"},
		"a seal no more":              {"(def key (seal))", "(def key (begin (seal) (seal)))"},
		"defined twice":               {"(def far", "(def leaf leaf) (def far"},
		"defined twice, unreachable":  {"(def far", "(def far 1) (def far"},
		"used before definition":      {"(def even", "(def plus core/plus) (def core/plus (fn (a b) a)) (def even"},
		"not defined":                 {"(def leaf (fn (x) (prim int/add x 1)))", ""},
	} {
		src := strings.Replace(askingModule, edit[0], edit[1], 1)
		h := asks(t, lib, src)
		if src == askingModule || seen[h] != "" {
			t.Errorf("%s: hashes like %s", name, seen[h])
		}
		seen[h] = name
	}
}

// Programs that read alike in different order of definition, redefinition and
// seals hash apart.
//
// spec: SH-DEF-4, SH-SEAL-1
func TestOrdersHashApart(t *testing.T) {
	lib := library(t, nil)
	for name, pair := range map[string][2]string{
		"redefinition": {"(def f (fn (x) 1)) (def f (fn (x) 2)) (core/effect::perform 'a/b nil (fn (x) (f x)))",
			"(def f (fn (x) 2)) (def f (fn (x) 1)) (core/effect::perform 'a/b nil (fn (x) (f x)))"},
		"redefined after use": {"(def f (fn (x) 1)) (def g (f 0)) (def f (fn (x) 2)) (core/effect::perform 'a/b nil (fn (x) g))",
			"(def f (fn (x) 1)) (def f (fn (x) 2)) (def g (f 0)) (core/effect::perform 'a/b nil (fn (x) g))"},
		"use before definition": {"(def g (core/plus 1 2)) (def core/plus (fn (a b) a)) (core/effect::perform 'a/b nil (fn (x) g))",
			"(def core/plus (fn (a b) a)) (def g (core/plus 1 2)) (core/effect::perform 'a/b nil (fn (x) g))"},
		"swapped seals": {"(def a (seal)) (def b (seal)) (def w (seal 1 a)) (core/effect::perform 'a/b nil (fn (x) (unseal w a)))",
			"(def a (seal)) (def b (seal)) (def w (seal 1 b)) (core/effect::perform 'a/b nil (fn (x) (unseal w a)))"},
		"captured seals": {"(let ((a (seal)) (b (seal))) (let ((w (seal 1 a))) (core/effect::perform 'a/b nil (fn (x) (unseal w a)))))",
			"(let ((b (seal)) (a (seal))) (let ((w (seal 1 b))) (core/effect::perform 'a/b nil (fn (x) (unseal w a)))))"},
		"captures":                           {"(let ((a 1)) (core/effect::perform 'a/b nil (fn (x) a)))", "(let ((a 2)) (core/effect::perform 'a/b nil (fn (x) a)))"},
		"name used as a variable or as data": {"(def q 1) (core/effect::perform 'a/b nil (fn (x) q))", "(def q 1) (core/effect::perform 'a/b nil (fn (x) 'q))"},
		"argument that is not used":          {"(def k (fn (a b x) a)) (core/effect::perform 'a/b nil (k 1 2))", "(def k (fn (a b x) b)) (core/effect::perform 'a/b nil (k 1 2))"},
	} {
		if asks(t, lib, pair[0]) == asks(t, lib, pair[1]) {
			t.Errorf("%s: %s and %s hash alike", name, pair[0], pair[1])
		}
	}
}

// A new revision of a library function changes what uses it, through whatever,
// and nothing else.
//
// spec: SH-LIB-1
func TestRevisionsChangeWhatUsesThem(t *testing.T) {
	old := library(t, nil)
	newer := library(t, func(natives []kernel.Native, revisions map[string]uint32) {
		revisions["core/int::add"] = 2
		for i := range natives {
			if natives[i].Name == "core/effect::bind" {
				natives[i].Revision = 2
			}
		}
	})
	for src, same := range map[string]bool{
		"(core/effect::perform 'a/b nil (fn (x) x))":                                                         true,
		"(core/effect::perform 'a/b nil (fn (x) (core/int::sub x 1)))":                                       true,
		"(core/effect::perform 'a/b nil (fn (x) (core/int::add x 1)))":                                       false,
		"(def f (fn (x) (core/int::add x 1))) (core/effect::perform 'a/b nil (fn (x) (f x)))":                false,
		"(let ((f core/int::add)) (core/effect::perform 'a/b nil (fn (x) f)))":                               false,
		"(let ((f (core/int::add 1))) (core/effect::perform 'a/b nil (fn (x) f)))":                           false,
		"(def f (fn (x) (core/int::add x 1))) (core/effect::perform 'a/b nil (fn (x) x))":                    true,
		"(let ((f core/effect::bind)) (core/effect::perform 'a/b nil (fn (x) f)))":                           false,
		"(let ((c (core/contract::make (fn (m) m) nil nil))) (core/effect::perform 'a/b nil (fn (x) c)))":    true,
		"(let ((c (core/contract::make core/int::add nil nil))) (core/effect::perform 'a/b nil (fn (x) c)))": false,
	} {
		if (asks(t, old, src) == asks(t, newer, src)) != same {
			t.Errorf("%s: the same hash should be %t", src, same)
		}
	}
}

// Who asks for a hash of the module's functions while it loads gets the hash of
// a module as a whole, then and later: one value never hashes in two ways.
//
// spec: SH-DEF-4
func TestHashesAskedForWhileLoading(t *testing.T) {
	const src = "(def g 1) (def f (fn (m) %s)) (def c (core/contract::make f nil nil)) (def same (prim core/eq? c c))\n" +
		"(core/effect::perform 'a/b nil (fn (x) (prim core/eq? c c)))"
	lib := library(t, nil)
	p, err := kernel.Load("t.gc", fmt.Appendf(nil, src, "g"), lib, kernel.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Step(t.Context(), 0, nil); err != nil || !p.ModuleGrained() {
		t.Errorf("%v, by module: %t", err, p.ModuleGrained())
	}
	s, err := p.Step(t.Context(), 0, &guest.Response{})
	if eq, _ := s.Done.Value.AsBool(); err != nil || !eq {
		t.Errorf("a contract differs from itself: %v", err)
	}
	other := strings.Replace(src, "(def f", "(def unrelated 1) (def f", 1)
	if asks(t, lib, fmt.Sprintf(src, "g")) == asks(t, lib, fmt.Sprintf(other, "g")) {
		t.Error("a module that hashes as a whole kept its hash after an edit")
	}
}

// Long chains and large groups of definitions are hashed without recursion, and
// in time that grows with them.
//
// spec: SH-DEF-3
func TestManyDefinitions(t *testing.T) {
	for name, last := range map[string]string{"chain": "1", "cycle": "(fn (x) (d0 x))"} {
		var b strings.Builder
		const n = 20_000
		for i := range n {
			fmt.Fprintf(&b, "(def d%d (fn (x) (d%d x)))\n", i, i+1)
		}
		fmt.Fprintf(&b, "(def d%d %s) (core/effect::perform 'a/b nil (fn (x) (d0 x)))", n, last)
		lib := library(t, nil)
		if asks(t, lib, b.String()) == asks(t, lib, strings.Replace(b.String(), "(d7777 x)", "(d7777 1)", 1)) {
			t.Errorf("%s: an edit in the middle kept the hash", name)
		}
	}
}

// Definitions tell which of them differ between two versions of a program.
//
// spec: SH-DEF-1
func TestDefinitions(t *testing.T) {
	changed := func(a, b string) (names []string) {
		was := map[string]string{}
		for i, src := range []string{a, b} {
			p, err := kernel.Load("t.gc", []byte(src), library(t, nil), kernel.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := p.Eval(t.Context()); err != nil {
				t.Fatal(err)
			}
			for _, d := range p.Definitions() {
				if i == 0 {
					was[d.Name] = d.Hash.String()
				} else if was[d.Name] != d.Hash.String() {
					names = append(names, d.Name)
				}
			}
		}
		return names
	}
	if got := fmt.Sprint(changed(askingModule, strings.Replace(askingModule, "int/add x 1", "int/add x 2", 1))); got != "[leaf mid]" {
		t.Errorf("changed: %s", got)
	}
	if got := fmt.Sprint(changed(askingModule, strings.Replace(askingModule, "true (odd", "nil (odd", 1))); got != "[even odd]" {
		t.Errorf("changed: %s", got)
	}
	if got := fmt.Sprint(changed(askingModule, askingModule)); got != "[]" {
		t.Errorf("changed: %s", got)
	}
}

// A seal that the run makes is told from one that loading made.
//
// spec: SH-SEAL-1
func TestSealsOfTheRun(t *testing.T) {
	const src = "(def s (seal)) (core/effect::perform 'a/b nil (fn (x) (let ((a (seal)) (b (seal))) (core/effect::perform 'a/b nil (fn (y) %s)))))"
	seen := map[string]string{}
	for _, v := range []string{"a", "b", "s", "(seal 1 a)", "(seal 1 b)"} {
		hold := "(let ((h " + v + ")) (core/effect::perform 'a/b nil (fn (z) h)))"
		_, reqs := run(t, load(t, fmt.Sprintf(src, hold), kernel.Limits{}), func(*guest.Request) guest.Response {
			return guest.Response{Value: coreform.Int(1)}
		})
		h := reqs[2].ContHash.String()
		if seen[h] != "" {
			t.Errorf("%s hashes like %s", v, seen[h])
		}
		seen[h] = v
	}
}
