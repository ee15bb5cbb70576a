package kernel

import "github.com/gcrun/gcrun/coreform"

var vecPrimitives = []primitive{
	{name: "vec/get", arity: 2, looks: 1, fn: func(c *Call, a []Value) Value {
		v, ok := a[0].AsVec()
		i, isIndex := index(a[1])
		switch {
		case !ok || !isIndex:
			return c.TypeError()
		case i >= int64(v.Len()):
			return Value{}
		}
		return v.At(int(i))
	}},
	{name: "vec/len", arity: 1, looks: 1, fn: func(c *Call, a []Value) Value {
		if v, ok := a[0].AsVec(); ok {
			return coreform.Int(int64(v.Len()))
		}
		return c.TypeError()
	}},
	{name: "vec/set", arity: 3, errors: 1 << 2, fn: func(c *Call, a []Value) Value {
		v, ok := a[0].AsVec()
		i, isIndex := index(a[1])
		if !ok || !isIndex || i >= int64(v.Len()) {
			return c.TypeError()
		}
		if !c.RoomForUpdate(int64(v.Len())) {
			return Value{}
		}
		return v.Set(int(i), a[2])
	}},
	{name: "vec/push", arity: 2, errors: 1 << 1, takes: 1, fn: func(c *Call, a []Value) Value {
		v, ok := a[0].AsVec()
		if !ok {
			return c.TypeError()
		}
		n := int64(v.Len())
		if !c.m.lenLimit("vec-len", n+1, c.m.limits.VecLen) || !c.RoomForUpdate(n) {
			return Value{}
		}
		return v.Take(a[1])
	}},
}

// index returns an integer that can be an index or a count: 0 … 2^63-1.
func index(v Value) (int64, bool) {
	n, ok := v.AsInt64()
	return n, ok && n >= 0
}
