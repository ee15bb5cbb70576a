package kernel_test

import (
	"testing"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/coreform/kernel"
)

// What is alive can be counted at any instruction that charges: a count lets go of
// what lies above the height the machine notes, which must be right everywhere.
// With a limit this low a count comes every few calls.
//
// spec: LIM-MEM-3
func TestCountingAnywhere(t *testing.T) {
	for src, want := range map[string]int64{
		"(def fib (fn (n) (if (core/int::lt? n 2) n (core/int::add (fib (core/int::sub n 1)) (fib (core/int::sub n 2)))))) (fib 20)":                                       6765,
		"(def f (fn (n acc) (if (core/int::lt? n 1) acc (f (core/int::sub n 1) (core/int::add acc n))))) (f 20000 0)":                                                      200010000,
		"(def g (fn (a b c) (core/int::add (core/int::sub a b) c))) (def f (fn (n) (if (core/int::lt? n 1) 0 (g (f (core/int::sub n 1)) n (core/int::add n 1))))) (f 300)": 300,
		"(def f (fn (m n) (if (core/int::lt? n 1) (prim map/len m) (f (prim map/put m n (prim vec/push (prim map/get {0 []} 0) n)) (core/int::sub n 1))))) (f {} 100)":     100,
	} {
		for _, limit := range []int64{5000, 5001, 5003, 5007, 5013} {
			p := load(t, src, kernel.Limits{LiveUnits: limit})
			v, err := p.Eval(t.Context())
			if n, _ := v.AsInt64(); err != nil || n != want {
				t.Errorf("%s: %s %v under a limit of %d", src, coreform.FormatLossy(v, 100), err, limit)
			}
		}
	}
}
