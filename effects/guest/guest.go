// Package guest says what a program is to the runner: plain data and one small
// interface, so that the effect loop, the log and the policy know nothing of
// how a program is evaluated. CoreForm programs implement [Program] in package
// coreform/kernel; another kind of guest would implement the same.
//
// A program is stepped. Every [Step] is exactly one of: a request (operation,
// payload, continuation hash), a spawned task, or the end of a task. The runner
// answers a request with a [Response] and steps the task again. A program never
// touches anything: what it wants, it asks for.
package guest

import (
	"context"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/internal/digest"
)

// TaskID names a task of a run; the main task is 0.
type TaskID uint64

// Program is a loaded program and the state of its one run. It is used by one
// goroutine at a time.
type Program interface {
	// Info returns what identifies the program. It does not change.
	Info() Info

	// Step runs a task until its next request, spawn or end. The first step of a
	// task has a nil answer; afterwards answer is the response to its last
	// request. The error is a *[Fatal] when the program itself failed (its own
	// error or a limit), ctx.Err() when ctx was done, and anything else is a
	// fault of the host or of gcrun. After an error the program is over.
	Step(ctx context.Context, task TaskID, answer *Response) (Step, error)

	// Usage returns what the run has used so far.
	Usage() Usage
}

// Info identifies a program.
type Info struct {
	Kind    ProgramKind
	Hash    digest.Digest // module hash, or package digest
	Name    string        // display name: a base name, never a path
	Sources []Source      // in load order, exactly as read
	Entry   string        // package entry function, "" for a module

	LanguageProfile  string // "gcrun/language/1"
	StateHashProfile int

	// Limits are the effective limits that can influence the outcome, defaults
	// filled in, unlimited ones absent. Names are those of flags with "_".
	Limits map[string]int64
}

// ProgramKind tells how Info.Hash is to be understood.
type ProgramKind string

// The kinds of programs.
const (
	KindModule  ProgramKind = "module"
	KindPackage ProgramKind = "package"
)

// Source is one source file of a program.
type Source struct {
	Package string // package name, "" for a single module
	Path    string // portable module path, for a single module its base name
	Bytes   []byte // exactly as read
}

// Step is what a task did: exactly one field is set.
type Step struct {
	Request *Request
	Spawn   *Spawn
	Done    *Done
}

// Request is what a program asks for.
type Request struct {
	Op       string         // a qualified symbol such as io/fs::read
	Payload  coreform.Value // a term
	ContHash digest.Digest  // state hash of the asking task's continuation
	Span     Span
}

// Spawn asks the runner to start another task.
type Spawn struct {
	Task TaskID
	Span Span
}

// Done is how a task ended: with a value, which may be a sealed error.
type Done struct {
	Value   coreform.Value // any value, not necessarily a term
	Digest  digest.Digest  // its state hash
	IsError bool           // Value is sealed with ERROR
	Payload coreform.Value // the payload of the sealed error
	Span    Span           // where a sealed error was made, if known
	Stack   []Frame        // the calls under which it was made, innermost first, if known
	Maker   string         // the primitive or native that made it, "" if none or unknown
}

// RespKind tells a plain answer from one the program sees as a sealed error.
type RespKind uint8

// The kinds of responses.
const (
	RespOK RespKind = iota
	RespError
)

// String returns "ok" or "error".
func (k RespKind) String() string {
	if k == RespError {
		return "error"
	}
	return "ok"
}

// Response is the answer to a request: a term, or the payload (a term) of the
// sealed error that the program gets.
type Response struct {
	Kind  RespKind
	Value coreform.Value
}

// Digest is the native digest of the response: the state hash of the term.
func (r Response) Digest() digest.Digest { return coreform.StateHash(r.Value) }

// Span is a place in a program's source. The zero Span is "unknown".
type Span struct {
	File     string // Source.Path
	Off, End int    // byte range
}

// Known reports whether the span names a place.
func (s Span) Known() bool { return s.File != "" }

// Usage is what a run has used. Steps and units are deterministic.
type Usage struct {
	Steps      int64 // evaluation steps
	AllocUnits int64 // units of 16 bytes allocated in all
	LiveUnits  int64 // units alive at the last count
}

// Fatal is a failure of the program that it cannot catch. (spec/errors.md)
type Fatal struct {
	Code    string // stable code, such as core/fatal/unbound-symbol
	Message string // one sentence, fixed per code but for names it mentions
	Hint    string // next step for a person, may be empty
	Span    Span
	Stack   []Frame // innermost first, bounded
	Limit   *Limit  // set iff a limit was exhausted
}

func (f *Fatal) Error() string { return f.Code + ": " + f.Message }

// Frame is one call on the stack of a Fatal.
type Frame struct {
	Name string // definition, "" if unknown
	Span Span
}

// Limit says which limit was exhausted.
type Limit struct {
	Dimension       string // "steps", "live-units", …
	Observed, Limit int64
}

// OutcomeKind is how a run ended.
type OutcomeKind string

// The kinds of outcomes. Limit, denied, ok and error are the program's own;
// the other three are cuts: the program could have gone on.
const (
	OutcomeOK          OutcomeKind = "ok"
	OutcomeError       OutcomeKind = "error"
	OutcomeLimit       OutcomeKind = "limit"
	OutcomeDenied      OutcomeKind = "denied"
	OutcomeHostFailure OutcomeKind = "host-failure"
	OutcomeInterrupted OutcomeKind = "interrupted"
	OutcomeWall        OutcomeKind = "wall"
)

// IsCut reports whether the run was cut off rather than ended by the program.
func (k OutcomeKind) IsCut() bool {
	return k == OutcomeHostFailure || k == OutcomeInterrupted || k == OutcomeWall
}

// Outcome is how a run ended, as it enters the log.
type Outcome struct {
	Kind    OutcomeKind
	Code    string         // stable code; "" for ok
	Context coreform.Value // a term with the facts, nil if none
	Value   *digest.Digest // state hash of the final value, nil if there is none
	Steps   int64          // steps used when it ended; information
	Place   Span           // where it ended, if known; information
}
