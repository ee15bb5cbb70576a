// Package check finds faults of a CoreForm module without running it: names that
// mean nothing, calls with a wrong number of arguments, conditions that are
// always true, operations that are performed and not declared, and so on.
//
// The main types are [Problem] (one finding, with its place) and [Severity].
//
// The way through:
//
//	Module   source → canonical module (package coreform)
//	         → facts about the library and the module (analysis.go): of which
//	           kinds (kinds.go) the value of every definition can be, computed by
//	           going over all code until nothing changes
//	         → problems: one more time over the code (expr.go, call.go), and over
//	           the definitions (definitions.go, early.go) and operations (ops.go)
//	         → sorted by place
//
// What is said is certain: an error is reported for code that cannot work when
// it is reached, a warning for code that does something other than it seems to.
// Where nothing is known nothing is reported. The kinds that primitives and
// natives take and give stand in signatures.go; what functions written in
// CoreForm give is found from their code, and so are the operations that
// functions of the library perform.
//
// Nothing is run, everything is bounded: recursion by the depth of canonical
// code, the number of passes, of problems and of comparisons of names by
// constants. The normative text is spec/check.md.
package check
