package effects

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/effects/guest"
	"github.com/gcrun/gcrun/internal/digest"
)

// Ask is one request with everything the loop knows of it before it is
// answered.
type Ask struct {
	I           uint64 // position the entry will have
	Task        guest.TaskID
	R           uint64 // request number
	Req         *guest.Request
	PayloadHash digest.Digest // term hash of the payload
}

// ReqHash is the request hash of the ask.
func (a *Ask) ReqHash() digest.Digest {
	return coreform.RequestHash(a.Req.Op, a.PayloadHash, a.Req.ContHash)
}

// Answer is what a request came to.
type Answer struct {
	Allow    bool
	Reason   string         // reason code of a denial
	Cap      coreform.Value // the grant without paths; nil on deny
	Response guest.Response
	// Digest is the native digest of the response.
	Digest digest.Digest
	// Log says what of the request enters the log; "" is LogFull.
	Log LogMode
}

// LogMode says how much of a request enters the log.
type LogMode string

// The modes. Withheld values are kept as digest and length: a replay checks a
// withheld payload, and cannot go past a withheld response.
const (
	LogFull   LogMode = "full"   // payload and response
	LogHash   LogMode = "hash"   // the payload is withheld
	LogRedact LogMode = "redact" // both are
)

// Answerer gives answers: live from policy and handlers, or from a log.
type Answerer interface {
	// Answer answers one request. An error stops the run: ctx's, a *Failure, or
	// an error of the implementation's own (a divergence, say), which Run.Do
	// hands on in its result.
	Answer(ctx context.Context, ask *Ask) (Answer, error)
}

// Recorder keeps what happened. A nil Recorder keeps nothing.
type Recorder interface {
	// Record keeps one answered request. When it returns, the entry is written:
	// the program may see the answer. An error is a fault of the host.
	Record(ask *Ask, ans *Answer) error
}

// Failure is a fault of the host or of gcrun: nothing a program can be told of.
type Failure struct {
	Op  string // the operation that was being performed, if any
	Err error
}

func (f *Failure) Error() string {
	if f.Op == "" {
		return f.Err.Error()
	}
	return f.Op + ": " + f.Err.Error()
}

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.Err }

// Causes of a cut, for context.WithCancelCause and friends: what ended the
// context decides the outcome of the run.
var (
	ErrInterrupted = errors.New("interrupted")
	ErrWall        = errors.New("the time the run may take is over")
)

// Run is one run of a program.
type Run struct {
	Program  guest.Program
	Answers  Answerer
	Recorder Recorder
	// Budgets are the limits of the run by name ("max_effect_ops", …), as in the
	// header of a log: defaults filled in, unlimited ones absent.
	Budgets map[string]int64
}

// Result is how a run went.
type Result struct {
	Outcome guest.Outcome
	Entries uint64
	Denials []Denial // by op, in the order of the first

	Done  *guest.Done  // the end of the main task, if it ended
	Fatal *guest.Fatal // the program's own failure, if it failed
	// Err is what stopped the run from outside the program: a *Failure, or an
	// error of the Answerer. It is nil for interrupted and wall.
	Err error
}

// Denial is an operation that was refused during a run.
type Denial struct {
	Op     string
	Count  uint64
	Reason string         // reason code of the first
	First  *guest.Request // the first request refused
}

// Do drives the program to its end. It does not return early on denials or
// errors the program can see. Cancelling ctx ends the run with outcome wall if
// the cause is ErrWall, else interrupted; the recorder then has a whole number
// of entries.
func (r *Run) Do(ctx context.Context) *Result {
	l := &loop{Run: r, res: &Result{}, budget: newBudget(r.Budgets), denials: map[digest.Digest]bool{}}
	err := l.run(ctx)
	l.res.Entries = l.i
	l.end(ctx, err)
	return l.res
}

// loop is the state of Do. Tasks are a set of which the main task is the only
// one so far; the loop picks the runnable task with the lowest id.
type loop struct {
	*Run
	res     *Result
	budget  *budget
	tasks   []task // runnable or waiting, by id
	i, r    uint64
	denials map[digest.Digest]bool // state hashes of deny answers
}

type task struct {
	id     guest.TaskID
	answer *guest.Response // nil before the first step
}

func (l *loop) run(ctx context.Context) error {
	l.tasks = []task{{id: 0}}
	for len(l.tasks) > 0 {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		t := &l.tasks[0]
		step, err := l.Program.Step(ctx, t.id, t.answer)
		if err != nil {
			return err
		}
		switch {
		case step.Done != nil:
			if t.id == 0 {
				l.res.Done = step.Done
			}
			l.tasks = l.tasks[1:]
		case step.Request != nil:
			if t.answer, err = l.effect(ctx, t.id, step.Request); err != nil {
				return err
			}
		default:
			return &Failure{Err: errors.New("this version runs one task only")}
		}
	}
	return nil
}

// effect takes one request from hash to answer. (spec EFF-ORDER-1)
func (l *loop) effect(ctx context.Context, id guest.TaskID, req *guest.Request) (*guest.Response, error) {
	payloadHash, err := coreform.TermHash(req.Payload)
	if err != nil {
		return nil, &Failure{Op: req.Op, Err: fmt.Errorf("hashing the payload: %w", err)}
	}
	ask := &Ask{I: l.i, Task: id, R: l.r, Req: req, PayloadHash: payloadHash}
	l.r++
	if err := l.budget.request(req); err != nil {
		return nil, err
	}
	ans, err := l.Answers.Answer(ctx, ask)
	if err != nil {
		return nil, err
	}
	if ans.Digest.IsZero() {
		ans.Digest = ans.Response.Digest()
	}
	if l.Recorder != nil {
		if err := l.Recorder.Record(ask, &ans); err != nil {
			return nil, &Failure{Op: req.Op, Err: err}
		}
	}
	l.i++
	if !ans.Allow {
		l.denied(req, &ans)
	}
	if err := l.budget.response(ans.Response); err != nil {
		return nil, err
	}
	return &ans.Response, nil
}

func (l *loop) denied(req *guest.Request, ans *Answer) {
	l.denials[ans.Digest] = true
	at := slices.IndexFunc(l.res.Denials, func(d Denial) bool { return d.Op == req.Op })
	if at < 0 {
		at = len(l.res.Denials)
		l.res.Denials = append(l.res.Denials, Denial{Op: req.Op, Reason: ans.Reason, First: req})
	}
	l.res.Denials[at].Count++
}

// end works out the outcome.
func (l *loop) end(ctx context.Context, err error) {
	o := &l.res.Outcome
	o.Steps = l.Program.Usage().Steps
	var fatal *guest.Fatal
	var fail *Failure
	switch {
	case err == nil:
		l.ended(o)
	case errors.As(err, &fatal):
		l.res.Fatal = fatal
		o.Kind, o.Code, o.Place = guest.OutcomeError, fatal.Code, fatal.Span
		if fatal.Limit != nil {
			o.Kind, o.Context = guest.OutcomeLimit, limitContext(fatal.Limit)
		}
	case errors.Is(err, ErrWall):
		o.Kind, o.Code = guest.OutcomeWall, "core/limit/wall"
	case errors.Is(err, ErrInterrupted), ctx.Err() != nil && errors.Is(err, ctx.Err()):
		o.Kind, o.Code = guest.OutcomeInterrupted, "core/run/interrupted"
		if errors.Is(context.Cause(ctx), ErrWall) {
			o.Kind, o.Code = guest.OutcomeWall, "core/limit/wall"
		}
	case errors.As(err, &fail):
		l.res.Err = err
		o.Kind, o.Code = guest.OutcomeHostFailure, "core/run/host-failure"
	default:
		l.res.Err = err
		o.Kind, o.Code = guest.OutcomeHostFailure, "core/run/host-failure"
	}
}

func (l *loop) ended(o *guest.Outcome) {
	d := l.res.Done
	o.Kind, o.Value = guest.OutcomeOK, &d.Digest
	if !d.IsError {
		return
	}
	o.Kind, o.Place = guest.OutcomeError, d.Span
	if m, ok := d.Payload.AsMap(); ok {
		if code, ok := m.Get(coreform.Sym(":error/code")); ok {
			o.Code, _ = code.AsStr()
		}
	}
	if d.Payload.IsTerm() {
		o.Context = d.Payload
	}
	if l.denials[coreform.StateHash(d.Payload)] {
		o.Kind = guest.OutcomeDenied
	}
}

func limitContext(l *guest.Limit) coreform.Value {
	return coreform.MapOf(
		coreform.Entry{Key: coreform.Sym(":dimension"), Value: coreform.Str(l.Dimension)},
		coreform.Entry{Key: coreform.Sym(":limit"), Value: coreform.Int(l.Limit)},
		coreform.Entry{Key: coreform.Sym(":observed"), Value: coreform.Int(l.Observed)},
	)
}
