// Package kernel evaluates CoreForm: it compiles canonical modules to code and
// runs that on a machine with its own stack, exactly and within limits.
//
// The main types are [Program] (a loaded module and its one run, a
// guest.Program), [Library] (the definitions a program sees beside its own),
// [Native] (one of them, written in Go), [Limits], and [Fn], [Sealed],
// [Contract], [Effect] (the values that are not data).
//
// The way through:
//
//	Load       source → canonical module → code (compile.go)
//	Program.Step → Machine.run (machine.go), calls in call.go, stacks in frames.go
//	             → a request with the state hash of its continuation, or the end
//
// What a function hashes as is in function.go and defhash.go, what a program that
// is watched tells in watch.go, where errors come from in trace.go.
//
// Evaluation is a pure function of source, limits and answers: value, steps,
// units and hashes do not depend on time, place or optimization. What goes
// wrong is a sealed error, a value the program can look at (errors.go), or a
// *guest.Fatal, which ends the run (unbound names, calls of what is no
// function, limits). Memory is counted by the model of spec/limits.md, not by
// what Go allocates (limits.go, live.go).
//
// Nothing here recurses on what a program holds. The compiler recurses on the
// nesting of the source, which the canonicalizer bounds. The normative text is
// spec/language.md.
package kernel
