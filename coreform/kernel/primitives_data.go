package kernel

import "github.com/gcrun/gcrun/coreform"

var dataPrimitives = []primitive{
	{name: "core/eq?", arity: 2, errors: 3, fn: coreEq},
	{name: "pair/cons", arity: 2, fn: func(c *Call, a []Value) Value {
		if !c.RoomForPairs(1) {
			return Value{}
		}
		return coreform.Cons(a[0], a[1])
	}},
	{name: "pair/car", arity: 1, fn: func(c *Call, a []Value) Value {
		if p, ok := a[0].AsPair(); ok {
			return p.Car()
		}
		return c.TypeError()
	}},
	{name: "pair/cdr", arity: 1, fn: func(c *Call, a []Value) Value {
		if p, ok := a[0].AsPair(); ok {
			return p.Cdr()
		}
		return c.TypeError()
	}},
	{name: "pair/as-proper-list", arity: 1, fn: pairAsProperList},
	{name: "list/is-nil?", arity: 1, fn: func(_ *Call, a []Value) Value { return coreform.Bool(a[0].IsNil()) }},
	{name: "data/tag", arity: 1, fn: func(c *Call, a []Value) Value {
		if k := a[0].Kind(); k != coreform.KindOther {
			return tagSymbols[k]
		}
		return c.TypeError()
	}},
}

// tagSymbols are what data/tag answers, by kind.
var tagSymbols = func() (syms [coreform.KindOther]Value) {
	for k := range syms {
		syms[k] = coreform.Sym(":" + coreform.Kind(k).String())
	}
	return syms
}()

// pairAsProperList is the vector of a list's elements; nil if it is improper.
func pairAsProperList(c *Call, a []Value) Value {
	if a[0].Kind() != coreform.KindPair && !a[0].IsNil() {
		return c.TypeError()
	}
	// The length is not known before the walk, so the walk charges as it goes.
	m := meter{c: c, factor: 1}
	n, v := int64(0), a[0]
	for p, ok := v.AsPair(); ok; p, ok = v.AsPair() {
		n, v = n+1, p.Cdr()
		if !m.add(0) {
			return Value{}
		}
	}
	if !m.flush() || !v.IsNil() || !c.RoomForVec(n) {
		return Value{}
	}
	elems, _ := coreform.ListElems(a[0])
	return coreform.Vec(elems...)
}
