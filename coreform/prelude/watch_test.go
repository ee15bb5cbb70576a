package prelude_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/coreform/kernel"
	"github.com/gcrun/gcrun/coreform/prelude"
	"github.com/gcrun/gcrun/effects/guest"
)

// trail is everything that can be seen of a run in which every request is
// answered with its own payload.
func trail(src string, lib *kernel.Library, limits kernel.Limits) string {
	p, err := kernel.Load("t.gc", []byte(src), lib, limits)
	if err != nil {
		return failureText(err)
	}
	var b strings.Builder
	var answer *guest.Response
	for {
		s, err := p.Step(context.Background(), 0, answer)
		u := p.Usage()
		switch {
		case err != nil:
			fmt.Fprintf(&b, "%s %v steps %d units %d\n", failureText(err), err, u.Steps, u.AllocUnits)
		case s.Done != nil:
			fmt.Fprintf(&b, "%s %s %v %v %v\n", show(s.Done.Value), s.Done.Digest, s.Done.Stack, s.Done.Maker, u)
		default:
			fmt.Fprintf(&b, "%s %s %s %v %v\n", s.Request.Op, show(s.Request.Payload), s.Request.ContHash, s.Request.Span, u)
			answer = &guest.Response{Value: s.Request.Payload}
			continue
		}
		fmt.Fprint(&b, p.Definitions(), p.ModuleGrained())
		return b.String()
	}
}

// A program that is watched, whose code is compiled without any call inlined, is
// the same in everything that can be seen: values, errors with their places,
// requests, hashes, steps and units.
//
// spec: LANG-WATCH-1, LANG-EVAL-1
func TestWatchedProgramsAreTheSame(t *testing.T) {
	for _, c := range readCases(t) {
		plain, watched := trail(c.src, prelude.Library(), c.limits), trail(c.src, prelude.Library().Watched(), c.limits)
		if plain != watched {
			t.Errorf("%s: %s\nplain   %s\nwatched %s", c.at, c.src, plain, watched)
		}
	}
}

// originsOf runs a watched program on answers and returns the origins of its
// final value, and the last decision.
func originsOf(t *testing.T, src string, answers ...coreform.Value) (value string, last string) {
	t.Helper()
	p, err := kernel.Load("t.gc", []byte(src), prelude.Library().Watched(), kernel.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	var answer *guest.Response
	for {
		s, err := p.Step(context.Background(), 0, answer)
		if err != nil {
			t.Fatalf("%s: %v", src, err)
		}
		if s.Done == nil {
			if len(answers) == 0 {
				t.Fatalf("%s: asks too often", src)
			}
			answer, answers = &guest.Response{Value: answers[0]}, answers[1:]
			continue
		}
		if d, ok := p.LastDecision(); ok {
			last = fmt.Sprint(d.Origins.Entries, " ", src[d.Span.Off:d.Span.End])
		}
		o := p.Origins(s.Done.Value)
		value = fmt.Sprint(o.Entries)
		if o.More {
			value += "+"
		}
		return value, last
	}
}

// Values remember the answers they were made of, through primitives, containers,
// closures and library code; branches remember what decided them.
//
// spec: LANG-WATCH-2
func TestOrigins(t *testing.T) {
	const ask3 = `
(def ask (fn (k) (core/effect::perform 'a/b nil k)))
(def ask3 (fn (f) (ask (fn (a) (ask (fn (b) (ask (fn (c) (core/effect::pure (f a b c)))))))))) `
	row := coreform.Vec(coreform.Int(1), coreform.Str("two"), coreform.MapOf(coreform.Entry{Key: coreform.Sym(":k"), Value: coreform.List(coreform.Int(4), coreform.Bool(true))}))
	for src, want := range map[string]string{
		"(fn (a b c) 7)":                   "[]",
		"(fn (a b c) a)":                   "[0]",
		"(fn (a b c) (core/vec::get a 0))": "[0]",
		"(fn (a b c) (core/int::add (core/vec::get a 0) (core/vec::get c 0)))":                 "[0 2]",
		"(fn (a b c) (core/int::add 1 2))":                                                     "[]",
		"(fn (a b c) (core/list::car (core/map::get (core/vec::get b 2) :k)))":                 "[1]",
		"(fn (a b c) (core/list::cons 1 (core/list::cons b nil)))":                             "[1]",
		"(fn (a b c) (core/list::car (core/list::cons 1 (core/list::cons b nil))))":            "[]",
		"(fn (a b c) (core/map::get (core/map::put {:x a} :y c) :x))":                          "[0]",
		"(fn (a b c) {:x (core/vec::len a) :y (core/vec::get b 1)})":                           "[0 1]",
		"(fn (a b c) (core/map::get {:x a :y b} (if (core/vec::get c 0) :x :y)))":              "[0]",
		"(fn (a b c) ((fn (x) (fn (y) (core/int::sub x y))) (core/vec::len b) 3))":             "[1]",
		"(fn (a b c) (core/list::len (core/list::map '(1 2 3) (fn (x) a))))":                   "[]",
		"(fn (a b c) (core/list::map '(1 2 3) (fn (x) (core/vec::len a))))":                    "[0]",
		"(fn (a b c) (core/list::foldl '(1 2) (core/vec::get a 0) core/int::add))":             "[0]",
		`(fn (a b c) (core/str::join (core/vec::push ["x"] (core/vec::get c 1)) ","))`:         "[2]",
		"(fn (a b c) (core/eq? a b))":                                                          "[0 1]",
		"(fn (a b c) (core/eq? {:x a} 5))":                                                     "[0]",
		"(fn (a b c) (core/int::add a 1))":                                                     "[0]", // the error is about a
		"(fn (a b c) (core/error::payload (core/error::make \"x\" \"m\" c)))":                  "[2]",
		"(fn (a b c) (let ((s (seal))) (unseal (seal b s) s)))":                                "[1]",
		"(fn (a b c) (core/coreform::print-term (core/list::cons 1 c)))":                       "[2]", // of what is no list
		"(fn (a b c) (core/coreform::print-term (core/list::cons 1 (core/list::cons c nil))))": "[2]",
		"(fn (a b c) (core/vec::get (core/vec::set [1 2 3] 0 a) 1))":                           "[]",
		"(fn (a b c) (core/vec::get [1 2 3] (core/vec::get a 0)))":                             "[0]",
		"(fn (a b c) (core/list::car (core/list::reverse (core/list::cons 5 (core/list::car (core/list::cdr (core/list::cons 1 (core/list::cons (core/map::get (core/vec::get a 2) :k) nil))))))))": "[0]",
	} {
		if got, _ := originsOf(t, ask3+"(ask3 "+src+")", row, row, row); got != want {
			t.Errorf("%s: %s, want %s", src, got, want)
		}
	}
	if _, last := originsOf(t, ask3+"(ask3 (fn (a b c) (if (core/int::lt? (core/vec::get b 0) 5) 1 2)))", row, row, row); last != "[1] (if (core/int::lt? (core/vec::get b 0) 5) 1 2)" {
		t.Errorf("decision %s", last)
	}
	// What library code decides belongs to the call in the program's source.
	if _, last := originsOf(t, ask3+"(ask3 (fn (a b c) (core/list::filter a core/list::is-nil?)))", coreform.List(coreform.Int(1)), row, row); last != "[0] (core/list::filter a core/list::is-nil?)" {
		t.Errorf("decision %s", last)
	}
	// An error answer is an answer too, and at most eight are named.
	sum := "(def go (fn (n acc) (if (core/int::eq? n 0) (core/effect::pure acc) (core/effect::perform 'a/b nil (fn (x) (go (core/int::sub n 1) (core/int::add acc x))))))) (go 12 0)"
	var answers []coreform.Value
	for i := range 12 {
		answers = append(answers, coreform.Int(int64(i)))
	}
	if got, last := originsOf(t, sum, answers...); got != "[0 1 2 3 4 5 6 7]+" || last != "" {
		t.Errorf("sum of answers: %s, decided by %q", got, last)
	}
}

// What definitions cost adds up to what the run used, and library functions have
// rows of their own.
//
// spec: LANG-WATCH-3
func TestCosts(t *testing.T) {
	src := `
(def fib (fn (n) (if (core/int::lt? n 2) n (core/int::add (fib (core/int::sub n 1)) (fib (core/int::sub n 2))))))
(def texts (fn (n) (core/str::repeat "x" n)))
(texts 6400)
(core/list::map '(1 2 3) fib)
(fib 10)`
	p, err := kernel.Load("t.gc", []byte(src), prelude.Library().Watched(), kernel.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Eval(context.Background()); err != nil {
		t.Fatal(err)
	}
	var steps, units int64
	rows := map[string]kernel.Cost{}
	for _, c := range p.Costs() {
		steps, units = steps+c.Steps, units+c.Units
		rows[c.Name] = c
	}
	if u := p.Usage(); steps != u.Steps || units != u.AllocUnits {
		t.Errorf("rows add up to %d steps and %d units, the run took %v", steps, units, u)
	}
	if rows["fib"].Calls != 177+1+3+5 { // fib of 10, 1, 2, 3
		t.Errorf("fib was called %d times", rows["fib"].Calls)
	}
	if c := rows["core/str::repeat"]; c.Calls != 1 || c.Steps != 3+100 || c.Units != 4+401 {
		t.Errorf("%+v", c)
	}
	if rows["core/list::map"].Calls != 1 || rows[""].Steps == 0 {
		t.Errorf("%v", rows)
	}
	plain, _ := loadWith(src, kernel.Limits{})
	if _, err := plain.Eval(context.Background()); err != nil {
		t.Fatal(err)
	}
	if plain.Costs() != nil || plain.Usage() != p.Usage() {
		t.Errorf("not watched: %v %v", plain.Costs(), plain.Usage())
	}
}

// The watch costs nothing where it is off: the code that runs has no instruction
// of it. The rows are for comparing.
func BenchmarkWatch(b *testing.B) {
	const src = `(def fib (fn (n) (if (core/int::lt? n 2) n (core/int::add (fib (core/int::sub n 1)) (fib (core/int::sub n 2)))))) (fib 20)`
	for name, lib := range map[string]*kernel.Library{"off": prelude.Library(), "on": prelude.Library().Watched()} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				p, err := kernel.Load("t.gc", []byte(src), lib, kernel.Limits{})
				if err != nil {
					b.Fatal(err)
				}
				if _, err := p.Eval(context.Background()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
