package check

import "github.com/gcrun/gcrun/coreform"

// vectorLiteral reports the first element of an evaluated vector that looks like
// code: elements are data. (spec CHK-VEC-1)
func (a *analysis) vectorLiteral(n coreform.Node) {
	if a.silent {
		return
	}
	at, ok := a.codeIn(n)
	if !ok {
		return
	}
	what := "the call"
	name := head(at)
	if at.Term.Kind() == coreform.KindSym {
		what = "the name"
		name, _ = at.Term.AsSym()
	}
	hint := "make the vector with core/vec::push, as in (core/vec::push [] x), or quote it if its elements are data"
	if name == "quote" {
		what, hint = "the quoted element", "leave out the quote: elements are data already"
	} else {
		what += " " + shown(name)
	}
	a.problem(at, Warning, "check/vector-code", hint, "%s in a vector literal is not evaluated: elements are data", what)
}

// codeIn finds the first part of a vector literal that looks like code. It looks
// into vectors and maps; source nesting bounds its recursion.
func (a *analysis) codeIn(n coreform.Node) (coreform.Node, bool) {
	for i, k := range n.Kids {
		switch k.Term.Kind() {
		case coreform.KindSym:
			if name, _ := k.Term.AsSym(); a.bound(name) {
				return k, true
			}
		case coreform.KindPair:
			if name := head(k); coreform.IsSpecialForm(name) || a.bound(name) {
				return k, true
			}
		case coreform.KindMap:
			if at, ok := a.codeIn(coreform.Node{Kids: valuesOf(k)}); ok {
				return at, true
			}
		case coreform.KindVec:
			if at, ok := a.codeIn(n.Kids[i]); ok {
				return at, true
			}
		}
	}
	return coreform.Node{}, false
}

// valuesOf returns the values of a map node, in source order.
func valuesOf(n coreform.Node) []coreform.Node {
	var out []coreform.Node
	for i := 1; i < len(n.Kids); i += 2 {
		out = append(out, n.Kids[i])
	}
	return out
}

// bound reports whether a name means something other than itself.
func (a *analysis) bound(name string) bool {
	_, where := a.meaning(name)
	return where != nowhere && where != keyword
}
