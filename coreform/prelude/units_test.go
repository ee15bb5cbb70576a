package prelude_test

import (
	"fmt"
	"testing"

	"github.com/gcrun/gcrun/coreform/kernel"
)

// Units are those of the data model.
//
// spec: LIM-MEM-1
func TestUnits(t *testing.T) {
	units := func(src string) int64 {
		_, p, err := eval(src, kernel.Limits{})
		if err != nil {
			t.Fatalf("%s: %v", src, err)
		}
		return p.Usage().AllocUnits
	}
	form := units("nil") // the frame of a top-level form
	for src, want := range map[string]int64{
		"nil":                                  0,
		"(prim int/add 1 2)":                   0,
		"(prim int/add 9223372036854775807 1)": 2,
		"(prim int/mul 18446744073709551616 18446744073709551616)": 3,
		"(prim pair/cons 1 nil)":                                   2,
		"(fn (x) x)":                                               2,
		"(let ((y 1)) (fn (x) y))":                                 3,
		"(seal)":                                                   1,
		"(seal 1 (seal))":                                          2,
		"{}":                                                       2,
		"{1 2 3 4}":                                                8,
		`(prim str/concat "" "")`:                                  1,
		`(prim str/concat "0123456789" "abcdef")`:  2,
		`(prim str/concat "0123456789" "abcdefg")`: 3,
		"(prim vec/push [] 1)":                     4,
		"(prim vec/push [1 2 3] 1)":                8,
		"(prim map/put {} 1 2)":                    2 + 4,
		"(prim map/merge {1 2} {3 4})":             5 + 5 + 8,
		"(prim map/entries {1 2})":                 5 + 3 + 4,
		"(prim pair/as-proper-list '(1 2 3))":      5,
		`(prim dec/from-int 5)`:                    11,
		"(prim crypto/blake3 b\"\")":               3,
		"(core/int::add 1 2)":                      3 + 4, // the function of the second argument, the call
		"(core/effect::pure 1)":                    1,
		`(core/error::make 1 2 3)`:                 3 + 4 + 11 + 1, // two partial calls
		"((fn (x) x) 1)":                           2 + 4,
	} {
		if got := units(src) - form; got != want {
			t.Errorf("%s: %d units, want %d", src, got, want)
		}
	}
}

// Shared objects count once, others as often as they are there, and what is
// not reachable any more not at all.
//
// spec: LIM-MEM-3
func TestLiveUnits(t *testing.T) {
	const loop = "(def f (fn (v n) (if (core/int::eq? n 0) v (f %s (core/int::sub n 1))))) (def s (core/str::repeat \"x\" 100000)) (core/vec::len (f [] 1000))"
	limits := kernel.Limits{LiveUnits: 1 << 20} // 16 MiB; a thousand texts of 100 kB are 96 MiB
	for src, ok := range map[string]bool{
		"(core/vec::push v s)":                                        true,  // one object
		`(core/vec::push v (core/str::concat s "y"))`:                 false, // a thousand
		`(core/vec::push [] (core/str::concat s "y"))`:                true,  // one at a time
		`(core/vec::push v (core/str::len (core/str::concat s "y")))`: true,
	} {
		_, _, err := eval(fmt.Sprintf(loop, src), limits)
		if (err == nil) != ok {
			t.Errorf("%s: %v", src, err)
		}
	}
	// Symbols count wherever they stand, integers are part of what holds them.
	const push = "(def f (fn (v n) (if (core/int::eq? n 0) v (f (core/vec::push v %s) (core/int::sub n 1))))) (core/vec::len (f [] 600000))"
	for elem, ok := range map[string]bool{"'a": false, "1": true} {
		if _, _, err := eval(fmt.Sprintf(push, elem), limits); (err == nil) != ok {
			t.Errorf("600 000 times %s: %v", elem, err)
		}
	}
}
