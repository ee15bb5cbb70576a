package prelude

import (
	"math/bits"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/coreform/kernel"
)

// containerNatives are functions on maps that CoreForm could only write
// with more work than they need.
var containerNatives = []kernel.Native{
	{Name: "core/map::has?", Arity: 2, Fn: func(c *kernel.Call, a []Value) Value {
		m, failed, ok := mapAndKey(c, a)
		if !ok {
			return failed
		}
		_, found := m.Get(a[1])
		return coreform.Bool(found)
	}},
	{Name: "core/map::remove", Arity: 2, Fn: func(c *kernel.Call, a []Value) Value {
		m, failed, ok := mapAndKey(c, a)
		if !ok || !c.RoomForUpdate(int64(m.Len())) {
			return failed
		}
		return m.Remove(a[1])
	}},
}

// mapAndKey checks a map and a key, and charges for finding it.
func mapAndKey(c *kernel.Call, a []Value) (m *coreform.Map, failed Value, ok bool) {
	m, ok = a[0].AsMap()
	if !ok || !a[1].IsTerm() {
		return nil, c.TypeError(), false
	}
	return m, Value{}, c.TermWork(a[1], max(1, int64(bits.Len(uint(m.Len())))))
}
