package engine

import (
	"fmt"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/effects"
	"github.com/gcrun/gcrun/effects/guest"
	"github.com/gcrun/gcrun/gclog"
)

// Field names what differs first between a log and its replay.
type Field string

// The fields in the order they are compared. (spec REP-ORDER-1)
const (
	FieldTask         Field = "task"
	FieldRequest      Field = "r"
	FieldOp           Field = "op"
	FieldPayload      Field = "payload"
	FieldContinuation Field = "continuation"
	FieldDecision     Field = "decision"
	FieldResponse     Field = "response"
	FieldLeftover     Field = "leftover"
	FieldMissing      Field = "missing"
	FieldOutcome      Field = "outcome"
)

// Code is the stable code of a divergence in this field.
func (f Field) Code() string { return "replay/" + string(f) + "-mismatch" }

// Divergence is the first difference between a log and the program replayed on
// it. It is an error so that it can stop the loop.
type Divergence struct {
	Index uint64 // the entry
	Task  guest.TaskID
	R     uint64
	Field Field

	RecordedOp, AskedOp string // "" when there is no such request
	// RecordedPayload and AskedPayload are the whole payloads where they are at
	// hand.
	RecordedPayload, AskedPayload *coreform.Value

	// Path leads to the smallest differing subtree of the payload, as keys and
	// indices; Recorded and Asked show it, or the digests or outcomes that
	// differ. They may be long and hold anything: escape and cut them.
	Path            []string
	Recorded, Asked string

	Span guest.Span // where the program asks
	Line int        // 1-based, 0 if unknown
	Col  int
	Text string // the source line
	Hint string
}

func (d *Divergence) Error() string {
	return fmt.Sprintf("entry %d: %s", d.Index, d.Field.Code())
}

func newDivergence(e *gclog.Entry, ask *effects.Ask, f Field) *Divergence {
	d := &Divergence{Field: f}
	if e != nil {
		d.Index, d.Task, d.R, d.RecordedOp, d.Span = e.I, e.Task, e.R, e.Op, e.Span
		if v, err := e.Payload.Value(); err == nil {
			d.RecordedPayload = &v
		}
	}
	if ask != nil {
		d.Index, d.Task, d.R, d.AskedOp, d.Span = ask.I, ask.Task, ask.R, ask.Req.Op, ask.Req.Span
		d.AskedPayload = &ask.Req.Payload
	}
	return d
}

// compare returns the first difference between an entry and a request.
func compare(e *gclog.Entry, ask *effects.Ask) *Divergence {
	differs := func(f Field, recorded, asked any) *Divergence {
		d := newDivergence(e, ask, f)
		d.Recorded, d.Asked = fmt.Sprint(recorded), fmt.Sprint(asked)
		return d
	}
	switch {
	case e.Task != ask.Task:
		return differs(FieldTask, e.Task, ask.Task)
	case e.R != ask.R:
		return differs(FieldRequest, e.R, ask.R)
	case e.Op != ask.Req.Op:
		return differs(FieldOp, e.Op, ask.Req.Op)
	case e.PayloadHash != ask.PayloadHash:
		d := differs(FieldPayload, e.PayloadHash, ask.PayloadHash)
		d.payload()
		return d
	case e.ContHash != ask.Req.ContHash:
		d := differs(FieldContinuation, e.ContHash, ask.Req.ContHash)
		d.Hint = "the request is the same, but what the program would do with the answer is not: a captured variable or the code differs"
		return d
	}
	if fault := capFault(e); fault != "" {
		return differs(FieldDecision, fault, "")
	}
	return nil
}

// capFault checks that decision and cap of an entry go together.
func capFault(e *gclog.Entry) string {
	if e.Decision == gclog.Deny {
		if !e.Cap.IsNil() || e.RespKind != guest.RespError {
			return "a denial with a capability or a plain answer"
		}
		return ""
	}
	m, ok := e.Cap.AsMap()
	if !ok {
		return "an allowed request without a capability"
	}
	if op, _ := m.Get(coreform.Sym(":op")); !op.IsSym(e.Op) {
		return "an allowed request with the capability of another operation"
	}
	return ""
}

// payload narrows two payloads down to where they differ.
func (d *Divergence) payload() {
	if d.RecordedPayload == nil || d.AskedPayload == nil {
		d.Hint = "the log keeps only the digest of the recorded payload"
		return
	}
	path, a, b := smallestDifference(*d.RecordedPayload, *d.AskedPayload)
	d.Path, d.Recorded, d.Asked = path, showSide(a), showSide(b)
}

const shownText = 2000

func showSide(v *coreform.Value) string {
	if v == nil {
		return "(nothing)"
	}
	return coreform.FormatLossy(*v, shownText)
}

// smallestDifference walks two terms down as long as exactly one part differs,
// and returns the path and the two parts; nil stands for a part that one side
// does not have.
func smallestDifference(a, b coreform.Value) (path []string, x, y *coreform.Value) {
	for {
		step, ka, kb, ok := onePartDiffers(a, b)
		if !ok {
			return path, &a, &b
		}
		path = append(path, step)
		if ka == nil || kb == nil {
			return path, ka, kb
		}
		a, b = *ka, *kb
	}
}

// onePartDiffers finds the only differing element of two containers of one
// kind. ok is false when they differ in more than one place, or are atoms.
func onePartDiffers(a, b coreform.Value) (step string, x, y *coreform.Value, ok bool) {
	found := 0
	note := func(s string, p, q *coreform.Value) {
		if p != nil && q != nil && coreform.Equal(*p, *q) {
			return
		}
		found++
		step, x, y = s, p, q
	}
	ma, isMap := a.AsMap()
	mb, isMapB := b.AsMap()
	if isMap && isMapB {
		for k, v := range ma.All() {
			other := optional(mb.Get(k))
			note(coreform.FormatLossy(k, 100), &v, other)
		}
		for k, v := range mb.All() {
			if _, both := ma.Get(k); !both {
				note(coreform.FormatLossy(k, 100), nil, &v)
			}
		}
		return step, x, y, found == 1
	}
	ea, okA := elements(a)
	eb, okB := elements(b)
	if !okA || !okB || a.Kind() != b.Kind() || len(ea) != len(eb) {
		return "", nil, nil, false
	}
	for i := range ea {
		note(fmt.Sprint(i), &ea[i], &eb[i])
	}
	return step, x, y, found == 1
}

func optional(v coreform.Value, ok bool) *coreform.Value {
	if !ok {
		return nil
	}
	return &v
}

func elements(v coreform.Value) ([]coreform.Value, bool) {
	if x, ok := v.AsVec(); ok {
		return x.Slice(), true
	}
	if v.Kind() == coreform.KindPair {
		return coreform.ListElems(v)
	}
	return nil, false
}

// locate fills in line, column and text of the place from the program's source.
func (d *Divergence) locate(info guest.Info) {
	if !d.Span.Known() {
		return
	}
	for _, s := range info.Sources {
		if s.Path == d.Span.File && d.Span.Off <= len(s.Bytes) {
			d.Line, d.Col = coreform.Position(s.Bytes, d.Span.Off)
			d.Text = string(coreform.SourceLine(s.Bytes, d.Span.Off))
		}
	}
}

func outcomeText(o guest.Outcome) string {
	if o.Code == "" {
		return string(o.Kind)
	}
	return string(o.Kind) + " " + o.Code
}

// compareOutcome compares how the run ended.
func compareOutcome(at uint64, rec *gclog.Outcome, got guest.Outcome) *Divergence {
	d := &Divergence{Index: at, Field: FieldOutcome, Span: got.Place}
	switch {
	case rec.Kind != got.Kind || rec.Code != got.Code:
		d.Recorded = outcomeText(guest.Outcome{Kind: rec.Kind, Code: rec.Code})
		d.Asked = outcomeText(got)
	case (rec.Value == nil) != (got.Value == nil) || rec.Value != nil && *rec.Value != *got.Value:
		d.Recorded, d.Asked = fmt.Sprint("final value ", rec.Value), fmt.Sprint("final value ", got.Value)
	case (rec.ContextDigest == nil) != got.Context.IsNil(),
		rec.ContextDigest != nil && *rec.ContextDigest != coreform.StateHash(got.Context):
		d.Recorded, d.Asked = "other facts about the "+string(rec.Kind), showSide(&got.Context)
	default:
		return nil
	}
	return d
}
