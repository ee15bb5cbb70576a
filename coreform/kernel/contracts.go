package kernel

import (
	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/internal/digest"
)

var contractNatives = []Native{
	{Name: "core/contract::make", Arity: 3, Fn: contractMake},
	{Name: "core/contract::extend", Arity: 3, Fn: contractExtend},
	{Name: "core/contract::dispatch", Arity: 2, Fn: func(c *Call, a []Value) Value {
		k, ok := a[0].Ref().(*Contract)
		if !ok || !a[1].IsTerm() {
			return c.TypeError()
		}
		return c.callThen(k.handler, a[1], &dispatch{at: k, msg: a[1]})
	}},
	{Name: "core/contract::explain", Arity: 2, Fn: contractExplain},
	{Name: "core/contract::override-handler", Arity: 2, Fn: overrideHandler},
	{Name: "core/contract::meta", Arity: 1, Fn: ofContract(func(_ *Call, k *Contract) Value { return k.meta })},
	{Name: "core/contract::proto", Arity: 1, Fn: ofContract(func(_ *Call, k *Contract) Value {
		if k.proto == nil {
			return Value{}
		}
		return coreform.FromOther(k.proto)
	})},
	{Name: "core/contract::shape", Arity: 1, Fn: ofContract(func(c *Call, k *Contract) Value {
		return c.NewStr(k.shape().String())
	})},
}

func ofContract(f func(*Call, *Contract) Value) func(*Call, []Value) Value {
	return func(c *Call, a []Value) Value {
		k, ok := a[0].Ref().(*Contract)
		if !ok {
			return c.TypeError()
		}
		return f(c, k)
	}
}

func isFn(v Value) bool {
	_, ok := v.Ref().(*Fn)
	return ok
}

func contractMake(c *Call, a []Value) Value {
	proto, isContract := a[1].Ref().(*Contract)
	if !isFn(a[0]) || !isContract && !a[1].IsNil() {
		return c.TypeError()
	}
	if !c.Alloc(1) {
		return Value{}
	}
	return coreform.FromOther(&Contract{handler: a[0], proto: proto, meta: a[2]})
}

// overrides is the handler of every extended contract before it is given its
// table; Genesis is it over an empty table.
var overrides = &Fn{proto: &proto{name: "core/contract::override-handler", arity: 2,
	native: &Native{Name: "core/contract::override-handler", Arity: 2, Fn: overrideHandler}}}

func overrideHandler(c *Call, a []Value) Value {
	table, ok := a[0].AsMap()
	parts, isMsg := message(a[1])
	if !ok || !isMsg || parts[1].Kind() != coreform.KindSym {
		return c.TypeError()
	}
	if f, found := table.Get(parts[1]); found {
		return c.callThen(f, a[1], nil)
	}
	return unhandled(c, a[1])
}

func contractExtend(c *Call, a []Value) Value {
	base, ok := a[0].Ref().(*Contract)
	table, isMap := a[1].AsMap()
	if !ok || !isMap || !c.Work(0, int64(table.Len())) {
		return c.TypeError()
	}
	for k, v := range table.All() {
		if k.Kind() != coreform.KindSym || !isFn(v) {
			return c.TypeError()
		}
	}
	if !c.Alloc(1 + 3) {
		return Value{}
	}
	meta := a[2]
	if old, ok := base.meta.AsMap(); ok {
		if over, ok := meta.AsMap(); ok {
			if !c.RoomForMap(int64(old.Len() + over.Len())) {
				return Value{}
			}
			meta = old.Merge(over)
		}
	}
	handler := &Fn{proto: overrides.proto, args: []Value{a[1]}}
	return coreform.FromOther(&Contract{handler: coreform.FromOther(handler), proto: base, meta: meta, overrides: a[1]})
}

// dispatch asks one contract after the other until one handles the message.
type dispatch struct {
	at  *Contract
	msg Value
}

func (d *dispatch) resume(c *Call, v Value) Value {
	if _, un := unseal(v, tokenUnhandled); !un || d.at.proto == nil {
		return v
	}
	d.at = d.at.proto
	return c.callThen(d.at.handler, d.msg, nil)
}

func (d *dispatch) values() []Value { return []Value{coreform.FromOther(d.at), d.msg} }

// Genesis is the root contract: it answers every message with UNHANDLED.
func Genesis() Value {
	meta := coreform.MapOf(coreform.Entry{Key: coreform.Sym(":intent"), Value: coreform.Str("root contract")})
	table := coreform.MapOf()
	handler := &Fn{proto: overrides.proto, args: []Value{table}}
	return coreform.FromOther(&Contract{handler: coreform.FromOther(handler), meta: meta, overrides: table})
}

// shape identifies which operations a contract and its prototypes override:
// H("GCv0.2\0shape\0" ‖ prototype's shape or "nil\0" ‖ ops in order, each with
// NUL), as the reference computes it.
func (k *Contract) shape() digest.Digest {
	var chain []*Contract
	for at := k; at != nil; at = at.proto {
		chain = append(chain, at)
	}
	var d digest.Digest
	for i := len(chain) - 1; i >= 0; i-- {
		b := []byte("GCv0.2\x00shape\x00")
		if i == len(chain)-1 {
			b = append(b, "nil\x00"...)
		} else {
			b = append(b, d[:]...)
		}
		if table, ok := chain[i].overrides.AsMap(); ok {
			for op := range table.All() {
				name, _ := op.AsSym()
				b = append(append(b, name...), 0)
			}
		}
		d = digest.Sum(b)
	}
	return d
}

func contractExplain(c *Call, a []Value) Value {
	k, ok := a[0].Ref().(*Contract)
	parts, isMsg := message(a[1])
	if !ok || !isMsg || !a[1].IsTerm() {
		return c.TypeError()
	}
	return c.callThen(k.handler, a[1], &explain{dispatch: dispatch{at: k, msg: a[1]}, op: parts[1]})
}

// explain is dispatch that writes down its steps.
type explain struct {
	dispatch
	op    Value
	steps []Value
}

func entry(key string, v Value) coreform.Entry {
	return coreform.Entry{Key: coreform.Sym(key), Value: v}
}

func (e *explain) resume(c *Call, v Value) Value {
	_, un := unseal(v, tokenUnhandled)
	overridden := false
	if table, ok := e.at.overrides.AsMap(); ok {
		_, overridden = table.Get(e.op)
	}
	id := coreform.StateHash(coreform.FromOther(e.at))
	if !c.RoomForMap(5) || !c.RoomForStr(64) || !c.RoomForStr(64) {
		return Value{}
	}
	e.steps = append(e.steps, coreform.MapOf(
		entry(":contract-id", coreform.Str(id.String())),
		entry(":shape-id", coreform.Str(e.at.shape().String())),
		entry(":override", coreform.Bool(overridden)),
		entry(":unhandled", coreform.Bool(un)),
		entry(":has-proto", coreform.Bool(e.at.proto != nil))))
	if un && e.at.proto != nil {
		e.at = e.at.proto
		return c.callThen(e.at.handler, e.msg, nil)
	}
	if !c.RoomForVec(int64(len(e.steps))) || !c.RoomForMap(3) {
		return Value{}
	}
	return coreform.MapOf(entry(":op", e.op), entry(":steps", coreform.Vec(e.steps...)), entry(":result", v))
}

func (e *explain) values() []Value { return append(e.dispatch.values(), e.steps...) }
