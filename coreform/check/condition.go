package check

import (
	"fmt"

	"github.com/gcrun/gcrun/coreform"
)

// condition reports a condition that is not one. A condition that is written
// out, such as true or :else, is meant so. told says that problems in it were
// reported. (spec CHK-COND-1, CHK-COND-2)
func (a *analysis) condition(n coreform.Node, v value, told bool) {
	const notFalse = "only nil and false count as false"
	switch {
	case v.kinds == 0 || isLiteral(n):
	case v.partial():
		a.problem(n, Warning, "check/partial", "give it the rest of its arguments",
			"the condition is %s, which counts as true", waiting(v))
	case v.kinds&^kFailure == 0 && told: // why is known
	case v.kinds&^kFailure == 0:
		a.problem(n, Warning, "check/condition", "compute the condition without an error, or test for the error with core/error::is?",
			"the condition is always an error, which counts as true")
	case v.kinds&(kNil|kBool) == 0:
		a.problem(n, Warning, "check/condition", "compare the value with something; "+notFalse,
			"the condition is always true: it is %s", v.kinds)
	case v.kinds&kAnswer != 0:
		a.problem(n, Warning, "check/untested-error", "test it with core/error::is? first, or handle it with core/effect::catch",
			"the condition can be the error of an operation that was refused or failed, which counts as true")
	}
}

// isLiteral reports whether an expression is a value written out.
func isLiteral(n coreform.Node) bool {
	switch n.Term.Kind() {
	case coreform.KindPair:
		return head(n) == "quote"
	case coreform.KindSym:
		s, _ := n.Term.AsSym()
		return s[0] == ':'
	}
	return true
}

// waiting describes a partly applied function.
func waiting(v value) string {
	rest := fmt.Sprintf("%d more arguments", v.fn.arity-v.given)
	if v.fn.arity-v.given == 1 {
		rest = "1 more argument"
	}
	if v.fn.name == "" {
		return "a function that waits for " + rest
	}
	return fmt.Sprintf("the function %s waiting for %s", v.fn.name, rest)
}
