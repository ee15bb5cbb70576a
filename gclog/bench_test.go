package gclog

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/gcrun/gcrun/coreform"
)

// benchEntries returns a file with a header and entries that differ.
func benchEntries(b *testing.B) (*os.File, *Writer, []*Entry) {
	f, err := os.Create(filepath.Join(b.TempDir(), "bench.gclog"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = f.Close() })
	w, err := NewWriter(f, testHeader(), Options{Sync: SyncNone})
	if err != nil {
		b.Fatal(err)
	}
	grant := kw("op", coreform.Sym("io/fs::read"))
	es := make([]*Entry, 1000)
	for i := range es {
		es[i] = entryOf(b, i, kw("path", coreform.Str(fmt.Sprintf("src/file-%d.go", i))), coreform.Str(fmt.Sprintf("response %d", i)))
		es[i].Cap = grant
	}
	return f, w, es
}

// BenchmarkAppendSmallEntry is the cost of one entry in grade none: encoding,
// checksums, link, leaf and one write call to a real file.
func BenchmarkAppendSmallEntry(b *testing.B) {
	_, w, es := benchEntries(b)
	start := w.Bytes()
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		if err := w.Append(es[n%len(es)]); err != nil {
			b.Fatal(err)
		}
		n++
	}
	b.StopTimer()
	written := w.Bytes() - start + int64(n)*entryRecord
	b.ReportMetric(float64(written)/float64(n), "B/entry")
	if _, err := w.Close(okOutcome()); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkReadEntries is the cost of one entry when scanning, everything
// checked that a scan checks.
func BenchmarkReadEntries(b *testing.B) {
	f, w, es := benchEntries(b)
	const total = 100_000
	for i := range total {
		if err := w.Append(es[i%len(es)]); err != nil {
			b.Fatal(err)
		}
	}
	if _, err := w.Close(okOutcome()); err != nil {
		b.Fatal(err)
	}
	l, err := Open(f, w.Bytes())
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	s := l.Scan()
	for b.Loop() {
		if !s.Next() {
			if s.Err() != nil {
				b.Fatal(s.Err())
			}
			s = l.Scan()
		}
	}
}

// BenchmarkSeek opens a log and takes one entry of 100 000.
func BenchmarkSeek(b *testing.B) {
	f, w, es := benchEntries(b)
	const total = 100_000
	for i := range total {
		if err := w.Append(es[i%len(es)]); err != nil {
			b.Fatal(err)
		}
	}
	if _, err := w.Close(okOutcome()); err != nil {
		b.Fatal(err)
	}
	i := uint64(0)
	for b.Loop() {
		l, err := Open(f, w.Bytes())
		if err != nil {
			b.Fatal(err)
		}
		i = (i + 7919) % total
		if e, err := l.Entry(i); err != nil || e.I != i {
			b.Fatal(err)
		}
	}
}

// BenchmarkBlob streams content into the log.
func BenchmarkBlob(b *testing.B) {
	_, w, _ := benchEntries(b)
	chunk := bytesOf(partSize, 1)
	b.SetBytes(int64(len(chunk)))
	blob := w.Blob(FormBytes)
	for b.Loop() {
		if _, err := blob.Write(chunk); err != nil {
			b.Fatal(err)
		}
		if blob.sink.size > 64<<20 { // keep the file small
			if err := w.f.(*os.File).Truncate(0); err != nil {
				b.Fatal(err)
			}
			if _, err := w.f.(*os.File).Seek(0, io.SeekStart); err != nil {
				b.Fatal(err)
			}
			blob = w.Blob(FormBytes)
		}
	}
}
