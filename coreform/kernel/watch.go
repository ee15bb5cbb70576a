package kernel

import (
	"cmp"
	"slices"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/effects/guest"
)

// Watched returns the same library for programs that are watched while they run:
// from which answers values come, what decided their branches, and what each
// definition costs. Such a program is compiled to code in which no call is
// inlined and every branch is an instruction of the watch, so that the code of
// other programs has nothing of it. Everything a program can observe is the same.
// (spec LANG-WATCH-1)
func (l *Library) Watched() *Library {
	l.watchedOnce.Do(func() {
		w := &Library{defs: make(map[string]*definition, len(l.defs)), isWatched: true}
		w.watchedOnce.Do(func() { w.watched = w })
		for name, d := range l.defs {
			c := &definition{name: name, lib: w, expr: d.expr, native: d.native, rev: d.rev}
			if d.isConstant() {
				c.value = d.value
				c.once.Do(func() {})
			}
			w.defs[name] = c
		}
		l.watched = w
	})
	return l.watched
}

// maxOrigins is how many entries an origin names.
const maxOrigins = 8

// Origins says from which answers a value came.
type Origins struct {
	// Entries are the numbers of the answers, counted from 0 in the order in which
	// the program got them, ascending and at most 8.
	Entries []uint64
	// More is set when there are further ones; those named are the earliest.
	More bool
}

// Decision is a branch that was taken because of answers.
type Decision struct {
	Span    guest.Span // the if, or the call in the program's source around it
	Origins Origins    // of the condition
}

// Cost is what a definition took by itself, without what it called.
type Cost struct {
	Name  string // of the definition, "" for forms outside of any
	Calls int64
	Steps int64
	Units int64
}

// watch is what a machine notes about a program that is watched.
type watch struct {
	sets   []Origins // by coreform.Origin; the first is of values without
	byKey  map[[2]coreform.Origin]coreform.Origin
	single map[uint64]coreform.Origin

	decided  coreform.Origin // of the condition of the last branch that had any
	branch   site
	costs    map[string]*Cost
	current  *Cost
	steps    int64 // when current was entered
	units    int64
	answered uint64 // answers so far
}

func newWatch() *watch {
	w := &watch{sets: make([]Origins, 1), byKey: map[[2]coreform.Origin]coreform.Origin{},
		single: map[uint64]coreform.Origin{}, costs: map[string]*Cost{}}
	w.current = w.cost("")
	return w
}

// of returns the mark of one answer.
func (w *watch) of(entry uint64) coreform.Origin {
	o, ok := w.single[entry]
	if !ok {
		o = w.add(Origins{Entries: []uint64{entry}})
		w.single[entry] = o
	}
	return o
}

func (w *watch) add(set Origins) coreform.Origin {
	w.sets = append(w.sets, set)
	return coreform.Origin(len(w.sets) - 1)
}

// union returns the mark of what comes from both.
func (w *watch) union(a, b coreform.Origin) coreform.Origin {
	if a == b || b == 0 {
		return a
	}
	if a == 0 {
		return b
	}
	key := [2]coreform.Origin{min(a, b), max(a, b)}
	if o, ok := w.byKey[key]; ok {
		return o
	}
	x, y := w.sets[a], w.sets[b]
	all := slices.Concat(x.Entries, y.Entries)
	slices.Sort(all)
	all = slices.Compact(all)
	set := Origins{Entries: all, More: x.More || y.More || len(all) > maxOrigins}
	set.Entries = all[:min(len(all), maxOrigins)]
	o := w.find(set)
	w.byKey[key] = o
	return o
}

// find returns the mark of a set, which is mostly one of the two it was made of.
func (w *watch) find(set Origins) coreform.Origin {
	for i := len(w.sets) - 1; i > 0 && i > len(w.sets)-64; i-- {
		if w.sets[i].More == set.More && slices.Equal(w.sets[i].Entries, set.Entries) {
			return coreform.Origin(i)
		}
	}
	return w.add(set)
}

// flow is how the marks of arguments get into a result.
type flow uint8

const (
	// flowDeep: an atom or error that is made of all of the arguments has the
	// marks of everything in them; what holds parts of them has their own.
	flowDeep  flow = iota
	flowOuter      // the arguments' own marks: what was looked up, or a length
	flowBuilt      // those of the first argument: the rest is held as it is
	flowPlace      // those of the first two: a container and where it was changed
	flowNone       // what is held keeps its marks, the holder is new
)

// flows lists primitives whose results are not flowDeep.
var flows = map[string]flow{
	"pair/cons": flowNone, "pair/car": flowOuter, "pair/cdr": flowOuter, "list/is-nil?": flowOuter, "data/tag": flowOuter,
	"map/get": flowOuter, "map/put": flowPlace, "map/len": flowOuter,
	"vec/get": flowOuter, "vec/set": flowPlace, "vec/push": flowBuilt, "vec/len": flowOuter, "bytes/len": flowOuter,
}

// result marks what a primitive or native made of its arguments.
func (w *watch) result(f flow, args []Value, v Value) Value {
	o := v.Origin()
	n := len(args)
	whole := f == flowDeep && (isError(v) || !isContainer(v) && v.Kind() != coreform.KindOther)
	switch f {
	case flowNone:
		n = 0
	case flowBuilt:
		n = min(n, 1)
	case flowPlace:
		n = min(n, 2)
	}
	for _, a := range args[:n] {
		o = w.union(o, a.Origin())
		if whole && isContainer(a) {
			o = w.union(o, w.inside(a))
		}
	}
	return v.WithOrigin(o)
}

// inside returns the marks of all parts of a container. What has more than
// maxInside parts is not looked at to its end.
func (w *watch) inside(v Value) coreform.Origin {
	var o coreform.Origin
	stack := []Value{v}
	for n := 0; len(stack) > 0 && n < maxInside; n++ {
		v, stack = stack[len(stack)-1], stack[:len(stack)-1]
		eachPart(v, func(x Value) bool {
			o = w.union(o, x.Origin())
			if isContainer(x) {
				stack = append(stack, x)
			}
			return true
		})
	}
	return o
}

const maxInside = 1 << 16

// cost returns the row of a definition.
func (w *watch) cost(name string) *Cost {
	c := w.costs[name]
	if c == nil {
		c = &Cost{Name: name}
		w.costs[name] = c
	}
	return c
}

// turn charges what was used since the last turn to the current definition and
// makes another current.
func (m *Machine) turn(to *Cost) (from *Cost) {
	w := m.watch
	from = w.current
	from.Steps += m.steps - w.steps
	from.Units += m.allocated() - w.units
	w.current, w.steps, w.units = to, m.steps, m.allocated()
	return from
}

// turnTo is turn to the definition of code that begins to run.
func (m *Machine) turnTo(p *proto) {
	c := m.watch.cost(p.name)
	if p.arity > 0 { // else it is the loading of a definition
		c.Calls++
	}
	m.turn(c)
}

// watchNative runs a native on its arguments. What it makes of them by a call
// comes from that call.
func (m *Machine) watchNative(n *Native, args []Value) (v Value, done bool) {
	m.watch.cost(n.Name).Calls++
	caller := m.turn(m.watch.cost(n.Name))
	v = n.Fn(&m.call, args)
	m.turn(caller)
	if m.call.called || m.fault != nil {
		return v, !m.call.called
	}
	return m.watch.result(flowDeep, args, v), true
}

// decide notes the condition of a branch.
func (m *Machine) decide(cond Value) {
	if o := cond.Origin(); o != 0 {
		m.watch.decided, m.watch.branch = o, m.here()
	}
}

// Origins returns from which answers a value of a watched program came: those of
// the value itself and of everything in it. To ask about a part of a value, give
// the values on the way to it as well, for a part comes from where its whole
// does. Of a program that is not watched it returns nothing.
func (p *Program) Origins(part Value, around ...Value) Origins {
	w := p.m.watch
	if w == nil {
		return Origins{}
	}
	o := w.union(part.Origin(), w.inside(part))
	for _, v := range around {
		o = w.union(o, v.Origin())
	}
	return w.sets[o]
}

// LastDecision returns the last branch that was decided by answers before the
// program asked or ended, and false if there was none or it is not watched.
func (p *Program) LastDecision() (Decision, bool) {
	w := p.m.watch
	if w == nil || w.decided == 0 {
		return Decision{}, false
	}
	return Decision{Span: w.branch.span(), Origins: w.sets[w.decided]}, true
}

// Costs returns what each definition took so far in a watched program, the
// dearest first; nil for one that is not watched. The sums are those of Usage.
func (p *Program) Costs() []Cost {
	w := p.m.watch
	if w == nil {
		return nil
	}
	p.m.turn(w.current)
	out := make([]Cost, 0, len(w.costs))
	for _, c := range w.costs {
		if *c != (Cost{Name: c.Name}) {
			out = append(out, *c)
		}
	}
	slices.SortFunc(out, func(a, b Cost) int {
		return cmp.Or(cmp.Compare(b.Steps, a.Steps), cmp.Compare(b.Units, a.Units), cmp.Compare(a.Name, b.Name))
	})
	return out
}
