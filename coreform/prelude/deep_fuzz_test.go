package prelude_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/gcrun/gcrun/coreform/kernel"
)

// deepSteps are ways to go one level deeper, as an expression of v.
var deepSteps = []string{
	"(core/pair::cons v nil)", "(core/pair::cons v 1)", "(core/pair::cons 1 v)", "(core/vec::push [] v)", "(core/vec::push (core/vec::push [] v) v)",
	"{:k v}", "(core/map::put {} v 1)", "(core/map::put {1 2} v v)", "(fn (x) v)", "(fn (x y) (x v))", "(keep v)", "(seal v t)", "(seal v (seal))",
	"(core/protocol::error v)", "(core/error::make v v v)", "(core/effect::pure v)", "(core/effect::perform 'a/b v (fn (r) v))",
	"(core/effect::ask 'a/b {:v v})", "(core/effect::bind v core/effect::pure)", "(core/effect::map v (fn (x) v))", "(core/effect::catch v (fn (e) e))",
	"(core/effect::then v v)", "(core/contract::extend core/contract::genesis {o (fn (m) v)} v)", "(core/contract::extend v {} nil)",
	"(core/contract::make (fn (m) v) v v)", "(core/msg::make 'o v)", "(core/protocol::unhandled v)", "(core/contract::explain v (core/msg::make 'o 1))",
	"(core/str::concat v \"x\")", "(core/int::mul v 3)", "(core/list::reverse v)", "(core/map::entries v)", "(core/pair::as-proper-list v)",
	"(core/coreform::print-term v)", "(core/coreform::parse-term v)", "(core/coreform::hash-term v)", "(core/str::repeat \"(\" 2000)",
}

// deepEnds are what is done with the value in the end.
var deepEnds = []string{
	"v", "(core/eq? v w)", "(core/map::put {} v w)", "(core/effect::ask 'a/b {:v v})", "(core/effect::perform 'a/b nil (fn (r) (core/vec::push [] v)))",
	"(core/coreform::print-term v)", "(core/contract::shape v)", "(core/effect::bind v (fn (x) w))", "(v w)", "[v]", "(core/data::tag v)",
}

// deepProgram builds a program of bytes: pairs of a step and how often it is
// taken, up to 65 536 times, and what is done in the end.
func deepProgram(data []byte) string {
	var b strings.Builder
	b.WriteString("(def t (seal)) (def keep (fn (a b) a))\n")
	last := "nil"
	end := 0
	if len(data) > 0 {
		end, data = int(data[0]), data[1:]
	}
	for i := 0; len(data) >= 2 && i < 8; i++ {
		name, n := "b"+strconv.Itoa(i), strconv.Itoa(1<<(data[1]%17)-int(data[1]/17)%2)
		b.WriteString("(def " + name + " (fn (v n) (if (core/int::lt? n 1) v (" + name + " " + deepSteps[int(data[0])%len(deepSteps)] + " (core/int::sub n 1)))))\n")
		last = "(" + name + " " + last + " " + n + ")"
		data = data[2:]
	}
	b.WriteString("(def v " + last + ") (def w " + last + ")\n" + deepEnds[end%len(deepEnds)])
	return b.String()
}

// nestedSource builds a source of bytes: pairs of an opening and how often it is
// written; each second one is closed again.
func nestedSource(data []byte) string {
	opening := []string{"'", "(", "[", "{", "{1 ", "(f ", "(quote ", "(begin ", "(fn (x) ", "(let ((x ", "(if ", "(prim int/add 1 ", "(seal ", "(def x ", "\"", ";\n"}
	closing := []string{"", ")", "]", "}", "}", ")", ")", ")", ")", ")) x)", " 1 2)", ")", " t)", ")", "\"", ""}
	var open, closed string
	for ; len(data) >= 2; data = data[2:] {
		k, n := int(data[0])%len(opening), 1<<(data[1]%20)
		if len(open)+len(closed)+n*len(opening[k]+closing[k]) > 4<<20 {
			break
		}
		open += strings.Repeat(opening[k], n)
		if data[0] < 128 {
			closed = strings.Repeat(closing[k], n) + closed
		}
	}
	return open + "x" + closed
}

// Whatever is nested in whatever, in values or in source, and whatever is done
// with it, with all operations denied the machine does not crash, ends within
// the limits, and does the same twice.
//
// spec: LANG-EVAL-6, LANG-EVAL-1, LIM-DEPTH-1
func FuzzDeepPrograms(f *testing.F) {
	for step := range deepSteps {
		f.Add([]byte{byte(step), byte(step), 10, byte(step + 1), 3}, false)
	}
	for end := range deepEnds {
		f.Add([]byte{byte(end), 3, 16, 8, 16}, false)
	}
	for kind := range byte(16) {
		f.Add([]byte{kind, 18, kind + 3, 4}, true)
		f.Add([]byte{kind + 128, 19}, true)
	}
	f.Fuzz(func(t *testing.T, data []byte, isSource bool) {
		build := deepProgram
		if isSource {
			build = nestedSource
		}
		src := []byte(build(data))
		lim := kernel.Limits{Steps: 2_000_000, LiveUnits: 1 << 21, AllocUnits: 1 << 24}
		if a, b := denied(src, lim), denied(src, lim); a != b {
			t.Errorf("two runs of\n%.2000s\ndiffer:\n%.2000s\n%.2000s", src, a, b)
		}
	})
}
