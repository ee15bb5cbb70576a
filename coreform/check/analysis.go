package check

import (
	"fmt"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/coreform/kernel"
)

// analysis goes over the code of the library and then over that of a module:
// first, several times, to find what the values of definitions can be, and at
// last to report problems.
//
// What is found only ever grows from one pass to the next, and kinds, functions
// and arguments given are few; so it comes to rest, and what it has come to
// holds for every run.
type analysis struct {
	forms   []coreform.Node
	report  *report
	silent  bool // this pass only finds values
	changed bool // this pass found something new
	widen   bool // what is still new is taken to be anything
	gaveUp  bool // everything is

	defs    map[string][]def // of the module, in order
	globals map[string]value // values of the definitions being gone over
	library map[string]value
	names   []string // of the library, sorted

	// functions has what is known of every fn chain, by the place of its parts.
	functions map[*coreform.Node]*function
	libUses   map[string]*uses
	current   *uses // of the definition being gone over, or of the module

	vars    map[string][]*variable // lexical, innermost last
	answers []*variable            // those that hold untested answers
	touched bool                   // one of those was looked at

	used     map[string]usage // operations, where first and how often
	nearness int              // comparisons of names made so far
	last     value            // of the last form, for tests
}

// def is one (def name …) of the module.
type def struct {
	form int
	node coreform.Node // the name
	expr coreform.Node
}

type usage struct {
	at    coreform.Node
	times int
}

// variable is a lexical variable.
type variable struct{ value value }

// Passes that find values. Most modules need three; what has not come to rest
// after maxPasses is taken to be anything, and after twice as many everything is.
const maxPasses = 12

func newAnalysis(forms []coreform.Node, lib *kernel.Library, r *report) (*analysis, error) {
	a := &analysis{
		forms: forms, report: r, silent: true,
		defs: map[string][]def{}, globals: map[string]value{}, library: map[string]value{}, names: lib.Names(),
		functions: map[*coreform.Node]*function{}, libUses: map[string]*uses{},
		vars: map[string][]*variable{}, used: map[string]usage{},
	}
	return a, a.findLibrary(lib)
}

// findLibrary finds the values of the library's definitions.
func (a *analysis) findLibrary(lib *kernel.Library) error {
	var written []kernel.Description
	for _, name := range lib.DefinitionNames() {
		d, ok := lib.Describe(name)
		a.libUses[name] = &uses{}
		switch {
		case !ok:
			return fmt.Errorf("the library does not describe %s", name)
		case d.Native:
			a.library[name] = native(d)
			a.libUses[name].dynamic = name == nativePerform || name == nativeAsk
		case d.Constant():
			a.library[name] = of(kindOf(d.Value))
		default:
			a.library[name] = value{}
			written = append(written, d)
		}
	}
	a.settle(a.library, func() {
		for _, d := range written {
			a.current = a.libUses[d.Name]
			a.grow(a.library, d.Name, a.definition(d.Name, d.Expr))
		}
	})
	for _, f := range a.functions {
		f.library = true
	}
	for name := range a.library {
		if kernel.IsPrivate(name) { // modules do not see it
			delete(a.library, name)
		}
	}
	return nil
}

// native returns the function of a native.
func native(d kernel.Description) value {
	f := &function{name: d.Name, arity: d.Arity, result: anything, library: true, row: rowOf(nativeRows, d)}
	return value{kinds: kFn, fn: f}
}

// settle repeats a pass over the definitions of a table until it finds nothing
// new.
func (a *analysis) settle(table map[string]value, pass func()) {
	a.silent = true
	for n := 0; n < 2*maxPasses; n++ {
		a.changed, a.widen = false, n >= maxPasses
		if pass(); !a.changed {
			break
		}
	}
	a.silent, a.widen = false, false
	if a.changed {
		a.giveUp(table)
	}
}

// giveUp takes the definitions of a table, and what functions give, to be
// anything, whatever later passes find.
func (a *analysis) giveUp(table map[string]value) {
	for _, f := range a.functions {
		f.result, f.fixed = anything, true
	}
	for name := range table {
		table[name] = anything
	}
	a.gaveUp = true
}

// grow joins v to what is known of a definition.
func (a *analysis) grow(table map[string]value, name string, v value) {
	old := table[name]
	if v = old.join(v); v == old || a.gaveUp {
		return
	}
	a.changed = true
	if a.widen {
		v = old.join(v).join(anything)
	}
	table[name] = v
}

// growResult joins v to what is known of the results of a function.
func (a *analysis) growResult(f *function, v value) {
	if v = f.result.join(v); v == f.result || f.fixed {
		return
	}
	a.changed = true
	if a.widen {
		v, f.fixed = anything, true
	}
	f.result = v
}

// definition returns the value of the expression of a definition.
func (a *analysis) definition(name string, expr coreform.Node) value {
	v := a.expr(expr)
	if head(expr) == "fn" && v.fn != nil {
		v.fn.name = name
	}
	return v
}

// module finds the values of the module's definitions and reports its problems.
func (a *analysis) module() {
	for i, form := range a.forms {
		if name, ok := definedName(form); ok {
			a.defs[name] = append(a.defs[name], def{form: i, node: form.Kids[1], expr: form.Kids[2]})
			a.globals[name] = a.library[name] // what it means until its def has run
		}
	}
	a.current = &uses{}
	a.settle(a.globals, a.pass)
	a.current = &uses{}
	a.pass()
	a.checkDefinitions()
	a.checkEarly()
	a.checkOps()
}

// pass goes over the forms of the module.
func (a *analysis) pass() {
	a.last = of(kNil)
	for _, form := range a.forms {
		a.answers, a.touched = nil, false
		if name, ok := definedName(form); ok {
			a.grow(a.globals, name, a.definition(name, form.Kids[2]))
			a.last = of(kNil)
			continue
		}
		a.last = a.expr(form)
	}
}

// definedName returns the name a top-level form defines.
func definedName(form coreform.Node) (string, bool) {
	if head(form) != "def" {
		return "", false
	}
	return form.Kids[1].Term.AsSym()
}

// head returns the symbol at the head of a list, "" if there is none.
func head(n coreform.Node) string {
	if len(n.Kids) == 0 || n.Term.Kind() != coreform.KindPair {
		return ""
	}
	s, _ := n.Kids[0].Term.AsSym()
	return s
}

// problem reports a problem at a node, in the pass that does.
func (a *analysis) problem(at coreform.Node, s Severity, code, hint, format string, args ...any) {
	if a.silent {
		return
	}
	a.report.add(finding{Problem: Problem{Code: code, Severity: s, Message: fmt.Sprintf(format, args...), Hint: hint, Offset: at.Off}})
}
