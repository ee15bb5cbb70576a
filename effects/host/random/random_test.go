package random

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"testing"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/effects"
	"github.com/gcrun/gcrun/effects/guest"
	"github.com/gcrun/gcrun/effects/ops"
	"github.com/gcrun/gcrun/internal/digest"
)

var _ effects.Handler = (*Handler)(nil)

// counter is a source of the bytes 0, 1, 2, …
type counter struct{ n int }

func (c *counter) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = byte(c.n)
		c.n++
	}
	return len(b), nil
}

// counted is what a counter gives from byte number from on.
func counted(from, n int) []byte {
	b := make([]byte, n)
	(&counter{n: from}).Read(b)
	return b
}

// sink keeps blobs in memory and can fail.
type sink struct {
	inlineMax                int64
	failNew, failWrite, fail error
	blobs, finished, aborted int
	largest                  int
	buf                      bytes.Buffer
}

func (s *sink) InlineMax() int64 { return s.inlineMax }

func (s *sink) NewBlob() (effects.BlobWriter, error) {
	s.blobs++
	s.buf.Reset()
	return s, s.failNew
}

func (s *sink) Write(b []byte) (int, error) {
	s.largest = max(s.largest, len(b))
	if s.failWrite != nil {
		return 0, s.failWrite
	}
	return s.buf.Write(b)
}

func (s *sink) Finish() (coreform.Blob, error) {
	s.finished++
	content := bytes.Clone(s.buf.Bytes())
	return blob{bytes.NewReader(content), digest.Sum(content)}, s.fail
}

func (s *sink) Abort() error { s.aborted++; return nil }

type blob struct {
	*bytes.Reader
	sum digest.Digest
}

func (b blob) Digest() digest.Digest { return b.sum }

func call(n, maxBytes int64, s *sink) effects.Call {
	return effects.Call{Op: "sys/random::bytes", MaxBytes: maxBytes, Blobs: s,
		Payload: coreform.MapOf(coreform.Entry{Key: coreform.Sym(":len"), Value: coreform.Int(n)})}
}

func TestBytesComeFromTheSourceInOrder(t *testing.T) {
	const inline = 100_000
	source := &counter{}
	h := New(source)
	for _, n := range []int{0, 1, 33, pieceBytes, pieceBytes + 1, inline, inline + 1, 5*pieceBytes + 7} {
		s, from := &sink{inlineMax: inline}, source.n
		r, err := h.Handle(context.Background(), call(int64(n), int64(n), s))
		if err != nil || r.Kind != guest.RespOK {
			t.Fatalf("%d bytes: %v, %v", n, r, err)
		}
		got, ok := r.Value.AsBytes()
		if !ok {
			t.Fatalf("%d bytes: a %s", n, r.Value.Kind())
		}
		content, err := got.Load()
		if err != nil || !bytes.Equal(content, counted(from, n)) {
			t.Errorf("%d bytes: other content, %v", n, err)
		}
		if source.n-from != n {
			t.Errorf("%d bytes drew %d", n, source.n-from)
		}
		if got.InMemory() != (n <= inline) || s.blobs != s.finished || s.largest > pieceBytes {
			t.Errorf("%d bytes: in memory %v, %d of %d blobs finished, pieces of %d", n, got.InMemory(), s.finished, s.blobs, s.largest)
		}
	}
}

func TestLengthIsBoundedBeforeDrawing(t *testing.T) {
	for _, n := range []int64{11, math.MaxInt64} {
		source := &counter{}
		r, err := New(source).Handle(context.Background(), call(n, 10, &sink{inlineMax: math.MaxInt64}))
		if err != nil || r.Kind != guest.RespError {
			t.Fatalf("%d bytes: %v, %v", n, r, err)
		}
		if want := ops.ResourceLimit("sys/random::bytes", ":len", 10, false); !coreform.Equal(r.Value, want) {
			t.Errorf("%d bytes: another answer than the loop gives", n)
		}
		if source.n != 0 {
			t.Errorf("%d bytes: drew %d", n, source.n)
		}
	}
}

func TestHostFaults(t *testing.T) {
	broken := errors.New("broken")
	for _, c := range []struct {
		name    string
		source  io.Reader
		sink    *sink
		aborted int
		want    error
	}{
		{"source in memory", bytes.NewReader([]byte("ab")), &sink{inlineMax: 100}, 0, io.ErrUnexpectedEOF},
		{"source into a blob", bytes.NewReader([]byte("ab")), &sink{}, 1, io.ErrUnexpectedEOF},
		{"new blob", &counter{}, &sink{failNew: broken}, 0, broken},
		{"write", &counter{}, &sink{failWrite: broken}, 1, broken},
		{"finish", &counter{}, &sink{fail: broken}, 0, broken},
	} {
		_, err := New(c.source).Handle(context.Background(), call(3, 3, c.sink))
		if !errors.Is(err, c.want) || c.sink.aborted != c.aborted {
			t.Errorf("%s: %v, aborted %d", c.name, err, c.sink.aborted)
		}
	}
}

// cancelAfter cancels a context once n bytes were drawn.
type cancelAfter struct {
	counter
	n      int
	cancel func()
}

func (c *cancelAfter) Read(b []byte) (int, error) {
	k, err := c.counter.Read(b)
	if c.counter.n >= c.n {
		c.cancel()
	}
	return k, err
}

func TestContextIsSeenBetweenPieces(t *testing.T) {
	for _, inline := range []int64{0, math.MaxInt64} {
		ctx, cancel := context.WithCancel(context.Background())
		source := &cancelAfter{n: 2 * pieceBytes, cancel: cancel}
		s := &sink{inlineMax: inline}
		_, err := New(source).Handle(ctx, call(100*pieceBytes, 100*pieceBytes, s))
		if !errors.Is(err, context.Canceled) || source.counter.n != 2*pieceBytes || s.aborted != s.blobs {
			t.Errorf("inline up to %d: %v after %d bytes, %d of %d blobs aborted", inline, err, source.counter.n, s.aborted, s.blobs)
		}
	}
}

func TestSystemGivesDifferentBytes(t *testing.T) {
	h := New(System())
	seen := map[string]bool{}
	for range 8 {
		r, err := h.Handle(context.Background(), call(32, 32, &sink{inlineMax: 32}))
		if err != nil {
			t.Fatal(err)
		}
		b, _ := r.Value.AsBytes()
		seen[string(b.MustLoad())] = true
	}
	if len(seen) != 8 {
		t.Errorf("%d of 8 draws differ", len(seen))
	}
}

func TestOps(t *testing.T) {
	h := New(&counter{})
	for _, name := range h.Ops() {
		if op, ok := ops.Lookup(name); !ok || !op.Implemented {
			t.Errorf("%s is not an implemented op of the catalogue", name)
		}
	}
	for _, c := range []effects.Call{
		{Op: "sys/random::other"},
		{Op: "sys/random::bytes"},
		{Op: "sys/random::bytes", Payload: coreform.MapOf()},
		call(-1, 10, &sink{}),
	} {
		if r, err := h.Handle(context.Background(), c); err == nil {
			t.Errorf("%s with a payload the catalogue refuses: %v", c.Op, r)
		}
	}
}
