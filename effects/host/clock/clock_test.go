package clock

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/effects"
	"github.com/gcrun/gcrun/effects/guest"
	"github.com/gcrun/gcrun/effects/ops"
)

var _ effects.Handler = (*Handler)(nil)

// manual is a clock that is set by hand.
type manual struct {
	now  time.Time
	fail error
}

func (m *manual) Now() time.Time { return m.now }

func (m *manual) Sleep(ctx context.Context, d time.Duration) error {
	if m.fail != nil {
		return m.fail
	}
	m.now = m.now.Add(d)
	return ctx.Err()
}

func sleepFor(ms coreform.Value) effects.Call {
	return effects.Call{Op: "sys/time::sleep",
		Payload: coreform.MapOf(coreform.Entry{Key: coreform.Sym(":ms"), Value: ms})}
}

func now(t *testing.T, h *Handler) int64 {
	t.Helper()
	r, err := h.Handle(context.Background(), effects.Call{Op: "sys/time::now"})
	if err != nil || r.Kind != guest.RespOK {
		t.Fatalf("now: %v, %v", r, err)
	}
	n, ok := r.Value.AsInt64()
	if !ok {
		t.Fatalf("now is a %s", r.Value.Kind())
	}
	return n
}

func TestNowRoundsDown(t *testing.T) {
	for _, c := range []struct {
		at   time.Time
		want int64
	}{
		{time.Unix(0, 0), 0},
		{time.Unix(1, 999_999), 1000},
		{time.Unix(1, 1_999_999), 1001},
		{time.Unix(0, -1), -1},
		{time.Unix(-1, 0), -1000},
		{time.Date(2026, 1, 2, 3, 4, 5, 6_000_000, time.FixedZone("east", 3600)), 1767319445006},
	} {
		if got := now(t, New(&manual{now: c.at})); got != c.want {
			t.Errorf("now at %v is %d, want %d", c.at.UTC(), got, c.want)
		}
	}
}

func TestSleepPassesTimeOfItsSource(t *testing.T) {
	h := New(&manual{now: time.Unix(0, 0)})
	for _, ms := range []int64{0, 1, 1500, maxSleepMs - 1501} {
		before := now(t, h)
		r, err := h.Handle(context.Background(), sleepFor(coreform.Int(ms)))
		if err != nil || r.Kind != guest.RespOK || !r.Value.IsNil() {
			t.Fatalf("sleep %d: %v, %v", ms, r, err)
		}
		if passed := now(t, h) - before; passed != ms {
			t.Errorf("sleep %d passed %d ms", ms, passed)
		}
	}
}

func TestLongestSleepOfTheCatalogueIsPossible(t *testing.T) {
	op, ok := ops.Lookup("sys/time::sleep")
	if !ok || op.Field(":ms").Max != maxSleepMs {
		t.Fatalf("the catalogue allows %d ms, the handler %d", op.Field(":ms").Max, maxSleepMs)
	}
	if time.Duration(maxSleepMs)*time.Millisecond < 0 {
		t.Error("the longest sleep overflows")
	}
}

func TestSystemSleepEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, start := New(System()), time.Now()
		if _, err := h.Handle(t.Context(), sleepFor(coreform.Int(90_000))); err != nil {
			t.Fatal(err)
		}
		if passed := time.Since(start); passed != 90*time.Second {
			t.Errorf("slept %v", passed)
		}

		start = time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		_, err := h.Handle(ctx, sleepFor(coreform.Int(maxSleepMs)))
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != 3*time.Second {
			t.Errorf("after %v: %v", time.Since(start), err)
		}
		if _, err := h.Handle(ctx, sleepFor(coreform.Int(0))); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a sleep of nothing with a done context: %v", err)
		}
	})
}

func TestSystemNow(t *testing.T) {
	before := time.Now().UnixMilli()
	got := now(t, New(System()))
	if after := time.Now().UnixMilli(); got < before || got > after {
		t.Errorf("now is %d, not from %d to %d", got, before, after)
	}
}

func TestFaults(t *testing.T) {
	broken := errors.New("clock stopped")
	h := New(&manual{fail: broken})
	if _, err := h.Handle(context.Background(), sleepFor(coreform.Int(1))); !errors.Is(err, broken) {
		t.Errorf("a broken source: %v", err)
	}
	for _, call := range []effects.Call{
		{Op: "sys/time::monotonic"},
		{Op: "sys/time::sleep"},
		{Op: "sys/time::sleep", Payload: coreform.MapOf()},
		sleepFor(coreform.Str("1")),
		sleepFor(coreform.Int(-1)),
		sleepFor(coreform.Int(math.MaxInt64)),
	} {
		if r, err := New(&manual{}).Handle(context.Background(), call); err == nil {
			t.Errorf("%s with a payload the catalogue refuses: %v", call.Op, r)
		}
	}
}

func TestOps(t *testing.T) {
	for _, name := range New(nil).Ops() {
		if op, ok := ops.Lookup(name); !ok || !op.Implemented {
			t.Errorf("%s is not an implemented op of the catalogue", name)
		}
	}
}
