package gclog

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"testing"

	"github.com/gcrun/gcrun/coreform"
)

// failingFile gives an error of its own for what lies at or behind an offset.
type failingFile struct {
	data []byte
	from int64
}

var errMedium = errors.New("input/output error")

func (f *failingFile) ReadAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) > f.from {
		return 0, errMedium
	}
	return bytes.NewReader(f.data).ReadAt(p, off)
}

// A file that cannot be read is not a damaged log.
// spec: LOG-READ-4
func TestErrorsOfTheFileAreNotDamage(t *testing.T) {
	data := small().bytes(t)
	for from := range data {
		l, err := Open(&failingFile{data, int64(from)}, int64(len(data)))
		if err == nil {
			_, err = l.Check(context.Background())
		}
		var fe *FormatError
		if !errors.Is(err, errMedium) || errors.As(err, &fe) {
			t.Fatalf("unreadable from byte %d on: %v", from, err)
		}
	}
	// A file shorter than it was said to be is the host's doing, too.
	if _, err := Open(bytes.NewReader(data[:10]), int64(len(data))); err == nil || errors.Is(err, ErrDamaged) {
		t.Error(err)
	}
}

// spec: LOG-READ-5
func TestCheckCanBeStopped(t *testing.T) {
	data := small().bytes(t)
	l, err := Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := l.Check(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// Only Check compares values with their digests: a log whose writer was given
// wrong ones scans, and is damaged.
// spec: LOG-READ-2 LOG-READ-5
func TestCheckRecomputes(t *testing.T) {
	for name, change := range map[string]func(*Entry){
		"payload":  func(e *Entry) { e.Payload = DatumOf(pathPayload(9)) },
		"response": func(e *Entry) { e.Resp = DatumOf(coreform.Int(9)) },
		"blob":     func(e *Entry) { e.Resp = DatumOf(coreform.BytesOf(bytesOf(5000, 9))) },
	} {
		s := many(3)
		plain := s.entries
		s.entries = func(t testing.TB) []*Entry {
			es := plain(t)
			change(es[1])
			return es
		}
		data := s.bytes(t)
		if _, _, err := readAll(data); err != nil {
			t.Errorf("%s: scan: %v", name, err)
		}
		rep, err := check(data)
		if !errors.Is(err, ErrDamaged) || rep.Entries != 2 {
			t.Errorf("%s: check: %d entries, %v", name, rep.Entries, err)
		}
	}
}

// Scanning holds one frame and one part, however large blobs are; a Datum of a
// bytes value is read only where it is looked at.
// spec: LOG-READ-6
func TestScanningIsBounded(t *testing.T) {
	f := newMemFile()
	w, err := NewWriter(f, testHeader(), Options{Sync: SyncNone})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		b := w.Blob(FormBytes)
		if _, err := b.Write(bytesOf(20<<20, byte(i))); err != nil {
			t.Fatal(err)
		}
		blob, err := b.Finish()
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Append(entryOf(t, i, pathPayload(i), coreform.BlobBytes(blob))); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Close(okOutcome()); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := check(f.data); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 8<<20 {
		t.Errorf("checking a log of %d MiB allocated %d MiB in all", len(f.data)>>20, used>>20)
	}
}

// A blob that was changed in the file after it was indexed is noticed when it
// is asked for, whatever its checksums say.
// spec: LOG-READ-3 LOG-BLOB-3
func TestRandomAccessChecksBlobs(t *testing.T) {
	s := many(1)
	s.entries = func(t testing.TB) []*Entry {
		return []*Entry{entryOf(t, 0, pathPayload(0), coreform.BytesOf(bytesOf(5000, 1)))}
	}
	data := s.bytes(t)
	at := bytes.Index(data, bytesOf(5000, 1))
	data[at+17] ^= 1
	l, err := Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	e, err := l.Entry(0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Resp.Value(); !errors.Is(err, ErrDamaged) {
		t.Errorf("value: %v", err)
	}
}
