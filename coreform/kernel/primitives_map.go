package kernel

import "github.com/gcrun/gcrun/coreform"

var mapPrimitives = []primitive{
	{name: "map/get", arity: 2, looks: 1, fn: func(c *Call, a []Value) Value {
		m, ok := a[0].AsMap()
		if !ok || !a[1].IsTerm() {
			return c.TypeError()
		}
		if !c.keyWork(a[1], m.Len()) {
			return Value{}
		}
		v, _ := m.Get(a[1])
		return v
	}},
	{name: "map/put", arity: 3, errors: 1 << 2, takes: 1, fn: mapPut},
	{name: "map/merge", arity: 2, fn: mapMerge},
	{name: "map/len", arity: 1, looks: 1, fn: func(c *Call, a []Value) Value {
		if m, ok := a[0].AsMap(); ok {
			return coreform.Int(int64(m.Len()))
		}
		return c.TypeError()
	}},
	{name: "map/entries", arity: 1, looks: 1, fn: mapEntries},
	{name: "map/from-entries", arity: 1, fn: mapFromEntries},
}

func mapPut(c *Call, a []Value) Value {
	m, ok := a[0].AsMap()
	if !ok || !a[1].IsTerm() {
		return c.TypeError()
	}
	n := int64(m.Len())
	if !c.keyWork(a[1], m.Len()) || !c.RoomForUpdate(n) {
		return Value{}
	}
	if n >= c.m.limits.MapLen {
		if _, found := m.Get(a[1]); !found && !c.m.lenLimit("map-len", n+1, c.m.limits.MapLen) {
			return Value{}
		}
	}
	return m.Take(a[1], a[2])
}

// entriesWork charges for building a map out of entries that are sorted but for
// factor comparisons each: one step an entry, and factor × (⌊bytes/64⌋ +
// ⌊nodes/8⌋) for the keys.
func (c *Call) entriesWork(factor int64, maps ...*coreform.Map) bool {
	w := meter{c: c, factor: factor}
	for _, m := range maps {
		if !c.WorkSteps(int64(m.Len())) {
			return false
		}
		for k := range m.All() {
			if !w.walk(k) {
				return false
			}
		}
	}
	return w.flush()
}

// mapMerge overlays by merging two sorted rows. The result may be smaller than
// what is charged, never larger.
func mapMerge(c *Call, a []Value) Value {
	x, okx := a[0].AsMap()
	y, oky := a[1].AsMap()
	if !okx || !oky {
		return c.TypeError()
	}
	if !c.entriesWork(1, x, y) {
		return Value{}
	}
	old, over := x.Entries(), y.Entries()
	out := make([]coreform.Entry, 0, len(old)+len(over))
	for len(old) > 0 && len(over) > 0 {
		order := coreform.Compare(old[0].Key, over[0].Key)
		if order < 0 {
			out, old = append(out, old[0]), old[1:]
			continue
		}
		if order == 0 {
			old = old[1:]
		}
		out, over = append(out, over[0]), over[1:]
	}
	out = append(append(out, old...), over...)
	if !c.RoomForMap(int64(len(out))) {
		return Value{}
	}
	return coreform.MapOf(out...)
}

func mapEntries(c *Call, a []Value) Value {
	m, ok := a[0].AsMap()
	if !ok {
		return c.TypeError()
	}
	n := int64(m.Len())
	if !c.Work(0, 2*n) || !c.RoomForVec(n) || !c.Alloc(4*n) {
		return Value{}
	}
	out := make([]Value, 0, n)
	for k, v := range m.All() {
		out = append(out, coreform.VecPair(k, v))
	}
	return coreform.Vec(out...)
}

// mapFromEntries sorts, which compares each key some ⌈log₂ n⌉ times.
func mapFromEntries(c *Call, a []Value) Value {
	rows, ok := a[0].AsVec()
	if !ok {
		return c.TypeError()
	}
	factor := max(bitLen(rows.Len()), 1)
	if !c.WorkSteps(int64(rows.Len()) * factor) {
		return Value{}
	}
	w := meter{c: c, factor: factor}
	for _, row := range rows.All() {
		e, ok := row.AsVec()
		if !ok || e.Len() != 2 || !e.At(0).IsTerm() {
			return c.TypeError()
		}
		if !w.walk(e.At(0)) {
			return Value{}
		}
	}
	if !w.flush() || !c.Alloc(2+3*int64(rows.Len())) { // of equal keys one is kept
		return Value{}
	}
	es := make([]coreform.Entry, 0, rows.Len())
	for _, row := range rows.All() {
		e, _ := row.AsVec()
		es = append(es, coreform.Entry{Key: e.At(0), Value: e.At(1)})
	}
	m := coreform.MapOf(es...)
	if made, _ := m.AsMap(); !c.m.lenLimit("map-len", int64(made.Len()), c.m.limits.MapLen) {
		return Value{}
	}
	return m
}
