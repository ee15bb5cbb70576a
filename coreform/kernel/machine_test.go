package kernel_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/coreform/kernel"
	"github.com/gcrun/gcrun/effects/guest"
)

const testLibrary = `
(def core/int::add (fn (a b) (prim int/add a b)))
(def core/int::sub (fn (a b) (prim int/sub a b)))
(def core/int::lt? (fn (a b) (prim int/lt? a b)))
(def core/const (fn (a b) a))
(def core/plus core/int::add)
(def core/effect::then (fn (p q) (core/effect::bind p (fn (x) q))))
`

func load(t testing.TB, src string, limits kernel.Limits) *kernel.Program {
	t.Helper()
	lib, err := kernel.NewLibrary(kernel.CoreNatives(), nil, nil, testLibrary)
	if err != nil {
		t.Fatal(err)
	}
	if err := lib.Check(); err != nil {
		t.Fatal(err)
	}
	p, err := kernel.Load("t.gc", []byte(src), lib, limits)
	if err != nil {
		t.Fatalf("%s: %v", src, err)
	}
	return p
}

// show renders a value for comparison with a table.
func show(v coreform.Value) string {
	if payload, ok := kernel.IsError(v); ok {
		m, _ := payload.AsMap()
		if m != nil {
			code, _ := m.Get(coreform.Sym(":error/code"))
			s, _ := code.AsStr()
			return "error " + s
		}
		return "error " + show(payload)
	}
	switch v.Kind() {
	case coreform.KindInt:
		return v.IntText()
	case coreform.KindNil:
		return "nil"
	case coreform.KindBool:
		b, _ := v.AsBool()
		return fmt.Sprint(b)
	case coreform.KindSym:
		s, _ := v.AsSym()
		return s
	case coreform.KindStr:
		s, _ := v.AsStr()
		return fmt.Sprintf("%q", s)
	case coreform.KindPair:
		var parts []string
		for v.Kind() == coreform.KindPair {
			p, _ := v.AsPair()
			parts = append(parts, show(p.Car()))
			v = p.Cdr()
		}
		return "(" + strings.Join(parts, " ") + ")"
	case coreform.KindVec:
		x, _ := v.AsVec()
		var parts []string
		for _, e := range x.All() {
			parts = append(parts, show(e))
		}
		return "[" + strings.Join(parts, " ") + "]"
	case coreform.KindMap:
		x, _ := v.AsMap()
		var parts []string
		for k, e := range x.All() {
			parts = append(parts, show(k), show(e))
		}
		return "{" + strings.Join(parts, " ") + "}"
	}
	return "#<" + v.AsOther().TypeName() + ">"
}

// Values and steps of the reference's worked examples and of the step rules
// (spec LANG-STEP-1).
func TestEval(t *testing.T) {
	for _, c := range []struct {
		src, want string
		steps     int64 // 0: not asserted
	}{
		{"", "nil", 0},
		{"42", "42", 1},
		{"(if 0 1 2)", "1", 3},
		{`(if "" 1 2)`, "1", 3},
		{"(if nil 1 2)", "2", 3},
		{`(if (prim int/add 1 "x") 1 2)`, "1", 5},
		{"[(prim int/add 1 2) x]", "[(prim int/add 1 2) x]", 1},
		{"{:b (prim int/add 1 2) :a 7}", "{:a 7 :b 3}", 5},
		{":a", ":a", 1},
		{"{:a :a}", "{:a :a}", 2},
		{"(prim int/div -7 2)", "-4", 3},
		{"(prim int/mod -7 -2)", "1", 3},
		{"(prim int/div 7 0)", "error core/numeric-error", 3},
		{"(prim int/add 9223372036854775807 1)", "9223372036854775808", 3},
		{"(prim int/sub -9223372036854775808 1)", "-9223372036854775809", 3},
		{"(prim int/mul -9223372036854775808 -1)", "9223372036854775808", 3},
		{"(prim int/add 9223372036854775808 -1)", "9223372036854775807", 3},
		{"(prim int/add 1)", "error core/type-error", 2},
		{"(let ((t (seal)) (u (seal))) (unseal (seal 1 t) u))", "nil", 8},
		{"(let ((t (seal))) (unseal (seal 1 t) t))", "1", 7},
		{"(unseal 5 5)", "error core/type-error", 3},
		{"(def f (fn (n) (if (prim int/eq? n 0) 0 (f (prim int/sub n 1))))) (f 3)", "0", 36},
		{"(def g (fn (x) (h x))) (def h (fn (x) 9)) (g 1)", "9", 9},
		{"(begin 1)", "1", 2},
		{"(begin 1 2 3)", "3", 4},
		{"(let () 7)", "7", 2},
		{"(let ((a 1) (b a)) (prim int/add a b))", "2", 6},
		// ((f a) b): 2 applications, f, a, the inner fn, b, body; and the fn of the def.
		{"(def f (fn (x y) x)) (f 1 2)", "1", 8},
		{"(def f (fn (x y) (prim int/add x y))) (f 1 2)", "3", 10},
		{"(core/int::add 1 2)", "3", 9},
		{"(core/plus 1 2)", "3", 9},
		{"(core/const 1 2)", "1", 7},
		{"((core/int::add 1) 2)", "3", 9},
		{"(let ((inc (core/int::add 1))) (inc 2))", "3", 11},
		// Calls that take fewer arguments than given, one after the other.
		{"(def f (fn (x) (fn (y z) (prim int/add x z)))) (f 1 2 3)", "4", 13},
		{"(def id (fn (x) x)) (id id id id 7)", "7", 0},
		{"(def k (fn (a b c d) d)) ((k 1 2) 3 4)", "4", 0},
		{"(def k (fn (a b c d) d)) (let ((p (k 1))) (p 2 3 4))", "4", 0},
		{"(((fn (x) (fn (x) x)) 1) 2)", "2", 0},
		// Applying an error gives it; what comes after is still evaluated.
		{`((prim int/add 1 "x") 1 2)`, "error core/type-error", 0},
		{"(core/int::add (prim int/div 1 0) (prim int/add 1 nil))", "error core/numeric-error", 0},
		{"(core/protocol::is-error (prim int/add nil 1))", "true", 0},
		{"(core/protocol::unerror 5)", "nil", 0},
		{"(core/protocol::error 5)", "error 5", 0},
		// The user's own names, also those of the library.
		{"(def core/int::add (fn (a b) 99)) (core/int::add 1 2)", "99", 0},
		{"(def x (core/int::add 1 2)) (def core/int::add 5) x", "3", 0},
		{"(def a 1) (def a 2) a", "2", 0},
		{"(def mk (fn (x) (fn (y) (prim int/add x y)))) ((mk 40) 2)", "42", 0},
		{"(core/effect::pure 1)", "#<effect-program>", 0},
		{"(core/msg::make 'o nil)", "(msg o nil)", 0},
		{"(core/msg::op (core/msg::make 'o 7))", "o", 0},
		{"(core/msg::payload '(msg o 7))", "7", 0},
		{"(core/msg::op '(msg o))", "error core/type-error", 0},
	} {
		p := load(t, c.src, kernel.Limits{})
		v, err := p.Eval(context.Background())
		if err != nil {
			t.Errorf("%s: %v", c.src, err)
			continue
		}
		if got := show(v); got != c.want {
			t.Errorf("%s: %s, want %s", c.src, got, c.want)
		}
		if got := p.Usage().Steps; c.steps != 0 && got != c.steps {
			t.Errorf("%s: %d steps, want %d", c.src, got, c.steps)
		}
	}
}

func TestFatal(t *testing.T) {
	for _, c := range []struct{ src, code, at string }{
		{"(1 2)", "core/fatal/not-callable", "(1 2)"},
		{"(begin 5 (nope))", "core/fatal/unbound-symbol", "nope"},
		{"(def g (fn (x) (h x)))\n(g 1)\n(def h 1)", "core/fatal/unbound-symbol", "h"},
		{"(prim nope 1)", "core/fatal/unknown-primitive", "(prim nope 1)"},
		{"(prim nope missing)", "core/fatal/unbound-symbol", "missing"},
		{"(def f (fn (x) (x 1)))\n(f \"s\")", "core/fatal/not-callable", "(x 1)"},
	} {
		_, err := load(t, c.src, kernel.Limits{}).Eval(context.Background())
		var f *guest.Fatal
		if !errors.As(err, &f) || f.Code != c.code {
			t.Errorf("%s: %v, want %s", c.src, err, c.code)
			continue
		}
		if got := c.src[f.Span.Off:f.Span.End]; got != c.at {
			t.Errorf("%s: at %q, want %q", c.src, got, c.at)
		}
	}
	// Nested def is found before anything runs.
	lib, _ := kernel.NewLibrary(nil, nil, nil)
	_, err := kernel.Load("t.gc", []byte("((fn (y) y) (def x 1))"), lib, kernel.Limits{})
	var le *kernel.LoadError
	if !errors.As(err, &le) || le.Span.Off != 12 {
		t.Errorf("nested def: %v", err)
	}
}

// spec: LANG-EVAL-3
func TestDeepRecursion(t *testing.T) {
	const f = "(def f (fn (n) (if (prim int/eq? n 0) 0 (prim int/add 1 (f (prim int/sub n 1))))))"
	v, err := load(t, f+"(f 1000000)", kernel.Limits{}).Eval(context.Background())
	if err != nil || show(v) != "1000000" {
		t.Errorf("1 000 000 deep: %v %v", show(v), err)
	}
	for name, src := range map[string]string{
		"recursion": "(def f (fn (n) (prim int/add 1 (f n)))) (f 0)",
		"binds":     "(def f (fn (n) (core/effect::bind (core/effect::pure n) f))) (f 0)",
		"binds2":    "(def f (fn (p) (f (core/effect::bind p (fn (x) x))))) (f (core/effect::perform 'a/b nil (fn (x) x)))",
	} {
		_, err = load(t, src, kernel.Limits{LiveUnits: 1 << 20}).Eval(context.Background())
		var fatal *guest.Fatal
		if !errors.As(err, &fatal) || fatal.Limit == nil || fatal.Limit.Dimension != "live-units" {
			t.Errorf("endless %s: %v", name, err)
		}
	}
	// Natives calling natives, nested by data: a trampoline, not the host stack.
	src := "(def wrap (fn (n f) (if (prim int/eq? n 0) f (wrap (prim int/sub n 1) (core/effect::bind (core/effect::pure f))))))" +
		"((wrap 1000000 (fn (x) x)) (fn (x) x))"
	if _, err := load(t, src, kernel.Limits{}).Eval(context.Background()); err != nil {
		t.Errorf("nested natives: %v", err)
	}
}

// spec: LIM-STEP-1
func TestStepLimitIsInclusive(t *testing.T) {
	src := "(prim int/add 1 (prim int/add 1 1))" // 5 steps
	if _, err := load(t, src, kernel.Limits{Steps: 5}).Eval(context.Background()); err != nil {
		t.Errorf("at the limit: %v", err)
	}
	_, err := load(t, src, kernel.Limits{Steps: 4}).Eval(context.Background())
	var f *guest.Fatal
	if !errors.As(err, &f) || f.Limit == nil || f.Limit.Observed != 5 || f.Limit.Limit != 4 {
		t.Errorf("over the limit: %v", err)
	}
}

// run drives a program, answering every request with answer.
func run(t *testing.T, p *kernel.Program, answer func(*guest.Request) guest.Response) (*guest.Done, []*guest.Request) {
	t.Helper()
	var reqs []*guest.Request
	var a *guest.Response
	for {
		s, err := p.Step(context.Background(), 0, a)
		if err != nil {
			t.Fatal(err)
		}
		if s.Done != nil {
			return s.Done, reqs
		}
		reqs = append(reqs, s.Request)
		r := answer(s.Request)
		a = &r
	}
}

func TestEffects(t *testing.T) {
	const ask = "(def ask (fn (p) (core/effect::perform 'a/b p (fn (x) (core/effect::pure x)))))\n"
	for _, c := range []struct {
		src, want string
		asked     string
	}{
		{"5", "5", ""},
		{"(core/effect::pure 5)", "5", ""},
		{"(core/effect::bind (core/effect::pure 1) (core/int::add 1))", "2", ""},
		{ask + "(ask 1)", "1", "1"},
		{ask + "(core/effect::bind (ask 1) (fn (x) (core/int::add x 1)))", "2", "1"},
		{ask + "(core/effect::bind (core/effect::bind (ask 1) (fn (x) (ask (core/int::add x 1)))) (fn (y) (ask (core/int::add y 10))))", "12", "1 2 12"},
		{ask + "(core/effect::bind (ask 1) (fn (x) (core/effect::bind (ask 2) (fn (y) (core/int::add x y)))))", "3", "1 2"},
		{ask + "(core/effect::then (ask 1) (ask 2))", "2", "1 2"},
		{"(core/effect::perform 'a/b 7 (fn (x) x))", "7", "7"},
		{ask + "(def loop (fn (n) (if (core/int::lt? n 3) (core/effect::bind (ask n) (fn (x) (loop (core/int::add x 1)))) (core/effect::pure n)))) (loop 0)", "3", "0 1 2"},
		{"(core/effect::perform 'a/b (fn (x) x) (fn (x) x))", "error core/type-error", ""},
		{"(core/effect::perform \"x\" nil (fn (x) x))", "error core/type-error", ""},
		{"(core/effect::bind (core/protocol::error 1) (fn (x) x))", "error 1", ""},
		{"(core/effect::bind (core/effect::pure (core/protocol::error 1)) (fn (e) 7))", "7", ""},
	} {
		d, reqs := run(t, load(t, c.src, kernel.Limits{}), func(r *guest.Request) guest.Response {
			return guest.Response{Value: r.Payload}
		})
		var asked []string
		for _, r := range reqs {
			asked = append(asked, show(r.Payload))
		}
		if got := show(d.Value); got != c.want || strings.Join(asked, " ") != c.asked {
			t.Errorf("%s: %s asking %v, want %s asking %s", c.src, got, asked, c.want, c.asked)
		}
	}
}

// The continuation hash covers captured variables and pending binds, and the
// place of a request is the user's call even through library code.
func TestContinuationHashAndPlace(t *testing.T) {
	hash := func(src string) string {
		_, reqs := run(t, load(t, src, kernel.Limits{}), func(*guest.Request) guest.Response { return guest.Response{} })
		return reqs[0].ContHash.String()
	}
	const mk = "(def n 0) (def mk (fn (v) (core/effect::perform 'a/b nil (fn (x) v)))) "
	if a, b := hash(mk+"(mk 1) (mk 1)"), hash(mk+"(mk 1) (mk 1)"); a != b {
		t.Error("not deterministic")
	}
	seen := map[string]string{}
	for _, v := range []string{"1", "2", "'a", "[1]", "{:a 1}", "mk", "core/const", "(core/const 1)", "(core/const 2)"} {
		src := mk + "(core/effect::bind (mk 0) (fn (y) nil)) (let ((z " + v + ")) (core/effect::bind (mk z) (fn (y) z)))"
		h := hash(src)
		if other, dup := seen[h]; dup {
			t.Errorf("capturing %s and %s hash alike", v, other)
		}
		seen[h] = v
	}
	src := "(def go (fn (p)\n  (core/effect::then (core/effect::pure 1) (core/effect::perform 'a/b p (fn (x) x)))))\n(go 1)"
	_, reqs := run(t, load(t, src, kernel.Limits{}), func(*guest.Request) guest.Response { return guest.Response{} })
	if got := src[reqs[0].Span.Off:reqs[0].Span.End]; got != "(core/effect::perform 'a/b p (fn (x) x))" {
		t.Errorf("span %q", got)
	}
}

func TestContracts(t *testing.T) {
	const base = "(def base (core/contract::make (fn (m) (core/protocol::unhandled m)) nil {:a 1}))\n" +
		"(def c (core/contract::extend base {inc (fn (m) (core/int::add 1 (core/msg::payload m)))} {:b 2}))\n"
	for _, c := range []struct{ src, want string }{
		{"(core/contract::dispatch c (core/msg::make 'inc 4))", "5"},
		{"(core/protocol::is-unhandled (core/contract::dispatch c (core/msg::make 'dec 4)))", "true"},
		{"(core/contract::meta c)", "{:a 1 :b 2}"},
		{"(core/contract::dispatch 5 (core/msg::make 'dec 4))", "error core/type-error"},
		{"(core/contract::extend base {1 (fn (m) m)} nil)", "error core/type-error"},
		{"(core/contract::dispatch (core/contract::extend c {top (fn (m) 9)} nil) '(msg inc 1))", "2"},
	} {
		v, err := load(t, base+c.src, kernel.Limits{}).Eval(context.Background())
		if err != nil || show(v) != c.want {
			t.Errorf("%s: %s %v, want %s", c.src, show(v), err, c.want)
		}
	}
}

func BenchmarkFib25(b *testing.B) {
	src := "(def fib (fn (n) (if (core/int::lt? n 2) n (core/int::add (fib (core/int::sub n 1)) (fib (core/int::sub n 2)))))) (fib 25)"
	for b.Loop() {
		if _, err := load(b, src, kernel.Limits{}).Eval(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
}
