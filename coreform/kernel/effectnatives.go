package kernel

import "github.com/gcrun/gcrun/coreform"

var effectNatives = []Native{
	{Name: "core/effect::pure", Arity: 1, Errors: anyError, Fn: func(c *Call, a []Value) Value {
		if !c.Alloc(1) {
			return Value{}
		}
		return pure(a[0])
	}},
	{Name: "core/effect::perform", Arity: 3, Fn: effectPerform},
	{Name: "core/effect::bind", Arity: 2, Fn: effectBind},
}

// maxPayloadDepth keeps payloads within what a log and the printer can hold.
const maxPayloadDepth = 1000

func effectPerform(c *Call, a []Value) Value {
	op, ok := a[0].AsSym()
	if !ok || !a[1].IsTerm() || a[1].Depth() > maxPayloadDepth || !isFn(a[2]) {
		return c.TypeError()
	}
	if !c.Alloc(1) {
		return Value{}
	}
	return coreform.FromOther(&Effect{req: &request{op: op, payload: a[1], k: a[2], site: c.site}})
}

// effectBind: a pure program is continued at once, one that asks later. A
// sealed error given as the program is the result (the error rule).
func effectBind(c *Call, a []Value) Value {
	e, ok := a[0].Ref().(*Effect)
	f, isFn := a[1].Ref().(*Fn)
	if !ok || !isFn {
		return c.TypeError()
	}
	if e.req == nil {
		return c.callThen(a[1], e.value, lifting{})
	}
	if !c.Alloc(2) {
		return Value{}
	}
	return coreform.FromOther(&Effect{req: e.req, binds: &bound{f: f, next: e.binds}})
}

// lifting makes a program of whatever the function bound to a pure one gave.
type lifting struct{}

func (lifting) resume(c *Call, v Value) Value {
	if _, ok := v.Ref().(*Effect); ok {
		return v
	}
	if !c.Alloc(1) {
		return Value{}
	}
	return pure(v)
}

func (lifting) values() []Value { return nil }
