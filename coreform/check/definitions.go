package check

import (
	"maps"
	"slices"
	"strings"

	"github.com/gcrun/gcrun/coreform"
)

// moduleGrained says what a definition that is not one definition costs.
const moduleGrained = "; such a module is hashed as a whole: any edit of it changes the hash of every continuation"

// checkDefinitions reports names that are defined twice and names that hide a
// name of the library. (spec CHK-DEF-1, CHK-DEF-2)
func (a *analysis) checkDefinitions() {
	for _, name := range slices.Sorted(maps.Keys(a.defs)) {
		defs := a.defs[name]
		for _, d := range defs[1:] {
			a.report.add(finding{
				Problem: Problem{Code: "check/redefined", Severity: Warning, Offset: d.node.Off,
					Message: shown(name) + " is defined again; the first definition is at ",
					Hint:    "give one of them another name, or remove it"},
				named: true, other: defs[0].node.Off, rest: moduleGrained,
			})
		}
		if _, hides := a.library[name]; hides {
			a.problem(defs[0].node, Warning, "check/hides-library", "give it another name",
				"the definition hides %s of the library, which functions of the library still use", shown(name))
		}
	}
}

// early finds names that are evaluated while the module loads, before their
// definition has run.
type early struct {
	*analysis
	form    int            // the form being evaluated
	shadows map[string]int // lexical variables
	visited map[*coreform.Node]bool
	bodies  []coreform.Node // of functions that are called, to go over
	told    map[string]bool
}

// checkEarly goes over what is certainly evaluated when a form is: not the
// bodies of functions, unless they are called by name with all their arguments,
// and not the branches of if. (spec CHK-DEF-3)
func (a *analysis) checkEarly() {
	e := &early{analysis: a, shadows: map[string]int{}, visited: map[*coreform.Node]bool{}, told: map[string]bool{}}
	for i, form := range a.forms {
		e.form = i
		if head(form) == "def" {
			form = form.Kids[2]
		}
		e.bodies = append(e.bodies, form)
		for len(e.bodies) > 0 {
			body := e.bodies[len(e.bodies)-1]
			e.bodies = e.bodies[:len(e.bodies)-1]
			params := e.enter(&body)
			e.expr(body)
			e.leave(params)
		}
	}
}

// enter makes the parameters of a function that is called shadow other names. A
// form that is evaluated has none: its fn is a value.
func (e *early) enter(body *coreform.Node) []string {
	if head(*body) != "fn" || !e.visited[&body.Kids[0]] {
		return nil
	}
	var params []string
	for head(*body) == "fn" {
		name, _ := body.Kids[1].Kids[0].Term.AsSym()
		params = append(params, name)
		e.shadows[name]++
		*body = body.Kids[2]
	}
	return params
}

func (e *early) leave(names []string) {
	for _, name := range names {
		if e.shadows[name]--; e.shadows[name] == 0 {
			delete(e.shadows, name)
		}
	}
}

func (e *early) expr(n coreform.Node) {
	switch n.Term.Kind() {
	case coreform.KindSym:
		e.symbol(n)
	case coreform.KindMap:
		for i := 1; i < len(n.Kids); i += 2 {
			e.expr(n.Kids[i])
		}
	case coreform.KindPair:
		e.list(n)
	}
}

func (e *early) list(n coreform.Node) {
	kids := n.Kids
	switch head(n) {
	case "quote", "fn":
	case "def":
		e.expr(kids[2])
	case "if":
		e.expr(kids[1])
	case "begin", "seal", "unseal":
		e.exprs(kids[1:])
	case "prim":
		e.exprs(kids[2:])
	case "let":
		var names []string
		for _, b := range kids[1].Kids {
			e.expr(b.Kids[1])
			name, _ := b.Kids[0].Term.AsSym()
			e.shadows[name]++
			names = append(names, name)
		}
		e.expr(kids[2])
		e.leave(names)
	default:
		e.call(n)
	}
}

func (e *early) exprs(ns []coreform.Node) {
	for _, n := range ns {
		e.expr(n)
	}
}

// call goes over head and arguments, and notes the body of a function that the
// module has defined once, by now, and that is given all its arguments.
func (e *early) call(n coreform.Node) {
	nargs, fn := 1, n.Kids[0]
	e.expr(n.Kids[1])
	for fn.Term.Kind() == coreform.KindPair && len(fn.Kids) == 2 && !coreform.IsSpecialForm(head(fn)) {
		e.expr(fn.Kids[1])
		nargs++
		fn = fn.Kids[0]
	}
	e.expr(fn)
	name, isSym := fn.Term.AsSym()
	defs := e.defs[name]
	if !isSym || e.shadows[name] > 0 || len(defs) != 1 || defs[0].form >= e.form {
		return
	}
	f := defs[0].expr
	arity := 0
	for body := f; head(body) == "fn"; body = body.Kids[2] {
		arity++
	}
	if arity == 0 || arity > nargs || e.visited[&f.Kids[0]] {
		return
	}
	e.visited[&f.Kids[0]] = true
	e.bodies = append(e.bodies, f)
}

func (e *early) symbol(n coreform.Node) {
	name, _ := n.Term.AsSym()
	defs := e.defs[name]
	if e.shadows[name] > 0 || len(defs) == 0 || defs[0].form < e.form || e.told[name] {
		return
	}
	e.told[name] = true
	f := finding{
		Problem: Problem{Code: "check/early", Severity: Error, Offset: n.Off,
			Message: shown(name) + " is evaluated while the module loads and means nothing yet; it is defined at ",
			Hint:    "move the definition before the form that needs it"},
		named: true, other: defs[0].node.Off,
	}
	if _, ok := e.library[name]; ok || strings.HasPrefix(name, ":") {
		f.Severity, f.rest = Warning, moduleGrained
		f.Message = shown(name) + " is evaluated while the module loads and does not mean its definition yet, which is at "
	}
	e.report.add(f)
}
