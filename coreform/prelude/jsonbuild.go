package prelude

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/coreform/kernel"
)

// jsonBuild makes the value of a text that was measured.
type jsonBuild struct {
	c      *kernel.Call
	reader jsonReader
	values []Value // finished, their container still open; names among them
	nameAt []int32 // offsets of the names among them
	open   []jsonStart
}

// jsonStart is where the parts of an open array or object begin.
type jsonStart struct{ values, names int }

func (b *jsonBuild) run() (Value, *jsonFault) {
	for i := 1; ; i++ {
		e, fault := b.reader.next()
		if fault != nil {
			return Value{}, fault
		}
		if e.kind == jsonDone {
			return b.values[0], nil
		}
		if i%lookEvery == 0 && b.c.Interrupted() {
			return Value{}, nil
		}
		if fault := b.event(e); fault != nil {
			return Value{}, fault
		}
	}
}

func (b *jsonBuild) event(e jsonEvent) *jsonFault {
	var v Value // jsonNull
	switch e.kind {
	case jsonTrue, jsonFalse:
		v = coreform.Bool(e.kind == jsonTrue)
	case jsonNum:
		n, _ := readJSONNumber(b.reader.src[e.start:e.end])
		v = n.value()
	case jsonName:
		b.nameAt = append(b.nameAt, int32(e.start))
		v = coreform.Str(b.reader.unescaped(e))
	case jsonStr:
		v = coreform.Str(b.reader.unescaped(e))
	case jsonBegin:
		b.open = append(b.open, jsonStart{len(b.values), len(b.nameAt)})
		return nil
	case jsonEnd:
		var fault *jsonFault
		if v, fault = b.end(e.object); fault != nil {
			return fault
		}
	}
	b.values = append(b.values, v)
	return nil
}

// end makes the array or object that ends.
func (b *jsonBuild) end(object bool) (v Value, fault *jsonFault) {
	start := b.open[len(b.open)-1]
	b.open = b.open[:len(b.open)-1]
	parts := b.values[start.values:]
	if object {
		v, fault = objectOf(parts, b.nameAt[start.names:])
		b.nameAt = b.nameAt[:start.names]
	} else {
		v = coreform.Vec(slices.Clone(parts)...)
	}
	b.values = b.values[:start.values]
	return v, fault
}

// objectOf makes the map of names and values that take turns. at has the offsets
// of the names.
func objectOf(parts []Value, at []int32) (Value, *jsonFault) {
	n := len(at)
	es := make([]coreform.Entry, n)
	ordered := true
	for i := range n {
		es[i] = coreform.Entry{Key: parts[2*i], Value: parts[2*i+1]}
		ordered = ordered && (i == 0 || nameOf(es[i-1]) < nameOf(es[i]))
	}
	if ordered {
		return coreform.MapOf(es...), nil
	}
	order := make([]int32, n)
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(i, j int32) int {
		if c := strings.Compare(nameOf(es[i]), nameOf(es[j])); c != 0 {
			return c
		}
		return cmp.Compare(i, j)
	})
	sorted, again := make([]coreform.Entry, n), int32(n)
	for i, from := range order {
		if sorted[i] = es[from]; i > 0 && nameOf(sorted[i-1]) == nameOf(sorted[i]) {
			again = min(again, from)
		}
	}
	if again < int32(n) {
		return Value{}, &jsonFault{"duplicate", int(at[again])}
	}
	return coreform.MapOf(sorted...), nil
}

func nameOf(e coreform.Entry) string {
	s, _ := e.Key.AsStr()
	return s
}
