package kernel_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/coreform/kernel"
	"github.com/gcrun/gcrun/effects/guest"
)

// oracleLibrary has wrappers that are inlined, some that almost could be, and
// functions of every shape of chain.
const oracleLibrary = `
(def core/int::add (fn (a b) (prim int/add a b)))
(def core/int::lt? (fn (a b) (prim int/lt? a b)))
(def core/int::eq? (fn (a b) (prim int/eq? a b)))
(def core/int::minus (fn (a b) (prim int/sub b a)))
(def core/int::add1 (fn (a) (prim int/add a 1)))
(def core/pair::cons (fn (a b) (prim pair/cons a b)))
(def core/pair::car (fn (a) (prim pair/car a)))
(def core/pair::short (fn (a b) (prim pair/car a)))
(def core/map::put (fn (m k v) (prim map/put m k v)))
(def core/data::tag (fn (a) (prim data/tag a)))
(def core/const (fn (a b) a))
(def core/plus core/int::add)
(def core/flip (fn (f a b) (f b a)))
(def core/compose (fn (f g) (fn (x) (f (g x)))))
(def core/twice (fn (f x) (f (f x))))
(def core/sum (fn (a b c) (core/int::add a (core/int::add b c))))
(def core/later (fn (a) (let ((b a)) (fn (c) (core/plus b c)))))
(def core/effect::then (fn (p q) (core/effect::bind p (fn (x) q))))
(def core/effect::map (fn (p f) (core/effect::bind p (fn (x) (core/effect::pure (f x))))))
(def core/contract::call (fn (c op payload) (core/contract::dispatch c (core/msg::make op payload))))
`

// arities of the names a program starts with; a program may call them with more
// or fewer arguments.
var arities = map[string]int{
	"core/int::add": 2, "core/int::lt?": 2, "core/int::eq?": 2, "core/int::minus": 2, "core/int::add1": 1,
	"core/pair::cons": 2, "core/pair::car": 1, "core/pair::short": 2, "core/map::put": 3, "core/data::tag": 1,
	"core/const": 2, "core/plus": 2, "core/flip": 3, "core/compose": 3, "core/twice": 2, "core/sum": 3, "core/later": 2,
	"core/effect::then": 2, "core/effect::map": 2, "core/contract::call": 3,
	"core/protocol::error": 1, "core/protocol::is-error": 1, "core/protocol::unerror": 1, "core/protocol::unhandled": 1,
	"core/msg::make": 2, "core/msg::payload": 1, "core/effect::pure": 1, "core/effect::perform": 3, "core/effect::bind": 2,
	"core/contract::make": 3, "core/contract::extend": 3, "core/contract::dispatch": 2, "core/contract::override-handler": 2,
}

// writer draws source text of a module.
type writer struct {
	t     *rapid.T
	names []string
	first int            // of names that are not the library's
	arity map[string]int // what is known of names that are functions
	size  int            // expressions that may still be drawn
}

// n draws evenly, which rapid's own ranges do not: they prefer small numbers,
// and a grammar drawn that way is mostly its first rules.
func (w *writer) n(lo, hi int) int {
	for {
		u := 0
		for range bits.Len(uint(hi - lo)) {
			u <<= 1
			if coin.Draw(w.t, "") {
				u++
			}
		}
		if lo+u <= hi {
			return lo + u
		}
	}
}

var coin = rapid.Bool()

func (w *writer) pick(from []string) string { return from[w.n(0, len(from)-1)] }

// with draws inside a scope that has more names.
func (w *writer) with(names []string, draw func() string) string {
	outer, known := w.names, w.arity
	w.names = append(w.names[:len(w.names):len(w.names)], names...)
	for range 2 { // the nearest are used most
		w.names = append(w.names, names...)
	}
	w.arity = maps.Clone(known)
	for _, n := range names {
		delete(w.arity, n)
	}
	text := draw()
	w.names, w.arity = outer, known
	return text
}

func (w *writer) expr(depth int) string {
	w.size--
	if depth <= 0 || w.size < 0 {
		return w.atom()
	}
	sub := func() string { return w.expr(depth - 1) }
	switch w.n(0, 16) {
	case 0:
		return w.atom()
	case 2:
		return fmt.Sprintf("(if %s %s %s)", sub(), sub(), sub())
	case 3:
		return "(begin " + w.several(1, 3, depth) + ")"
	case 4, 5:
		return w.let(depth)
	case 6, 7:
		return w.function(depth, w.n(1, 4))
	case 8:
		op := w.pick(slices.Sorted(maps.Keys(oraclePrims)))
		return "(prim " + op + " " + w.several(oraclePrims[op], oraclePrims[op]+w.n(0, 8)/8, depth) + ")"
	case 9:
		switch w.n(0, 3) {
		case 0:
			return "(seal)"
		case 1:
			return "(seal " + sub() + " " + sub() + ")"
		case 2:
			return "(unseal " + sub() + " " + sub() + ")"
		}
		return "(let ((s (seal))) (unseal (seal " + sub() + " s) s))"
	case 10:
		return fmt.Sprintf("{:a %s b %s \"c\" %s}", sub(), sub(), sub())
	case 11:
		return w.effect(depth)
	}
	return w.call(depth)
}

func (w *writer) several(lo, hi, depth int) string {
	var parts []string
	for range w.n(lo, hi) {
		parts = append(parts, w.expr(depth-1))
	}
	return strings.Join(parts, " ")
}

func (w *writer) atom() string {
	switch near := len(w.names) - w.first; { // names of the library are mostly called
	case near > 0 && w.n(0, 1) == 0:
		return w.pick(w.names[w.first:])
	case w.n(0, 3) == 0:
		return w.pick(w.names)
	}
	return w.pick([]string{"0", "1", "2", "-3", "nil", "true", "false", `"s"`, ":k", "'q", "'(1 x)", "[1 (f x)]",
		"{}", "{:a 1}", "'{:a x}", "'(msg o 5)", "(core/protocol::error 1)", `(prim int/add 1 "x")`})
}

func (w *writer) let(depth int) string {
	var bs, names []string
	for i := range w.n(0, 3) {
		n := fmt.Sprintf("v%d%d", w.n(0, 1), i)
		bs = append(bs, "("+n+" "+w.with(names, func() string { return w.expr(depth - 1) })+")")
		names = append(names, n)
	}
	return "(let (" + strings.Join(bs, " ") + ") " + w.with(names, func() string { return w.expr(depth - 1) }) + ")"
}

func (w *writer) function(depth, arity int) string {
	var params []string
	for i := range arity {
		params = append(params, w.pick([]string{"p", "q", ":k", "core/const", "core/plus"})+fmt.Sprint(i)[:w.n(0, 1)])
	}
	slices.Sort(params)
	params = slices.Compact(params) // names in one list differ
	body := w.with(params, func() string { return w.expr(depth - 1) })
	return "(fn (" + strings.Join(params, " ") + ") " + body + ")"
}

// call draws a call, mostly of something that is a function, with about as many
// arguments as it takes.
func (w *writer) call(depth int) string {
	head, arity := "", w.n(1, 3)
	switch w.n(0, 5) {
	case 0:
		head = w.function(depth, arity)
	case 1:
		head = w.expr(depth - 1)
	case 2:
		head = w.pick(w.names)
	default:
		head = w.pick(slices.Sorted(maps.Keys(w.arity)))
		arity = w.arity[head]
	}
	arity = max(1, arity+w.n(-1, 4)/2) // one less, as many, one or two more
	return "(" + head + " " + w.several(arity, arity, depth) + ")"
}

func (w *writer) effect(depth int) string {
	sub := func() string { return w.expr(depth - 1) }
	k := w.pick([]string{"core/effect::pure", "(fn (x) x)", ""})
	if k == "" {
		k = w.function(depth, w.n(1, 2))
	}
	switch w.n(0, 5) {
	case 0:
		return fmt.Sprintf("(core/effect::bind (core/effect::pure %s) %s)", sub(), w.function(depth, w.n(1, 2)))
	case 1:
		return fmt.Sprintf("(core/effect::bind %s %s)", w.effect(depth-3), w.function(depth, 1))
	case 2:
		return fmt.Sprintf("(core/contract::dispatch (core/contract::make %s (core/contract::extend (core/contract::make %s nil {:a 1}) {o %s} {:b 2}) nil) '(msg o 1))",
			w.pick([]string{"core/protocol::unhandled", w.function(depth, 1)}), w.function(depth, 1), w.function(depth, w.n(1, 2)))
	case 3:
		return fmt.Sprintf("(core/contract::call (core/contract::extend (core/contract::make core/protocol::unhandled nil nil) {o %s p core/effect::pure} nil) '%s %s)",
			w.function(depth, 1), w.pick([]string{"o", "p", "r"}), sub())
	}
	return fmt.Sprintf("(core/effect::perform '%s %s %s)", w.pick([]string{"ask", "fail", "nothing"}), sub(), k)
}

// module draws definitions, some of names used before or twice, and forms.
func (w *writer) module() string {
	var b strings.Builder
	const later = "(def later (fn (x y) x))\n" // mostly there, but used before and after
	if w.n(0, 3) > 0 {
		b.WriteString(later)
	}
	w.names = append(slices.Sorted(maps.Keys(w.arity)), "later")
	w.first = len(w.names) - 1
	if w.n(0, 9) == 0 {
		w.names = append(w.names, "unbound")
	}
	for i := range w.n(1, 5) {
		name := w.pick([]string{fmt.Sprint("g", i), "g0", "later", "core/plus", "core/int::add", "core/effect::bind"})
		arity := w.n(0, 4)
		own := append(w.names, name)
		w.names = own
		body := ""
		if arity == 0 {
			body = w.expr(4)
			delete(w.arity, name)
		} else {
			body = w.function(5, arity)
			w.arity[name] = arity
		}
		fmt.Fprintf(&b, "(def %s %s)\n", name, body)
		if w.n(0, 3) == 0 {
			b.WriteString(w.expr(4) + "\n")
		}
	}
	b.WriteString(later)
	w.size = 50
	switch w.n(0, 3) {
	case 0:
		b.WriteString(w.expr(6))
	case 1:
		b.WriteString(w.call(6))
	case 2:
		b.WriteString(w.effect(6))
	default:
		b.WriteString("(core/effect::bind " + w.effect(5) + " " + w.function(5, 1) + ")")
	}
	return b.String()
}

// answerAs answers requests as both sides see them.
func answerAs(op string) (v coreform.Value, own any, failed, payload bool) {
	switch op {
	case "fail":
		return coreform.Sym("broken"), oSym("broken"), true, false
	case "nothing":
		return coreform.Bool(false), false, false, false
	}
	return v, nil, false, true
}

type outcome struct {
	value, code  string
	steps, units int64
	asked        string
}

// machineRun runs a program; its sealed errors are shown as the oracle does.
func machineRun(t *rapid.T, src string, lib *kernel.Library) outcome {
	p, err := kernel.Load("t.gc", []byte(src), lib, kernel.Limits{Steps: 3000, LiveUnits: 6000}) // counted now and then
	if err != nil {
		t.Fatalf("%s: %v", src, err)
	}
	var asked []string
	var a *guest.Response
	for {
		s, err := p.Step(context.Background(), 0, a)
		out := outcome{steps: p.Usage().Steps, units: p.Usage().AllocUnits, asked: strings.Join(asked, ", ")}
		var f *guest.Fatal
		switch {
		case errors.As(err, &f):
			out.code, out.units = f.Code, 0
			return out
		case err != nil:
			t.Fatalf("%s: %v", src, err)
		case s.Done != nil:
			out.value = show(s.Done.Value)
			return out
		}
		asked = append(asked, s.Request.Op+" "+show(s.Request.Payload))
		v, _, failed, payload := answerAs(s.Request.Op)
		a = &guest.Response{Value: v}
		if failed {
			a.Kind = guest.RespError
		}
		if payload {
			a.Value = s.Request.Payload
		}
	}
}

func oracleRun(t *rapid.T, src string, library map[string]any) (outcome, bool) {
	nodes, err := coreform.ReadModule([]byte(src), coreform.Limits{})
	if err == nil {
		nodes, err = coreform.CanonicalizeModule(nodes, coreform.Limits{})
	}
	if err != nil {
		t.Fatalf("%s: %v", src, err)
	}
	forms := make([]coreform.Value, len(nodes))
	for i, n := range nodes {
		forms[i] = n.Term
	}
	o := &oracle{limit: 3000, library: library, module: map[string]any{}}
	value, asked := o.run(forms, func(op string) (any, bool, bool) {
		_, v, failed, payload := answerAs(op)
		return v, failed, payload
	})
	out := outcome{value: value, code: o.fatal, steps: o.steps, units: o.units, asked: strings.Join(asked, ", ")}
	if o.fatal != "" {
		out.value, out.units = "", 0
	}
	return out, !o.unsure
}

// oracleDefinitions evaluates the library with the oracle.
func oracleDefinitions(t *testing.T) map[string]any {
	o := &oracle{limit: 1 << 40, library: oNatives(), module: map[string]any{}}
	nodes, err := coreform.ReadModule([]byte(oracleLibrary), coreform.Limits{})
	if err == nil {
		nodes, err = coreform.CanonicalizeModule(nodes, coreform.Limits{})
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range nodes {
		parts, _ := coreform.ListElems(n.Term)
		name, _ := parts[1].AsSym()
		o.library[name] = o.eval(parts[2], nil, true)
	}
	return o.library
}

// spec: LANG-EVAL-1, LANG-EVAL-2, LANG-EVAL-6, LANG-FORM-2, LANG-FORM-3,
// LANG-FORM-4, LANG-ERR-1, LANG-STEP-1, LIM-MEM-1
func TestMachineAgainstOracle(t *testing.T) {
	lib, err := kernel.NewLibrary(kernel.CoreNatives(), nil, nil, oracleLibrary)
	if err != nil {
		t.Fatal(err)
	}
	if err := lib.Check(); err != nil {
		t.Fatal(err)
	}
	definitions := oracleDefinitions(t)
	ends := map[string]int{}
	check := func(t *rapid.T) {
		w := &writer{t: t, arity: maps.Clone(arities), size: 60}
		src := w.module()
		want, sure := oracleRun(t, src, definitions)
		if !sure {
			ends["unsure"]++
			return
		}
		if got := machineRun(t, src, lib); got != want {
			t.Fatalf("%s\nmachine: %+v\noracle:  %+v", src, got, want)
		}
		ends[want.code]++
		ends[strings.SplitN(want.value, " ", 2)[0]]++
		if want.asked != "" {
			ends["asked"]++
		}
	}
	for range 20 {
		rapid.Check(t, check)
	}
	t.Log(ends)
	for _, k := range []string{"", "core/fatal/not-callable", "error", "#<function>", "asked"} {
		if ends[k] == 0 && !testing.Short() {
			t.Errorf("no program ended in %q: the generator proves too little", k)
		}
	}
}
