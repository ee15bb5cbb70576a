package kernel

import "github.com/gcrun/gcrun/coreform"

// pureFn is core/effect::pure as a value.
var pureFn = coreform.FromOther(&Fn{proto: &proto{name: "core/effect::pure", arity: 1, native: &effectNatives[0]}})

// AskNative returns the native core/effect::ask, which the wrappers of the
// library are made of: it takes an op and a payload and performs the op with
// core/effect::pure as the continuation. If the payload is a map that holds a
// sealed error as a value, that error is the result, so that a wrapper given an
// error gives it back as a native would. Other errors are those of
// core/effect::perform.
func AskNative() Native {
	return Native{Name: "core/effect::ask", Arity: 2, Fn: func(c *Call, a []Value) Value {
		if m, ok := a[1].AsMap(); ok && !a[1].IsTerm() {
			if !c.Work(0, int64(m.Len())) {
				return Value{}
			}
			for _, v := range m.All() {
				if isError(v) {
					return v
				}
			}
		}
		return effectPerform(c, []Value{a[0], a[1], pureFn})
	}}
}
