package prelude_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/coreform/kernel"
	"github.com/gcrun/gcrun/effects/guest"
)

// deepValue is a way to build a value that is deep or long: step makes the next
// value of v, n times, starting with from.
type deepValue struct {
	from, step string
	n          int
	eq         bool   // core/eq? of two that were built alike
	key        string // what map/len of a map with it as a key gives
	sent       bool   // it is a term and not deep, and so can be a payload
}

// What inspection says of an error: its code, or that it is the value itself.
const (
	refused = `"core/type-error"`
	itself  = `"itself"`
)

var deepValues = map[string]deepValue{
	"pairs in pairs":        {"nil", "(core/pair::cons v nil)", million, true, "1", false},
	"a long list":           {"nil", "(core/pair::cons nil v)", million, true, "1", true},
	"an improper chain":     {"1", "(core/pair::cons nil v)", million, true, refused, false},
	"improper in improper":  {"1", "(core/pair::cons v 1)", million / 4, true, refused, false},
	"vectors":               {"nil", "(core/vec::push [] v)", million, true, "1", false},
	"maps in values":        {"nil", "{:k v}", million, true, "1", false},
	"maps in keys":          {"nil", "(core/map::put {} v 1)", 3000, true, "1", false},
	"pairs, vectors, maps":  {"nil", "{:k (core/vec::push [] (core/pair::cons v 1))}", million / 4, true, refused, false},
	"functions":             {"nil", "(fn (x) v)", million, false, refused, false},
	"partial calls":         {"nil", "(first v)", million / 4, false, refused, false},
	"partial natives":       {"nil", "(core/error::make v)", million / 4, false, refused, false},
	"sealed":                {"nil", "(seal v t)", million, true, refused, false},
	"errors":                {"nil", "(core/protocol::error v)", million, true, itself, false},
	"effects sealed":        {"nil", "(core/protocol::effect v)", million, true, refused, false},
	"pure programs":         {"nil", "(core/effect::pure v)", million / 4, false, refused, false},
	"binds":                 {"(core/effect::ask 'a/b 1)", "(core/effect::bind v core/effect::pure)", million, false, refused, false},
	"requests in functions": {"nil", "(core/effect::perform 'a/b 1 (fn (x) v))", million / 4, false, refused, false},
	"prototypes":            {"core/contract::genesis", "(core/contract::extend v {} nil)", 100_000, true, refused, false},
	"handlers":              {"nil", "(core/contract::make (fn (m) v) nil nil)", 100_000, true, refused, false},
	"metas":                 {"nil", "(core/contract::make core/protocol::unhandled nil v)", 100_000, true, refused, false},
	"of everything":         {"nil", "(core/vec::push [] {:k (fn (x) (seal v t))})", million / 4, false, refused, false},
}

// hash is what core/coreform::hash-term gives: a digest only for what is no term
// too deep to be printed.
func (d deepValue) hash() string {
	switch {
	case d.key != "1":
		return d.key
	case d.n > coreform.MaximumDepth && !d.sent:
		return `"core/resource-exhausted"`
	}
	return "64"
}

// program builds two of the value, as v and w, does with them what a program can
// do, sends v if it can be sent, holds both meanwhile, and ends with what it saw
// and v.
func (d deepValue) program() string {
	return fmt.Sprintf(`(def t (seal)) (def first (fn (a b) a))
		(def build (fn (v n) (if (core/int::eq? n 0) v (build %s (core/int::sub n 1)))))
		(def v (build %s %d)) (def w (build %[2]s %[3]d))
		(def seen (fn (x) (if (core/error::is? x)
			(let ((code (core/map::get (core/error::payload x) :error/code))) (if (core/error::is? code) "itself" (if code code "itself"))) x)))
		(def contract (fn (a b) (core/contract::make (fn (m) a) nil (core/vec::push [] b))))
		(def steps (fn (c) (core/vec::get (core/map::get (core/contract::explain c (core/msg::make 'o 1)) :steps) 0)))
		(def all {
			:eq (core/eq? v w)
			:longer (core/eq? v (build w 1))
			:key (seen (core/map::len (core/map::put {} v 1)))
			:found (seen (core/map::get (core/map::put {} v 1) w))
			:hash (seen (core/str::len (core/coreform::hash-term v)))
			:text (seen (core/list::is-nil? (core/coreform::print-term v)))
			:pushed (core/vec::len (core/vec::push [1] v))
			:contract (core/eq? (contract v w) (contract w v))
			:id (core/eq? (steps (contract v w)) (steps (contract w v)))
			:called (core/eq? v (core/contract::call (contract w nil) 'o 1))
			:message (seen (core/list::is-nil? (core/msg::make 'o v)))})
		(core/effect::bind (core/effect::catch (core/effect::ask 'a/b {:v v}) core/effect::pure)
			(fn (e) (core/effect::perform 'a/c (core/error::is? e) (fn (r) (core/vec::push (core/vec::push (core/vec::push [] all) w) v)))))`, d.step, d.from, d.n)
}

// want is what the program must see, on one line.
func (d deepValue) want() string {
	text, message, found := "false", "false", "1"
	if d.hash() != "64" {
		text = d.hash()
	}
	if d.key != "1" {
		message, found = d.key, d.key
	}
	return fmt.Sprintf("{:called %v :contract true :eq %[1]v :found %s :hash %s :id true :key %s :longer false :message %s :pushed 2 :text %s}",
		d.eq, found, d.hash(), d.key, message, text)
}

// modelHeap is what the heap may come to, in MiB: four times the default limit of
// live units, and 64.
const modelHeap = 4*(kernel.DefaultLiveUnits*16>>20) + 64

// Values of any depth are built, compared, hashed, shown, and refused where they
// are too deep, without a crash and in memory of their size.
//
// spec: LIM-DEPTH-1, LANG-EVAL-6, LANG-VAL-4, LANG-EVAL-5
func TestDeepValues(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for name, d := range deepValues {
		if raceDetector && d.n > 200_000 {
			d.n /= 20 // and still deeper than can be printed
		}
		t.Run(name, func(t *testing.T) {
			bounded(t, name, 2048, func() { runDeep(t, d) })
			var m runtime.MemStats
			if runtime.ReadMemStats(&m); m.HeapSys>>20 > modelHeap {
				t.Errorf("the heap has %d MiB, allowed are %d", m.HeapSys>>20, modelHeap)
			}
		})
	}
}

func runDeep(t *testing.T, d deepValue) {
	p, err := loadWith(d.program(), kernel.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	var asked []string
	var answer *guest.Response
	for {
		s, err := p.Step(context.Background(), 0, answer)
		if err != nil {
			t.Fatal(failureText(err))
		}
		if s.Done != nil {
			ended(t, d, s.Done)
			break
		}
		asked = append(asked, s.Request.Op)
		coreform.StateHash(s.Request.Payload)
		answer = &guest.Response{Value: coreform.Bool(true)}
	}
	want := []string{"a/b", "a/c"}
	if !d.sent {
		want = want[1:]
	}
	if !slices.Equal(asked, want) {
		t.Errorf("asked for %q, want %q", asked, want)
	}
}

// ended looks at the value a program ended with.
func ended(t *testing.T, d deepValue, done *guest.Done) {
	all, _ := done.Value.AsVec()
	if all.Len() != 3 {
		t.Fatalf("%d values", all.Len())
	}
	seen, w, v := all.Slice()[0], all.Slice()[1], all.Slice()[2]
	if got := show(seen); got != d.want() {
		t.Errorf("saw\n%s\nwant\n%s", got, d.want())
	}
	if done.Digest != coreform.StateHash(done.Value) || coreform.StateHash(v) != coreform.StateHash(w) {
		t.Error("digests differ")
	}
	if text := coreform.FormatLossy(done.Value, 1000); len(text) == 0 || len(text) > 1000 {
		t.Errorf("shown as %q", text)
	}
	if _, err := coreform.PrintTerm(v, coreform.Limits{}); err == nil && !d.sent {
		t.Error("printed")
	}
}

// A program whose binds are a million deep is run, unwinds them all, and its
// continuation is hashed while they are pending.
//
// spec: LANG-EVAL-3, LANG-EVAL-5
func TestLongBindChains(t *testing.T) {
	if testing.Short() || raceDetector {
		t.Skip("takes seconds, and minutes under the race detector, which one goroutine does not need")
	}
	for name, src := range map[string]string{
		"to the left": `(def chain (fn (p n) (if (core/int::eq? n 0) p (chain (core/effect::bind p (core/int::add 1)) (core/int::sub n 1)))))
			(chain (core/effect::ask 'a/b 0) 1000000)`,
		"to the right": `(def chain (fn (n x) (if (core/int::eq? n 1000000) (core/effect::pure x) (core/effect::bind (core/effect::pure (core/int::add x 1)) (chain (core/int::add n 1))))))
			(core/effect::bind (core/effect::ask 'a/b 0) (chain 0))`,
		"of maps and catches": `(def chain (fn (p n) (if (core/int::eq? n 0) p (chain (core/effect::catch (core/effect::map p (core/int::add 1)) core/effect::pure) (core/int::sub n 1)))))
			(core/effect::map (chain (core/effect::ask 'a/b 900000) 100000) (fn (x) x))`,
	} {
		bounded(t, name, modelHeap, func() {
			p, err := loadWith(src, kernel.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			s, err := p.Step(context.Background(), 0, nil)
			if err != nil || s.Request == nil {
				t.Fatalf("%s: %v %v", name, s, err)
			}
			s, err = p.Step(context.Background(), 0, &guest.Response{Value: s.Request.Payload})
			if err != nil || s.Done == nil || show(s.Done.Value) != "1000000" {
				t.Errorf("%s: %v %v", name, s.Done, err)
			}
		})
	}
}

// What is done with sealed values but comparing them takes no room for how deep
// they are.
//
// spec: LANG-EVAL-6
func TestDeepSealedValues(t *testing.T) {
	if testing.Short() || raceDetector {
		t.Skip("takes seconds, and minutes under the race detector, which one goroutine does not need")
	}
	for _, step := range []string{"(seal v t)", "(core/protocol::effect v)", "(core/protocol::error v)"} {
		src := "(def t (seal)) (def build (fn (v n) (if (core/int::eq? n 0) v (build " + step + ` (core/int::sub n 1)))))
			(def v (build nil 1000000)) (def w (build nil 1000000))
			(def contract (fn (a) (core/contract::make (fn (m) a) nil nil)))
			{:contract (core/eq? (contract v) (contract w)) :error (core/error::is? (core/coreform::hash-term v)) :v v}`
		bounded(t, step, 1024, func() {
			p, err := loadWith(src, kernel.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			s, err := p.Step(context.Background(), 0, nil)
			if err != nil || s.Done == nil {
				t.Fatalf("%s: %v", step, err)
			}
			if got := coreform.FormatLossy(s.Done.Value, 1000); got != "{\n  :contract true\n  :error true\n  :v #<sealed>}" {
				t.Errorf("%s: %s", step, got)
			}
		})
	}
}
