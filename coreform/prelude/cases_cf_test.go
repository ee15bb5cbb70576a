package prelude_test

import (
	"testing"

	"github.com/gcrun/gcrun/coreform/kernel"
)

// Case CF-09: zeros of either sign, and of any scale, are one decimal and one key.
//
// spec: LANG-DEC-1
func TestCF09Zeros(t *testing.T) {
	for _, src := range []string{
		`(core/eq? (prim dec/parse "-0.0") (prim dec/parse "0.00"))`,
		`(core/eq? 1 (core/map::len (core/map::put (core/map::put {} (prim dec/parse "-0") 1) (prim dec/parse "0.0") 2)))`,
		`(core/eq? (core/coreform::hash-term (prim dec/parse "-0.0")) (core/coreform::hash-term (prim dec/parse "0")))`,
		`(prim dec/eq? (prim dec/parse "-0.0") (prim dec/from-int 0))`,
	} {
		v, _, err := eval(src, kernel.Limits{})
		if err != nil || show(v) != "true" {
			t.Errorf("%s: %s %v", src, show(v), err)
		}
	}
}

// Case CF-13: what a primitive does is charged by size, so that a run with few
// steps cannot make it work long.
//
// spec: LANG-STEP-2, LIM-STEP-1
func TestCF13WorkIsCharged(t *testing.T) {
	const big = `(def s (core/str::repeat "x" 10000000)) (def b (core/str::to-utf8 s)) (def v (core/map::entries {}))`
	_, p, err := eval(big, kernel.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	before := p.Usage().Steps
	for _, src := range []string{
		`(core/str::join (core/vec::push (core/vec::push [] s) s) "")`, `(core/bytes::concat b b)`, `(core/bytes::to-hex b)`,
		`(core/str::nfc s)`, `(core/eq? s (core/str::from-utf8 b))`, `(core/crypto::blake3 b)`, `(core/str::repeat s 10)`,
		`(core/coreform::parse-term s)`, `(core/map::put {} s 1)`, `(core/sym::from-str s)`,
	} {
		if got := limitOf(t, big+src, kernel.Limits{Steps: before + 1000}); got != "steps" {
			t.Errorf("%s: stopped by %q", src, got)
		}
	}
}
