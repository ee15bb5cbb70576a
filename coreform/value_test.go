package coreform_test

import (
	"fmt"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/gcrun/gcrun/coreform"
)

// genTerm draws a term of bounded depth.
func genTerm(depth int) *rapid.Generator[coreform.Value] {
	atom := rapid.OneOf(
		rapid.Just(coreform.Value{}),
		rapid.Map(rapid.Bool(), coreform.Bool),
		rapid.Map(rapid.Int64Range(-3, 40), coreform.Int),
		rapid.Map(rapid.Int64(), func(n int64) coreform.Value {
			return coreform.BigInt(new(big.Int).Mul(big.NewInt(n), big.NewInt(1<<40)))
		}),
		rapid.Map(rapid.StringN(0, 60, -1), coreform.Str),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 50), coreform.BytesOf),
		rapid.Map(rapid.SampledFrom([]string{"a", "b", ":k", "core/x::y", "é"}), coreform.Sym),
	)
	if depth == 0 {
		return atom
	}
	kids := rapid.SliceOfN(rapid.Deferred(func() *rapid.Generator[coreform.Value] { return genTerm(depth - 1) }), 0, 12)
	return rapid.OneOf(atom,
		rapid.Map(kids, func(vs []coreform.Value) coreform.Value { return coreform.List(vs...) }),
		rapid.Map(kids, func(vs []coreform.Value) coreform.Value { return coreform.Vec(slices.Clone(vs)...) }),
		rapid.Map(kids, func(vs []coreform.Value) coreform.Value {
			var es []coreform.Entry
			for i := 0; i+1 < len(vs); i += 2 {
				es = append(es, coreform.Entry{Key: vs[i], Value: vs[i+1]})
			}
			return coreform.MapOf(es...)
		}),
	)
}

// spec: CF-ORDER-1 SH-VAL-1
func TestOrderEqualityAndHashAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := genTerm(3).Draw(t, "a"), genTerm(3).Draw(t, "b"), genTerm(3).Draw(t, "c")
		ab, ba := coreform.Compare(a, b), coreform.Compare(b, a)
		if ab != -ba {
			t.Fatalf("Compare is not antisymmetric: %d %d", ab, ba)
		}
		if coreform.Compare(a, a) != 0 || !coreform.Equal(a, a) {
			t.Fatal("not reflexive")
		}
		if eq := coreform.Equal(a, b); eq != (ab == 0) || eq != (coreform.StateHash(a) == coreform.StateHash(b)) {
			t.Fatalf("Equal %v, Compare %d, hashes %v", eq, ab, coreform.StateHash(a) == coreform.StateHash(b))
		}
		if ab <= 0 && coreform.Compare(b, c) <= 0 && coreform.Compare(a, c) > 0 {
			t.Fatal("not transitive")
		}
	})
}

func TestVectorAgainstSlice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.SampledFrom([]int{0, 1, 31, 32, 33, 63, 64, 65, 1023, 1024, 1056, 1057, 1088, 2100}).Draw(t, "n")
		model := make([]int64, 0, n)
		v := coreform.Vec()
		for i := range n {
			x, _ := v.AsVec()
			v = x.Push(coreform.Int(int64(i)))
			model = append(model, int64(i))
		}
		old := v
		for range rapid.IntRange(0, 20).Draw(t, "sets") {
			if n == 0 {
				break
			}
			i := rapid.IntRange(0, n-1).Draw(t, "i")
			x, _ := v.AsVec()
			v = x.Set(i, coreform.Int(-7))
			model[i] = -7
		}
		var whole []coreform.Value
		for i, m := range model {
			x, _ := v.AsVec()
			if got, _ := x.At(i).AsInt64(); got != m {
				t.Fatalf("element %d is %d, want %d", i, got, m)
			}
			o, _ := old.AsVec()
			if got, _ := o.At(i).AsInt64(); got != int64(i) {
				t.Fatalf("old version changed at %d", i)
			}
			whole = append(whole, coreform.Int(m))
		}
		built := coreform.Vec(whole...)
		if !coreform.Equal(v, built) || coreform.StateHash(v) != coreform.StateHash(built) {
			t.Fatal("a vector grown by pushes differs from one built at once")
		}
	})
}

// spec: SH-VAL-2
func TestMapAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		model := map[int64]int64{}
		m := coreform.MapOf()
		for range rapid.IntRange(0, 200).Draw(t, "ops") {
			k := rapid.Int64Range(0, 60).Draw(t, "k")
			x, _ := m.AsMap()
			if rapid.IntRange(0, 3).Draw(t, "op") == 0 {
				m = x.Remove(coreform.Int(k))
				delete(model, k)
			} else {
				val := rapid.Int64().Draw(t, "v")
				m = x.Put(coreform.Int(k), coreform.Int(val))
				model[k] = val
			}
		}
		checkMap(t, m, model)
	})
}

func checkMap(t *rapid.T, m coreform.Value, model map[int64]int64) {
	var es []coreform.Entry
	for k, v := range model {
		es = append(es, coreform.Entry{Key: coreform.Int(k), Value: coreform.Int(v)})
	}
	x, _ := m.AsMap()
	if x.Len() != len(model) {
		t.Fatalf("%d entries, want %d", x.Len(), len(model))
	}
	last := int64(-1)
	for k, v := range x.All() {
		ki, _ := k.AsInt64()
		vi, _ := v.AsInt64()
		if ki <= last || model[ki] != vi {
			t.Fatalf("entry %d → %d after key %d, want value %d", ki, vi, last, model[ki])
		}
		last = ki
		if got, ok := x.Get(k); !ok || !coreform.Equal(got, v) {
			t.Fatalf("Get(%d)", ki)
		}
	}
	built := coreform.MapOf(es...)
	if !coreform.Equal(m, built) || coreform.StateHash(m) != coreform.StateHash(built) {
		t.Fatal("a map grown by puts and removes differs from one built at once")
	}
	b, _ := built.AsMap()
	if merged := x.Merge(b); !coreform.Equal(merged, m) {
		t.Fatal("merging a map with itself changed it")
	}
}

// spec: SH-VAL-3 (an update re-hashes what changed, seen by its cost)
func TestLargeMapAndDeepList(t *testing.T) {
	var es []coreform.Entry
	for i := range 100_000 {
		es = append(es, coreform.Entry{Key: coreform.Str(fmt.Sprint("k", i)), Value: coreform.Int(int64(i))})
	}
	m := coreform.MapOf(es...)
	before := coreform.StateHash(m)
	x, _ := m.AsMap()
	n := testing.AllocsPerRun(10, func() { coreform.StateHash(x.Put(coreform.Str("k5"), coreform.Int(-1))) })
	if n > 500 {
		t.Errorf("hashing one changed entry of 100000 took %v allocations", n)
	}
	y, _ := x.Put(coreform.Str("new"), coreform.Value{}).AsMap()
	if coreform.StateHash(y.Remove(coreform.Str("new"))) != before {
		t.Error("adding and removing a key must give the same hash back")
	}
	// Lists nested a million deep in either component are compared and hashed
	// without recursion.
	car, cdr := coreform.Value{}, coreform.Value{}
	car2 := car
	for range 1_000_000 {
		car, car2 = coreform.Cons(car, coreform.Value{}), coreform.Cons(car2, coreform.Value{})
		cdr = coreform.Cons(coreform.Int(1), cdr)
	}
	if !coreform.Equal(car, car2) || coreform.StateHash(car) != coreform.StateHash(car2) || coreform.Equal(car, cdr) {
		t.Error("deep lists")
	}
	if car.Depth() != 65_535 || cdr.Depth() != 1 { // where depth stops counting
		t.Errorf("depths %d %d", car.Depth(), cdr.Depth())
	}
}

// spec: CF-TERM-1
func TestTermness(t *testing.T) {
	improper := coreform.Cons(coreform.Int(1), coreform.Int(2))
	for _, v := range []coreform.Value{improper, coreform.List(improper), coreform.Vec(improper),
		coreform.Cons(coreform.Value{}, improper),
		coreform.MapOf(coreform.Entry{Key: coreform.Int(1), Value: improper})} {
		if v.IsTerm() || !v.IsData() {
			t.Errorf("improper content must not be a term")
		}
	}
	if v := coreform.List(coreform.Int(1), coreform.Vec()); !v.IsTerm() {
		t.Error("a proper list is a term")
	}
	if coreform.Equal(improper, coreform.List(coreform.Int(1), coreform.Int(2))) {
		t.Error("(1 . 2) equals (1 2)")
	}
}
