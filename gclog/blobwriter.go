package gclog

import (
	"errors"
	"io"
	"slices"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/internal/digest"
)

// BlobWriter streams content into the log in parts of at most 1 MiB, of which
// it holds one. It is owned by one goroutine; several may write to one log at a
// time. A BlobWriter that is not finished leaves parts that nothing refers to.
type BlobWriter struct {
	sink blobSink
	form Form
	done bool
}

// Blob starts a blob of the given form.
func (w *Writer) Blob(form Form) *BlobWriter {
	return &BlobWriter{sink: blobSink{w: w, shared: true}, form: form}
}

// Write adds content. The errors are those of the file, ErrLogFull and
// ErrClosed; after one the blob cannot be finished.
func (b *BlobWriter) Write(p []byte) (int, error) {
	if b.done {
		return 0, errFinished
	}
	if err := b.sink.write(p); err != nil {
		b.done = true
		return 0, err
	}
	return len(p), nil
}

// ReadFrom adds all that r has without another copy. The errors are those of r
// and of Write.
func (b *BlobWriter) ReadFrom(r io.Reader) (int64, error) {
	if b.done {
		return 0, errFinished
	}
	n, err := b.sink.readFrom(r)
	if err != nil {
		b.done = true
	}
	return n, err
}

var errFinished = errors.New("this blob is finished or has failed")

// Finish ends the blob and returns it. It reads from the log's file, or from
// memory if the content is within the inline limit, in which case nothing was
// written. Content the log has already is not kept twice, but for parts that
// were written before that could be known. Give the blob to
// [coreform.BlobBytes] and that to an entry: the entry will refer to it.
func (b *BlobWriter) Finish() (coreform.Blob, error) {
	if b.done {
		return nil, errFinished
	}
	b.done = true
	s := &b.sink
	w := s.w
	if s.size <= int64(w.opt.InlineMax) {
		data := s.content()
		return &memBlob{data, digest.Sum(data)}, nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.usable(); err != nil {
		return nil, err
	}
	w.begin()
	ref, off, err := s.finish(b.form)
	if err != nil {
		return nil, err
	}
	if len(w.stage.buf) > 0 {
		if err := w.room(); err != nil {
			return nil, err
		}
		parts := s.parts
		if err := w.flush(); err != nil {
			return nil, err
		}
		return newFileBlob(w.f, ref, parts), nil
	}
	return openBlobAt(w.f, w.at.off, off)
}

// partRoom is left before the content of a part, so that the head of the body
// goes there without moving it.
const partRoom = 7

// blobSink cuts content into part frames. With shared set it takes the lock of
// the writer for each part and writes it at once; else the caller has the lock
// and parts go to the batch, which is written when it is large.
type blobSink struct {
	w      *Writer
	shared bool
	part   []byte // partRoom bytes, then the content of the next part
	h      *digest.Hash
	size   int64
	parts  []int64 // offsets of the part frames so far
}

// content returns what no part frame holds yet.
func (s *blobSink) content() []byte {
	if len(s.part) == 0 {
		return nil
	}
	return s.part[partRoom:]
}

// Write makes an internal sink an io.Writer.
func (s *blobSink) Write(p []byte) (int, error) {
	if err := s.write(p); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (s *blobSink) write(p []byte) error {
	if s.part == nil {
		s.part = make([]byte, partRoom, partRoom+max(512, min(len(p), partSize)))
	}
	for len(p) > 0 {
		if len(s.part) == partRoom+partSize {
			if err := s.flushPart(); err != nil {
				return err
			}
		}
		n := min(len(p), partRoom+partSize-len(s.part))
		s.part = append(s.part, p[:n]...)
		s.size += int64(n)
		p = p[n:]
	}
	return nil
}

// readFrom adds all that r has, reading into the part itself.
func (s *blobSink) readFrom(r io.Reader) (n int64, err error) {
	if s.part == nil {
		s.part = make([]byte, partRoom, partRoom+32<<10)
	}
	for {
		if len(s.part) == partRoom+partSize {
			if err := s.flushPart(); err != nil {
				return n, err
			}
		}
		if len(s.part) == cap(s.part) {
			grown := make([]byte, len(s.part), min(partRoom+partSize, 8*cap(s.part)))
			copy(grown, s.part)
			s.part = grown
		}
		got, err := r.Read(s.part[len(s.part):min(cap(s.part), partRoom+partSize)])
		s.part = s.part[:len(s.part)+got]
		s.size += int64(got)
		n += int64(got)
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
}

// flushPart hands a full part on, of which the sink keeps the buffer. (Hashing
// the content beside the chain in a goroutine was tried and gave nothing on two
// cores: 1.22 ms a part against 1.17 ms.)
func (s *blobSink) flushPart() error {
	if len(s.parts) >= maxParts {
		return unrecordable("a blob of more than %d parts", maxParts)
	}
	if s.h == nil {
		s.h = digest.NewHash()
	}
	_, _ = s.h.Write(s.content())
	w := s.w
	if s.shared {
		w.mu.Lock()
		defer w.mu.Unlock()
		if err := w.usable(); err != nil {
			return err
		}
		w.begin()
	}
	if err := s.stagePart(); err != nil {
		return err
	}
	if s.shared || len(w.stage.buf) >= partSize {
		return w.flush()
	}
	return nil
}

// stagePart adds the part frame of what the sink holds to the batch.
func (s *blobSink) stagePart() error {
	w := s.w
	n := len(s.part) - partRoom
	head := partBodyHead(make([]byte, 0, partRoom), n)
	body := s.part[partRoom-len(head):]
	copy(body, head)
	s.parts = append(s.parts, w.stage.at.off)
	w.add(body)
	s.part = s.part[:partRoom]
	return w.room()
}

// finish names the content and adds the last part and the blob frame to the
// batch, unless the log has the content already. It returns the offset of the
// blob frame. The caller has the lock.
func (s *blobSink) finish(form Form) (ref Ref, off int64, err error) {
	w := s.w
	ref = Ref{Form: form, Size: s.size}
	if s.h == nil {
		ref.Digest = digest.Sum(s.content())
	} else {
		_, _ = s.h.Write(s.content())
		ref.Digest = s.h.Digest()
	}
	if off, ok := w.blobAt(ref.Digest); ok {
		return ref, off, nil
	}
	if len(s.content()) > 0 {
		if err := s.stagePart(); err != nil {
			return ref, 0, err
		}
	}
	if len(s.parts) > maxParts {
		return ref, 0, unrecordable("a blob of more than %d parts", maxParts)
	}
	off = w.stage.at.off
	w.body = appendBlobBody(w.body[:0], ref, s.parts)
	w.add(w.body)
	w.stage.blobs = append(w.stage.blobs, stagedBlob{ref.Digest, off})
	return ref, off, nil
}

// blobAt returns the offset of the blob frame of content the log has, or will
// have with the batch.
func (w *Writer) blobAt(d digest.Digest) (int64, bool) {
	if off, ok := w.blobs[d]; ok {
		return off, true
	}
	i := slices.IndexFunc(w.stage.blobs, func(b stagedBlob) bool { return b.name == d })
	if i < 0 {
		return 0, false
	}
	return w.stage.blobs[i].off, true
}

// stageDatum appends the encoding of a datum to scratch, adding a blob to the
// batch if it is over the inline limit. With nameOnly such a value is withheld
// instead.
func (w *Writer) stageDatum(d *Datum, nameOnly bool) (err error) {
	defer coreform.CatchFault(&err)
	if d.where == placeHidden {
		w.scratch = appendRef(w.scratch, tagHidden, d.ref)
		return nil
	}
	v, err := d.Value()
	if err != nil {
		return err
	}
	if d.where != placeHide {
		if w.scratch, err = w.enc.append(w.scratch, v, w.inlineLimit(v)); err == nil || !errors.Is(err, errTermTooBig) {
			return err
		}
	}
	if !v.IsTerm() {
		return unrecordable("a value that is not plain data")
	}
	if err := w.enc.checkText(v); err != nil {
		return err
	}
	if nameOnly || d.where == placeHide {
		ref, err := termRef(v)
		w.scratch = appendRef(w.scratch, tagHidden, ref)
		return err
	}
	ref, err := w.stageBlob(v)
	w.scratch = appendRef(w.scratch, tagBlob, ref)
	return err
}

// inlineLimit is how large the encoding of v may be: a bytes value counts
// without its head.
func (w *Writer) inlineLimit(v coreform.Value) int {
	if b, ok := v.AsBytes(); ok && b.Len() <= int64(w.opt.InlineMax) {
		return w.opt.InlineMax + 9
	}
	return w.opt.InlineMax
}

// stageBlob puts a value into a blob, if the log does not have it.
func (w *Writer) stageBlob(v coreform.Value) (Ref, error) {
	s := blobSink{w: w}
	b, ok := v.AsBytes()
	if !ok {
		if err := coreform.WriteTerm(&s, v); err != nil {
			return Ref{}, err
		}
		if s.size > maxText {
			return Ref{}, unrecordable("a term whose text has %d bytes", s.size)
		}
		ref, _, err := s.finish(FormTerm)
		return ref, err
	}
	if whole := b.Blob(); whole != nil || b.InMemory() {
		ref := Ref{FormBytes, b.ContentDigest(), b.Len()}
		if _, have := w.blobAt(ref.Digest); have {
			return ref, nil
		}
	}
	if _, err := s.readFrom(b.Reader()); err != nil {
		return Ref{}, err
	}
	ref, _, err := s.finish(FormBytes)
	return ref, err
}
