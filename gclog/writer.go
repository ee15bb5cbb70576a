package gclog

import (
	"fmt"
	"io"
	"sync"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/effects/guest"
	"github.com/gcrun/gcrun/internal/digest"
)

// File is what a Writer writes to: an empty file that nobody else writes. Write
// appends, ReadAt reads what was written, Sync returns when all that was
// written is durable. An *os.File is one.
type File interface {
	io.Writer
	io.ReaderAt
	Sync() error
}

// Options says how a log is written. The zero value is the default.
type Options struct {
	// Sync is when entries become durable.
	Sync SyncGrade

	// InlineMax is the size in bytes up to which values stand in their entry: of
	// a bytes value its length, of others that of their encoding. 0 means 4 KiB;
	// at most 256 KiB.
	InlineMax int

	// MaxBytes is the size the file may reach, all that closing it takes
	// included. 0 means no limit but that of the format.
	MaxBytes int64
}

const (
	defaultInline = 4 << 10

	// commitEvery is the number of entries between two commit frames.
	commitEvery = 64

	// maxIntents is how many intents may be without their entry at a time.
	maxIntents = 1 << 16
)

// Writer writes one log. It is safe for concurrent use. After the first write
// error every call returns that error and the file keeps what is there.
type Writer struct {
	mu  sync.Mutex
	f   File
	opt Options

	err    error // first write error
	closed bool
	dirty  bool // written since the last sync

	at    place // behind what is written
	stage batch // what the next write call writes

	tree       frontier
	offs       []int64 // of entry frames
	blobs      map[digest.Digest]int64
	intents    map[guest.TaskID]openIntent
	lastCommit uint64
	committed  bool

	enc     termEncoder
	scratch []byte // encodings of the terms of an entry
	body    []byte
	leaf    []byte
	grants  map[any]grantBytes
}

// batch is a run of frames that is written with one call.
type batch struct {
	at    place
	buf   []byte
	blobs []stagedBlob
}

type stagedBlob struct {
	name digest.Digest
	off  int64
}

type grantBytes struct {
	enc  []byte
	hash digest.Digest
}

type openIntent struct {
	r   uint64
	req digest.Digest
}

// NewWriter writes header, program and policy to an empty file and returns the
// writer of the log. In grade always they are durable when it returns. The
// errors are those of the file, ErrUnrecordable for a header the format cannot
// hold, and ErrLogFull. The caller keeps the file, and closes it.
func NewWriter(f File, h Header, opt Options) (*Writer, error) {
	if opt.InlineMax == 0 {
		opt.InlineMax = defaultInline
	}
	if opt.InlineMax < 0 || opt.InlineMax > maxInline || opt.MaxBytes < 0 || opt.Sync > SyncAlways {
		return nil, unrecordable("options out of range: inline limit %d, size limit %d,", opt.InlineMax, opt.MaxBytes)
	}
	if opt.MaxBytes == 0 {
		opt.MaxBytes = maxFile
	}
	h.Version, h.Features, h.Sync = Version, 0, opt.Sync
	if err := h.check(); err != nil {
		return nil, err
	}
	w := &Writer{f: f, opt: opt, blobs: map[digest.Digest]int64{},
		intents: map[guest.TaskID]openIntent{}, grants: map[any]grantBytes{}}
	if err := w.writeHeader(&h); err != nil {
		return nil, err
	}
	if opt.Sync == SyncAlways {
		return w, w.sync()
	}
	return w, nil
}

func (w *Writer) writeHeader(h *Header) error {
	sources, err := w.enc.append(nil, sourcesTerm(h.Sources, h.Entry), maxSources)
	if err != nil {
		return unrecordable("the program's sources: %v", err)
	}
	policy, err := coreform.PrintTerm(h.Policy, coreform.Limits{MaxDepth: MaxTermDepth})
	if err != nil {
		return unrecordable("the policy: %v", err)
	}
	w.begin()
	w.body = h.append(w.body[:0],
		Ref{FormBytes, digest.Sum(sources), int64(len(sources))},
		Ref{FormTerm, digest.Sum(policy), int64(len(policy))})
	if len(w.body) > maxBody {
		return unrecordable("a header of %d bytes", len(w.body))
	}
	w.add(w.body)
	w.leaf = h.leaf(w.leaf[:0])
	w.tree.add(w.leaf)
	for _, c := range [...]struct {
		form Form
		data []byte
	}{{FormBytes, sources}, {FormTerm, policy}} {
		s := blobSink{w: w}
		if err := s.write(c.data); err != nil {
			return err
		}
		if _, _, err := s.finish(c.form); err != nil {
			return err
		}
	}
	if err := w.room(); err != nil {
		return err
	}
	return w.flush()
}

// maxSources bounds the encoded sources of a program.
const maxSources = 1 << 30

func (w *Writer) begin() {
	w.stage.at = w.at
	w.stage.buf = w.stage.buf[:0]
	w.stage.blobs = w.stage.blobs[:0]
}

// add adds the frame of a body to the batch.
func (w *Writer) add(body []byte) { w.stage.buf = w.stage.at.append(w.stage.buf, body) }

// room returns ErrLogFull if the batch would leave no room for closing.
func (w *Writer) room() error {
	if w.stage.at.off+w.closing() > w.opt.MaxBytes || w.stage.at.number >= maxFrames {
		return ErrLogFull
	}
	return nil
}

const maxFrames = 1<<32 - 1<<24 // the rest is kept for closing

// Room returns how many bytes of frames can still be written before ErrLogFull.
// A value in a blob takes its length and a few hundred bytes.
func (w *Writer) Room() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.begin()
	return max(0, w.opt.MaxBytes-w.at.off-w.closing())
}

// flush writes the batch with one call.
func (w *Writer) flush() error {
	n, err := w.f.Write(w.stage.buf)
	if err == nil && n != len(w.stage.buf) {
		err = io.ErrShortWrite
	}
	if err != nil {
		return w.poison("writing the log", err)
	}
	w.dirty = true
	w.at = w.stage.at
	for _, b := range w.stage.blobs {
		w.blobs[b.name] = b.off
	}
	w.begin()
	return nil
}

func (w *Writer) poison(what string, err error) error {
	w.err = fmt.Errorf("%s: %w", what, err)
	return w.err
}

// sync makes what is written durable, unless the grade is none.
func (w *Writer) sync() error {
	if !w.dirty || w.opt.Sync == SyncNone {
		return nil
	}
	if err := w.f.Sync(); err != nil {
		// After a failed sync nobody knows what is durable: stop.
		return w.poison("making the log durable", err)
	}
	w.dirty = false
	return nil
}

// Sync makes everything written so far durable, unless the grade is none or it
// already is. The caller calls it 50 ms after a write when nothing else made
// that durable: the writer knows no clock. (spec LOG-SYNC-3)
func (w *Writer) Sync() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return w.err
	}
	return w.sync()
}

// Dirty reports whether something written is not yet made durable.
func (w *Writer) Dirty() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.dirty && w.opt.Sync != SyncNone
}

// Err returns the first write error, nil while there is none.
func (w *Writer) Err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// Entries returns the number of entries written, the position of the next.
func (w *Writer) Entries() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return uint64(len(w.offs))
}

// Bytes returns the size of the file so far.
func (w *Writer) Bytes() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.at.off
}

func (w *Writer) usable() error {
	if w.err != nil {
		return w.err
	}
	if w.closed {
		return ErrClosed
	}
	return nil
}

// Intent writes an intent with one write call. A task has at most one intent
// without entry. In grade always, and in commit if in.Once, it is durable when
// Intent returns. The errors are those of the file, ErrUnrecordable and
// ErrLogFull. (spec LOG-INTENT-1)
func (w *Writer) Intent(in Intent) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.usable(); err != nil {
		return err
	}
	if in.Op == "" || len(in.Op) > MaxOp {
		return unrecordable("an operation name of %d bytes", len(in.Op))
	}
	if _, open := w.intents[in.Task]; open || len(w.intents) >= maxIntents {
		return unrecordable("an intent of task %d before the entry of its last one", in.Task)
	}
	w.begin()
	w.body = in.append(w.body[:0])
	w.add(w.body)
	if err := w.room(); err != nil {
		return err
	}
	if err := w.flush(); err != nil {
		return err
	}
	w.intents[in.Task] = openIntent{in.R, in.ReqHash}
	if w.opt.Sync == SyncAlways || (w.opt.Sync == SyncCommit && in.Once) {
		return w.sync()
	}
	return nil
}

// Append writes an entry and sets e.I. Everything small is one write call; a
// value over the inline limit becomes a blob before it, unless the log has it
// already, and of a denied payload over that limit only digest and length are
// kept. A commit frame at every 64th entry is part of the same call. The errors
// are those of the file, ErrUnrecordable and ErrLogFull. (spec LOG-ENTRY-2)
func (w *Writer) Append(e *Entry) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.usable(); err != nil {
		return err
	}
	if err := e.check(); err != nil {
		return err
	}
	if in, open := w.intents[e.Task]; open && (in.r != e.R || in.req != e.ReqHash()) {
		return unrecordable("an entry of task %d that is not the one intended", e.Task)
	}
	e.I = uint64(len(w.offs))
	w.begin()
	off, grant, err := w.stageEntry(e)
	if err != nil {
		return err
	}
	if err := w.room(); err != nil {
		return err
	}
	w.leaf = e.leaf(w.leaf[:0], grant)
	w.tree.add(w.leaf)
	w.offs = append(w.offs, off)
	commit := len(w.offs)%commitEvery == 0
	if commit {
		w.stageCommit()
	}
	if err := w.flush(); err != nil {
		return err
	}
	delete(w.intents, e.Task)
	if w.opt.Sync == SyncAlways || (w.opt.Sync == SyncCommit && commit) {
		return w.sync()
	}
	return nil
}

// stageEntry adds the frames of an entry to the batch and returns the offset of
// its own, and the term hash of the grant.
func (w *Writer) stageEntry(e *Entry) (off int64, grant digest.Digest, err error) {
	g, err := w.grant(e.Cap)
	if err != nil {
		return 0, grant, err
	}
	w.scratch = w.scratch[:0]
	if err := w.stageDatum(&e.Payload, e.Decision == Deny); err != nil {
		return 0, grant, fmt.Errorf("payload: %w", err)
	}
	cut := len(w.scratch)
	if err := w.stageDatum(&e.Resp, false); err != nil {
		return 0, grant, fmt.Errorf("response: %w", err)
	}
	w.body = e.append(w.body[:0], w.scratch[:cut], g.enc, w.scratch[cut:])
	if len(w.body) > maxBody {
		return 0, grant, unrecordable("an entry of %d bytes", len(w.body))
	}
	off = w.stage.at.off
	w.add(w.body)
	return off, g.hash, nil
}

// grant encodes a cap and hashes it, once per cap.
func (w *Writer) grant(v coreform.Value) (grantBytes, error) {
	id := v.Identity()
	if g, ok := w.grants[id]; ok && (id != nil || v.IsNil()) {
		return g, nil
	}
	enc, err := w.enc.append(nil, v, maxCap)
	if err != nil {
		return grantBytes{}, unrecordable("a grant: %v", err)
	}
	h, err := coreform.TermHash(v)
	if err != nil {
		return grantBytes{}, unrecordable("a grant: %v", err)
	}
	g := grantBytes{enc, h}
	if id != nil || v.IsNil() {
		if len(w.grants) >= maxRemembered {
			clear(w.grants)
		}
		w.grants[id] = g
	}
	return g, nil
}
