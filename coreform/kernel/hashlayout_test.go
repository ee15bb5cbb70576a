package kernel_test

import (
	"testing"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/coreform/kernel"
	"github.com/gcrun/gcrun/internal/digest"
)

func four(n byte) []byte { return []byte{0, 0, 0, n} }

func name(s string) []byte { return append(four(byte(len(s))), s...) }

func join(parts ...[]byte) []byte {
	var b []byte
	for _, p := range parts {
		b = append(b, p...)
	}
	return b
}

// The layout of the hashes of code, written out by hand.
//
// spec: SH-VAL-4, SH-OTHER-1, SH-FN-1, SH-FN-2, SH-DEF-1, SH-DEF-2, SH-DEF-3, SH-DEF-4, SH-LIB-1, SH-SEAL-1, SH-CONT-1
func TestCodeHashLayout(t *testing.T) {
	state := digest.NewDomain("gcrun 2026-12 state hash, profile 1")
	code := digest.NewDomain("gcrun 2026-12 definition hash, profile 1")
	term := func(src string) []byte {
		v, err := coreform.ReadTerm([]byte(src), coreform.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		d := coreform.StateHash(v)
		return d[:]
	}
	other := func(typ string, label []byte, items ...[]byte) digest.Digest {
		return state.Sum([]byte{0x19}, name(typ), four(byte(len(label))), label, join(items...))
	}
	fn := func(codeHash digest.Digest, rest ...[]byte) digest.Digest {
		return other("function", append([]byte{1}, codeHash[:]...), rest...)
	}
	lib := func(s string, revision byte) []byte {
		d := code.Sum([]byte{5}, four(revision), []byte(s))
		return d[:]
	}
	one := []byte{3, 0, 0, 0, 0, 0, 0, 0, 1}
	two := []byte{3, 0, 0, 0, 0, 0, 0, 0, 2}

	// (fn (x) x) refers to nothing.
	identity := code.Sum([]byte{1}, term("x"), name("x"), four(0))
	// (fn (y) (prim pair/cons a y)) with a = 1 captured.
	holding := code.Sum([]byte{1}, term("(prim pair/cons a y)"), name("y"), four(0))
	held := other("function", join([]byte{1}, holding[:], name("a")), one)

	// (def f (fn (x) (core/const x g))) (def g 1): g first, then f.
	group := func(b ...[]byte) digest.Digest {
		whole := code.Sum(append([]byte{2}, join(b...)...))
		return code.Sum([]byte{3}, whole[:], four(0))
	}
	g := group(four(1), name("g"), term("1"), four(0))
	f := group(four(1), name("f"), term("(fn (x) ((core/const x) g))"), four(2),
		name("core/const"), []byte{0}, lib("core/const", 1), name("g"), []byte{0}, g[:])
	calling := code.Sum([]byte{1}, term("(f z)"), name("z"), four(1), name("f"), f[:])
	// A function that calls itself is a group of its own.
	loop := group(four(1), name("loop"), term("(fn (x) (loop x))"), four(1), name("loop"), []byte{1}, four(0))
	looping := code.Sum([]byte{1}, term("(loop z)"), name("z"), four(1), name("loop"), loop[:])
	undefined := code.Sum([]byte{6}, []byte("none"))
	missing := code.Sum([]byte{1}, term("(none z)"), name("z"), four(1), name("none"), undefined[:])

	native := other("function", join([]byte{2}, lib("core/effect::bind", 1), []byte{0xFF, 0xFF, 0xFF, 0xFF}), one)
	// (core/effect::then p 1) binds the second fn chain of its definition, holding q.
	inner := other("function", join([]byte{2}, lib("core/effect::then", 1), four(1), four(0), name("q")), one)
	token := other("seal-token", append([]byte{1, 0, 0, 0, 0, 0, 0, 0, 0}, "s"...))
	unnamed := other("seal-token", []byte{1, 0, 0, 0, 0, 0, 0, 0, 1})
	sealed := other("sealed", append([]byte{1, 0, 0, 0, 0, 0, 0, 0, 0}, "s"...), two)
	failed := other("sealed", []byte{0, 0, 0, 0, 0, 0, 0, 0, 3}, two)
	k := fn(identity)
	binds := other("binds", []byte{0}, append([]byte{8}, inner[:]...))
	asking := other("effect-program", []byte("\x01a/b"), []byte{0}, append([]byte{8}, k[:]...), append([]byte{8}, binds[:]...))
	cont := other("continuation", []byte{1}, append([]byte{8}, k[:]...), append([]byte{8}, binds[:]...))
	contract := other("contract", []byte{0}, append([]byte{8}, k[:]...), one, []byte{0})

	const askAndThen = "(core/effect::then (core/effect::perform 'a/b nil (fn (x) x)) 1)"
	if got := asks(t, library(t, nil), askAndThen); got != cont.String() {
		t.Errorf("continuation: %s, want %s", got, cont)
	}
	for src, want := range map[string]digest.Digest{
		"(fn (x) x)": fn(identity),
		"(let ((a 1)) (fn (y) (prim pair/cons a y)))":                held,
		"((fn (a y) (prim pair/cons a y)) 1)":                        held,
		"(def f (fn (x) (core/const x g))) (def g 1) (fn (z) (f z))": fn(calling),
		"(def loop (fn (x) (loop x))) (fn (z) (loop z))":             fn(looping),
		"(fn (z) (none z))":                                          fn(missing),
		"(core/effect::bind 1)":                                      native,
		"(def s (seal)) s":                                           token,
		"(begin (seal) (seal))":                                      unnamed,
		"(def s (seal)) (seal 2 s)":                                  sealed,
		"(core/protocol::error 2)":                                   failed,
		"(core/contract::make (fn (x) x) nil 1)":                     contract,
		askAndThen:                                                   asking,
	} {
		p := load(t, src, kernel.Limits{})
		v, err := p.Eval(t.Context())
		if err != nil {
			t.Fatalf("%s: %v", src, err)
		}
		if got := coreform.StateHash(v); got != want {
			t.Errorf("%s: %s, want %s", src, got, want)
		}
	}
}
