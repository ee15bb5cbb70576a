package prelude_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/coreform/kernel"
	"github.com/gcrun/gcrun/effects/guest"
	"github.com/gcrun/gcrun/internal/testkit"
)

// limitOf runs a source that must end in a limit and returns its dimension.
func limitOf(t *testing.T, src string, limits kernel.Limits) string {
	t.Helper()
	_, _, err := eval(src, limits)
	f, ok := errors.AsType[*guest.Fatal](err)
	if !ok || f.Limit == nil {
		t.Errorf("%s: %v, want a limit", src, err)
		return ""
	}
	if f.Limit.Observed <= f.Limit.Limit {
		t.Errorf("%s: observed %d within %d", src, f.Limit.Observed, f.Limit.Limit)
	}
	return f.Limit.Dimension
}

// What grows without end is stopped soon, before the memory is there.
//
// spec: LIM-MEM-2
func TestGrowthEndsInALimit(t *testing.T) {
	for _, path := range testkit.Files(t, filepath.Join(testkit.Root(t), "testdata", "growth", "*.gc")) {
		name := strings.TrimSuffix(filepath.Base(path), ".gc")
		src, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			got := limitOf(t, string(src), kernel.Limits{LiveUnits: 1 << 20, Steps: 30_000_000})
			if got != "live-units" && (got != "steps" || name != "powers" && name != "sums") {
				t.Errorf("stopped by %s", got)
			}
			if d := time.Since(start); d > 20*time.Second {
				t.Errorf("took %v", d)
			}
		})
	}
}

// Terms that share their parts can be exponentially larger as a tree: whatever
// walks them ends in the step limit.
func TestSharedTermsEndInALimit(t *testing.T) {
	const dag = `(def grow (fn (v n) (if (core/int::eq? n 0) v (grow (core/vec::push (core/vec::push [] v) v) (core/int::sub n 1)))))
		(def a (grow [] 60)) (def b (grow [] 60)) `
	for _, src := range []string{
		"(core/eq? a b)", "(core/coreform::print-term a)", "(core/coreform::hash-term a)",
		"(core/coreform::hash-module a)", "(core/coreform::print-module a)", "(core/coreform::canonicalize-module a)",
		"(core/map::get {} a)", "(core/map::put {b 1} a 1)", "(core/map::from-entries (core/vec::push [] (core/vec::push (core/vec::push [] a) 1)))",
	} {
		if got := limitOf(t, dag+src, kernel.Limits{Steps: 5_000_000}); got != "steps" && got != "live-units" {
			t.Errorf("%s: stopped by %s", src, got)
		}
	}
}

// A limit on lengths is inclusive and reported with its numbers.
//
// spec: LIM-STEP-1, LIM-SHAPE-1
func TestShapeLimits(t *testing.T) {
	for _, c := range []struct {
		src    string
		limits kernel.Limits
		dim    string // "" : within
	}{
		{`(core/str::concat "abc" "de")`, kernel.Limits{StringLen: 5}, ""},
		{`(core/str::concat "abc" "def")`, kernel.Limits{StringLen: 5}, "string-len"},
		{`(core/str::repeat "ab" 2)`, kernel.Limits{StringLen: 4}, ""},
		{`(core/str::repeat "ab" 3)`, kernel.Limits{StringLen: 4}, "string-len"},
		{`(core/int::to-str 12345)`, kernel.Limits{StringLen: 5}, ""},
		{`(core/int::to-str -12345)`, kernel.Limits{StringLen: 5}, "string-len"},
		{`(core/int::to-str (core/int::mul 10000000000 10000000000))`, kernel.Limits{StringLen: 21}, ""},
		{`(core/int::to-str (core/int::mul 10000000000 10000000000))`, kernel.Limits{StringLen: 20}, "string-len"},
		{`(core/str::nfc "e\u0301e\u0301")`, kernel.Limits{StringLen: 4}, ""},
		{`(core/str::nfc "e\u0301e\u0301")`, kernel.Limits{StringLen: 3}, "string-len"},
		{`(core/coreform::print-term '(a b))`, kernel.Limits{StringLen: 5}, ""},
		{`(core/coreform::print-term '(a bc))`, kernel.Limits{StringLen: 5}, "string-len"},
		{`(core/coreform::escape-str "\n\u0001é")`, kernel.Limits{StringLen: 10}, ""},
		{`(core/coreform::escape-str "\n\u0001é")`, kernel.Limits{StringLen: 9}, "string-len"},
		{`(core/coreform::escape-bytes b"\n\x01a")`, kernel.Limits{StringLen: 7}, ""},
		{`(core/coreform::escape-bytes b"\n\x01a")`, kernel.Limits{StringLen: 6}, "string-len"},
		{`(core/sym::from-str "abc")`, kernel.Limits{StringLen: 2}, "string-len"},
		{`(core/bytes::to-hex b"ab")`, kernel.Limits{StringLen: 3}, "string-len"},
		{`(core/bytes::concat b"ab" b"c")`, kernel.Limits{BytesLen: 3}, ""},
		{`(core/bytes::concat b"ab" b"c")`, kernel.Limits{BytesLen: 2}, "bytes-len"},
		{`(core/bytes::from-hex "0000")`, kernel.Limits{BytesLen: 1}, "bytes-len"},
		{`(core/crypto::blake3 b"")`, kernel.Limits{BytesLen: 31}, "bytes-len"},
		{`(core/vec::push [1 2] 3)`, kernel.Limits{VecLen: 3}, ""},
		{`(core/vec::push [1 2] 3)`, kernel.Limits{VecLen: 2}, "vec-len"},
		{`(core/pair::as-proper-list '(1 2 3))`, kernel.Limits{VecLen: 2}, "vec-len"},
		{`(core/map::put {1 1} 1 2)`, kernel.Limits{MapLen: 1}, ""},
		{`(core/map::put {1 1} 2 2)`, kernel.Limits{MapLen: 1}, "map-len"},
		{`(core/map::merge {1 1 2 2} {1 2})`, kernel.Limits{MapLen: 2}, ""},
		{`(core/map::merge {1 1} {2 2})`, kernel.Limits{MapLen: 1}, "map-len"},
		{`{1 1 2 2}`, kernel.Limits{MapLen: 1}, "map-len"},
		{`(core/list::cons 1 (core/list::cons 2 nil))`, kernel.Limits{PairCells: 2}, ""},
		{`(core/list::cons 1 (core/list::cons 2 nil))`, kernel.Limits{PairCells: 1}, "pair-cells"},
		{`(prim pair/cons 1 nil)`, kernel.Limits{AllocUnits: 6}, ""},
		{`(prim pair/cons 1 nil)`, kernel.Limits{AllocUnits: 5}, "alloc-units"},
	} {
		_, _, err := eval(c.src, c.limits)
		got := ""
		if f, ok := errors.AsType[*guest.Fatal](err); ok && f.Limit != nil {
			got = f.Limit.Dimension
		} else if err != nil {
			got = err.Error()
		}
		if got != c.dim {
			t.Errorf("%s with %+v: %q, want %q", c.src, c.limits, got, c.dim)
		}
	}
}

// Work that grows with its input is charged by the formulas of the spec.
//
// spec: LANG-STEP-2
func TestWorkIsCharged(t *testing.T) {
	const base = 1 << 20
	steps := func(src string) int64 {
		_, p, err := eval(src, kernel.Limits{Steps: -1})
		if err != nil {
			t.Fatalf("%.80s: %v", src, err)
		}
		return p.Usage().Steps
	}
	long := `(def s (core/str::repeat "x" 1048576)) (def b (core/str::to-utf8 s)) (def v (core/coreform::parse-term (core/str::join (core/vec::push (core/vec::push (core/vec::push [] "[") (core/str::repeat "1 " 80000)) "]") ""))) `
	before := steps(long)
	for _, c := range []struct {
		src  string
		work int64
	}{
		{"(prim str/concat s s)", 512/64 + 13 + 3},
		{"(prim str/scalar-len s)", base/64 + 2},
		{"(prim str/grapheme-len s)", base/8 + 2},
		{"(prim str/nfc s)", base/8 + 2},
		{"(prim str/grapheme-slice s 1 2)", base/8 + 4},
		{"(prim str/to-bytes-utf8 s)", base/64 + 2},
		{"(prim str/repeat s 3)", 3*base/64 + 3},
		{"(prim str/join (quote []) s)", 3},
		{"(prim core/eq? s s)", base/64 + 3},
		{"(prim core/eq? b b)", base/64 + 3},
		{`(prim core/eq? s "x")`, 3},
		{"(prim core/eq? v v)", 80001/8 + 3},
		{"(prim core/eq? v nil)", 3},
		{"(prim bytes/slice b 0 640)", 640/64 + 4},
		{"(prim bytes/get b 5)", 3},
		{"(prim bytes/concat b b)", 2*base/64 + 3},
		{"(prim bytes/to-str-utf8 b)", base/64 + 2},
		{"(prim bytes/to-hex b)", 2*base/64 + 2},
		{"(prim crypto/blake3 b)", base/64 + 2},
		{"(prim coreform/escape-str s)", base/8 + 2},
		{"(prim coreform/escape-bytes b)", base/8 + 2},
		{"(prim map/get {} s)", base/64 + 3},
		{"(prim map/get {1 1} s)", base/64 + 4},
		{"(prim map/put {1 1 2 2} s 0)", 2*(base/64) + 6},
		{"(prim map/get {1 1} v)", 80001/8 + 4},
		{"(prim sym/from-str s)", base/64 + 2},
	} {
		if got := steps(long+c.src) - before; got != c.work {
			t.Errorf("%s: %d steps, want %d", c.src, got, c.work)
		}
	}
}

// The list functions take lists of a million elements.
//
// spec: LANG-EVAL-3, LANG-LIB-2
func TestMillionElements(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const src = `
		(def up (fn (n l) (if (core/int::eq? n 0) l (up (core/int::sub n 1) (core/list::cons n l)))))
		(def l (up 1000000 nil))
		(def pair (fn (x) (core/vec::push (core/vec::push [] (core/int::mod x 1000)) x)))
		{1 (core/list::len l)
		 2 (core/list::car (core/list::reverse l))
		 3 (core/list::foldl l 0 core/int::add)
		 4 (core/list::len (core/list::append l l))
		 5 (core/list::car (core/list::map l (core/int::add 1)))
		 6 (core/list::len (core/list::filter l (fn (x) (core/int::lt? x 11))))
		 7 (core/vec::len (core/vec::append [1] (core/pair::as-proper-list l)))
		 8 (core/eq? l (core/list::reverse (core/list::reverse l)))
		 9 (core/map::len (core/map::from-entries (core/pair::as-proper-list (core/list::map l pair))))}`
	const want = "{1 1000000 2 1000000 3 500000500000 4 2000000 5 2 6 10 7 1000001 8 true 9 1000}"
	v, _, err := eval(src, kernel.Limits{})
	if err != nil || show(v) != want {
		t.Errorf("%.200s %v, want %s", show(v), err, want)
	}
}

// A small part of a large text does not keep the large one in memory.
func TestPartsDoNotKeepTheWhole(t *testing.T) {
	for _, part := range []string{
		`(core/str::grapheme-slice (core/str::repeat "x" 4000000) 0 3)`,
		`(core/bytes::slice (core/str::to-utf8 (core/str::repeat "x" 4000000)) 0 3)`,
	} {
		src := "(def f (fn (v n) (if (core/int::eq? n 0) v (f (core/vec::push v " + part + ") (core/int::sub n 1))))) (f [] 100)"
		v, _, err := eval(src, kernel.Limits{LiveUnits: 2 << 20})
		if err != nil {
			t.Fatal(err)
		}
		var after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&after)
		if after.HeapAlloc > 200<<20 {
			t.Errorf("%s: %d MB are still held", part, after.HeapAlloc>>20)
		}
		runtime.KeepAlive(v)
	}
}

// Absurd limits do not make absurd sizes possible.
//
// spec: LIM-SHAPE-2
func TestUnlimitedIsNotInfinite(t *testing.T) {
	for _, src := range []string{`(core/str::repeat "x" 9223372036854775807)`, `(core/str::repeat "x" 2147483648)`} {
		if got := limitOf(t, src, kernel.Limits{Steps: -1, LiveUnits: -1}); got != "string-len" {
			t.Errorf("%s: %s", src, got)
		}
	}
	src := "(def f (fn (n) (f (core/int::mul n n)))) (f 3)"
	if got := limitOf(t, src, kernel.Limits{Steps: -1, LiveUnits: -1}); got != "int-limbs" {
		t.Errorf("%s: %s", src, got)
	}
}

// Source that nests too deep for the compiler is refused, not crashed on.
//
// spec: LIM-DEPTH-1
func TestDepthIsBounded(t *testing.T) {
	nest := func(n int) string { return strings.Repeat("(begin ", n) + "1" + strings.Repeat(")", n) }
	if v, _, err := eval(nest(coreform.DefaultDepth), kernel.Limits{}); err != nil || show(v) != "1" {
		t.Errorf("at the limit: %v", err)
	}
	if _, _, err := eval(nest(coreform.DefaultDepth+1), kernel.Limits{}); err == nil {
		t.Error("over the limit: accepted")
	}
	deep := "(def f (fn (v n) (if (core/int::eq? n 0) v (f (core/vec::push [] v) (core/int::sub n 1))))) "
	for src, want := range map[string]string{
		"(core/coreform::print-term (f [] 20000))":           "error core/resource-exhausted",
		"(core/coreform::hash-term (f [] 20000))":            "error core/resource-exhausted",
		"(core/coreform::canonicalize-module (f [] 20000))":  "error core/resource-exhausted",
		"(core/effect::ask 'a/b (f [] 20000))":               "error core/type-error",
		"(core/eq? (f [] 100000) (f [] 100000))":             "true",
		"(core/map::len (core/map::put {} (f [] 100000) 1))": "1",
	} {
		v, _, err := eval(deep+src, kernel.Limits{})
		if err != nil || show(v) != want {
			t.Errorf("%s: %s %v, want %s", src, show(v), err, want)
		}
	}
}
