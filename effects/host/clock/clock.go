// Package clock answers sys/time::now and sys/time::sleep from a clock it is
// given as a value: the host's in production, one that is set by hand in tests
// and simulations.
//
// [Source] is the clock, [Handler] the answers. Time enters a program here and
// nowhere else.
package clock

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/effects"
	"github.com/gcrun/gcrun/effects/guest"
)

const (
	opNow   = "sys/time::now"
	opSleep = "sys/time::sleep"
)

// maxSleepMs is the longest sleep that fits a time.Duration, in milliseconds;
// the catalogue allows no longer one.
const maxSleepMs = (1<<63 - 1) / int64(time.Millisecond)

// Source is a clock. It is used by one goroutine at a time.
type Source interface {
	// Now returns the current time.
	Now() time.Time
	// Sleep returns nil once d has passed, or ctx.Err() when ctx is done
	// earlier. d is not negative.
	Sleep(ctx context.Context, d time.Duration) error
}

// System returns the clock of the host.
func System() Source { return system{} }

type system struct{}

func (system) Now() time.Time { return time.Now() }

func (system) Sleep(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil || d == 0 {
		return err
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Handler answers sys/time::now and sys/time::sleep.
type Handler struct{ source Source }

// New returns a handler on a clock.
func New(source Source) *Handler { return &Handler{source: source} }

// Ops returns the names of the ops the handler answers, sorted.
func (*Handler) Ops() []string { return []string{opNow, opSleep} }

// Handle implements [effects.Handler]. now is answered with the whole
// milliseconds since 1970-01-01T00:00:00Z, rounded down; sleep with nil. A ctx
// that ends during a sleep makes ctx.Err() the error; any other error is a bug
// or the source's.
func (h *Handler) Handle(ctx context.Context, call effects.Call) (guest.Response, error) {
	switch call.Op {
	case opNow:
		return effects.OK(coreform.Int(h.source.Now().UnixMilli())), nil
	case opSleep:
		return h.sleep(ctx, call)
	}
	return guest.Response{}, fmt.Errorf("handler for time was asked for %s", call.Op)
}

func (h *Handler) sleep(ctx context.Context, call effects.Call) (guest.Response, error) {
	ms, ok := milliseconds(call.Payload)
	if !ok {
		return guest.Response{}, errors.New(opSleep + ": the payload was not checked against the catalogue")
	}
	if err := h.source.Sleep(ctx, time.Duration(ms)*time.Millisecond); err != nil {
		return guest.Response{}, err
	}
	return effects.OK(coreform.Value{}), nil
}

func milliseconds(payload coreform.Value) (int64, bool) {
	m, ok := payload.AsMap()
	if !ok {
		return 0, false
	}
	v, ok := m.Get(coreform.Sym(":ms"))
	if !ok {
		return 0, false
	}
	ms, ok := v.AsInt64()
	return ms, ok && ms >= 0 && ms <= maxSleepMs
}
