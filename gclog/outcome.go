package gclog

import (
	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/effects/guest"
	"github.com/gcrun/gcrun/internal/digest"
)

// Outcome is how a run ended, as read from a log. (spec LOG-END-1)
type Outcome struct {
	Kind guest.OutcomeKind
	Code string // stable code; "" for ok

	// Context holds the facts, nil if none. One that is larger than the inline
	// limit is withheld. ContextDigest is its state hash, nil if there is none.
	Context       Datum
	ContextDigest *digest.Digest

	Value   *digest.Digest // state hash of the final value, nil if there is none
	Entries uint64         // entries of the run
	Steps   int64          // steps used at the end or cut; information
	Place   guest.Span     // where it ended, if known; information

	// Root is the transcript root: of header, entries and this outcome.
	Root digest.Digest
}

const endItems = 12

func (o *Outcome) append(b, context []byte) []byte {
	b = appendUint(appendHead(b, majArray, endItems), uint64(kindEnd))
	b = appendOptText(appendText(b, string(o.Kind)), o.Code)
	b = appendOptDigest(append(b, context...), o.ContextDigest)
	b = appendUint(appendOptDigest(b, o.Value), o.Entries)
	b = appendSpan(appendUint(b, uint64(o.Steps)), o.Place)
	return appendDigest(b, o.Root)
}

func takeOutcome(f *frame, terms *termDecoder, src blobSource) (*Outcome, error) {
	c := f.cursor(endItems)
	o := &Outcome{Kind: guest.OutcomeKind(c.text()), Code: c.optText()}
	o.Context = terms.datum(c, src)
	o.ContextDigest = c.optDigest()
	o.Value = c.optDigest()
	o.Entries = c.uint()
	o.Steps = int64(c.uintMax(maxFile, "a number of steps"))
	o.Place = takeSpan(c)
	o.Root = c.digest()
	if err := c.done(); err != nil {
		return nil, err
	}
	return o, o.check()
}

func (o *Outcome) check() error {
	switch o.Kind {
	case guest.OutcomeOK, guest.OutcomeError, guest.OutcomeLimit, guest.OutcomeDenied,
		guest.OutcomeHostFailure, guest.OutcomeInterrupted, guest.OutcomeWall:
	default:
		return unrecordable("the outcome %q", o.Kind)
	}
	v, inline := o.Context.Inline()
	switch {
	case len(o.Code) > maxReason || len(o.Place.File) > maxName:
		return unrecordable("an outcome with a text that is too long")
	case o.Steps < 0 || o.Steps > maxFile || o.Place.Off < 0 || o.Place.End < 0:
		return unrecordable("an outcome with a negative number")
	case inline && v.IsNil() != (o.ContextDigest == nil), !inline && o.ContextDigest == nil:
		return unrecordable("an outcome whose context and its digest disagree")
	}
	return nil
}

// leaf appends the outcome leaf. (spec LOG-ID-4)
func (o *Outcome) leaf(b []byte) []byte {
	b = appendUint(appendHead(b, majArray, 6), 3)
	b = appendOptText(appendText(b, string(o.Kind)), o.Code)
	b = appendOptDigest(appendOptDigest(b, o.ContextDigest), o.Value)
	return appendUint(b, o.Entries)
}

// outcomeOf prepares a guest's outcome for the log.
func outcomeOf(g guest.Outcome, entries uint64) (o Outcome, err error) {
	defer coreform.CatchFault(&err)
	o = Outcome{Kind: g.Kind, Code: g.Code, Context: DatumOf(g.Context), Value: g.Value,
		Entries: entries, Steps: g.Steps, Place: g.Place}
	if !g.Context.IsNil() {
		d := coreform.StateHash(g.Context)
		o.ContextDigest = &d
	}
	return o, o.check()
}
