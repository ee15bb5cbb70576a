// Package ops is the catalogue of operations a program can ask for, as plain
// data: payload shape, class, limits, answers, policy keys. It is what policy
// knows valid names from, what the effect loop checks payloads against, and
// what documentation is printed from. It performs nothing.
//
// The main types are [Op] (one operation), [Field] (one key of a payload),
// [Fault] (why a payload was refused) and [Code] (one error code a program can
// see, with its fixed text).
//
// The way through:
//
//	Lookup  name → *Op
//	CheckPayload  *Op, payload → nil or the first *Fault
//	PayloadBytes  payload → its size against the payload budgets
//	ErrorPayload  code, op, context → the term sealed as an error
//
// The catalogue holds every operation of the design, so that a policy can name
// all of them; those without a handler in this version say so with
// Op.Implemented and are answered with core/caps/unknown-op.
//
// Everything here is immutable after start, pure and safe for concurrent use.
// What the functions return must not be changed. The normative texts are
// spec/policy.md (names, families, keys) and spec/errors.md (codes).
package ops
