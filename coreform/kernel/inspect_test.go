package kernel_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/coreform/kernel"
)

func TestDescribe(t *testing.T) {
	id := func(_ *kernel.Call, a []kernel.Value) kernel.Value { return a[0] }
	lib, err := kernel.NewLibrary(
		[]kernel.Native{{Name: "n/two", Arity: 2, Errors: 2, Fn: id}},
		[]kernel.Constant{{Name: "n/seven", Value: coreform.Int(7)}},
		nil,
		"(def n/three (fn (a b c) a)) (def n/same n/three) (def n/nil nil)")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"n/two":   "arity 2 native true errors 2 constant false expr nil",
		"n/seven": "arity 0 native false errors 0 constant true expr nil",
		"n/three": "arity 3 native false errors 0 constant false expr (fn (a) (fn (b) (fn (c) a)))",
		"n/same":  "arity 0 native false errors 0 constant false expr n/three",
		"n/nil":   "arity 0 native false errors 0 constant false expr nil",
	} {
		d, ok := lib.Describe(name)
		if !ok || d.Name != name {
			t.Fatalf("%s: not described: %v", name, d)
		}
		expr := coreform.FormatLossy(d.Expr.Term, 1000)
		got := fmt.Sprintf("arity %d native %t errors %d constant %t expr %s", d.Arity, d.Native, d.Errors, d.Constant(), expr)
		if got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	if d, _ := lib.Describe("n/seven"); !d.Value.IsInt() {
		t.Error("a constant is described without its value")
	}
	if _, ok := lib.Describe("n/other"); ok {
		t.Error("a name the library does not define is described")
	}
}

// A primitive is described with the number of arguments it takes: with any other
// number it gives an error for that alone.
func TestDescribePrimitive(t *testing.T) {
	names := kernel.PrimitiveNames()
	if len(names) == 0 {
		t.Fatal("there are no primitives")
	}
	lib, err := kernel.NewLibrary(nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		d, ok := kernel.DescribePrimitive(name)
		if !ok || d.Name != name || !d.Native || d.Arity < 1 {
			t.Errorf("%s: described as %v, %t", name, d, ok)
		}
		for _, n := range []int{0, d.Arity - 1, d.Arity + 1} {
			src := "(prim " + name + strings.Repeat(" 0", n) + ")"
			p, err := kernel.Load("t.gc", []byte(src), lib, kernel.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			v, err := p.Eval(context.Background())
			if _, isErr := kernel.IsError(v); err != nil || !isErr {
				t.Errorf("%s gives %s, %v", src, coreform.FormatLossy(v, 100), err)
			}
		}
	}
	if _, ok := kernel.DescribePrimitive("int/plus"); ok {
		t.Error("what is no primitive is described")
	}
}
