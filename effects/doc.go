// Package effects is the loop between a program and the world. A program yields
// requests; each is hashed, counted against the budgets of the run, answered,
// written down, and only then is the answer shown to the program.
//
// The main types are [Run] (one run: the loop), [Answerer] (where answers come
// from), [Recorder] (where entries go), [Live] (the Answerer of a recording:
// policy, payload check, limits, handlers) and [Handler] (one family of
// operations). Replay is the same loop with an Answerer that reads a log; no
// handler is reachable then, by construction.
//
// The order of work per effect is that of spec/effects.md (EFF-ORDER-1). Only
// three things stop a run: the program's own fatal error, a limit of the run,
// and a fault of the host. Everything else is an answer.
package effects
