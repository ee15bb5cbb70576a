package prelude_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/coreform/kernel"
	"github.com/gcrun/gcrun/effects/guest"
)

// growing are programs for a number n. Lists and texts are made in the same
// program, which is linear.
var growing = map[string]string{
	"range":         `(core/list::range 0 N)`,
	"zip":           `(core/list::zip (core/list::range 0 N) (core/list::range 0 N))`,
	"take":          `(core/list::take (core/list::range 0 N) N)`,
	"drop":          `(core/list::drop (core/list::range 0 N) N)`,
	"nth":           `(core/list::nth (core/list::range 0 N) N)`,
	"any?":          `(core/list::any? (core/list::range 0 N) (core/int::lt? N))`,
	"all?":          `(core/list::all? (core/list::range 0 N) (core/int::lt? -1))`,
	"find":          `(core/list::find (core/list::range 0 N) (core/int::eq? N))`,
	"sort":          `(core/list::sort-by (core/list::range 0 N) (fn (x) x))`,
	"sort reversed": `(core/list::sort-by (core/list::range 0 N) (core/int::sub 0))`,
	"sort mixed":    `(core/list::sort-by (core/list::range 0 N) (fn (x) (core/int::mod (core/int::mul x 7919) 1009)))`,
	"sort equal":    `(core/list::sort-by (core/list::range 0 N) (fn (x) nil))`,
	"sort texts":    `(core/list::sort-by (core/list::range 0 N) core/int::to-str)`,
	"sort vector":   `(core/vec::sort-by (core/vec::of (core/list::range 0 N)) (core/int::sub 0))`,

	"vec of":     `(core/vec::of (core/list::range 0 N))`,
	"vec list":   `(core/vec::to-list (core/vec::of (core/list::range 0 N)))`,
	"vec map":    `(core/vec::map (core/vec::of (core/list::range 0 N)) (core/int::add 1))`,
	"vec filter": `(core/vec::filter (core/vec::of (core/list::range 0 N)) (core/int::lt? 3))`,
	"vec foldl":  `(core/vec::foldl (core/vec::of (core/list::range 0 N)) 0 core/int::add)`,
	"vec slice":  `(core/vec::slice (core/vec::of (core/list::range 0 N)) 1 (core/int::sub N 1))`,
	"vec push":   `(core/list::foldl (core/list::range 0 N) [] core/vec::push)`,

	"map put":     `(core/list::foldl (core/list::range 0 N) {} (fn (m i) (core/map::put m i i)))`,
	"map entries": `(core/map::from-entries (core/vec::of (core/list::zip (core/list::range 0 N) (core/list::range 0 N))))`,
	"map remove":  `(core/list::foldl (core/list::range 0 N) (MAP N) core/map::remove)`,
	"map keys":    `(core/map::keys (MAP N))`,
	"map vals":    `(core/map::vals (MAP N))`,
	"map values":  `(core/map::map-values (MAP N) (core/int::add 1))`,
	"map foldl":   `(core/map::foldl (MAP N) 0 (fn (a k v) (core/int::add a v)))`,
	"map has?":    `(core/list::all? (core/list::range 0 N) (core/map::has? (MAP N)))`,

	"join":   `(core/str::join (core/vec::map (core/vec::of (core/list::range 0 N)) core/int::to-str) ",")`,
	"split":  `(core/str::split (core/str::repeat "ab," N) ",")`,
	"chars":  `(core/str::split (core/str::repeat "é" N) "")`,
	"slices": `(def s (core/str::repeat "é" N)) (core/list::map (core/list::range 0 N) (fn (i) (core/str::slice s (core/int::mul 2 i) 2)))`,
	"slices of joined": `(def s (core/str::concat (core/str::repeat "é" N) (core/str::repeat "é" N)))
	 (core/list::map (core/list::range 0 N) (fn (i) (core/str::slice s (core/int::mul 2 i) 2)))`,
	"search": `(def s (core/str::repeat "ab," N))
	 (def go (fn (n at) (let ((i (core/str::index-from s "," at))) (if (core/list::is-nil? i) n (go (core/int::add n 1) (core/int::add i 1))))))
	 (go 0 0)`,
	"begins":  `(def s (core/str::repeat "a" N)) (core/list::all? (core/list::range 0 N) (fn (i) (core/str::starts-with? s "a")))`,
	"trim":    `(core/str::trim (core/str::concat (core/str::repeat " " N) "x"))`,
	"upper":   `(core/str::upper-ascii (core/str::repeat "aé" N))`,
	"compare": `(def s (core/list::range 0 N)) (core/term::compare s s)`,

	"traverse pure": `(core/effect::traverse (core/list::range 0 N) core/effect::pure)`,
	"traverse asks": `(core/effect::traverse (core/list::range 0 N) (fn (i) (core/effect::ask 'a/b i)))`,
	"sequence":      `(core/effect::sequence (core/list::map (core/list::range 0 N) (core/effect::ask 'a/b)))`,
	"repeat-until":  `(core/effect::traverse (core/list::range 0 N) (fn (i) (core/effect::repeat-until (core/effect::ask 'a/b i) (fn (x) true))))`,
}

// use runs a program for n to its end and returns what it took.
func use(t *testing.T, src string, n int) (steps, units int64) {
	t.Helper()
	src = strings.ReplaceAll(src, "(MAP N)", "(core/map::from-entries (core/vec::of (core/list::zip (core/list::range 0 N) (core/list::range 0 N))))")
	src = strings.ReplaceAll(src, " N", fmt.Sprint(" ", n))
	p, err := loadWith(src, kernel.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	end := runToEnd(t, p)
	if _, failed := kernel.IsError(end); failed {
		t.Fatalf("ends with %s", show(end))
	}
	return p.Usage().Steps, p.Usage().AllocUnits
}

// Four times as much to do takes less than five times the steps and units: what
// the library does with lists, vectors, maps, texts and programs is not
// quadratic. These are counts and not times.
//
// spec: LIB-GROW-1
func TestGrowth(t *testing.T) {
	const n = 2000
	for name, src := range growing {
		t.Run(name, func(t *testing.T) {
			steps, units := use(t, src, n)
			steps4, units4 := use(t, src, 4*n)
			if steps4 >= 5*steps || units4 >= 5*units {
				t.Errorf("%d steps and %d units for %d, %d and %d for %d", steps, units, n, steps4, units4, 4*n)
			}
			if steps4 < steps || units4 < units {
				t.Errorf("less for more: the program does not depend on n")
			}
		})
	}
}

// runToEnd runs a program; every request is answered with its payload.
func runToEnd(t *testing.T, p *kernel.Program) kernel.Value {
	t.Helper()
	var answer *guest.Response
	for {
		s, err := p.Step(context.Background(), 0, answer)
		if err != nil {
			t.Fatal(err)
		}
		if s.Done != nil {
			return s.Done.Value
		}
		answer = &guest.Response{Value: s.Request.Payload}
	}
}

// 100 000 requests in a row are within the default limits, and so are as many
// programs that ask nothing, without a stack of the host.
//
// spec: LIB-EFFECT-1
func TestLongPrograms(t *testing.T) {
	for name, src := range map[string]string{
		"traverse": `(core/effect::map (core/effect::traverse (core/list::range 0 100000) (core/effect::ask 'a/b)) core/list::len)`,
		"sequence": `(core/effect::map (core/effect::sequence (core/list::map (core/list::range 0 100000) (core/effect::ask 'a/b))) core/list::len)`,
		"pure":     `(core/effect::map (core/effect::traverse (core/list::range 0 100000) core/effect::pure) core/list::len)`,
		"repeat-until": `(def count (fn (n) (core/effect::bind (core/effect::repeat-until (core/effect::ask 'a/b n) (fn (x) true))
		  (fn (x) (if (core/int::eq? x 100000) (core/effect::pure x) (count (core/int::add x 1)))))))
		 (count 1)`,
	} {
		p, err := loadWith(src, kernel.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if got := show(runToEnd(t, p)); got != "100000" {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// A program is repeated until the answer is what is wanted, as often as that takes.
//
// spec: LIB-EFFECT-1
func TestRepeatUntilAsksAgain(t *testing.T) {
	p, err := loadWith(`(core/effect::repeat-until (core/effect::ask 'a/b nil) (core/int::lt? 99999))`, kernel.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	var answer *guest.Response
	for n := int64(0); ; n++ {
		s, err := p.Step(context.Background(), 0, answer)
		if err != nil {
			t.Fatal(err)
		}
		if s.Done != nil {
			if got := show(s.Done.Value); got != "100000" || n != 100001 {
				t.Errorf("%s after %d answers", got, n)
			}
			return
		}
		answer = &guest.Response{Value: coreform.Int(n)}
	}
}
