package prelude

import (
	"unicode/utf8"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/coreform/kernel"
)

func parseJSON(c *kernel.Call, a []Value) Value {
	src, failed, ok := jsonSource(c, a[0])
	if !ok {
		return failed
	}
	m := jsonMeasure{c: c, reader: jsonReader{jsonText: jsonText{src: src}}}
	fault := m.run()
	if fault == nil && m.charge() {
		b := jsonBuild{c: c, reader: jsonReader{jsonText: jsonText{src: src}}, values: make([]Value, 0, m.mostWaiting)}
		var v Value
		if v, fault = b.run(); fault == nil {
			return v
		}
	}
	if c.Failed() {
		return Value{}
	}
	return sealed(c, "core/parse/"+fault.kind, entry(":at", coreform.Int(int64(fault.at))))
}

// jsonSource returns the text of a string or of UTF-8 bytes, after charging for
// it. When ok is false the native's result is failed.
func jsonSource(c *kernel.Call, v Value) (src []byte, failed Value, ok bool) {
	s, isStr := v.AsStr()
	b, isBytes := v.AsBytes()
	if !isStr && !isBytes {
		return nil, c.TypeError(), false
	}
	size := int64(len(s))
	if isBytes {
		size = b.Len()
	}
	if size > jsonBytes {
		return nil, sealed(c, "core/parse/size", entry(":at", coreform.Int(jsonBytes))), false
	}
	if !c.WorkSteps(size/8) || !c.RoomForBytes(size) {
		return nil, Value{}, false
	}
	if isStr {
		return []byte(s), Value{}, true
	}
	if src = b.MustLoad(); !utf8.Valid(src) {
		return nil, c.TypeError(), false
	}
	return src, Value{}, true
}

// jsonMeasure checks a text and adds up what its value takes, before any of it is
// made. (spec JSON-COST-1, JSON-COST-2)
type jsonMeasure struct {
	c      *kernel.Call
	reader jsonReader

	steps, units                    int64
	open                            []jsonSize
	waiting, mostWaiting            int // values and names whose container is open
	longestStr, longestVec, longest int64
}

// jsonSize is how large an open array or object is so far.
type jsonSize struct {
	waiting   int   // before it
	n         int64 // elements or members
	nameBytes int64
}

// lookEvery is how many events pass between looks at whether the run goes on.
const lookEvery = 1 << 14

func (m *jsonMeasure) run() *jsonFault {
	for i := 1; ; i++ {
		e, fault := m.reader.next()
		if fault != nil || e.kind == jsonDone {
			return fault
		}
		if i%lookEvery == 0 && m.c.Interrupted() {
			return nil
		}
		if fault := m.event(e); fault != nil {
			return fault
		}
	}
}

func (m *jsonMeasure) event(e jsonEvent) *jsonFault {
	switch e.kind {
	case jsonEnd:
		m.end(e.object)
		return nil // it was counted when it began
	case jsonStr, jsonName:
		m.longestStr = max(m.longestStr, int64(e.size))
		m.units += kernel.TextUnits(int64(e.size))
	case jsonNum:
		if !m.number(m.reader.src[e.start:e.end]) {
			return &jsonFault{"number", e.start}
		}
	}
	if n := len(m.open); n > 0 {
		if e.kind == jsonName {
			m.open[n-1].nameBytes += int64(e.size)
		} else {
			m.open[n-1].n++
		}
	}
	m.units += 2
	m.waiting++
	m.mostWaiting = max(m.mostWaiting, m.waiting)
	if e.kind == jsonBegin {
		m.open = append(m.open, jsonSize{waiting: m.waiting})
	}
	return nil
}

func (m *jsonMeasure) end(object bool) {
	s := m.open[len(m.open)-1]
	m.open = m.open[:len(m.open)-1]
	m.waiting = s.waiting
	if !object {
		m.longestVec = max(m.longestVec, s.n)
		m.units += 2 + s.n
		return
	}
	m.longest = max(m.longest, s.n)
	m.units += 2 + 3*s.n
	m.steps += nameSteps(s.n, s.nameBytes)
}

// number reports whether a number is within range.
func (m *jsonMeasure) number(literal []byte) bool {
	n, ok := readJSONNumber(literal)
	if !ok {
		return false
	}
	if n.scale > 0 {
		m.longest = max(m.longest, 3)
		m.units += 2 + 3*3
	}
	if d := n.digits(); d > shortDigits {
		l := digitWords(d)
		m.units += 1 + (l+1)/2
		m.steps += convertSteps(l)
	}
	return true
}

// charge checks the limits of shape and charges for everything at once: what is
// being made is not reachable yet, and would not be counted as alive.
func (m *jsonMeasure) charge() bool {
	return !m.c.Failed() && m.c.WorkSteps(m.steps) &&
		m.c.LenLimit("string-len", m.longestStr) && m.c.LenLimit("vec-len", m.longestVec) &&
		m.c.LenLimit("map-len", m.longest) && m.c.Alloc(m.units)
}
