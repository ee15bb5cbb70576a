package check

import (
	"fmt"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/coreform/kernel"
)

// primitiveRow returns the row of a primitive; one without a row of its own
// takes and gives anything. nil is no primitive.
func primitiveRow(op string) *row {
	d, ok := kernel.DescribePrimitive(op)
	if !ok {
		return nil
	}
	if r := rowOf(primitiveRows, d); r != nil {
		return r
	}
	r := mayFail(kAny)
	for range d.Arity {
		r.args = append(r.args, kAny)
	}
	r.name, r.errors = d.Name, d.Errors
	return &r
}

func (a *analysis) prim(n coreform.Node) value {
	op, _ := n.Kids[1].Term.AsSym()
	args := a.exprs(n.Kids[2:])
	r := primitiveRow(op)
	if r == nil {
		a.problem(n.Kids[1], Error, "check/primitive", a.didYouMean(op, kernel.PrimitiveNames(), "spec/language.md lists the primitives"),
			"%s is no primitive", shown(op))
		return value{}
	}
	if len(args) != len(r.args) {
		a.problem(n, Error, "check/arity", fmt.Sprintf("give it %s", counted(len(r.args), "argument")),
			"the primitive %s takes %s, not %d: this is always an error", op, counted(len(r.args), "argument"), len(args))
		return of(kErr)
	}
	return of(a.operate(r, "the primitive "+op, 0, args, n.Kids[2:]))
}

// operate applies a row and reports an argument that cannot be right, unless it
// is nil written out: (prim int/add x nil) is how to make a type error. The
// first of args is argument number from.
func (a *analysis) operate(r *row, name string, from int, args []value, nodes []coreform.Node) kinds {
	all := args
	if from > 0 { // what was given before is not known any more
		all = make([]value, len(r.args))
		for i := range from {
			all[i] = anything
		}
		copy(all[from:], args)
	}
	result, wrong := r.apply(all)
	if wrong < from {
		return result
	}
	at, v := nodes[wrong-from], all[wrong]
	switch {
	case at.Term.IsNil():
	case v.partial():
		a.problem(at, Warning, "check/partial", "give it the rest of its arguments",
			"argument %d of %s is %s, but must be %s: this is always an error", wrong+1, name, waiting(v), r.args[wrong])
	default:
		a.problem(at, Warning, "check/argument", "give it a value of that kind, or convert the value first",
			"argument %d of %s is %s, but must be %s: this is always an error", wrong+1, name, v.kinds, r.args[wrong])
	}
	return result
}

// call goes over a chain of applications ((f a) b) as the one call it is.
func (a *analysis) call(n coreform.Node) value {
	args, fn := []coreform.Node{n.Kids[1]}, n.Kids[0]
	for fn.Term.Kind() == coreform.KindPair && len(fn.Kids) == 2 && !coreform.IsSpecialForm(head(fn)) {
		args = append(args, fn.Kids[1])
		fn = fn.Kids[0]
	}
	for i, j := 0, len(args)-1; i < j; i, j = i+1, j-1 {
		args[i], args[j] = args[j], args[i]
	}
	f := a.callee(fn, args)
	vs := make([]value, len(args))
	for i, arg := range args {
		if first, ok := a.answerOf(f, i, vs); ok && head(arg) == "fn" {
			vs[i] = a.closure(arg, first)
		} else {
			vs[i] = a.expr(arg)
		}
		if vs[i].kinds == 0 {
			f = value{} // the call is never made
		}
	}
	return a.apply(n, fn, f, vs, args)
}

// callee returns the value of the head of a call. An operation that is named
// there is noted.
func (a *analysis) callee(fn coreform.Node, args []coreform.Node) value {
	if name, ok := fn.Term.AsSym(); ok && head(args[0]) == "quote" {
		if v, _ := a.meaning(name); asks(v) {
			if op, ok := args[0].Kids[1].Term.AsSym(); ok {
				a.usesOp(op, args[0].Kids[1])
				return v
			}
		}
	}
	return a.expr(fn)
}

// asks reports whether a value is one of the natives that make requests.
func asks(v value) bool {
	return v.fn != nil && v.given == 0 && v.fn.library && (v.fn.name == nativePerform || v.fn.name == nativeAsk)
}

// answerOf reports whether argument i of a call of f is a function that is given
// the answer of an operation, and what that can be.
func (a *analysis) answerOf(f value, i int, before []value) (value, bool) {
	if f.fn == nil || !f.fn.library || f.given != 0 {
		return value{}, false
	}
	answer := of(kAny | kAnswer)
	switch {
	case f.fn.name == nativePerform && i == 2:
		return answer, true
	case f.fn.name == nativeBind && i == 1 && before[0].kinds&kAsk != 0:
		return answer, true
	}
	return value{}, false
}

// apply gives a function its arguments. (spec CHK-CALL-1)
func (a *analysis) apply(n, head coreform.Node, f value, args []value, nodes []coreform.Node) value {
	failures := kinds(0) // an error that is applied is the result
	for i := 0; i < len(args); {
		if f.kinds == 0 {
			return of(failures)
		}
		failures |= f.kinds & kFailure
		if f.kinds&kFn == 0 {
			if f.kinds&^kFailure != 0 {
				a.notFunction(n, head, f, i, len(args))
			}
			return of(failures)
		}
		if f.fn == nil {
			a.mayTest(args[i:])
			return anything
		}
		take := min(f.fn.arity-f.given, len(args)-i)
		if f.given+take < f.fn.arity {
			f.given += take
			f.kinds = kFn | failures
			return f
		}
		f = a.result(f, args[i:i+take], nodes[i:i+take])
		i += take
	}
	f.kinds |= failures
	return f
}

// notFunction reports the application of what is none, after i arguments.
func (a *analysis) notFunction(n, head coreform.Node, f value, i, given int) {
	name := shownExpr(head)
	if i == 0 {
		a.problem(head, Error, "check/not-callable", "a list is a call; write (quote …) or ' before it if it is data",
			"%s is called, but it is %s and not a function", name, f.kinds)
		return
	}
	a.problem(n, Error, "check/arity", fmt.Sprintf("give it %s", counted(i, "argument")),
		"%s takes %s, not %d: what it then gives is %s and not a function", name, counted(i, "argument"), given, f.kinds)
}

// result returns what a function gives when args are the rest of its arguments.
func (a *analysis) result(f value, args []value, nodes []coreform.Node) value {
	if !f.fn.library || errorTests[f.fn.name] {
		a.mayTest(args)
	}
	if f.fn.row != nil {
		return of(a.operate(f.fn.row, f.fn.called(), f.given, args, nodes))
	}
	v := f.fn.result
	if v.kinds&kErr != 0 {
		for _, arg := range args { // an error that is passed on
			v.kinds |= arg.kinds & kAnswer
		}
	}
	return v
}

// mayTest notes that arguments are given to what may test them for errors.
func (a *analysis) mayTest(args []value) {
	for _, v := range args {
		if v.kinds&kAnswer != 0 {
			a.tested()
			return
		}
	}
}

func (f *function) called() string {
	if f.name == "" {
		return "the function"
	}
	return shown(f.name)
}

// counted is a number with a word that takes an s.
func counted(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// shown is a name in a message, cut if long.
func shown(name string) string {
	const most = 60
	if len(name) <= most {
		return name
	}
	return coreform.FormatLossy(coreform.Sym(name), most)
}

// shownExpr is what is called, in a message.
func shownExpr(n coreform.Node) string {
	if name, ok := n.Term.AsSym(); ok {
		return shown(name)
	}
	return "this expression"
}
