package check

import (
	"strings"

	"github.com/gcrun/gcrun/coreform"
)

// expr returns what is known of the value of an expression, and reports its
// problems. It recurses on canonical depth, which the canonicalizer bounds.
func (a *analysis) expr(n coreform.Node) value {
	switch n.Term.Kind() {
	case coreform.KindSym:
		return a.symbol(n)
	case coreform.KindMap:
		for i := 1; i < len(n.Kids); i += 2 {
			a.expr(n.Kids[i])
		}
		return of(kMap)
	case coreform.KindVec:
		a.vectorLiteral(n)
		return of(kVec)
	case coreform.KindPair:
		return a.form(n)
	}
	return of(kindOf(n.Term))
}

func (a *analysis) form(n coreform.Node) value {
	kids := n.Kids
	switch head(n) {
	case "quote":
		return of(kindOf(kids[1].Term))
	case "def":
		a.problem(n, Error, "core/bad-form", "move the def out of the form around it, or use let",
			"def is only allowed at the top level of a module")
		a.expr(kids[2])
		return of(kNil)
	case "fn":
		return a.closure(n, anything)
	case "if":
		return a.conditional(n)
	case "begin":
		return a.begin(kids[1:])
	case "let":
		return a.let(n)
	case "prim":
		return a.prim(n)
	case "seal":
		return a.sealForm(kids[1:])
	case "unseal":
		a.exprs(kids[1:])
		return anything
	}
	return a.call(n)
}

func (a *analysis) exprs(ns []coreform.Node) []value {
	vs := make([]value, len(ns))
	for i, n := range ns {
		vs[i] = a.expr(n)
	}
	return vs
}

// begin has no value if one of its parts has none.
func (a *analysis) begin(parts []coreform.Node) value {
	out, ends := value{}, false
	for _, n := range parts {
		out = a.expr(n)
		ends = ends || out.kinds == 0
	}
	if ends {
		return value{}
	}
	return out
}

func (a *analysis) sealForm(parts []coreform.Node) value {
	vs := a.exprs(parts)
	if len(vs) == 0 {
		return of(kOther)
	}
	return of(kOther | kErr | vs[1].kinds&kFailure)
}

// scope says where a name has its meaning.
type scope uint8

const (
	nowhere scope = iota
	inLexical
	inModule
	inLibrary
	keyword // the name itself
)

// meaning returns what a name means here: see LANG-EVAL-2.
func (a *analysis) meaning(name string) (value, scope) {
	if vs := a.vars[name]; len(vs) > 0 {
		return vs[len(vs)-1].value, inLexical
	}
	if v, ok := a.globals[name]; ok {
		return v, inModule
	}
	if v, ok := a.library[name]; ok {
		return v, inLibrary
	}
	if strings.HasPrefix(name, ":") {
		return of(kSym), keyword
	}
	return value{}, nowhere
}

func (a *analysis) symbol(n coreform.Node) value {
	name, _ := n.Term.AsSym()
	v, where := a.meaning(name)
	switch where {
	case inLexical:
		a.touched = a.touched || v.kinds&kAnswer != 0
	case inLibrary:
		a.uses(name, n)
	case nowhere:
		a.unbound(n, name)
	}
	return v
}

// bind makes a variable innermost, and unbind takes it away.
func (a *analysis) bind(name string, v value) {
	x := &variable{v}
	a.vars[name] = append(a.vars[name], x)
	if v.kinds&kAnswer != 0 {
		a.answers = append(a.answers, x)
	}
}

func (a *analysis) unbind(name string) {
	vs := a.vars[name]
	if vs = vs[:len(vs)-1]; len(vs) == 0 {
		delete(a.vars, name) // or names seen once would be kept
	} else {
		a.vars[name] = vs
	}
}

// tested takes the answers there are to have been looked at: the program may
// know by now that they are no errors. Which of them it knows about is not
// found out, so that nothing is reported that may be right. (spec CHK-COND-2)
func (a *analysis) tested() {
	for _, x := range a.answers {
		x.value.kinds &^= kAnswer
	}
	a.answers, a.touched = a.answers[:0], false
}

// closure returns the function of a chain of fn forms. first is what its first
// parameter can be; the others can be anything.
func (a *analysis) closure(n coreform.Node, first value) value {
	f := a.functions[&n.Kids[0]]
	if f == nil {
		f = &function{}
		a.functions[&n.Kids[0]] = f
	}
	var params []string
	body := n
	for head(body) == "fn" {
		name, _ := body.Kids[1].Kids[0].Term.AsSym()
		params = append(params, name)
		body = body.Kids[2]
	}
	if f.arity == 0 {
		f.arity, f.row = len(params), a.wrapped(params, body)
	}
	for i, name := range params {
		if i > 0 {
			first = anything
		}
		a.bind(name, first)
	}
	a.growResult(f, a.expr(body))
	for _, name := range params {
		a.unbind(name)
	}
	return value{kinds: kFn, fn: f}
}

// wrapped returns the row of the primitive that is all of a function's body,
// given the parameters in order; nil for other functions.
func (a *analysis) wrapped(params []string, body coreform.Node) *row {
	if head(body) != "prim" || len(body.Kids) != len(params)+2 {
		return nil
	}
	for i, k := range body.Kids[2:] {
		if !k.Term.IsSym(params[i]) {
			return nil
		}
	}
	op, _ := body.Kids[1].Term.AsSym()
	return primitiveRow(op)
}

// conditional joins the values of both branches. What the condition has looked
// at counts as tested in them.
func (a *analysis) conditional(n coreform.Node) value {
	before := a.touched
	a.touched = false
	known := len(a.report.findings)
	c := a.expr(n.Kids[1])
	a.condition(n.Kids[1], c, len(a.report.findings) > known)
	if a.touched {
		a.tested()
	}
	a.touched = before
	v := a.expr(n.Kids[2]).join(a.expr(n.Kids[3]))
	if c.kinds == 0 {
		return value{}
	}
	return v
}

func (a *analysis) let(n coreform.Node) value {
	binds := n.Kids[1].Kids
	ends := false
	for _, b := range binds {
		name, _ := b.Kids[0].Term.AsSym()
		v := a.expr(b.Kids[1])
		ends = ends || v.kinds == 0
		a.bind(name, v)
	}
	v := a.expr(n.Kids[2])
	for _, b := range binds {
		name, _ := b.Kids[0].Term.AsSym()
		a.unbind(name)
	}
	if ends {
		return value{}
	}
	return v
}
