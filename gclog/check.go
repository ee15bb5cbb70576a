package gclog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/internal/digest"
)

// Report is what [Log.Check] found.
type Report struct {
	Entries  uint64 // whole entries
	Commits  uint64 // commit frames
	Blobs    uint64
	Withheld uint64        // payloads and responses of which only the name is kept
	Root     digest.Digest // transcript root, or the root so far
	Outcome  *Outcome      // nil if the log was cut before its end frame
	Open     []Intent      // intents without entry, by task
	Whole    int64         // bytes of whole frames
	Torn     int64         // bytes behind them, in an incomplete log
}

// Check reads the whole log and recomputes every digest from what it is of: all
// that a [Scanner] checks, and payload hashes, response digests, the outcome's
// context, and that program and policy can be read. The report is never nil and
// covers what is whole. The error is nil for a complete log, a *FormatError
// wrapping ErrIncomplete, ErrDamaged or ErrVersion, ctx.Err(), or that of the
// file. (spec LOG-READ-5)
func (l *Log) Check(ctx context.Context) (*Report, error) {
	s := l.Scan()
	rep := new(Report)
	err := s.checkAll(ctx, l, rep)
	rep.Entries, rep.Commits, rep.Blobs = s.Entries(), s.commits, uint64(len(s.blobs))
	rep.Root, rep.Outcome, rep.Open = s.Root(), s.outcome, s.OpenIntents()
	rep.Whole = s.Whole()
	if errors.Is(err, ErrIncomplete) {
		rep.Torn = l.size - rep.Whole
	}
	return rep, err
}

func (s *Scanner) checkAll(ctx context.Context, l *Log, rep *Report) error {
	embedded := false
	for s.Next() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !embedded {
			if err := l.checkEmbedded(); err != nil {
				return err
			}
			embedded = true
		}
		if err := s.checkEntry(rep); err != nil {
			f := s.frame
			s.damaged(&f, err)
			return s.Err()
		}
	}
	if err := s.Err(); err != nil {
		return err
	}
	if !embedded {
		if err := l.checkEmbedded(); err != nil {
			return err
		}
	}
	return s.checkOutcome()
}

func (l *Log) checkEmbedded() error {
	if _, err := l.Sources(); err != nil {
		return err
	}
	_, err := l.Policy()
	return err
}

func (s *Scanner) checkEntry(rep *Report) (err error) {
	defer coreform.CatchFault(&err)
	e := &s.entry
	if e.Payload.Withheld() {
		rep.Withheld++
	} else {
		v, err := valueOf(e.Payload)
		if err != nil {
			return err
		}
		h, err := coreform.TermHash(v)
		if err != nil {
			return fmt.Errorf("payload: %w", err)
		}
		if h != e.PayloadHash {
			return errors.New("the payload is not what its hash says")
		}
	}
	if e.Resp.Withheld() {
		rep.Withheld++
		return nil
	}
	v, err := valueOf(e.Resp)
	if err != nil {
		return err
	}
	if coreform.StateHash(v) != e.RespDigest {
		return errors.New("the response is not what its digest says")
	}
	return nil
}

func (s *Scanner) checkOutcome() (err error) {
	o := s.outcome
	if o.ContextDigest == nil || o.Context.Withheld() {
		return nil
	}
	v, err := valueOf(o.Context)
	if err != nil {
		return err
	}
	if coreform.StateHash(v) != *o.ContextDigest {
		return &FormatError{Err: ErrDamaged, Off: s.endOff, Entries: s.Entries(),
			Reason: "the context of the outcome is not what its digest says"}
	}
	return nil
}

func sortIntents(in []Intent) {
	slices.SortFunc(in, func(a, b Intent) int { return cmp.Compare(a.Task, b.Task) })
}

// valueOf loads a datum, telling content that is wrong from a file that cannot
// be read.
func valueOf(d Datum) (coreform.Value, error) {
	v, err := d.Value()
	var fe *FormatError
	if err != nil && !errors.As(err, &fe) && !errors.Is(err, ErrWithheld) && !errors.Is(err, ErrNotKept) {
		return v, hostError{err}
	}
	return v, err
}
