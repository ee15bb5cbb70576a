package gclog

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/effects/guest"
	"github.com/gcrun/gcrun/internal/digest"
)

// Log is a log that is read. It is safe for concurrent use if its file is. The
// file must not change while it is used.
//
// A Log trusts as little as it can, but opening it does not look at the whole
// file: [Log.Scan] and [Log.Check] do, and only they can say that the log is
// complete and undamaged. What Entry, Outcome and Blob return has been checked
// by itself (checksums, position, name of a blob) and not against the chain.
type Log struct {
	r       io.ReaderAt
	size    int64
	header  Header
	program Ref
	policy  Ref
	first   place    // behind the header frame
	loc     *locator // nil if the file does not end with one
	blobs   *blobSet

	walk    sync.Once // fills walked, for logs without locator
	walked  map[digest.Digest]int64
	walkErr error
}

// Open reads the header of a log of size bytes, and its locator if the file
// ends with one, in constant time. A log that is cut off or damaged behind its
// header opens. The error is a *FormatError wrapping [ErrNotLog] (also for text
// formats), [ErrVersion], [ErrIncomplete] (empty, or a proper prefix of a
// header) or [ErrDamaged] (a header that is wrong), or that of the file.
// (spec LOG-READ-1)
func Open(r io.ReaderAt, size int64) (*Log, error) {
	if size < 0 || size > maxFile {
		return nil, &FormatError{Err: ErrNotLog, Reason: fmt.Sprintf("a size of %d bytes", size)}
	}
	l := &Log{r: r, size: size}
	l.blobs = &blobSet{r: r, size: size, find: l.findBlob}
	if err := l.readHeader(); err != nil {
		return nil, err
	}
	loc, err := readLocator(r, size)
	l.loc = loc
	return l, err
}

func (l *Log) readHeader() error {
	fr := frameReader{window: window{r: l.r, size: l.size}}
	if l.size == 0 {
		return fr.fault(ErrIncomplete, "the file is empty")
	}
	b, err := fr.at(0, int(min(l.size, int64(len(selfDescribed)))))
	if err != nil {
		return err
	}
	if !bytes.HasPrefix(selfDescribed, b) {
		return fr.fault(ErrNotLog, "it does not begin with the tag of self-described CBOR")
	}
	f, err := fr.read()
	if err != nil {
		return err
	}
	if f.kind != kindHeader {
		return &FormatError{Err: ErrDamaged, Reason: "the first frame is of kind " + f.kind.String()}
	}
	h, program, policy, err := takeHeader(f.body)
	if err != nil {
		return err
	}
	l.header, l.program, l.policy, l.first = h, program, policy, fr.next
	return nil
}

// newerVersion is the error for an intact log that asks for another reader.
func newerVersion(reason string) *FormatError {
	return &FormatError{Err: ErrVersion, Reason: reason, Hint: "use the gcrun that wrote it, or a newer one"}
}

// Header returns the header. Its maps must not be changed.
func (l *Log) Header() Header { return l.header }

// Size returns the size of the file in bytes.
func (l *Log) Size() int64 { return l.size }

// Complete reports whether the file ends with a locator, as a complete log
// does. It is a quick look: only [Log.Scan] and [Log.Check] can be sure.
func (l *Log) Complete() bool { return l.loc != nil }

// Len returns the number of entries if the file ends with a locator.
func (l *Log) Len() (uint64, bool) {
	if l.loc == nil {
		return 0, false
	}
	return l.loc.entries, true
}

// Sources returns the program's sources in load order, exactly as read when the
// log was written. Their content is checked against the header. The errors are
// those of [Log.Blob].
func (l *Log) Sources() ([]guest.Source, error) {
	data, err := l.embedded(l.program)
	if err != nil {
		return nil, err
	}
	var d termDecoder
	c := &cursor{b: data}
	v := d.term(c)
	if err := c.done(); err != nil {
		return nil, &FormatError{Err: ErrDamaged, Reason: "the program's sources: " + err.Error()}
	}
	sources, ok := sourcesOf(v)
	if !ok {
		return nil, &FormatError{Err: ErrDamaged, Reason: "the program's sources have another shape"}
	}
	return sources, nil
}

// Policy returns the policy term the log embeds, checked against the header's
// name of its text. The errors are those of [Log.Blob].
func (l *Log) Policy() (coreform.Value, error) {
	b, err := l.embeddedBlob(l.policy)
	if err != nil {
		return coreform.Value{}, err
	}
	return decodeText(b)
}

func (l *Log) embedded(ref Ref) ([]byte, error) {
	b, err := l.embeddedBlob(ref)
	if err != nil {
		return nil, err
	}
	if ref.Size > maxSources {
		return nil, &FormatError{Err: ErrDamaged, Reason: "the program's sources are too large"}
	}
	data := make([]byte, ref.Size)
	_, err = io.ReadFull(io.NewSectionReader(b, 0, ref.Size), data)
	return data, err
}

// embeddedBlob finds one of the two blobs that follow the header, checks and
// returns it.
func (l *Log) embeddedBlob(ref Ref) (coreform.Blob, error) {
	fr := frameReader{window: window{r: l.r, size: l.size}, next: l.first}
	for {
		f, err := fr.read()
		switch {
		case errors.Is(err, io.EOF):
			return nil, fr.fault(ErrIncomplete, "the file ends before program and policy")
		case err != nil:
			return nil, err
		case f.kind == kindPart:
			continue
		}
		b, err := blobOfFrame(l.r, &f)
		if err != nil {
			return nil, err
		}
		if b.ref.Digest != ref.Digest || b.ref.Size != ref.Size {
			continue
		}
		ok, err := b.verify(new([]byte))
		if err == nil && !ok {
			err = &FormatError{Err: ErrDamaged, Off: f.off, Frame: f.number, Reason: blobDiffers}
		}
		if err != nil {
			return nil, err
		}
		return b, nil
	}
}

// Entry returns entry i: by the index in a log that ends with a locator, else
// by scanning. The error is ErrNoEntry, a *FormatError, or that of the file.
func (l *Log) Entry(i uint64) (*Entry, error) {
	if l.loc == nil {
		return l.scanTo(i)
	}
	if i >= l.loc.entries {
		return nil, ErrNoEntry
	}
	entries, _ := l.loc.tables()
	var rec [entryRecord]byte
	if err := readFull(l.r, rec[:], entries.at(i)); err != nil {
		return nil, err
	}
	off := int64(binary.BigEndian.Uint64(rec[:]) & (1<<63 - 1))
	f, err := readFrameAt(l.r, l.size, off, nil)
	if err != nil {
		return nil, err
	}
	bad := func(reason string) error {
		return &FormatError{Err: ErrDamaged, Off: off, Frame: f.number, Entries: i, Reason: reason}
	}
	if f.kind != kindEntry {
		return nil, bad("the index points to a frame of kind " + f.kind.String())
	}
	var d entryDecoder
	e := new(Entry)
	if _, err := d.entry(&f, l.blobs, e); err != nil {
		return nil, bad(err.Error())
	}
	if e.I != i {
		return nil, bad(fmt.Sprintf("the index points to entry %d", e.I))
	}
	return e, nil
}

func (l *Log) scanTo(i uint64) (*Entry, error) {
	s := l.Scan()
	for s.Next() {
		if s.Entry().I == i {
			e := *s.Entry()
			return &e, nil
		}
	}
	if err := s.Err(); err != nil {
		return nil, err
	}
	return nil, ErrNoEntry
}

// Outcome returns how the run ended, by the locator. A log without one gives a
// *FormatError wrapping ErrIncomplete; see [Scanner.Outcome] for a log that was
// cut behind its end frame.
func (l *Log) Outcome() (*Outcome, error) {
	if l.loc == nil {
		return nil, &FormatError{Err: ErrIncomplete, Off: l.size, Reason: "the file does not end with a locator"}
	}
	f, err := readFrameAt(l.r, l.size, l.loc.end, nil)
	if err != nil {
		return nil, err
	}
	bad := &FormatError{Err: ErrDamaged, Off: f.off, Frame: f.number, Entries: l.loc.entries}
	if f.kind != kindEnd {
		bad.Reason = "the locator points to a frame of kind " + f.kind.String()
		return nil, bad
	}
	o, err := takeOutcome(&f, new(termDecoder), l.blobs)
	if err != nil {
		bad.Reason = err.Error()
		return nil, bad
	}
	return o, nil
}

// Blob returns a blob by the digest of its content, which has been read once
// and compared with it. The error is ErrNotKept, a *FormatError, or that of the
// file.
func (l *Log) Blob(d digest.Digest) (coreform.Blob, error) { return l.blobs.blob(d) }

// findBlob searches the index, or the frames of a log without one.
func (l *Log) findBlob(d digest.Digest) (int64, error) {
	if l.loc == nil {
		l.walk.Do(l.walkBlobs)
		if off, ok := l.walked[d]; ok {
			return off, nil
		}
		if l.walkErr != nil {
			return 0, l.walkErr
		}
		return 0, ErrNotKept
	}
	_, t := l.loc.tables()
	lo, hi := uint64(0), t.total
	for lo < hi {
		mid := lo + (hi-lo)/2
		var rec [blobRecord]byte
		if err := readFull(l.r, rec[:], t.at(mid)); err != nil {
			return 0, err
		}
		switch c := bytes.Compare(d[:], rec[:digest.Size]); {
		case c == 0:
			return int64(binary.BigEndian.Uint64(rec[digest.Size:]) & (1<<63 - 1)), nil
		case c < 0:
			hi = mid
		default:
			lo = mid + 1
		}
	}
	return 0, ErrNotKept
}

// walkBlobs collects the blob frames up to the end or the first fault.
func (l *Log) walkBlobs() {
	l.walked = map[digest.Digest]int64{}
	fr := frameReader{window: window{r: l.r, size: l.size}, next: l.first}
	for {
		f, err := fr.read()
		if err != nil {
			var fe *FormatError
			if !errors.Is(err, io.EOF) && !errors.As(err, &fe) {
				l.walkErr = err
			}
			return
		}
		if f.kind != kindBlob {
			continue
		}
		if ref, _, err := takeBlob(&f); err == nil {
			l.walked[ref.Digest] = f.off
		}
	}
}
