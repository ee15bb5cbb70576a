package kernel_test

import (
	"math"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/coreform/kernel"
)

// oracle evaluates canonical terms by the letter of spec/language.md: functions
// of one argument, environments as lists, recursion, every visit a step, every
// closure and call charged where it is made. It knows nothing of frames, chains,
// early application, trampolines or inlining, which is what it is there to test.
type oracle struct {
	steps, units, limit int64
	tokens              int64
	library             map[string]any
	module              map[string]any
	fatal               string // code of what ended the run, "" while nothing did
	unsure              bool   // the program left what the oracle computes
}

// Values are nil, bool, int64, string, oSym, oVec, *oMap, *oPair, and these.
type (
	oSym     string
	oVec     string // its text: elements of literals are data
	oToken   int64
	oPair    struct{ car, cdr any }
	oMap     struct{ entries []oEntry } // sorted by key
	oEntry   struct{ key, value any }
	oClosure struct {
		param string
		body  coreform.Value
		env   *oEnv
		lib   bool
		outer int // parameters of the chain before this one
	}
	oNative struct {
		*oNativeDef
		args []any
	}
	oSealed   struct{ token, payload any }
	oContract struct {
		handler, meta any
		proto         *oContract
	}
	oEffect struct {
		asks       bool
		value      any // of a pure program
		op         oSym
		payload, k any
		binds      []any
	}
	oEnv struct {
		name string
		v    any
		next *oEnv
	}
)

const (
	oUnhandled = oToken(1)
	oEffectTok = oToken(2)
	oErrorTok  = oToken(3)
)

func (o *oracle) stop(code string) any {
	if o.fatal == "" {
		o.fatal = code
	}
	return nil
}

// typeError is the error of all natives and primitives here.
func typeError() any {
	kind := coreform.MapOf(coreform.Entry{Key: coreform.Sym(":kind"), Value: coreform.Str("type")})
	return &oSealed{oErrorTok, (&oracle{}).datum(kernel.ErrorPayload("core/type-error", kind))}
}

func oIsError(v any) bool {
	s, ok := v.(*oSealed)
	return ok && s.token == oErrorTok
}

// eval visits one expression. lib says whether it is the library's code.
func (o *oracle) eval(t coreform.Value, env *oEnv, lib bool) any {
	if o.fatal != "" || o.unsure {
		return nil
	}
	if o.steps++; o.steps > o.limit {
		return o.stop("core/limit/steps")
	}
	switch t.Kind() {
	case coreform.KindSym:
		name, _ := t.AsSym()
		return o.name(name, env, lib)
	case coreform.KindPair:
		parts, _ := coreform.ListElems(t)
		return o.form(parts, env, lib)
	case coreform.KindMap:
		m, _ := t.AsMap()
		out := &oMap{}
		for k, e := range m.All() {
			out.entries = append(out.entries, oEntry{o.datum(k), o.eval(e, env, lib)})
		}
		o.units += 2 + 3*int64(m.Len())
		return out
	}
	return o.datum(t)
}

func (o *oracle) name(name string, env *oEnv, lib bool) any {
	for e := env; e != nil; e = e.next {
		if e.name == name {
			return e.v
		}
	}
	if v, ok := o.module[name]; ok && !lib {
		return v
	}
	if v, ok := o.library[name]; ok {
		return v
	}
	if name[0] == ':' {
		return oSym(name)
	}
	return o.stop("core/fatal/unbound-symbol")
}

// datum is a term as a value.
func (o *oracle) datum(t coreform.Value) any {
	switch t.Kind() {
	case coreform.KindNil:
		return nil
	case coreform.KindBool:
		b, _ := t.AsBool()
		return b
	case coreform.KindInt:
		i, _ := t.AsInt64()
		return i
	case coreform.KindStr:
		s, _ := t.AsStr()
		return s
	case coreform.KindSym:
		s, _ := t.AsSym()
		return oSym(s)
	case coreform.KindPair:
		p, _ := t.AsPair()
		return &oPair{o.datum(p.Car()), o.datum(p.Cdr())}
	case coreform.KindMap:
		m, _ := t.AsMap()
		out := &oMap{}
		for k, e := range m.All() {
			out.entries = append(out.entries, oEntry{o.datum(k), o.datum(e)})
		}
		return out
	}
	return oVec(show(t))
}

func (o *oracle) form(p []coreform.Value, env *oEnv, lib bool) any {
	head, _ := p[0].AsSym()
	switch head {
	case "quote":
		return o.datum(p[1])
	case "fn":
		params, _ := coreform.ListElems(p[1])
		name, _ := params[0].AsSym()
		free := map[string]bool{}
		freeNames(coreform.List(p...), env, nil, free)
		o.units += 2 + int64(len(free))
		return &oClosure{name, p[2], env, lib, 0}
	case "if":
		if c := o.eval(p[1], env, lib); c == nil || c == false {
			return o.eval(p[3], env, lib)
		}
		return o.eval(p[2], env, lib)
	case "begin":
		var v any
		for _, e := range p[1:] {
			v = o.eval(e, env, lib)
		}
		return v
	case "let":
		bindings, _ := coreform.ListElems(p[1])
		for _, b := range bindings {
			kv, _ := coreform.ListElems(b)
			name, _ := kv[0].AsSym()
			env = &oEnv{name, o.eval(kv[1], env, lib), env}
		}
		return o.eval(p[2], env, lib)
	case "prim":
		op, _ := p[1].AsSym()
		return o.prim(op, o.all(p[2:], env, lib))
	case "seal", "unseal":
		return o.seal(head, o.all(p[1:], env, lib))
	}
	f := o.eval(p[0], env, lib)
	a := o.eval(p[1], env, lib)
	return o.apply(f, a)
}

func (o *oracle) all(ts []coreform.Value, env *oEnv, lib bool) []any {
	var vs []any
	for _, t := range ts {
		vs = append(vs, o.eval(t, env, lib))
	}
	return vs
}

func (o *oracle) apply(f, a any) any {
	if o.fatal != "" || o.unsure {
		return nil
	}
	switch f := f.(type) {
	case *oClosure:
		if !isFnForm(f.body) {
			o.units += callUnits(f.body, f.outer+1)
		}
		v := o.eval(f.body, &oEnv{f.param, a, f.env}, f.lib)
		if inner, ok := v.(*oClosure); ok && isFnForm(f.body) {
			inner.outer = f.outer + 1
		}
		return v
	case *oNative:
		args := append(f.args[:len(f.args):len(f.args)], a)
		if len(args) < f.arity {
			o.units += 2 + int64(len(args))
			return &oNative{f.oNativeDef, args}
		}
		for i, a := range args {
			if f.errors>>i&1 == 0 && oIsError(a) {
				return a
			}
		}
		return f.run(o, args)
	}
	if oIsError(f) {
		return f
	}
	return o.stop("core/fatal/not-callable")
}

// callUnits is what a call of code with that many parameters charges.
func callUnits(body coreform.Value, params int) int64 {
	variables := params
	pending := pendingValues(body, &variables)
	return 4 + int64(max(0, variables+pending-8))
}

// pendingValues is how many values code holds at most while it is evaluated, its
// own included; it counts the let variables on the way.
func pendingValues(t coreform.Value, lets *int) int {
	most := 1
	each := func(ts []coreform.Value) { // evaluated one after the other, all kept
		for i, e := range ts {
			most = max(most, i+pendingValues(e, lets))
		}
	}
	switch t.Kind() {
	case coreform.KindMap:
		m, _ := t.AsMap()
		var values []coreform.Value
		for _, e := range m.All() {
			values = append(values, e)
		}
		each(values)
	case coreform.KindPair:
		p, _ := coreform.ListElems(t)
		switch head, _ := p[0].AsSym(); head {
		case "quote", "fn":
		case "if", "begin":
			for _, e := range p[1:] {
				most = max(most, pendingValues(e, lets))
			}
		case "let":
			bindings, _ := coreform.ListElems(p[1])
			for _, b := range bindings {
				kv, _ := coreform.ListElems(b)
				most = max(most, pendingValues(kv[1], lets))
				*lets++
			}
			most = max(most, pendingValues(p[2], lets))
		case "prim":
			each(p[2:])
		case "seal", "unseal":
			each(p[1:])
		default:
			var args []coreform.Value
			for isApplication(t) {
				p, _ = coreform.ListElems(t)
				args = append([]coreform.Value{p[1]}, args...)
				t = p[0]
			}
			most = max(most, pendingValues(t, lets))
			each(args)
		}
	}
	return most
}

func isApplication(t coreform.Value) bool {
	p, _ := coreform.ListElems(t)
	if len(p) != 2 {
		return false
	}
	head, _ := p[0].AsSym()
	return head != "quote" && head != "begin" && head != "prim"
}

func isFnForm(t coreform.Value) bool {
	p, ok := t.AsPair()
	return ok && p.Car().IsSym("fn")
}

// freeNames adds the names of env that code uses and does not bind itself.
func freeNames(t coreform.Value, env *oEnv, bound []string, out map[string]bool) {
	sub := func(ts []coreform.Value) {
		for _, e := range ts {
			freeNames(e, env, bound, out)
		}
	}
	switch t.Kind() {
	case coreform.KindSym:
		name, _ := t.AsSym()
		for _, b := range bound {
			if b == name {
				return
			}
		}
		for e := env; e != nil; e = e.next {
			if e.name == name {
				out[name] = true
			}
		}
	case coreform.KindMap:
		m, _ := t.AsMap()
		for _, e := range m.All() {
			freeNames(e, env, bound, out)
		}
	case coreform.KindPair:
		p, _ := coreform.ListElems(t)
		switch head, _ := p[0].AsSym(); head {
		case "quote":
		case "fn":
			params, _ := coreform.ListElems(p[1])
			name, _ := params[0].AsSym()
			freeNames(p[2], env, append(bound[:len(bound):len(bound)], name), out)
		case "let":
			bindings, _ := coreform.ListElems(p[1])
			for _, b := range bindings {
				kv, _ := coreform.ListElems(b)
				freeNames(kv[1], env, bound, out)
				name, _ := kv[0].AsSym()
				bound = append(bound[:len(bound):len(bound)], name)
			}
			freeNames(p[2], env, bound, out)
		case "prim":
			sub(p[2:])
		case "if", "begin", "seal", "unseal":
			sub(p[1:])
		default:
			sub(p)
		}
	}
}

func (o *oracle) seal(head string, a []any) any {
	if o.fatal != "" {
		return nil
	}
	if len(a) == 0 {
		o.units++
		o.tokens++
		return oToken(3 + o.tokens)
	}
	t, ok := a[1].(oToken)
	switch {
	case !ok && oIsError(a[1]):
		return a[1]
	case !ok:
		return typeError()
	case head == "seal":
		o.units++
		return &oSealed{t, a[0]}
	}
	if s, ok := a[0].(*oSealed); ok && s.token == t {
		return s.payload
	}
	return nil
}

var oraclePrims = map[string]int{"int/add": 2, "int/sub": 2, "int/lt?": 2, "int/eq?": 2, "pair/cons": 2, "pair/car": 1,
	"pair/cdr": 1, "map/get": 2, "map/put": 3, "list/is-nil?": 1, "data/tag": 1}

func (o *oracle) prim(op string, a []any) any {
	if o.fatal != "" || o.unsure {
		return nil
	}
	arity, ok := oraclePrims[op]
	if !ok {
		return o.stop("core/fatal/unknown-primitive")
	}
	if len(a) != arity {
		return typeError()
	}
	for i, v := range a {
		if oIsError(v) && (op != "map/put" || i != 2) {
			return v
		}
	}
	switch op {
	case "pair/cons":
		o.units += 2
		return &oPair{a[0], a[1]}
	case "pair/car", "pair/cdr":
		p, ok := a[0].(*oPair)
		switch {
		case !ok:
			return typeError()
		case op == "pair/car":
			return p.car
		}
		return p.cdr
	case "list/is-nil?":
		return a[0] == nil
	case "data/tag":
		return tagOf(a[0])
	case "map/get", "map/put":
		return o.mapPrim(op, a)
	}
	return o.intPrim(op, a[0], a[1])
}

func (o *oracle) intPrim(op string, a, b any) any {
	x, okx := a.(int64)
	y, oky := b.(int64)
	if !okx || !oky {
		return typeError()
	}
	if max(x, y) > math.MaxInt64/4 || min(x, y) < math.MinInt64/4 {
		o.unsure = true
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
