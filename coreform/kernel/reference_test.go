package kernel_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/coreform/kernel"
	"github.com/gcrun/gcrun/effects/guest"
)

// naive evaluates canonical terms by the letter of spec/language.md: unary
// functions, one environment, one step a visit, recursion. The machine, with
// its flat calls, early applications and inlined wrappers, must not differ from
// it in value, error or steps.
type naive struct {
	steps, limit int64
	globals      map[string]any
	errors       string // fatal code, "" while there is none
}

type (
	naiveFn struct {
		param string
		body  coreform.Value
		env   *naiveEnv
	}
	naiveEnv struct {
		name string
		v    any
		next *naiveEnv
	}
	naiveErr struct{ code string }
)

func (n *naive) fatal(code string) any {
	if n.errors == "" {
		n.errors = code
	}
	return nil
}

func (n *naive) eval(t coreform.Value, env *naiveEnv) any {
	if n.errors != "" {
		return nil
	}
	if n.steps++; n.steps > n.limit {
		return n.fatal("core/limit/steps")
	}
	switch t.Kind() {
	case coreform.KindSym:
		name, _ := t.AsSym()
		for e := env; e != nil; e = e.next {
			if e.name == name {
				return e.v
			}
		}
		if v, ok := n.globals[name]; ok {
			return v
		}
		return n.fatal("core/fatal/unbound-symbol")
	case coreform.KindPair:
		parts, _ := coreform.ListElems(t)
		return n.form(parts, env)
	case coreform.KindInt:
		i, _ := t.AsInt64()
		return i
	case coreform.KindNil:
		return nil
	}
	return t
}

func (n *naive) form(p []coreform.Value, env *naiveEnv) any {
	head, _ := p[0].AsSym()
	switch head {
	case "fn":
		params, _ := coreform.ListElems(p[1])
		name, _ := params[0].AsSym()
		return &naiveFn{name, p[2], env}
	case "if":
		c := n.eval(p[1], env)
		if c == nil || c == false {
			return n.eval(p[3], env)
		}
		return n.eval(p[2], env)
	case "begin":
		var v any
		for _, e := range p[1:] {
			v = n.eval(e, env)
		}
		return v
	case "let":
		bindings, _ := coreform.ListElems(p[1])
		for _, b := range bindings {
			kv, _ := coreform.ListElems(b)
			name, _ := kv[0].AsSym()
			env = &naiveEnv{name, n.eval(kv[1], env), env}
		}
		return n.eval(p[2], env)
	case "prim":
		var args []any
		for _, a := range p[2:] {
			args = append(args, n.eval(a, env))
		}
		op, _ := p[1].AsSym()
		return n.prim(op, args)
	}
	f := n.eval(p[0], env)
	a := n.eval(p[1], env)
	return n.apply(f, a)
}

func (n *naive) apply(f, a any) any {
	switch f := f.(type) {
	case *naiveFn:
		return n.eval(f.body, &naiveEnv{f.param, a, f.env})
	case naiveErr:
		return f
	}
	return n.fatal("core/fatal/not-callable")
}

func (n *naive) prim(op string, args []any) any {
	if n.errors != "" {
		return nil
	}
	if len(args) != 2 {
		return naiveErr{"core/type-error"}
	}
	for _, a := range args {
		if e, ok := a.(naiveErr); ok {
			return e
		}
	}
	x, okx := args[0].(int64)
	y, oky := args[1].(int64)
	if !okx || !oky {
		return naiveErr{"core/type-error"}
	}
	switch op {
	case "int/add":
		return x + y
	case "int/sub":
		return x - y
	case "int/lt?":
		return x < y
	}
	return x == y
}

func showNaive(v any) string {
	switch v := v.(type) {
	case nil:
		return "nil"
	case *naiveFn:
		return "#<function>"
	case naiveErr:
		return "error " + v.code
	}
	return fmt.Sprint(v)
}

// program draws source text. Names in scope are used often, so that calls with
// too few, enough and too many arguments meet functions of every kind.
func program(t *rapid.T) string {
	var b strings.Builder
	names := []string{"core/int::add", "core/int::sub", "core/int::lt?", "core/const", "core/plus"}
	for i := range rapid.IntRange(1, 4).Draw(t, "defs") {
		name := fmt.Sprint("g", i)
		fmt.Fprintf(&b, "(def %s %s)\n", name, expression(t, append(names, name, "later"), 4))
		names = append(names, name)
	}
	fmt.Fprintf(&b, "(def later (fn (x y) x))\n")
	b.WriteString(expression(t, append(names, "later"), 5))
	return b.String()
}

func expression(t *rapid.T, names []string, depth int) string {
	pick := func() string { return rapid.SampledFrom(names).Draw(t, "name") }
	kind := rapid.IntRange(0, 11).Draw(t, "kind")
	if depth == 0 {
		kind %= 3
	}
	sub := func() string { return expression(t, names, depth-1) }
	switch kind {
	case 0:
		return fmt.Sprint(rapid.IntRange(-2, 3).Draw(t, "int"))
	case 1, 2:
		return pick()
	case 3:
		return fmt.Sprintf("(if %s %s %s)", sub(), sub(), sub())
	case 4:
		return fmt.Sprintf("(begin %s %s)", sub(), sub())
	case 5:
		v := fmt.Sprint("v", rapid.IntRange(0, 2).Draw(t, "v"))
		return fmt.Sprintf("(let ((%s %s)) %s)", v, sub(), expression(t, append(names[:len(names):len(names)], v), depth-1))
	case 6, 7:
		var params []string
		for i := range rapid.IntRange(1, 3).Draw(t, "params") {
			params = append(params, fmt.Sprint("p", i))
		}
		return fmt.Sprintf("(fn (%s) %s)", strings.Join(params, " "), expression(t, append(names[:len(names):len(names)], params...), depth-1))
	case 8:
		return fmt.Sprintf("(prim %s %s %s)", rapid.SampledFrom([]string{"int/add", "int/sub", "int/lt?", "int/eq?"}).Draw(t, "op"), sub(), sub())
	}
	parts := []string{sub()}
	for range rapid.IntRange(1, 4).Draw(t, "args") {
		parts = append(parts, sub())
	}
	return "(" + strings.Join(parts, " ") + ")"
}

// spec: LANG-STEP-1, LANG-EVAL-3
func TestMachineAgainstNaive(t *testing.T) {
	kinds := map[string]int{}
	check := func(t *rapid.T) {
		src := program(t)
		want := &naive{limit: 3000, globals: map[string]any{}}
		want.module(t, testLibrary+src)
		got, steps, code := runMachine(t, src)
		if code != want.errors || steps != want.steps || code == "" && got != showNaive(want.globals[""]) {
			t.Fatalf("%s\nmachine: %s %s, %d steps\nnaive:   %s %s, %d steps", src, got, code, steps, showNaive(want.globals[""]), want.errors, want.steps)
		}
		kinds[code]++
		kinds[strings.SplitN(got, " ", 2)[0]]++
	}
	for range 20 { // 100 programs each, 20 with -short
		rapid.Check(t, check)
	}
	for _, k := range []string{"", "core/fatal/not-callable", "error", "#<function>"} {
		if kinds[k] == 0 && !testing.Short() {
			t.Errorf("no program ended in %q: the generator proves too little", k)
		}
	}
}

// module runs the forms of library and program in order. Library forms cost
// nothing. The value of the last form is bound to "".
func (n *naive) module(t *rapid.T, src string) {
	nodes, err := coreform.ReadModule([]byte(src), coreform.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if nodes, err = coreform.CanonicalizeModule(nodes, coreform.Limits{}); err != nil {
		t.Fatal(err)
	}
	own := strings.Count(testLibrary, "(def ")
	for i, node := range nodes {
		if i == own {
			n.steps = 0
		}
		name, expr := "", node.Term
		if parts, ok := coreform.ListElems(node.Term); ok && len(parts) == 3 && parts[0].IsSym("def") {
			name, _ = parts[1].AsSym()
			expr = parts[2]
		}
		v := n.eval(expr, nil)
		if n.errors != "" {
			return
		}
		n.globals[""] = nil
		n.globals[name] = v
	}
}

func runMachine(t *rapid.T, src string) (value string, steps int64, code string) {
	lib, err := kernel.NewLibrary(nil, nil, nil, strings.Replace(testLibrary, "(def core/effect::then (fn (p q) (core/effect::bind p (fn (x) q))))", "", 1))
	if err != nil {
		t.Fatal(err)
	}
	p, err := kernel.Load("t.gc", []byte(src), lib, kernel.Limits{Steps: 3000})
	if err != nil {
		t.Fatal(err)
	}
	v, err := p.Eval(context.Background())
	var f *guest.Fatal
	if errors.As(err, &f) {
		return "", p.Usage().Steps, f.Code
	}
	if err != nil {
		t.Fatal(err)
	}
	return show(v), p.Usage().Steps, ""
}
