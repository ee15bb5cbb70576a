package kernel

import "github.com/gcrun/gcrun/coreform"

// CoreNatives returns the natives that need the evaluator's own values: the
// protocol seals, messages, contracts and effect programs. The prelude adds
// the rest of the library. (spec LANG-NAT)
func CoreNatives() []Native {
	var all []Native
	for _, table := range [][]Native{protocolNatives, functionNatives, termNatives, messageNatives, contractNatives, effectNatives} {
		all = append(all, table...)
	}
	return all
}

const anyError = ^uint32(0) // every argument may be a sealed error

var protocolNatives = []Native{
	{Name: "core/protocol::unhandled", Arity: 1, Fn: func(c *Call, a []Value) Value {
		if !a[0].IsTerm() {
			return c.TypeError()
		}
		return unhandled(c, a[0])
	}},
	{Name: "core/protocol::error", Arity: 1, Errors: anyError, Fn: func(c *Call, a []Value) Value {
		if !c.Alloc(1) {
			return Value{}
		}
		return c.ErrorOf(a[0])
	}},
	{Name: "core/protocol::effect", Arity: 1, Errors: anyError, Fn: func(c *Call, a []Value) Value {
		if !c.Alloc(1) {
			return Value{}
		}
		return seal(tokenEffect, a[0])
	}},
	{Name: "core/protocol::is-unhandled", Arity: 1, Errors: anyError, Fn: sealedWith(tokenUnhandled)},
	{Name: "core/protocol::is-effect", Arity: 1, Errors: anyError, Fn: sealedWith(tokenEffect)},
	{Name: "core/protocol::is-error", Arity: 1, Errors: anyError, Fn: sealedWith(tokenError)},
	{Name: "core/protocol::unerror", Arity: 1, Errors: anyError, Fn: func(_ *Call, a []Value) Value {
		p, _ := IsError(a[0])
		return p
	}},
}

var functionNatives = []Native{
	{Name: "core/function::is?", Arity: 1, Errors: anyError, Fn: func(_ *Call, a []Value) Value {
		return coreform.Bool(isFn(a[0]))
	}},
}

func sealedWith(t *Token) func(*Call, []Value) Value {
	return func(_ *Call, a []Value) Value {
		_, ok := unseal(a[0], t)
		return coreform.Bool(ok)
	}
}

func unhandled(c *Call, msg Value) Value {
	if !c.Alloc(1) || !c.RoomForPairs(2) {
		return Value{}
	}
	return seal(tokenUnhandled, coreform.List(coreform.Sym("unhandled"), msg))
}

var messageNatives = []Native{
	{Name: "core/msg::make", Arity: 2, Fn: func(c *Call, a []Value) Value {
		if a[0].Kind() != coreform.KindSym || !a[1].IsTerm() {
			return c.TypeError()
		}
		if !c.RoomForPairs(3) {
			return Value{}
		}
		return coreform.List(coreform.Sym("msg"), a[0], a[1])
	}},
	{Name: "core/msg::op", Arity: 1, Fn: messagePart(1)},
	{Name: "core/msg::payload", Arity: 1, Fn: messagePart(2)},
}

func messagePart(i int) func(*Call, []Value) Value {
	return func(c *Call, a []Value) Value {
		parts, ok := message(a[0])
		if !ok {
			return c.TypeError()
		}
		return parts[i]
	}
}

// message takes a message (msg op payload) apart.
func message(v Value) (parts [3]Value, ok bool) {
	for i := range parts {
		p, isPair := v.AsPair()
		if !isPair {
			return parts, false
		}
		parts[i], v = p.Car(), p.Cdr()
	}
	return parts, v.IsNil() && parts[0].IsSym("msg")
}
