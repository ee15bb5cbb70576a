// Package console answers io/console::write: a program's output and messages.
//
// The two writers are given as values. [Handler] writes whole contents to them
// in pieces, under the call's context. A reader that has gone away is not an
// error the program sees but [ErrClosed], so that the run can end as if it had
// been interrupted; other failures are answered with core/io-error and a kind
// from the closed list of spec/paths.md PATH-3.
//
// Bytes are written as they are. Whoever gives a terminal as writer decides
// whether control characters may reach it.
package console

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"reflect"
	"strings"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/effects"
	"github.com/gcrun/gcrun/effects/guest"
	"github.com/gcrun/gcrun/effects/ops"
	"github.com/gcrun/gcrun/fspolicy"
)

const opWrite = "io/console::write"

// ErrClosed is in the error of Handle, together with [effects.ErrInterrupted],
// when nobody reads the stream any more: the other end of the pipe is closed.
//
// A process whose own standard output breaks also gets SIGPIPE and dies of it,
// unless it has asked for that signal (os/signal); the command must.
var ErrClosed = errors.New("the reader has closed it")

// Handler answers io/console::write. It is used by one goroutine at a time.
type Handler struct{ out, err *stream }

// New returns a handler that writes the stream :out to out and :err to err.
// Both may be the same writer. The writers stay the caller's; the handler does
// not flush or close them.
func New(out, err io.Writer) *Handler {
	h := &Handler{out: newStream(out)}
	h.err = h.out
	if v := reflect.ValueOf(out); !v.Comparable() || out != err {
		h.err = newStream(err)
	}
	return h
}

// Ops returns the names of the ops the handler answers, sorted.
func (*Handler) Ops() []string { return []string{opWrite} }

// Handle implements [effects.Handler]. The answer is nil once everything was
// written. A writer that fails is core/io-error with :io-kind no-space,
// permission-denied, too-large or other; some of the content may have been
// written. The error is ctx.Err() when ctx is done, also while the writer
// blocks: what is being written then may still arrive, and the next write to
// that stream waits for it. It wraps [ErrClosed] and [effects.ErrInterrupted]
// for a closed pipe. Any other error is a blob that cannot be read or a bug.
func (h *Handler) Handle(ctx context.Context, call effects.Call) (guest.Response, error) {
	if call.Op != opWrite {
		return guest.Response{}, fmt.Errorf("handler for the console was asked for %s", call.Op)
	}
	name, s, data := h.parse(call.Payload)
	if s == nil || data == nil {
		return guest.Response{}, errors.New(opWrite + ": the payload was not checked against the catalogue")
	}
	err := s.write(ctx, data)
	var w *writerError
	switch {
	case err == nil:
		return effects.OK(coreform.Value{}), nil
	case !errors.As(err, &w):
		return guest.Response{}, err
	case isClosed(w.err):
		return guest.Response{}, fmt.Errorf("%w: %s to %s: %w", effects.ErrInterrupted, opWrite, name, ErrClosed)
	}
	return effects.Fail(ops.IOFailed(opWrite, string(kindOf(w.err)), "")), nil
}

// parse returns the stream a payload names and its content.
func (h *Handler) parse(payload coreform.Value) (name string, s *stream, data io.Reader) {
	m, ok := payload.AsMap()
	if !ok {
		return "", nil, nil
	}
	v, _ := m.Get(coreform.Sym(":stream"))
	switch name, _ = v.AsSym(); name {
	case ":out":
		s = h.out
	case ":err":
		s = h.err
	}
	v, _ = m.Get(coreform.Sym(":data"))
	if text, ok := v.AsStr(); ok {
		data = strings.NewReader(text)
	} else if b, ok := v.AsBytes(); ok {
		data = b.Reader()
	}
	return name, s, data
}

func isClosed(err error) bool {
	return errors.Is(err, io.ErrClosedPipe) || isBrokenPipe(err)
}

// kindOf names a failure of a writer.
func kindOf(err error) fspolicy.Kind {
	switch {
	case isFull(err):
		return fspolicy.KindNoSpace
	case isTooLarge(err):
		return fspolicy.KindTooLarge
	case errors.Is(err, fs.ErrPermission):
		return fspolicy.KindPermissionDenied
	}
	return fspolicy.KindOther
}
