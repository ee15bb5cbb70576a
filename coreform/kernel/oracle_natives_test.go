package kernel_test

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/gcrun/gcrun/coreform"
)

type oNativeDef struct {
	name   string
	arity  int
	errors uint32
	run    func(o *oracle, a []any) any
}

func oNatives() map[string]any {
	all := map[string]any{}
	for _, n := range []oNativeDef{
		{"core/protocol::error", 1, 1, func(o *oracle, a []any) any { o.units++; return &oSealed{oErrorTok, a[0]} }},
		{"core/protocol::effect", 1, 1, func(o *oracle, a []any) any { o.units++; return &oSealed{oEffectTok, a[0]} }},
		{"core/protocol::is-error", 1, 1, func(_ *oracle, a []any) any { return oIsError(a[0]) }},
		{"core/protocol::unerror", 1, 1, func(_ *oracle, a []any) any {
			if oIsError(a[0]) {
				return a[0].(*oSealed).payload
			}
			return nil
		}},
		{"core/protocol::unhandled", 1, 0, func(o *oracle, a []any) any { return o.unhandled(a[0]) }},
		{"core/protocol::is-unhandled", 1, 1, func(_ *oracle, a []any) any { return isUnhandled(a[0]) }},
		{"core/msg::make", 2, 0, func(o *oracle, a []any) any {
			if _, ok := a[0].(oSym); !ok || !o.term(a[1]) {
				return typeError()
			}
			o.units += 6
			return &oPair{oSym("msg"), &oPair{a[0], &oPair{a[1], nil}}}
		}},
		{"core/msg::payload", 1, 0, func(_ *oracle, a []any) any {
			if p, ok := oMessage(a[0]); ok {
				return p[2]
			}
			return typeError()
		}},
		{"core/effect::pure", 1, 1, func(o *oracle, a []any) any { o.units++; return &oEffect{value: a[0]} }},
		{"core/effect::perform", 3, 0, func(o *oracle, a []any) any {
			op, ok := a[0].(oSym)
			if !ok || !o.term(a[1]) || !oIsFn(a[2]) {
				return typeError()
			}
			o.units++
			return &oEffect{asks: true, op: op, payload: a[1], k: a[2]}
		}},
		{"core/effect::bind", 2, 0, oBind},
		{"core/contract::make", 3, 0, func(o *oracle, a []any) any {
			proto, isContract := a[1].(*oContract)
			if !oIsFn(a[0]) || a[1] != nil && !isContract {
				return typeError()
			}
			o.units++
			return &oContract{a[0], a[2], proto}
		}},
		{"core/contract::extend", 3, 0, oExtend},
		{"core/contract::dispatch", 2, 0, func(o *oracle, a []any) any {
			k, ok := a[0].(*oContract)
			if !ok || !o.term(a[1]) {
				return typeError()
			}
			o.units += 4 // the native waits
			for {
				v := o.apply(k.handler, a[1])
				if !isUnhandled(v) || k.proto == nil {
					return v
				}
				k = k.proto
			}
		}},
		{"core/contract::override-handler", 2, 0, oOverride},
	} {
		all[n.name] = &oNative{oNativeDef: &n}
	}
	return all
}

func oBind(o *oracle, a []any) any {
	e, ok := a[0].(*oEffect)
	if !ok || !oIsFn(a[1]) {
		return typeError()
	}
	if e.asks {
		o.units += 2
		next := *e
		next.binds = append(e.binds[:len(e.binds):len(e.binds)], a[1])
		return &next
	}
	o.units += 4 // the native waits
	v := o.apply(a[1], e.value)
	if _, ok := v.(*oEffect); ok || o.fatal != "" {
		return v
	}
	o.units++
	return &oEffect{value: v}
}

func oExtend(o *oracle, a []any) any {
	base, ok := a[0].(*oContract)
	table, isMap := a[1].(*oMap)
	if !ok || !isMap {
		return typeError()
	}
	for _, e := range table.entries {
		if _, ok := e.key.(oSym); !ok || !oIsFn(e.value) {
			return typeError()
		}
	}
	if len(table.entries) >= 8 {
		o.unsure = true // work begins to cost steps
	}
	o.units += 4
	meta := a[2]
	if old, ok := base.meta.(*oMap); ok {
		if over, ok := meta.(*oMap); ok {
			o.units += 2 + 3*int64(len(old.entries)+len(over.entries))
			merged := old
			for _, e := range over.entries {
				merged = merged.put(e.key, e.value)
			}
			meta = merged
		}
	}
	handler := *oNatives()["core/contract::override-handler"].(*oNative)
	handler.args = []any{a[1]}
	return &oContract{&handler, meta, base}
}

func oOverride(o *oracle, a []any) any {
	table, ok := a[0].(*oMap)
	parts, isMsg := oMessage(a[1])
	if !ok || !isMsg {
		return typeError()
	}
	op, ok := parts[1].(oSym)
	if !ok {
		return typeError()
	}
	if i, found := table.find(op); found {
		return o.apply(table.entries[i].value, a[1])
	}
	return o.unhandled(a[1])
}

func (o *oracle) unhandled(msg any) any {
	if !o.term(msg) {
		return typeError()
	}
	o.units += 5
	return &oSealed{oUnhandled, &oPair{oSym("unhandled"), &oPair{msg, nil}}}
}

func isUnhandled(v any) bool {
	s, ok := v.(*oSealed)
	return ok && s.token == oUnhandled
}

func oMessage(v any) (parts [3]any, ok bool) {
	for i := range parts {
		p, isPair := v.(*oPair)
		if !isPair {
			return parts, false
		}
		parts[i], v = p.car, p.cdr
	}
	return parts, v == nil && parts[0] == oSym("msg")
}

func oIsFn(v any) bool {
	switch v.(type) {
	case *oClosure, *oNative:
		return true
	}
	return false
}

// term reports whether v is data without improper pairs.
func (o *oracle) term(v any) bool {
	switch v := v.(type) {
	case nil, bool, int64, string, oSym, oVec:
		return true
	case *oPair:
		if _, isPair := v.cdr.(*oPair); v.cdr != nil && !isPair {
			return false
		}
		return o.term(v.car) && o.term(v.cdr)
	case *oMap:
		for _, e := range v.entries {
			if !o.term(e.value) {
				return false
			}
		}
		return true
	}
	return false
}

func (m *oMap) find(key any) (int, bool) {
	return slices.BinarySearchFunc(m.entries, key, func(e oEntry, k any) int { return compareKeys(e.key, k) })
}

// compareKeys is the term order on the keys the oracle takes: integers, then
// strings, then symbols.
func compareKeys(a, b any) int {
	rank := func(v any) int {
		switch v.(type) {
		case int64:
			return 0
		case string:
			return 1
		}
		return 2
	}
	if r := rank(a) - rank(b); r != 0 {
		return r
	}
	switch x := a.(type) {
	case int64:
		return int(max(-1, min(1, x-b.(int64))))
	case string:
		return strings.Compare(x, b.(string))
	}
	return strings.Compare(string(a.(oSym)), string(b.(oSym)))
}

func (m *oMap) put(key, v any) *oMap {
	i, found := m.find(key)
	es := slices.Clone(m.entries)
	if found {
		es[i].value = v
	} else {
		es = slices.Insert(es, i, oEntry{key, v})
	}
	return &oMap{es}
}

func (o *oracle) mapPrim(op string, a []any) any {
	m, ok := a[0].(*oMap)
	if !ok || !o.term(a[1]) {
		return typeError()
	}
	switch a[1].(type) {
	case int64, string, oSym:
	default:
		o.unsure = true // other keys are another test's
		return nil
	}
	i, found := m.find(a[1])
	if op == "map/put" {
		o.units += 4 + 2*int64(bits.Len(uint(len(m.entries))))
		return m.put(a[1], a[2])
	}
	if found {
		return m.entries[i].value
	}
	return nil
}

func tagOf(v any) any {
	switch v.(type) {
	case nil:
		return oSym(":nil")
	case bool:
		return oSym(":bool")
	case int64:
		return oSym(":int")
	case string:
		return oSym(":str")
	case oSym:
		return oSym(":sym")
	case oVec:
		return oSym(":vec")
	case *oPair:
		return oSym(":pair")
	case *oMap:
		return oSym(":map")
	}
	return typeError()
}

// oShow renders a value as show does.
func oShow(v any) string {
	switch v := v.(type) {
	case nil:
		return "nil"
	case string:
		return fmt.Sprintf("%q", v)
	case *oPair:
		var parts []string
		var rest any = v
		for p, ok := rest.(*oPair); ok; p, ok = rest.(*oPair) {
			parts = append(parts, oShow(p.car))
			rest = p.cdr
		}
		return "(" + strings.Join(parts, " ") + ")"
	case *oMap:
		var parts []string
		for _, e := range v.entries {
			parts = append(parts, oShow(e.key), oShow(e.value))
		}
		return "{" + strings.Join(parts, " ") + "}"
	case *oSealed:
		if v.token == oErrorTok {
			if m, ok := v.payload.(*oMap); ok {
				code := ""
				if i, found := m.find(oSym(":error/code")); found {
					code, _ = m.entries[i].value.(string)
				}
				return "error " + code
			}
			return "error " + oShow(v.payload)
		}
		return "#<sealed>"
	case *oClosure, *oNative:
		return "#<function>"
	case oToken:
		return "#<seal-token>"
	case *oContract:
		return "#<contract>"
	case *oEffect:
		return "#<effect-program>"
	}
	return fmt.Sprint(v)
}

// run evaluates the forms of a module and then its program, answering as answer
// says, and returns the value and what was asked.
func (o *oracle) run(forms []coreform.Value, answer func(op string) (v any, failed, payload bool)) (string, []string) {
	var v any
	for _, f := range forms {
		v = o.topLevel(f)
	}
	var pending []any
	var asked []string
	for o.fatal == "" && !o.unsure {
		e, ok := v.(*oEffect)
		if !ok {
			e = &oEffect{value: v}
		}
		switch {
		case e.asks:
			pending = append(append([]any{}, e.binds...), pending...)
			asked = append(asked, string(e.op)+" "+oShow(e.payload))
			a, failed, payload := answer(string(e.op))
			if failed {
				a = &oSealed{oErrorTok, a}
			} else if payload {
				a = e.payload
			}
			v = o.apply(e.k, a)
		case len(pending) == 0:
			return oShow(e.value), asked
		default:
			f := pending[0]
			pending = pending[1:]
			v = o.apply(f, e.value)
		}
	}
	return "", asked
}

// topLevel evaluates a top-level form.
func (o *oracle) topLevel(f coreform.Value) any {
	parts, ok := coreform.ListElems(f)
	if !ok || len(parts) != 3 || !parts[0].IsSym("def") {
		o.units += callUnits(f, 0) // a form is run like a call
		return o.eval(f, nil, false)
	}
	o.units += callUnits(parts[2], 0)
	v := o.eval(parts[2], nil, false)
	if o.fatal == "" {
		name, _ := parts[1].AsSym()
		o.module[name] = v
	}
	return nil
}
