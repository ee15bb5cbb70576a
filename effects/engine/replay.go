package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/gcrun/gcrun/coreform/kernel"
	"github.com/gcrun/gcrun/coreform/prelude"
	"github.com/gcrun/gcrun/effects"
	"github.com/gcrun/gcrun/effects/guest"
	"github.com/gcrun/gcrun/gclog"
	"github.com/gcrun/gcrun/internal/digest"
)

// Verdict is what a replay found.
type Verdict struct {
	// Faithful is true when the program, given the answers of the log, asked for
	// and ended as the log says; for a log that was cut, up to the cut.
	Faithful bool
	// Cut is true when the log ends before the program did.
	Cut bool
	// Incomplete is true when the file ends before its locator.
	Incomplete bool
	// Divergence is the first difference, nil if there is none.
	Divergence *Divergence
	// Entries is how many entries were replayed.
	Entries uint64
	// Root is the transcript root of the log; of an incomplete one, so far.
	Root digest.Digest
	// Recorded is the outcome in the log, nil if it was cut before it.
	Recorded *gclog.Outcome
	// Done is the end of the replayed program, nil if it did not come to one.
	Done *guest.Done
	// Fatal is the program's own failure, reproduced.
	Fatal *guest.Fatal
	// Program is what the log embeds.
	Program guest.Info
}

// ReplayOptions says how a log is replayed. The zero value replays exactly.
type ReplayOptions struct {
	// AllowIncomplete replays a log that has no end, up to where it was cut.
	AllowIncomplete bool
	// OnEntry, if set, is called for every replayed entry in order.
	OnEntry func(*gclog.Entry)
}

// Replay verifies a log, loads the program it embeds, and runs it on the
// recorded answers. Nothing but the log is read. The error is a
// *gclog.FormatError for a log that is incomplete (unless allowed), damaged or
// of another version, a *StaleError for an embedded program that does not load to
// the recorded hash, or ctx's.
func Replay(ctx context.Context, log *gclog.Log, o ReplayOptions) (*Verdict, error) {
	report, checked := log.Check(ctx)
	if checked != nil && !(o.AllowIncomplete && errors.Is(checked, gclog.ErrIncomplete)) {
		return nil, checked
	}
	p, budgets, err := programOf(log, report.Outcome)
	if err != nil {
		return nil, err
	}
	v := &Verdict{Root: report.Root, Recorded: report.Outcome, Program: p.Info()}
	v.Cut = report.Outcome == nil || isCut(report.Outcome)
	v.Incomplete = checked != nil
	a := &logAnswers{scan: log.Scan(), onEntry: o.OnEntry, limit: report.Entries}
	run := &effects.Run{Program: p, Answers: a, Budgets: budgets}
	res := run.Do(ctx)
	v.Entries, v.Done, v.Fatal = res.Entries, res.Done, res.Fatal
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	switch {
	case errors.As(res.Err, &v.Divergence):
	case errors.Is(res.Err, errCut) && v.Cut:
		v.Faithful = true
	case a.at == a.limit && res.Fatal != nil && report.Outcome != nil && cutComputing(report.Outcome) &&
		res.Fatal.Code == "core/limit/steps": // as far as the run came
		v.Faithful, v.Fatal = true, nil
	case errors.Is(res.Err, errCut):
		v.Divergence = a.missing()
	case res.Err != nil:
		return nil, res.Err
	default:
		v.Divergence = a.ended(res, report.Outcome)
		v.Faithful = v.Divergence == nil
	}
	if v.Divergence != nil {
		v.Divergence.locate(p.Info())
	}
	return v, nil
}

// Diagnose runs another program on the answers of a log and returns the first
// difference a person would look for: the first entry whose request differs, or
// else the first whose continuation does, or how the program ended. It is nil
// only if nothing differs. The log must be a checked one, and p loaded under
// [Limits] of it. The error is ctx's, or that of reading the log.
func Diagnose(ctx context.Context, log *gclog.Log, p guest.Program) (*Divergence, error) {
	_, budgets := splitLimits(log.Header().Limits)
	n, recorded := log.Len()
	if !recorded {
		n = ^uint64(0)
	}
	a := &logAnswers{scan: log.Scan(), limit: n, lenient: true}
	res := (&effects.Run{Program: p, Answers: a, Budgets: budgets}).Do(ctx)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	var d *Divergence
	switch {
	case errors.As(res.Err, &d):
	case errors.Is(res.Err, errCut):
		d = a.missing()
	case res.Err != nil:
		return nil, res.Err
	default:
		out, _ := log.Outcome()
		d = a.ended(res, out)
	}
	if d == nil {
		d = a.goesOn
	}
	if d != nil {
		d.locate(p.Info())
	}
	return d, nil
}

// Limits returns the evaluator's limits of a log, under which another program
// is loaded to be diagnosed on it.
func Limits(log *gclog.Log) kernel.Limits {
	l, _ := splitLimits(log.Header().Limits)
	return l
}

// cutComputing reports whether a run may have been cut while it computed, rather
// than while it waited for an answer.
func cutComputing(o *gclog.Outcome) bool {
	return o.Kind == guest.OutcomeInterrupted || o.Kind == guest.OutcomeWall
}

// isCut reports whether a run was cut off by what its log cannot repeat: by the
// host, or by the size of the log itself.
func isCut(o *gclog.Outcome) bool {
	return o.Kind.IsCut() || o.Kind == guest.OutcomeLimit && o.Code == codeLogFull
}

// StaleError says that the program in a log does not load to the hash the log
// was recorded with, or not at all: it was recorded by another version.
type StaleError struct {
	Reason string
	Err    error
}

func (e *StaleError) Error() string {
	if e.Err != nil {
		return e.Reason + ": " + e.Err.Error()
	}
	return e.Reason
}

// Unwrap returns the cause.
func (e *StaleError) Unwrap() error { return e.Err }

// programOf loads the program a log embeds under the limits of its header.
//
// A run that was cut while it computed is not followed further than it came:
// its steps are the limit then.
func programOf(log *gclog.Log, recorded *gclog.Outcome) (*kernel.Program, map[string]int64, error) {
	h := log.Header()
	sources, err := log.Sources()
	if err != nil {
		return nil, nil, err
	}
	if h.Kind != guest.KindModule || len(sources) != 1 {
		return nil, nil, &StaleError{Reason: fmt.Sprintf("this version replays single modules, the log is of a %s with %d sources", h.Kind, len(sources))}
	}
	limits, budgets := splitLimits(h.Limits)
	if recorded != nil && cutComputing(recorded) {
		limits.Steps = max(1, recorded.Steps)
	}
	p, err := kernel.Load(sources[0].Path, sources[0].Bytes, prelude.Library(), limits)
	if err != nil {
		return nil, nil, &StaleError{Reason: "the program in the log does not load", Err: err}
	}
	if got := p.Info().Hash; got != h.Program {
		return nil, nil, &StaleError{Reason: fmt.Sprintf("the program in the log hashes to %s, its header says %s", got, h.Program)}
	}
	return p, budgets, nil
}

// splitLimits tells the limits of the evaluator from the budgets of the loop.
func splitLimits(all map[string]int64) (kernel.Limits, map[string]int64) {
	budgets := maps.Clone(all)
	evaluator := map[string]int64{}
	for _, name := range kernel.LimitNames() {
		if v, ok := all[name]; ok {
			evaluator[name] = v
			delete(budgets, name)
		}
	}
	limits, _ := kernel.LimitsFromNames(evaluator)
	return limits, budgets
}

// errCut stops a replay where the log ends.
var errCut = errors.New("the log ends here")

// logAnswers answers from a log, comparing every request with the recorded one.
type logAnswers struct {
	scan    *gclog.Scanner
	onEntry func(*gclog.Entry)
	limit   uint64 // whole entries of the log
	at      uint64
	asked   *effects.Ask // what was asked when the log had ended

	// lenient goes on where only the continuation differs, which it does for
	// every edit of a program; goesOn is the first such place.
	lenient bool
	goesOn  *Divergence
}

// Answer implements effects.Answerer. The error is errCut or a *Divergence.
func (l *logAnswers) Answer(_ context.Context, ask *effects.Ask) (effects.Answer, error) {
	if l.at >= l.limit || !l.scan.Next() {
		l.asked = ask
		return effects.Answer{}, errCut
	}
	e := l.scan.Entry()
	if d := compare(e, ask); d != nil {
		if !l.lenient || d.Field != FieldContinuation {
			return effects.Answer{}, d
		}
		if l.goesOn == nil {
			l.goesOn = d
		}
	}
	resp, err := e.Resp.Value()
	if err != nil {
		return effects.Answer{}, &effects.Failure{Op: e.Op, Err: err}
	}
	ans := effects.Answer{
		Allow: e.Decision == gclog.Allow, Reason: e.Reason, Cap: e.Cap,
		Response: guest.Response{Kind: e.RespKind, Value: resp}, Digest: e.RespDigest,
	}
	if ans.Response.Digest() != e.RespDigest {
		d := newDivergence(e, ask, FieldResponse)
		d.Recorded, d.Asked = e.RespDigest.String(), ans.Response.Digest().String()
		return effects.Answer{}, d
	}
	l.at++
	if l.onEntry != nil {
		l.onEntry(e)
	}
	return ans, nil
}

// missing is the divergence of a program that asks for more than a complete log
// holds.
func (l *logAnswers) missing() *Divergence {
	d := newDivergence(nil, l.asked, FieldMissing)
	d.Index = l.at
	return d
}

// ended compares how a replayed program ended with the log.
func (l *logAnswers) ended(res *effects.Result, recorded *gclog.Outcome) *Divergence {
	if l.at < l.limit && l.scan.Next() {
		d := newDivergence(l.scan.Entry(), nil, FieldLeftover)
		d.Asked = "the end of the program: " + string(res.Outcome.Kind)
		return d
	}
	switch {
	case recorded == nil, cutComputing(recorded):
		// The run was cut while the program worked on the last answer: that it
		// ends from there without asking again is what would have happened.
		return nil
	case isCut(recorded): // a failing host or a full log cuts within a request
		d := &Divergence{Index: l.at, Field: FieldOutcome, Asked: outcomeText(res.Outcome)}
		d.Recorded = "the run was cut while the program waited for an answer"
		return d
	}
	return compareOutcome(l.at, recorded, res.Outcome)
}
