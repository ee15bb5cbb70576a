package kernel

import "github.com/gcrun/gcrun/effects/guest"

// traceDepth is how many calls of user source a sealed error remembers.
const traceDepth = 8

// trace is where a sealed error was made. Errors made at one place share one,
// so that a program which keeps millions of them pays a word for each.
type trace struct{ traceKey }

type traceKey struct {
	op    string           // the native or primitive that made it, "" for an answer
	sites [traceDepth]site // the calls in user source, innermost first
}

// maxTraces is how many different traces a run keeps; errors of further places
// remember the innermost call only.
const maxTraces = 1 << 12

// traceHere is the trace of an error that op makes, called from where.
func (m *Machine) traceHere(op string, where site) *trace {
	key := traceKey{op: op}
	n := 0
	if where.p != nil {
		key.sites[0], n = where, 1
	}
	// Only the innermost frames are looked at: library code is shallow, and a
	// program may make an error on every turn of a loop.
	for i := m.frames.len() - 1; i >= max(0, m.frames.len()-64) && n < traceDepth; i-- {
		fr := m.frames.at(i)
		if fr.p == nil || fr.p.unit.library {
			continue
		}
		at := site{fr.p, fr.pc - 1}
		if n == 1 && at == key.sites[0] {
			continue // it is the frame of the call where
		}
		key.sites[n] = at
		n++
	}
	return m.trace(&key)
}

func (m *Machine) trace(key *traceKey) *trace {
	if t := m.traces[*key]; t != nil {
		return t
	}
	if len(m.traces) >= maxTraces {
		*key = traceKey{op: key.op, sites: [traceDepth]site{key.sites[0]}}
		if t := m.traces[*key]; t != nil || len(m.traces) >= 2*maxTraces {
			return t
		}
	}
	if m.traces == nil {
		m.traces = make(map[traceKey]*trace)
	}
	t := &trace{*key}
	m.traces[*key] = t
	return t
}

// ErrorSite returns the innermost call in user source that made a sealed error,
// if that is known.
func ErrorSite(v Value) guest.Span {
	if t := traceOf(v); t != nil {
		return t.sites[0].span()
	}
	return guest.Span{}
}

// ErrorTrace returns the calls in user source under which a sealed error was
// made, innermost first and at most 8; nil if that is not known. (spec
// LANG-ERR-4)
func ErrorTrace(v Value) []guest.Frame {
	t := traceOf(v)
	if t == nil {
		return nil
	}
	var frames []guest.Frame
	for _, s := range t.sites {
		if sp := s.span(); sp.Known() {
			frames = append(frames, guest.Frame{Name: s.p.name, Span: sp})
		}
	}
	return frames
}

// ErrorMaker returns the name of the primitive or native that made a sealed
// error, "" if it was none or that is not known.
func ErrorMaker(v Value) string {
	if t := traceOf(v); t != nil {
		return t.op
	}
	return ""
}

func traceOf(v Value) *trace {
	if s, ok := v.Ref().(*Sealed); ok {
		return s.trace
	}
	return nil
}

// fatal makes the error that ends a run, with place and call stack.
func (m *Machine) fatal(code, message, hint string) *guest.Fatal {
	f := &guest.Fatal{Code: code, Message: message, Hint: hint}
	for i := m.frames.len() - 1; i >= 0 && len(f.Stack) < 64; i-- {
		fr := m.frames.at(i)
		if fr.p == nil || fr.p.unit == nil || fr.p.unit.library {
			continue
		}
		f.Stack = append(f.Stack, guest.Frame{Name: fr.p.name, Span: site{fr.p, fr.pc - 1}.span()})
	}
	if m.frames.len() > 0 {
		f.Span = m.here().span()
	}
	return f
}

// span is the place of a call in its source.
func (s site) span() guest.Span {
	if s.p == nil || s.p.unit == nil || s.pc < 0 || int(s.pc) >= len(s.p.spans) {
		return guest.Span{}
	}
	sp := s.p.spans[s.pc]
	return guest.Span{File: s.p.unit.file, Off: int(sp.off), End: int(sp.end)}
}
