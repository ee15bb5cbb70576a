package engine

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/effects"
	"github.com/gcrun/gcrun/effects/guest"
	"github.com/gcrun/gcrun/effects/ops"
	"github.com/gcrun/gcrun/effects/policy"
	"github.com/gcrun/gcrun/gclog"
)

// RecordOptions says what is run, under what, and where the log goes.
type RecordOptions struct {
	Program  guest.Program
	Policy   *policy.Policy // nil denies everything
	Handlers map[string]effects.Handler
	File     gclog.File // empty; the caller opened it and closes it
	Log      gclog.Options
}

// Recorded is a run that was recorded.
type Recorded struct {
	*effects.Result
	Log *gclog.Outcome // how the log was closed; nil if it could not be
}

// Record runs a program and writes its log. The log is closed with the outcome
// whatever happens; only a file that cannot be written leaves it incomplete.
// The error is that of writing the log: the result then says how far the run
// came. Cancel ctx with cause effects.ErrInterrupted or effects.ErrWall to end
// the run early.
func Record(ctx context.Context, o RecordOptions) (*Recorded, error) {
	header, budgets := headerOf(o.Program.Info(), o.Policy)
	w, err := gclog.NewWriter(o.File, header, o.Log)
	if err != nil {
		return nil, err
	}
	rec := &recorder{w: w, inlineMax: int64(o.Log.InlineMax)}
	if rec.inlineMax == 0 {
		rec.inlineMax = 4 << 10
	}
	stop := rec.syncInBackground(o.Log.Sync)
	run := &effects.Run{
		Program:  o.Program,
		Recorder: rec,
		Budgets:  budgets,
		Answers: &effects.Live{
			Policy: o.Policy, Handlers: o.Handlers, Intents: rec, Blobs: rec,
			PayloadMax: budgets["max_payload_bytes_per_op"], ResponseMax: budgets["max_response_bytes_per_op"],
		},
	}
	res := run.Do(ctx)
	stop()
	out := &Recorded{Result: res}
	if err := w.Err(); err != nil {
		return out, err
	}
	out.Log, err = w.Close(res.Outcome)
	return out, err
}

// headerOf is the header of a run, and the budgets in it by name.
func headerOf(info guest.Info, p *policy.Policy) (gclog.Header, map[string]int64) {
	h := gclog.HeaderOf(info)
	budgets := p.Runtime()
	delete(budgets, wallName)
	h.Limits = maps.Clone(h.Limits)
	maps.Copy(h.Limits, budgets)
	h.Policy, h.PolicyDigest = p.Term(), p.Digest()
	h.Tool, h.UnicodeProfile = "gcrun", "unicode/17"
	return h, budgets
}

// wallName is the one limit that is no fact of the run: how long it may take.
const wallName = "max_wall_ms"

// recorder writes what happens into a log.
type recorder struct {
	w         *gclog.Writer
	inlineMax int64
	span      guest.Span // of the request being worked on
}

// entryRoom is what an entry with small values may take.
const entryRoom = 4 << 10

// Intend implements effects.Intender. Acts that only ask need no intent: doing
// them again is always right. A log without room for the entry ends the run
// here, before the act.
func (r *recorder) Intend(ask *effects.Ask, class ops.Class) error {
	r.span = ask.Req.Span
	if r.w.Room() < ops.PayloadBytes(nil, ask.Req.Payload)+entryRoom {
		return r.limit(gclog.ErrLogFull)
	}
	if class == ops.Pure {
		return nil
	}
	return r.limit(r.w.Intent(gclog.Intent{
		Task: ask.Task, R: ask.R, Op: ask.Req.Op, ReqHash: ask.ReqHash(), Once: class == ops.Once,
	}))
}

// Record implements effects.Recorder.
func (r *recorder) Record(ask *effects.Ask, ans *effects.Answer) error {
	e := gclog.Entry{
		Task: ask.Task, R: ask.R, Op: ask.Req.Op,
		Payload: gclog.DatumOf(ask.Req.Payload), PayloadHash: ask.PayloadHash, ContHash: ask.Req.ContHash,
		Reason: ans.Reason, Cap: ans.Cap,
		RespKind: ans.Response.Kind, Resp: gclog.DatumOf(ans.Response.Value), RespDigest: ans.Digest,
		Span: ask.Req.Span,
	}
	if ans.Allow {
		e.Decision = gclog.Allow
	}
	if ans.Log == effects.LogHash || ans.Log == effects.LogRedact {
		e.Payload = gclog.WithheldDatum(ask.Req.Payload)
	}
	if ans.Log == effects.LogRedact {
		e.Resp = gclog.WithheldDatum(ans.Response.Value)
	}
	return r.limit(r.w.Append(&e))
}

const codeLogFull = "core/limit/log-bytes"

// limit turns a full log into the limit that it is.
func (r *recorder) limit(err error) error {
	if !errors.Is(err, gclog.ErrLogFull) {
		return err
	}
	size := r.w.Bytes() + r.w.Room()
	return &guest.Fatal{
		Code: codeLogFull, Message: "the log has reached the size it may have",
		Hint: "raise max_bytes under [log] in the policy", Span: r.span,
		Limit: &guest.Limit{Dimension: "log-bytes", Observed: size + 1, Limit: size},
	}
}

// InlineMax implements effects.BlobSink.
func (r *recorder) InlineMax() int64 { return r.inlineMax }

// NewBlob implements effects.BlobSink.
func (r *recorder) NewBlob() (effects.BlobWriter, error) {
	return blobWriter{r, r.w.Blob(gclog.FormBytes)}, nil
}

// blobWriter adapts the log's: parts of an unfinished blob stay in the file,
// where nothing refers to them.
type blobWriter struct {
	r *recorder
	b *gclog.BlobWriter
}

func (w blobWriter) Write(p []byte) (int, error) {
	n, err := w.b.Write(p)
	return n, w.r.limit(err)
}

func (w blobWriter) Finish() (coreform.Blob, error) {
	b, err := w.b.Finish()
	return b, w.r.limit(err)
}

func (blobWriter) Abort() error { return nil }

// syncInterval is how long an entry may be written and not yet durable in
// grade commit.
const syncInterval = 50 * time.Millisecond

// syncInBackground makes entries durable soon after they are written. The
// returned function ends that and waits for it.
func (r *recorder) syncInBackground(grade gclog.SyncGrade) (stop func()) {
	if grade != gclog.SyncCommit {
		return func() {}
	}
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(syncInterval)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				if r.w.Dirty() {
					// A failure poisons the writer, which ends the run at its
					// next entry.
					_ = r.w.Sync()
				}
			}
		}
	})
	return func() { close(done); wg.Wait() }
}
