package kernel

import (
	"context"
	"fmt"
	"maps"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/effects/guest"
	"github.com/gcrun/gcrun/internal/digest"
)

// LanguageProfile names the language this package evaluates.
const LanguageProfile = "gcrun/language/1"

// Program is a loaded module and the state of its one run. It implements
// guest.Program. A second run needs a second Load.
type Program struct {
	info  guest.Info
	unit  *unit
	forms []*proto
	m     *Machine

	started bool
	k       Value // what the pending request is answered to
	asked   site
	pending *bound // functions bound after it, the next to run first
}

// Load reads, canonicalizes and compiles the source of one module. name is the
// display name, a base name. The error is a *coreform.ReadError,
// *coreform.CanonError or *[LoadError]; nothing has run.
func Load(name string, src []byte, lib *Library, limits Limits) (*Program, error) {
	forms, err := coreform.ReadModule(src, coreform.Limits{})
	if err != nil {
		return nil, err
	}
	forms, err = coreform.CanonicalizeModule(forms, coreform.Limits{})
	if err != nil {
		return nil, err
	}
	terms := make([]Value, len(forms))
	for i, f := range forms {
		terms[i] = f.Term
	}
	hash, err := coreform.ModuleHash(terms)
	if err != nil {
		return nil, err
	}
	p := &Program{
		info: guest.Info{
			Kind: guest.KindModule, Hash: hash, Name: name,
			Sources:          []guest.Source{{Path: name, Bytes: src}},
			LanguageProfile:  LanguageProfile,
			StateHashProfile: coreform.StateHashProfile,
			Limits:           limits.Named(),
		},
		m: newMachine(limits),
	}
	if err := p.compile(name, hash, forms, lib); err != nil {
		return nil, err
	}
	p.m.roots = p.eachRoot
	if lib.watches() {
		p.m.watch = newWatch()
	}
	return p, nil
}

func (p *Program) compile(file string, hash digest.Digest, forms []coreform.Node, lib *Library) error {
	u := &unit{file: file, hash: hash, lib: lib, names: map[string]int{}, refAt: map[string]int32{}}
	p.unit = u
	for _, f := range forms { // names are known before any code is compiled
		if name, _, ok := definitionOf(f); ok {
			u.cell(name)
		}
	}
	for _, f := range forms {
		u.name = ""
		code, err := compileForm(u, f)
		if err != nil {
			return err
		}
		p.forms = append(p.forms, code)
	}
	return nil
}

// eachRoot visits what is alive beside the stacks.
func (p *Program) eachRoot(visit func(Value)) {
	for i := range p.unit.cells {
		visit(p.unit.cells[i].v)
	}
	visit(p.k)
	if p.pending != nil {
		visit(coreform.FromOther(p.pending))
	}
}

// Info returns what identifies the program.
func (p *Program) Info() guest.Info {
	info := p.info
	info.Limits = maps.Clone(info.Limits)
	return info
}

// Usage returns the steps and units used so far.
func (p *Program) Usage() guest.Usage {
	return guest.Usage{Steps: p.m.steps, AllocUnits: p.m.allocated(), LiveUnits: p.m.lastCount}
}

// Eval runs the forms of the module and returns the value of the last one: the
// pure part of a run. A program is evaluated once; Step calls it by itself.
// Errors are as for Step.
func (p *Program) Eval(ctx context.Context) (Value, error) {
	if p.started {
		return Value{}, fmt.Errorf("gcrun fault: a program runs once")
	}
	p.started = true
	v := Value{}
	for _, form := range p.forms {
		var err error
		p.m.loading = &form.name // "" for a form that is no definition
		if v, err = p.m.runForm(ctx, form); err != nil {
			return Value{}, err
		}
	}
	p.m.loading = nil
	p.unit.mu.Lock()
	p.unit.loaded = true
	p.unit.mu.Unlock()
	return v, nil
}

// Step implements guest.Program for the one task a module has so far.
func (p *Program) Step(ctx context.Context, task guest.TaskID, answer *guest.Response) (step guest.Step, err error) {
	defer coreform.CatchFault(&err)
	if task != 0 || (answer == nil) == p.started {
		return guest.Step{}, fmt.Errorf("gcrun fault: step of task %d out of turn", task)
	}
	var v Value
	if answer == nil {
		v, err = p.Eval(ctx)
	} else {
		v, err = p.m.apply(ctx, p.k, p.answered(*answer))
	}
	for err == nil {
		e := lift(v)
		if e.req != nil {
			return p.ask(e), nil
		}
		if p.pending == nil {
			p.k = Value{}
			return guest.Step{Done: done(e.value)}, nil
		}
		f := p.pending.f
		p.pending, p.k = p.pending.next, Value{}
		v, err = p.m.apply(ctx, coreform.FromOther(f), e.value)
	}
	return guest.Step{}, err
}

// ask makes the request of a program that asks; what is bound to it goes on top
// of the pending binds.
func (p *Program) ask(e *Effect) guest.Step {
	for b := e.binds; b != nil; b = b.next {
		p.pending = &bound{f: b.f, next: p.pending}
	}
	r := e.req
	p.k, p.asked = r.k, r.site
	k := &continuation{k: r.k, pending: p.pending}
	return guest.Step{Request: &guest.Request{
		Op: r.op, Payload: r.payload, Span: r.site.span(),
		ContHash: coreform.StateHash(coreform.FromOther(k)),
	}}
}

// answered is the value of a response. An error answer belongs to the place
// that asked.
func (p *Program) answered(r guest.Response) Value {
	v := p.answerValue(r)
	if w := p.m.watch; w != nil {
		v = v.WithOrigin(w.of(w.answered))
		w.answered++
	}
	return v
}

func (p *Program) answerValue(r guest.Response) Value {
	if r.Kind == guest.RespError {
		return coreform.FromOther(&Sealed{token: tokenError, payload: r.Value, trace: p.m.trace(&traceKey{sites: [traceDepth]site{p.asked}})})
	}
	return r.Value
}

func done(v Value) *guest.Done {
	d := &guest.Done{Value: v, Digest: coreform.StateHash(v)}
	if payload, ok := IsError(v); ok {
		d.IsError, d.Payload = true, payload
		d.Stack = ErrorTrace(v)
		d.Span = ErrorSite(v)
		d.Maker = ErrorMaker(v)
	}
	return d
}

// continuation is what is left of a task while it waits for an answer. Its
// state hash is the cont-h of the request.
type continuation struct {
	k       Value
	pending *bound
	cell    coreform.DigestCell
}

func (c *continuation) TypeName() string            { return "continuation" }
func (c *continuation) Equality() coreform.Equality { return coreform.EqualNever }
func (c *continuation) Cell() *coreform.DigestCell  { return &c.cell }
func (c *continuation) Parts() (label []byte, k []Value) {
	if c.pending == nil {
		return []byte{0}, []Value{c.k}
	}
	return []byte{1}, []Value{c.k, coreform.FromOther(c.pending)}
}
