package check

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/coreform/kernel"
	"github.com/gcrun/gcrun/coreform/prelude"
)

// samples are expressions for values of every kind, several of most.
var samples = []string{
	"nil", "false", "true", "0", "-1", "3", "100000000000000000000000", `""`, `"ab"`, `"12.50"`, `"é"`, `b""`, `(prim str/to-bytes-utf8 "ff")`,
	"'a", "':k", "'(1 2)", "(prim pair/cons 1 2)", "'(msg op {:a 1})", "'(msg 5 7)", "'[]", `'["a" "b"]`, "'[[1 2] [3 4]]", "(prim vec/push '[] (fn (x) x))",
	"{}", "{:a 1}", "'{:num/kind :fixed-decimal :num/scale 1 :num/unscaled 25}", "(fn (x) x)", "core/int::add", "(core/int::add 1)",
	"(core/effect::pure 1)", "(core/effect::ask 'io/fs::read {})", "(seal)", "(seal 1 (seal))", "core/contract::genesis",
	`(core/error::make "c" "m" {})`,
}

func evaluate(t testing.TB, src string) coreform.Value {
	t.Helper()
	p, err := kernel.Load("t.gc", []byte(src), prelude.Library(), kernel.Limits{Steps: 100_000, LiveUnits: 1 << 20, AllocUnits: 1 << 20})
	if err != nil {
		t.Fatalf("%s: %v", src, err)
	}
	v, err := p.Eval(context.Background())
	if err != nil {
		t.Fatalf("%s: %v", src, err)
	}
	return v
}

// combinations calls f with every choice of n samples, or for three and more
// with those of which at most two are unusual.
func combinations(n int, f func(at []int)) {
	at := make([]int, n)
	var next func(i, unusual int)
	next = func(i, unusual int) {
		if i == n {
			f(at)
			return
		}
		for s := range samples {
			u := unusual
			if s != 3 { // the integer 0
				u++
			}
			if n >= 3 && u > 2 && s%4 != 0 {
				continue
			}
			at[i] = s
			next(i+1, u)
		}
	}
	next(0, 0)
}

// Whatever the machine gives for arguments of known kinds is of a kind the row
// says, and what the row says is certainly wrong is an error.
//
// spec: CHK-KIND-1, CHK-KIND-2
func TestRows(t *testing.T) {
	if testing.Short() {
		t.Skip("runs every primitive with every kind of argument")
	}
	known := make([]value, len(samples))
	for i, s := range samples {
		v := evaluate(t, s)
		known[i] = of(kindOf(v))
	}
	check := func(table map[string]row, d kernel.Description, call string) {
		r := rowOf(table, d)
		if r == nil {
			t.Errorf("the row of %s does not have %d arguments", d.Name, d.Arity)
			return
		}
		args := make([]value, d.Arity)
		combinations(d.Arity, func(at []int) {
			src := call
			for i, s := range at {
				args[i] = known[s]
				src += " " + samples[s]
			}
			got := evaluate(t, src+")")
			want, wrong := r.apply(args)
			if k := kindOf(got); allowed(want)&k == 0 && !(k == kEffect && want&kAsk != 0) {
				t.Errorf("%s) gives %s, of kind %s, not %s", src, coreform.FormatLossy(got, 200), k, want)
			}
			if _, isErr := kernel.IsError(got); wrong >= 0 && !isErr {
				t.Errorf("%s) is no error, but argument %d counts as wrong", src, wrong+1)
			}
		})
	}
	for _, name := range slices.Sorted(maps.Keys(primitiveRows)) {
		d, ok := kernel.DescribePrimitive(name)
		if !ok {
			t.Errorf("there is no primitive %s", name)
			continue
		}
		check(primitiveRows, d, "(prim "+name)
	}
	for _, name := range slices.Sorted(maps.Keys(nativeRows)) {
		d, ok := prelude.Library().Describe(name)
		if !ok {
			t.Errorf("there is no native %s", name)
			continue
		}
		check(nativeRows, d, "("+name)
	}
}

// Every primitive has a row.
func TestPrimitivesHaveRows(t *testing.T) {
	for _, name := range kernel.PrimitiveNames() {
		if _, ok := primitiveRows[name]; !ok {
			t.Errorf("signatures.go has no row for %s", name)
		}
	}
}

// The samples are of every kind a value can be.
func TestSamplesAreOfEveryKind(t *testing.T) {
	all := kinds(0)
	for _, s := range samples {
		all |= kindOf(evaluate(t, s))
	}
	if all != kAny {
		t.Errorf("no sample is %s", kAny&^all)
	}
}

// What functions of the library written in CoreForm give is found from their
// code.
//
// spec: CHK-KIND-3
func TestLibraryResults(t *testing.T) {
	a, err := newAnalysis(nil, prelude.Library(), &report{})
	if err != nil {
		t.Fatal(err)
	}
	if a.gaveUp {
		t.Error("the values of the library were not found")
	}
	for name, want := range map[string]string{
		"core/int::lt?":       "a Boolean or an error",
		"core/str::byte-len":  "an integer or an error",
		"core/list::len":      "data or a function or an effect program or a seal or contract or an error",
		"core/error::is?":     "a Boolean",
		"core/error::make2":   "an error",
		"core/fs::read":       "an effect program or an error",
		"core/test::case":     "a map",
		"core/map::get":       "data or a function or an effect program or a seal or contract or an error",
		"core/list::is-pair?": "a Boolean or an error",
	} {
		f := a.library[name].fn
		if f == nil {
			t.Errorf("%s is not known as a function", name)
			continue
		}
		args := make([]value, f.arity)
		for i := range args {
			args[i] = anything
		}
		got := f.result
		if f.row != nil {
			k, _ := f.row.apply(args)
			got = of(k)
		}
		if got.kinds.String() != want {
			t.Errorf("%s gives %s, want %s", name, got.kinds, want)
		}
	}
	for name, want := range map[string]string{
		"core/fs::read": "io/fs::read", "core/console::print": "io/console::write", "core/time::now": "sys/time::now",
		"core/list::map": "", "core/effect::bind": "",
	} {
		if got := a.libUses[name]; strings.Join(got.ops, " ") != want || got.dynamic {
			t.Errorf("%s performs %v, want %s", name, *got, want)
		}
	}
}
