package kernel_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/coreform/kernel"
	"github.com/gcrun/gcrun/effects/guest"
)

// contHash runs a module that asks with one of the functions as continuation,
// chosen by the first answer, and returns the state hash of that continuation.
func contHash(t *testing.T, defs string, fns [2]string, which int64) string {
	t.Helper()
	src := defs + "(core/effect::bind (core/effect::perform 'pick nil core/effect::pure) (fn (i) (if (prim int/eq? i 0)" +
		" (core/effect::perform 'a/b nil " + fns[0] + ") (core/effect::perform 'a/b nil " + fns[1] + "))))"
	_, reqs := run(t, load(t, src, kernel.Limits{}), func(r *guest.Request) guest.Response {
		return guest.Response{Value: coreform.Int(which)}
	})
	return reqs[1].ContHash.String()
}

// contractsEqual compares contracts with the two functions as handlers, which
// compares the state hashes of the functions alone.
func contractsEqual(t *testing.T, defs, f, g string) bool {
	t.Helper()
	src := defs + "(prim core/eq? (core/contract::make " + f + " nil nil) (core/contract::make " + g + " nil nil))"
	d, _ := run(t, load(t, src, kernel.Limits{}), nil)
	eq, ok := d.Value.AsBool()
	if !ok {
		t.Fatalf("%s: %s", src, show(d.Value))
	}
	return eq
}

// Functions that differ in what they do have different state hashes, also when
// their code reads the same and they hold the same values.
//
// spec: LANG-VAL-4, SH-VAL-1
func TestFunctionsThatDifferHashApart(t *testing.T) {
	const defs = `
(def a 1) (def b 2) (def s1 (seal)) (def s2 (seal))
(def mk (fn (c) (fn (p q) (prim int/sub p c))))
(def ask (fn (v) (core/effect::perform 'a/b v (fn (x) x))))
(def table {o (fn (m) 1)})
`
	for name, c := range map[string][2]string{
		"which name is the variable":        {"(let ((a 5)) (fn (x) (prim int/sub a b)))", "(let ((b 5)) (fn (x) (prim int/sub a b)))"},
		"argument collected or captured":    {"(mk 1 2)", "(let ((p 1) (c 2)) (fn (q) (prim int/sub p c)))"},
		"variable or library name":          {"(let ((core/const 5)) (fn (x) core/const))", "(fn (x) core/const)"},
		"variable instead of library":       {"(let ((core/plus core/int::sub)) (fn (x) (core/plus x 1)))", "(fn (x) (core/plus x 1))"},
		"variable instead of keyword":       {"(let ((:k 5)) (fn (x) :k))", "(fn (x) :k)"},
		"variable of an enclosing function": {"((fn (a) (fn (x) (fn (y) (prim int/sub a b)))) 5)", "((fn (b) (fn (x) (fn (y) (prim int/sub a b)))) 5)"},
		"collected arguments":               {"(mk 1 2)", "(mk 1 3)"},
		"order of two captures":             {"((fn (u v) (fn (x) (prim int/sub v u))) 1 2)", "((fn (u v) (fn (x) (prim int/sub u v))) 1 2)"},
		"values exchanged":                  {"((fn (u v x) (prim int/sub u v)) 1 2)", "((fn (u v x) (prim int/sub u v)) 2 1)"},
		"how far a library function is":     {"(core/const 1)", "core/const"},
		"library closures":                  {"(core/effect::then nil)", "(core/effect::then 1)"},
		"natives":                           {"(core/contract::make (fn (m) 1))", "(core/contract::make (fn (m) 1) nil)"},
		"parameter or captured":             {"(let ((a 3)) (fn (x) a))", "(fn (a) a)"},
		"contract held":                     {"(let ((k (core/contract::extend core/g table nil))) (fn (x) k))", "(let ((k (core/contract::extend core/g {} nil))) (fn (x) k))"},
		"meta of a contract held":           {"(let ((k (core/contract::extend core/g table 1))) (fn (x) k))", "(let ((k (core/contract::extend core/g table 2))) (fn (x) k))"},
		"prototype of a contract held":      {"(let ((k (core/contract::make a nil nil))) (fn (x) k))", "(let ((k core/g)) (fn (x) k))"},
		"token held":                        {"(let ((k s1)) (fn (x) k))", "(let ((k s2)) (fn (x) k))"},
		"program held":                      {"(let ((k (ask 1))) (fn (x) k))", "(let ((k (ask 2))) (fn (x) k))"},
		"program held with a bind":          {"(let ((k (ask 1))) (fn (x) k))", "(let ((k (core/effect::bind (ask 1) core/const))) (fn (x) k))"},
	} {
		src := defs + "(def core/g (core/contract::make core/protocol::unhandled nil nil))\n"
		if contractsEqual(t, src, c[0], c[1]) {
			t.Errorf("%s: contracts with handlers %s and %s are equal", name, c[0], c[1])
		}
		if contHash(t, src, c, 0) == contHash(t, src, c, 1) {
			t.Errorf("%s: continuations %s and %s hash alike", name, c[0], c[1])
		}
	}
}

// What is the same function hashes the same, however it came about.
//
// spec: LANG-EVAL-1
func TestSameFunctionHashesTheSame(t *testing.T) {
	const defs = "(def k (fn (c p q) (prim int/sub p c))) (def k2 (fn (c p unused q) (prim int/sub p c)))\n"
	for name, c := range map[string][2]string{
		"collected and captured":        {"(k 1 2)", "(let ((c 1) (p 2)) (fn (q) (prim int/sub p c)))"},
		"one at a time":                 {"(k 1 2)", "(let ((f (k 1))) (f 2))"},
		"what is not used":              {"(k2 1 2 3)", "(k2 1 2 4)"},
		"through a variable":            {"((fn (f) (f 1)) core/const)", "(core/const 1)"},
		"alias":                         {"(core/plus 1)", "(core/int::add 1)"},
		"eta of what a library gives":   {"(core/effect::then 1)", "((fn (f) (f 1)) core/effect::then)"},
		"data computed and literal":     {"(k {:a 1} (prim int/add 1 1))", "(k (prim map/put {} :a 1) 2)"},
		"capture of a capture":          {"((fn (c) (fn (p) (fn (q) (prim int/sub p c)))) 1 2)", "((fn (p c) (fn (q) (prim int/sub p c))) 2 1)"},
		"a let in between changes none": {"((fn (c) (let ((p 2)) (fn (q) (prim int/sub p c)))) 1)", "(k 1 2)"},
	} {
		if !contractsEqual(t, defs, c[0], c[1]) {
			t.Errorf("%s: %s and %s hash apart", name, c[0], c[1])
		}
		if contHash(t, defs, c, 0) != contHash(t, defs, c, 1) {
			t.Errorf("%s: continuations %s and %s hash apart", name, c[0], c[1])
		}
	}
}

// What is bound after a request is part of its continuation.
func TestPendingBindsAreHashed(t *testing.T) {
	programs := []string{
		"q", "(core/effect::bind q (fn (y) 1))", "(core/effect::bind q (fn (y) 2))",
		"(core/effect::bind (core/effect::bind q (fn (y) 1)) (fn (y) 2))",
		"(core/effect::bind (core/effect::bind q (fn (y) 2)) (fn (y) 1))",
		"(core/effect::bind q (fn (z) (core/effect::bind (core/effect::pure z) (fn (y) 2))))",
		"(core/effect::then q 1)", "(core/effect::then q 2)", "(core/effect::then q core/const)", "(core/effect::then q (core/const 1))", "(core/effect::bind q core/const)",
	}
	src := "(def q (core/effect::perform 'a/b nil (fn (x) x)))\n(core/effect::bind (core/effect::perform 'pick nil core/effect::pure) (fn (i) "
	for i, p := range programs {
		src += fmt.Sprintf("(if (prim int/eq? i %d) %s ", i, p)
	}
	src += "nil" + strings.Repeat(")", len(programs)+2)
	seen := map[string]string{}
	for i, p := range programs {
		_, reqs := run(t, load(t, src, kernel.Limits{}), func(*guest.Request) guest.Response {
			return guest.Response{Value: coreform.Int(int64(i))}
		})
		h := reqs[1].ContHash.String()
		if other, dup := seen[h]; dup {
			t.Errorf("%s and %s hash alike", p, other)
		}
		seen[h] = p
	}
}
