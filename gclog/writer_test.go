package gclog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/effects/guest"
	"github.com/gcrun/gcrun/internal/digest"
)

// LG-06: a file that fails after k bytes, for every k, writing nothing or a
// part of what was asked. The writer says so, says it again, writes no more,
// and what is there is a readable, incomplete log.
// spec: LOG-WRITE-1 LOG-WRITE-2
func TestFileThatFailsAfterEveryByte(t *testing.T) {
	s := small()
	whole := s.bytes(t)
	want := s.entries(t)
	for _, short := range []bool{true, false} {
		for k := range whole {
			f := newMemFile()
			f.limit, f.short = k, short
			if _, err := s.write(t, f); !errors.Is(err, errDisk) {
				t.Fatalf("failing at %d: %v", k, err)
			}
			if !bytes.HasPrefix(whole, f.data) || (short && len(f.data) != k) {
				t.Fatalf("failing at %d: the file has %d other bytes", k, len(f.data))
			}
			got, _, err := readAll(f.data)
			if !errors.Is(err, ErrIncomplete) {
				t.Fatalf("failing at %d: %v", k, err)
			}
			samePrefix(t, got, want)
		}
	}
}

// spec: LOG-WRITE-2
func TestFirstErrorPoisons(t *testing.T) {
	f := newMemFile()
	w, err := NewWriter(f, testHeader(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Append(entryOf(t, 0, pathPayload(0), coreform.Int(1))); err != nil {
		t.Fatal(err)
	}
	f.limit = len(f.data) + 10
	e := entryOf(t, 1, pathPayload(1), coreform.Int(1))
	first := w.Append(e)
	f.limit = -1
	writes := f.writes
	_, closeErr := w.Close(okOutcome())
	blob := w.Blob(FormBytes)
	_, blobErr := blob.Write(bytesOf(3*partSize, 1))
	for _, err := range []error{first, w.Append(e), w.Intent(Intent{Op: "a"}), w.Sync(), w.Err(), closeErr, blobErr} {
		if !errors.Is(err, errDisk) {
			t.Errorf("got %v", err)
		}
	}
	if f.writes != writes {
		t.Error("it wrote on after an error")
	}
	got, _, err := readAll(f.data)
	if len(got) != 1 || !errors.Is(err, ErrIncomplete) {
		t.Errorf("%d entries, %v", len(got), err)
	}
}

// Every intent and every entry, blobs up to a part and commit frames included,
// is one write call.
// spec: LOG-WRITE-3 LOG-COMMIT-1 LOG-ENTRY-2 LOG-INTENT-1
func TestOneWriteCallEach(t *testing.T) {
	f := newMemFile()
	w, err := NewWriter(f, testHeader(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if f.writes != 1 {
		t.Errorf("%d write calls for the header", f.writes)
	}
	for i := range 130 {
		resp := coreform.Int(int64(i))
		if i%10 == 0 {
			resp = coreform.BytesOf(bytesOf(9000, byte(i)))
		}
		e := entryOf(t, i, pathPayload(i), resp)
		before := f.writes
		if err := w.Intent(Intent{Op: e.Op, R: e.R, ReqHash: e.ReqHash()}); err != nil {
			t.Fatal(err)
		}
		if err := w.Append(e); err != nil {
			t.Fatal(err)
		}
		if f.writes != before+2 {
			t.Errorf("entry %d: %d write calls", i, f.writes-before)
		}
	}
	if _, err := w.Close(okOutcome()); err != nil {
		t.Fatal(err)
	}
	if rep, err := check(f.data); err != nil || rep.Commits != 3 {
		t.Errorf("%d commits, %v", rep.Commits, err)
	}
}

// The crash model: what was not made durable is lost. In grade commit and
// always the intent of a once op is there, in always every entry too.
// spec: LOG-SYNC-1 LOG-SYNC-2 LOG-SYNC-3
func TestWhatIsDurable(t *testing.T) {
	durable := func(f *memFile) (entries int, intents []Intent) {
		got, s, err := readAll(f.data[:f.synced])
		if err != nil && !errors.Is(err, ErrIncomplete) {
			t.Fatal(err)
		}
		if s == nil {
			return 0, nil
		}
		return len(got), s.OpenIntents()
	}
	for _, grade := range []SyncGrade{SyncCommit, SyncNone, SyncAlways} {
		f := newMemFile()
		w, err := NewWriter(f, testHeader(), Options{Sync: grade})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 70 {
			e := entryOf(t, i, pathPayload(i), coreform.Int(1))
			once := i%9 == 8
			if err := w.Intent(Intent{Op: e.Op, R: e.R, ReqHash: e.ReqHash(), Once: once}); err != nil {
				t.Fatal(err)
			}
			n, open := durable(f)
			if in := len(open) == 1 && open[0].R == e.R; in != (grade == SyncAlways || grade == SyncCommit && once) {
				t.Errorf("%v, %d: durable intents %v", grade, i, open)
			}
			if once && grade == SyncCommit && n != i {
				t.Errorf("%v: %d entries durable with the intent after %d", grade, n, i)
			}
			if err := w.Append(e); err != nil {
				t.Fatal(err)
			}
			n, _ = durable(f)
			if want := i + 1; grade == SyncAlways && n != want || grade == SyncCommit && i+1 == 64 && n != want || grade == SyncNone && n != 0 {
				t.Errorf("%v: %d of %d entries durable", grade, n, want)
			}
		}
		if w.Dirty() != (grade == SyncCommit) {
			t.Errorf("%v: dirty is %v", grade, w.Dirty())
		}
		if err := w.Sync(); err != nil {
			t.Fatal(err)
		}
		if n, _ := durable(f); grade != SyncNone && n != 70 {
			t.Errorf("%v: %d entries durable after Sync", grade, n)
		}
		syncs := f.syncs
		if err := w.Sync(); err != nil || f.syncs != syncs {
			t.Errorf("%v: synced again with nothing new", grade)
		}
		if _, err := w.Close(okOutcome()); err != nil {
			t.Fatal(err)
		}
		if grade == SyncNone != (f.syncs == 0) || grade != SyncNone && f.synced != len(f.data) {
			t.Errorf("%v: %d of %d bytes durable, %d syncs", grade, f.synced, len(f.data), f.syncs)
		}
	}
}

// A power loss may leave zeros where data was not yet durable: torn, not
// damaged, and what was durable is read.
// spec: LOG-STATE-3
func TestZerosAfterPowerLoss(t *testing.T) {
	s := many(10)
	data := s.bytes(t)
	frames := framesOf(t, data)
	for _, f := range frames[1:] {
		lost := append(slices.Clone(data[:f.off]), make([]byte, len(data)-f.off)...)
		if _, err := check(lost); !errors.Is(err, ErrIncomplete) {
			t.Errorf("zeros from byte %d on: %v", f.off, err)
		}
	}
}

// spec: LOG-WRITE-4 LOG-END-2
func TestLogFull(t *testing.T) {
	f := newMemFile()
	const limit = 40_000
	w, err := NewWriter(f, testHeader(), Options{MaxBytes: limit})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for ; ; n++ {
		room := w.Room()
		err = w.Append(entryOf(t, n, pathPayload(n), coreform.BytesOf(bytesOf(1000, byte(n)))))
		if err != nil {
			if room > 2000 {
				t.Errorf("full with %d bytes of room", room)
			}
			break
		}
	}
	if !errors.Is(err, ErrLogFull) || n < 10 {
		t.Fatalf("%d entries, then %v", n, err)
	}
	size := len(f.data)
	if err := w.Append(entryOf(t, n, pathPayload(n), coreform.BytesOf(bytesOf(20_000, 1)))); !errors.Is(err, ErrLogFull) {
		t.Error(err)
	}
	b := w.Blob(FormBytes)
	if _, err := b.Write(bytesOf(2*partSize, 1)); !errors.Is(err, ErrLogFull) {
		t.Error(err)
	}
	if err := w.Intent(Intent{Op: strings.Repeat("a", 3000)}); !errors.Is(err, ErrLogFull) {
		t.Error(err)
	}
	if len(f.data) != size {
		t.Error("something was written")
	}
	big := coreform.Str(strings.Repeat("x", 3000))
	if _, err := w.Close(guest.Outcome{Kind: guest.OutcomeLimit, Code: "core/limit", Context: big}); err != nil {
		t.Fatal(err)
	}
	rep, err := check(f.data)
	if err != nil || rep.Entries != uint64(n) || len(f.data) > limit {
		t.Errorf("%d entries, %d bytes, %v", rep.Entries, len(f.data), err)
	}
	if _, err := NewWriter(newMemFile(), testHeader(), Options{MaxBytes: 1000}); !errors.Is(err, ErrLogFull) {
		t.Error(err)
	}
}

// The inline limit is inclusive: of a bytes value its length counts, of others
// that of the encoding.
// spec: LOG-BLOB-1
func TestInlineLimit(t *testing.T) {
	str := func(n int) coreform.Value { return coreform.Str(strings.Repeat("x", n)) }
	for i, tc := range []struct {
		v    coreform.Value
		blob bool
		form Form
	}{
		{coreform.BytesOf(bytesOf(4096, 1)), false, 0},
		{coreform.BytesOf(bytesOf(4097, 1)), true, FormBytes},
		{str(4096 - 3), false, 0},
		{str(4096 - 2), true, FormTerm},
		{coreform.Vec(coreform.BytesOf(bytesOf(4096, 1))), true, FormTerm},
	} {
		s := many(1)
		s.entries = func(t testing.TB) []*Entry { return []*Entry{entryOf(t, 0, coreform.Value{}, tc.v)} }
		got, _, err := readAll(s.bytes(t))
		if err != nil {
			t.Fatal(err)
		}
		ref, blob := got[0].Resp.Ref()
		if blob != tc.blob || ref.Form != tc.form {
			t.Errorf("%d: blob %v, form %v", i, blob, ref.Form)
		}
		sameValue(t, got[0].Resp, DatumOf(tc.v))
	}
}

// spec: LOG-BLOB-2 LOG-BLOB-3 LOG-BLOB-5
func TestBlobs(t *testing.T) {
	f := newMemFile()
	w, err := NewWriter(f, testHeader(), Options{Sync: SyncNone})
	if err != nil {
		t.Fatal(err)
	}
	contents := [][]byte{bytesOf(5000, 1), bytesOf(partSize, 2), bytesOf(partSize+1, 3), bytesOf(3*partSize+17, 4), bytesOf(10, 5), nil}
	var blobs []coreform.Blob
	for i, c := range contents {
		b := w.Blob(FormBytes)
		if i%2 == 0 {
			_, err = io.Copy(b, io.MultiReader(bytes.NewReader(c[:len(c)/3]), bytes.NewReader(c[len(c)/3:])))
		} else {
			for p := range slices.Chunk(c, 70_000) {
				if _, err = b.Write(p); err != nil {
					break
				}
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		blob, err := b.Finish()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.Finish(); err == nil {
			t.Error("finished twice")
		}
		blobs = append(blobs, blob)
		sameContent(t, blob, c)
	}
	size := len(f.data)
	again := w.Blob(FormBytes)
	if _, err := again.Write(contents[1]); err != nil {
		t.Fatal(err)
	}
	if blob, err := again.Finish(); err != nil || len(f.data) != size {
		t.Errorf("content that is there was written again: %v", err)
	} else {
		sameContent(t, blob, contents[1])
	}
	for i, b := range blobs {
		before := len(f.data)
		if err := w.Append(entryOf(t, i, pathPayload(i), coreform.BlobBytes(b))); err != nil {
			t.Fatal(err)
		}
		if len(f.data)-before > 400 {
			t.Errorf("blob %d: the entry took %d bytes", i, len(f.data)-before)
		}
	}
	// A window of a blob is content of its own.
	part, _ := coreform.BlobBytes(blobs[3]).AsBytes()
	if err := w.Append(entryOf(t, 6, pathPayload(6), part.Slice(100, 6000))); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Close(okOutcome()); err != nil {
		t.Fatal(err)
	}
	rep, err := check(f.data)
	if err != nil || rep.Blobs != 2+4+1 {
		t.Fatalf("%+v %v", rep, err)
	}
	for _, data := range [][]byte{f.data, f.data[:len(f.data)-locatorFrame]} {
		l, err := Open(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range contents[:4] {
			b, err := l.Blob(digest.Sum(c))
			if err != nil {
				t.Fatal(err)
			}
			sameContent(t, b, c)
		}
		if _, err := l.Blob(digest.Sum([]byte("other"))); !errors.Is(err, ErrNotKept) {
			t.Error(err)
		}
		e, err := l.Entry(3)
		if err != nil {
			t.Fatal(err)
		}
		v, err := e.Resp.Value()
		if err != nil || coreform.StateHash(v) != e.RespDigest {
			t.Error(err)
		}
	}
}

func sameContent(t *testing.T, b coreform.Blob, want []byte) {
	t.Helper()
	got := make([]byte, b.Size())
	if _, err := io.ReadFull(io.NewSectionReader(b, 0, b.Size()), got); err != nil || !bytes.Equal(got, want) {
		t.Errorf("blob of %d bytes: %v", len(want), err)
	}
	if b.Digest() != digest.Sum(want) {
		t.Errorf("blob of %d bytes: another name", len(want))
	}
	var p [10]byte
	if n, err := b.ReadAt(p[:], b.Size()-int64(min(4, len(want)))); err != io.EOF || n != min(4, len(want)) {
		t.Errorf("reading over the end: %d, %v", n, err)
	}
	if off := int64(partSize - 5); off+10 <= b.Size() {
		if _, err := b.ReadAt(p[:], off); err != nil || !bytes.Equal(p[:], want[off:off+10]) {
			t.Errorf("reading across parts: %v", err)
		}
	}
}

// Blobs streamed at the same time may mix their parts; one that is given up
// leaves parts behind. The log is good all the same.
// spec: LOG-BLOB-4
func TestBlobsAtTheSameTime(t *testing.T) {
	f := newMemFile()
	w, err := NewWriter(f, testHeader(), Options{Sync: SyncNone})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			c := bytesOf(2*partSize+g, byte(g))
			b := w.Blob(FormBytes)
			for p := range slices.Chunk(c, 300_000) {
				if _, err := b.Write(p); err != nil {
					t.Error(err)
				}
			}
			if g == 3 {
				return
			}
			blob, err := b.Finish()
			if err != nil {
				t.Error(err)
				return
			}
			e := entryOf(t, g, pathPayload(g), coreform.BlobBytes(blob))
			e.Task = guest.TaskID(g)
			if err := w.Append(e); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if _, err := w.Close(okOutcome()); err != nil {
		t.Fatal(err)
	}
	if rep, err := check(f.data); err != nil || rep.Blobs != 5 || rep.Entries != 3 {
		t.Errorf("%+v %v", rep, err)
	}
}

// Of a denied payload over the inline limit digest and length are kept, its
// content is not.
// spec: LOG-ENTRY-4
func TestDeniedPayload(t *testing.T) {
	secret := strings.Repeat("do not keep ", 1000)
	for _, payload := range []coreform.Value{kw("data", coreform.Str(secret)), coreform.BytesOf([]byte(secret))} {
		f := newMemFile()
		w, err := NewWriter(f, testHeader(), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Append(denied(t, 0, payload)); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Close(okOutcome()); err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(f.data, []byte("do not keep")) {
			t.Error("the payload is in the file")
		}
		l, err := Open(bytes.NewReader(f.data), int64(len(f.data)))
		if err != nil {
			t.Fatal(err)
		}
		e, err := l.Entry(0)
		if err != nil {
			t.Fatal(err)
		}
		ref, ok := e.Payload.Ref()
		if _, err := e.Payload.Value(); !errors.Is(err, ErrWithheld) || !ok || !e.Payload.Withheld() {
			t.Errorf("value: %v", err)
		}
		if want, err := termRef(payload); err != nil || ref != want || ref.Size < int64(len(secret)) {
			t.Errorf("ref %+v, want %+v", ref, want)
		}
		if rep, err := check(f.data); err != nil || rep.Withheld != 1 {
			t.Errorf("%+v %v", rep, err)
		}
	}
}

// What the format cannot hold is refused before anything is written.
// spec: LOG-WRITE-5 LOG-HEADER-3 LOG-INTENT-2
func TestUnrecordable(t *testing.T) {
	f := newMemFile()
	w, err := NewWriter(f, testHeader(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	improper := coreform.Cons(coreform.Int(1), coreform.Int(2))
	deep := coreform.Int(0)
	for range MaxTermDepth + 1 {
		deep = coreform.Vec(deep)
	}
	good := func() *Entry { return entryOf(t, 0, pathPayload(0), coreform.Int(1)) }
	for name, change := range map[string]func(*Entry){
		"no op":         func(e *Entry) { e.Op = "" },
		"long op":       func(e *Entry) { e.Op = strings.Repeat("a", MaxOp+1) },
		"reason":        func(e *Entry) { e.Reason = "x" },
		"long reason":   func(e *Entry) { e.Decision, e.Reason = Deny, strings.Repeat("x", maxReason+1) },
		"decision":      func(e *Entry) { e.Decision = 2 },
		"response kind": func(e *Entry) { e.RespKind = 2 },
		"span":          func(e *Entry) { e.Span.Off = -1 },
		"payload":       func(e *Entry) { e.Payload = DatumOf(improper) },
		"response":      func(e *Entry) { e.Resp = DatumOf(deep) },
		"withheld":      func(e *Entry) { e.Resp = WithheldDatum(deep) },
		"cap":           func(e *Entry) { e.Cap = coreform.Str(strings.Repeat("x", maxCap)) },
	} {
		e := good()
		change(e)
		size := len(f.data)
		if err := w.Append(e); !errors.Is(err, ErrUnrecordable) || len(f.data) != size {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, change := range map[string]func(*Header){
		"path":      func(h *Header) { h.Name = "/home/user/hello.gc" },
		"backslash": func(h *Header) { h.Name = `C:\hello.gc` },
		"kind":      func(h *Header) { h.Kind = "x" },
		"wall":      func(h *Header) { h.Limits["max_wall_ms"] = 1 },
		"long name": func(h *Header) { h.Name = strings.Repeat("x", maxName+1) },
		"policy":    func(h *Header) { h.Policy = improper },
		"many limits": func(h *Header) {
			for i := range maxLimits {
				h.Limits[fmt.Sprint(i)] = 1
			}
		},
	} {
		h := testHeader()
		change(&h)
		nf := newMemFile()
		if _, err := NewWriter(nf, h, Options{}); !errors.Is(err, ErrUnrecordable) || len(nf.data) != 0 {
			t.Errorf("header, %s: %v", name, err)
		}
	}
	in := Intent{Op: "a", R: 1}
	if err := w.Intent(in); err != nil {
		t.Fatal(err)
	}
	if err := w.Intent(in); !errors.Is(err, ErrUnrecordable) {
		t.Errorf("a second intent: %v", err)
	}
	if err := w.Append(good()); !errors.Is(err, ErrUnrecordable) {
		t.Errorf("another entry than intended: %v", err)
	}
	if _, err := w.Close(guest.Outcome{Kind: "x"}); !errors.Is(err, ErrUnrecordable) {
		t.Errorf("outcome: %v", err)
	}
	if _, err := w.Close(guest.Outcome{Kind: guest.OutcomeHostFailure, Code: "x"}); err != nil {
		t.Fatal(err)
	}
	if err := w.Append(good()); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	if _, err := w.Close(okOutcome()); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	rep, err := check(f.data)
	if err != nil || rep.Entries != 0 || len(rep.Open) != 1 || rep.Open[0].R != 1 {
		t.Errorf("%+v %v", rep, err)
	}
}

// An index of several frames, and one that ends exactly with a full frame.
// spec: LOG-INDEX-1 LOG-INDEX-2
func TestLargeIndex(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 65 536 and more entries")
	}
	for _, n := range []int{entriesPerIndex, entriesPerIndex + 1} {
		f := newMemFile()
		w, err := NewWriter(f, testHeader(), Options{Sync: SyncNone, InlineMax: 10})
		if err != nil {
			t.Fatal(err)
		}
		blobs := 0
		for i := range n {
			resp := coreform.Int(int64(i))
			if i%3 == 0 {
				resp = coreform.Str(fmt.Sprint("a response ", i))
				blobs++
			}
			e := entryOf(t, i, coreform.Value{}, resp)
			if err := w.Append(e); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := w.Close(okOutcome()); err != nil {
			t.Fatal(err)
		}
		rep, err := check(f.data)
		if err != nil || rep.Entries != uint64(n) || rep.Blobs != uint64(blobs+2) {
			t.Fatalf("%+v %v", rep, err)
		}
		l, err := Open(bytes.NewReader(f.data), int64(len(f.data)))
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range []int{0, 3, n / 2, n - 2, n - 1} {
			e, err := l.Entry(uint64(i))
			if err != nil || e.R != uint64(i) {
				t.Fatalf("entry %d: %v", i, err)
			}
			v, err := e.Resp.Value()
			if err != nil || coreform.StateHash(v) != e.RespDigest {
				t.Errorf("entry %d: %v", i, err)
			}
		}
	}
}
