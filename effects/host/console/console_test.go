package console

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/effects"
	"github.com/gcrun/gcrun/effects/guest"
	"github.com/gcrun/gcrun/effects/ops"
	"github.com/gcrun/gcrun/fspolicy"
	"github.com/gcrun/gcrun/internal/digest"
)

var _ effects.Handler = (*Handler)(nil)

func write(stream string, data coreform.Value) effects.Call {
	return effects.Call{Op: "io/console::write", MaxBytes: 100, Payload: coreform.MapOf(
		coreform.Entry{Key: coreform.Sym(":stream"), Value: coreform.Sym(stream)},
		coreform.Entry{Key: coreform.Sym(":data"), Value: data})}
}

var bg = context.Background()

func TestWritesGoToTheirStreams(t *testing.T) {
	var out, msg bytes.Buffer
	h := New(&out, &msg)
	large := strings.Repeat("0123456789", 50_000)
	for _, c := range []effects.Call{
		write(":out", coreform.Str("one é\n")),
		write(":err", coreform.BytesOf([]byte("\xff\x00\x1b[31m"))),
		write(":out", coreform.Str("")),
		write(":out", coreform.BytesOf([]byte(large))),
		write(":out", coreform.BlobBytes(blob{bytes.NewReader([]byte("from a blob")), nil})),
	} {
		r, err := h.Handle(bg, c)
		if err != nil || r.Kind != guest.RespOK || !r.Value.IsNil() {
			t.Fatalf("%v, %v", r, err)
		}
	}
	if got, want := out.String(), "one é\n"+large+"from a blob"; got != want {
		t.Errorf("output of %d bytes, want %d", len(got), len(want))
	}
	if got := msg.String(); got != "\xff\x00\x1b[31m" {
		t.Errorf("messages %q", got)
	}
}

// blob fails with err, if that is set.
type blob struct {
	*bytes.Reader
	err error
}

func (b blob) Digest() digest.Digest { return digest.Sum([]byte("blob")) }
func (b blob) ReadAt(p []byte, off int64) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	return b.Reader.ReadAt(p, off)
}

// failing is a writer that takes some bytes and then fails.
type failing struct {
	takes int
	err   error
}

func (f *failing) Write(p []byte) (int, error) {
	n := min(f.takes, len(p))
	f.takes -= n
	if n < len(p) {
		return n, f.err
	}
	return n, nil
}

// A pipe nobody reads ends the run as interrupted, and says which stream it was.
func TestClosedPipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	pr, pw := io.Pipe()
	pr.Close()
	for _, pipe := range []io.Writer{w, pw} {
		h := New(io.Discard, pipe)
		_, err := h.Handle(bg, write(":err", coreform.Str("x")))
		if !errors.Is(err, ErrClosed) || !errors.Is(err, effects.ErrInterrupted) || !strings.Contains(fmt.Sprint(err), ":err") {
			t.Errorf("%T: %v", pipe, err)
		}
		if _, err := h.Handle(bg, write(":out", coreform.Str("x"))); err != nil {
			t.Errorf("the other stream: %v", err)
		}
	}
}

// Failures of a writer are answers from the closed list, without its text.
func TestFailuresOfTheWriter(t *testing.T) {
	const secret = "/home/someone/out"
	for _, c := range []struct {
		err  error
		kind fspolicy.Kind
	}{
		{&fs.PathError{Op: "write", Path: secret, Err: errors.New("strange")}, fspolicy.KindOther},
		{&fs.PathError{Op: "write", Path: secret, Err: fs.ErrPermission}, fspolicy.KindPermissionDenied},
		{&fs.PathError{Op: "write", Path: secret, Err: fs.ErrClosed}, fspolicy.KindOther},
		{context.Canceled, fspolicy.KindOther}, // of the writer's own, not of the call
		{nil, fspolicy.KindOther},              // short without a reason
	} {
		r, err := New(&failing{3, c.err}, io.Discard).Handle(bg, write(":out", coreform.Str("12345")))
		if err != nil || r.Kind != guest.RespError {
			t.Fatalf("%v: %v, %v", c.err, r, err)
		}
		want := ops.IOFailed("io/console::write", string(c.kind), "")
		if !coreform.Equal(r.Value, want) {
			t.Errorf("%v is not answered with %s", c.err, c.kind)
		}
		text, err := coreform.PrintTerm(r.Value, coreform.Limits{})
		if err != nil || bytes.Contains(text, []byte("someone")) {
			t.Errorf("%v: answer %s, %v", c.err, text, err)
		}
	}
}

// Content that cannot be read is a fault of the host, whatever it looks like.
func TestFailureOfTheContent(t *testing.T) {
	broken := fmt.Errorf("log: %w", io.ErrClosedPipe)
	r, err := New(io.Discard, io.Discard).Handle(bg, write(":out", coreform.BlobBytes(blob{bytes.NewReader(make([]byte, 9)), broken})))
	if err == nil || errors.Is(err, ErrClosed) || errors.Is(err, effects.ErrInterrupted) {
		t.Errorf("%v, %v", r, err)
	}
}

// A reader that does not read holds a write up to the end of its context, and
// what was left behind never mixes with what comes next.
func TestBlockedWriter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		h := New(w, io.Discard)
		timed := func(c effects.Call) (time.Duration, error) {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			start := time.Now()
			_, err := h.Handle(ctx, c)
			return time.Since(start), err
		}
		first := bytes.Repeat([]byte("a"), 3*pieceBytes)
		for i, c := range []effects.Call{write(":out", coreform.BytesOf(first)), write(":out", coreform.Str("second"))} {
			if took, err := timed(c); !errors.Is(err, context.DeadlineExceeded) || took != 5*time.Second {
				t.Errorf("write %d: %v after %v", i, err, took)
			}
		}
		if _, err := timed(write(":err", coreform.Str("x"))); err != nil {
			t.Errorf("the other stream: %v", err)
		}
		var got []byte
		read := make(chan struct{})
		go func() {
			defer close(read)
			got, _ = io.ReadAll(r)
		}()
		if _, err := timed(write(":out", coreform.Str("third"))); err != nil {
			t.Errorf("after reading began: %v", err)
		}
		w.Close()
		<-read
		if want := string(first[:pieceBytes]) + "third"; string(got) != want {
			t.Errorf("%d bytes arrived, ending in %q", len(got), got[max(0, len(got)-8):])
		}
	})
}

func TestContextThatHasEnded(t *testing.T) {
	ctx, cancel := context.WithCancel(bg)
	cancel()
	var out bytes.Buffer
	if _, err := New(&out, &out).Handle(ctx, write(":out", coreform.Str("x"))); !errors.Is(err, context.Canceled) || out.Len() > 0 {
		t.Errorf("%v, wrote %q", err, out.String())
	}
}

// One writer for both streams is one stream.
func TestOneWriterForBoth(t *testing.T) {
	if h := New(os.Stdout, os.Stdout); h.out != h.err {
		t.Error("two streams on one writer")
	}
	if h := New(os.Stdout, os.Stderr); h.out == h.err {
		t.Error("one stream for two writers")
	}
	type odd struct {
		io.Writer
		_ []int // not comparable
	}
	New(odd{Writer: io.Discard}, odd{Writer: io.Discard})
}

func TestOps(t *testing.T) {
	h := New(io.Discard, io.Discard)
	for _, name := range h.Ops() {
		if op, ok := ops.Lookup(name); !ok || !op.Implemented {
			t.Errorf("%s is not an implemented op of the catalogue", name)
		}
	}
	for _, c := range []effects.Call{
		{Op: "io/console::read"},
		{Op: "io/console::write"},
		write(":log", coreform.Str("x")),
		write(":out", coreform.Int(1)),
	} {
		if r, err := h.Handle(bg, c); err == nil {
			t.Errorf("%s with a payload the catalogue refuses: %v", c.Op, r)
		}
	}
}
