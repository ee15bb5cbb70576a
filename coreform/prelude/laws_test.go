package prelude_test

import (
	"fmt"
	"math/big"
	"testing"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/coreform/kernel"
	"pgregory.net/rapid"
)

// value evaluates an expression that must have a value.
func value(t *rapid.T, src string) string {
	v, _, err := eval(src, kernel.Limits{})
	if err != nil {
		t.Fatalf("%s: %v", src, err)
	}
	return show(v)
}

// integers are mostly around the edges of 64 bits, where there are two paths.
func integers() *rapid.Generator[*big.Int] {
	return rapid.Custom(func(t *rapid.T) *big.Int {
		n := big.NewInt(rapid.Int64().Draw(t, "n"))
		if rapid.Bool().Draw(t, "big") {
			n.Lsh(n, uint(rapid.IntRange(0, 200).Draw(t, "shift")))
		}
		return n.Add(n, big.NewInt(int64(rapid.IntRange(-2, 2).Draw(t, "d"))))
	})
}

// Arithmetic is exact, and division Euclidean: a = b·q + r, 0 ≤ r < |b|.
//
// spec: LANG-PRIM-1
func TestArithmetic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := integers().Draw(t, "a"), integers().Draw(t, "b")
		want := func(op string, n *big.Int) {
			if got := value(t, fmt.Sprintf("(prim int/%s %v %v)", op, a, b)); got != n.String() {
				t.Fatalf("%s %v %v: %s, want %v", op, a, b, got, n)
			}
		}
		want("add", new(big.Int).Add(a, b))
		want("sub", new(big.Int).Sub(a, b))
		want("mul", new(big.Int).Mul(a, b))
		if b.Sign() != 0 {
			q, r := new(big.Int).DivMod(a, b, new(big.Int))
			want("div", q)
			want("mod", r)
		}
		if got, less := value(t, fmt.Sprintf("(prim int/lt? %v %v)", a, b)), a.Cmp(b) < 0; got != fmt.Sprint(less) {
			t.Fatalf("lt? %v %v: %s", a, b, got)
		}
	})
}

// Decimals agree with rationals, and text of a decimal reads back as it.
//
// spec: LANG-DEC-1
func TestDecimals(t *testing.T) {
	draw := func(t *rapid.T, name string) (string, *big.Rat) {
		s := rapid.StringMatching(`[+-]?[0-9]{1,25}(\.[0-9]{1,30})?`).Draw(t, name)
		r, _ := new(big.Rat).SetString(s)
		return fmt.Sprintf("(prim dec/parse %q)", s), r
	}
	rapid.Check(t, func(t *rapid.T) {
		a, ra := draw(t, "a")
		b, rb := draw(t, "b")
		for op, want := range map[string]*big.Rat{
			"add": new(big.Rat).Add(ra, rb), "sub": new(big.Rat).Sub(ra, rb), "mul": new(big.Rat).Mul(ra, rb),
		} {
			text := value(t, fmt.Sprintf("(prim dec/to-str (prim dec/%s %s %s))", op, a, b))
			got, ok := new(big.Rat).SetString(text[1 : len(text)-1])
			if !ok || got.Cmp(want) != 0 {
				t.Fatalf("%s %s %s: %s, want %v", op, a, b, text, want)
			}
			again := value(t, fmt.Sprintf("(prim core/eq? (prim dec/parse %s) (prim dec/%s %s %s))", text, op, a, b))
			if again != "true" {
				t.Fatalf("%s is not the text of that decimal", text)
			}
		}
		if got := value(t, fmt.Sprintf("(prim dec/lt? %s %s)", a, b)); got != fmt.Sprint(ra.Cmp(rb) < 0) {
			t.Fatalf("lt? %s %s: %s", a, b, got)
		}
	})
}

// Escaped text between quotes reads back, its length is charged exactly, and
// hexadecimal digits lead back to the bytes.
//
// spec: LANG-PRIM-2
func TestEscapesReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "s")
		quoted := `"` + coreform.EscapeStr(s) + `"`
		back := fmt.Sprintf(`(core/eq? %s (core/coreform::parse-term (core/str::join (core/vec::push (core/vec::push (core/vec::push [] "\"") (prim coreform/escape-str %s)) "\"") "")))`, quoted, quoted)
		if got := value(t, back); got != "true" {
			t.Fatalf("%s: %s", back, got)
		}
		limit := int64(len(coreform.EscapeStr(s)))
		if limit > 0 {
			if _, _, err := eval("(prim coreform/escape-str "+quoted+")", kernel.Limits{StringLen: limit}); err != nil {
				t.Fatalf("%s with a limit of %d: %v", quoted, limit, err)
			}
		}
		if limit > 1 {
			if _, _, err := eval("(prim coreform/escape-str "+quoted+")", kernel.Limits{StringLen: limit - 1}); err == nil {
				t.Fatalf("%s with a limit of %d: accepted", quoted, limit-1)
			}
		}
		b := rapid.SliceOf(rapid.Byte()).Draw(t, "b")
		lit := `b"` + coreform.EscapeBytes(b) + `"`
		if got := value(t, fmt.Sprintf("(core/eq? %s (prim bytes/from-hex (prim bytes/to-hex %s)))", lit, lit)); got != "true" {
			t.Fatalf("%s: %s", lit, got)
		}
	})
}

// Maps and vectors keep what is put into them, however they are made.
//
// spec: LANG-VAL-3
func TestContainersAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.SliceOfN(rapid.IntRange(0, 30), 0, 40).Draw(t, "keys")
		put, entries, merged, literal := "{}", "[]", "{}", map[int]int{}
		for i, k := range keys {
			put = fmt.Sprintf("(core/map::put %s %d %d)", put, k, i)
			entries = fmt.Sprintf("(core/vec::push %s (core/vec::push (core/vec::push [] %d) %d))", entries, k, i)
			merged = fmt.Sprintf("(core/map::merge %s {%d %d})", merged, k, i)
			literal[k] = i
		}
		want := "{"
		for k := range 31 {
			if i, ok := literal[k]; ok {
				want += fmt.Sprintf("%d %d ", k, i)
			}
		}
		src := fmt.Sprintf("(def want %s}) (core/eq? want %s) ", want, put)
		for _, other := range []string{put, "(core/map::from-entries " + entries + ")", merged, "(core/map::from-entries (core/map::entries " + put + "))"} {
			if got := value(t, src+"(core/eq? want "+other+")"); got != "true" {
				t.Fatalf("%s is not %s}", other, want)
			}
		}
	})
}
