package engine_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/coreform/kernel"
	"github.com/gcrun/gcrun/coreform/prelude"
	"github.com/gcrun/gcrun/effects"
	"github.com/gcrun/gcrun/effects/engine"
	"github.com/gcrun/gcrun/effects/guest"
	"github.com/gcrun/gcrun/effects/policy"
	"github.com/gcrun/gcrun/gclog"
)

// memFile is a gclog.File in memory.
type memFile struct{ b []byte }

func (f *memFile) Write(p []byte) (int, error) { f.b = append(f.b, p...); return len(p), nil }
func (f *memFile) Sync() error                 { return nil }
func (f *memFile) ReadAt(p []byte, off int64) (int, error) {
	return bytes.NewReader(f.b).ReadAt(p, off)
}

// handlerFunc answers with a function.
type handlerFunc func(ctx context.Context, c effects.Call) (guest.Response, error)

func (h handlerFunc) Handle(ctx context.Context, c effects.Call) (guest.Response, error) {
	return h(ctx, c)
}

func load(t testing.TB, src string, limits kernel.Limits) *kernel.Program {
	t.Helper()
	p, err := kernel.Load("t.gc", []byte(src), prelude.Library(), limits)
	if err != nil {
		t.Fatalf("%s: %v", src, err)
	}
	return p
}

func policyOf(t testing.TB, flags ...string) *policy.Policy {
	t.Helper()
	var allows []policy.Allow
	for _, f := range flags {
		a, err := policy.ParseAllow(f)
		if err != nil {
			t.Fatal(err)
		}
		allows = append(allows, a)
	}
	if len(allows) == 0 {
		return nil
	}
	return policy.New(nil, allows...)
}

// counting answers sys/time::now with 1, 2, 3, …
func counting() map[string]effects.Handler {
	n := int64(0)
	return map[string]effects.Handler{"sys/time::now": handlerFunc(func(context.Context, effects.Call) (guest.Response, error) {
		n++
		return effects.OK(coreform.Int(n)), nil
	})}
}

func record(t testing.TB, src string, pol *policy.Policy, h map[string]effects.Handler, limits kernel.Limits) (*engine.Recorded, []byte) {
	t.Helper()
	f := &memFile{}
	res, err := engine.Record(context.Background(), engine.RecordOptions{
		Program: load(t, src, limits), Policy: pol, Handlers: h, File: f, Log: gclog.Options{Sync: gclog.SyncNone},
	})
	if err != nil {
		t.Fatalf("record: %v", err)
	}
	return res, f.b
}

func replay(t testing.TB, log []byte, o engine.ReplayOptions) (*engine.Verdict, error) {
	t.Helper()
	l, err := gclog.Open(bytes.NewReader(log), int64(len(log)))
	if err != nil {
		return nil, err
	}
	return engine.Replay(context.Background(), l, o)
}

const sumTimes = `
(def now (core/effect::perform 'sys/time::now nil core/effect::pure))
(def loop (fn (n acc)
  (if (core/int::eq? n 0)
    (core/effect::pure acc)
    (core/effect::bind now (fn (t) (loop (core/int::sub n 1) (core/int::add acc t)))))))
(loop 10 0)`

// spec: REP-PURE-1, EFF-OUTCOME-1
func TestRecordThenReplay(t *testing.T) {
	for _, c := range []struct {
		name, src string
		pol       *policy.Policy
		limits    kernel.Limits
		kind      guest.OutcomeKind
		value     string
	}{
		{"value", sumTimes, policyOf(t, "sys/time::now"), kernel.Limits{}, guest.OutcomeOK, "55"},
		{"pure", "(core/int::add 1 2)", nil, kernel.Limits{}, guest.OutcomeOK, "3"},
		{"denied", sumTimes, nil, kernel.Limits{}, guest.OutcomeDenied, ""},
		{"denied and handled", "(core/effect::catch (core/effect::perform 'sys/time::now nil core/effect::pure) (fn (e) 7))", nil, kernel.Limits{}, guest.OutcomeOK, "7"},
		{"sealed error", "(core/effect::pure (core/error::make2 \"my/code\" \"no\"))", nil, kernel.Limits{}, guest.OutcomeError, ""},
		{"error that looks like a limit", "(core/effect::pure (core/error::make2 \"core/limit/log-bytes\" \"no\"))", nil, kernel.Limits{}, guest.OutcomeError, ""},
		{"fatal", "(core/effect::bind (core/effect::perform 'sys/time::now nil core/effect::pure) (fn (t) (5 t)))", policyOf(t, "sys/time::now"), kernel.Limits{}, guest.OutcomeError, ""},
		{"steps", sumTimes, policyOf(t, "sys/time::now"), kernel.Limits{Steps: 100}, guest.OutcomeLimit, ""},
		{"function", "(fn (x) x)", nil, kernel.Limits{}, guest.OutcomeOK, "#<function>"},
	} {
		t.Run(c.name, func(t *testing.T) {
			res, log := record(t, c.src, c.pol, counting(), c.limits)
			if res.Outcome.Kind != c.kind {
				t.Fatalf("outcome %s %s, want %s (%v)", res.Outcome.Kind, res.Outcome.Code, c.kind, res.Err)
			}
			v, err := replay(t, log, engine.ReplayOptions{})
			if err != nil || !v.Faithful || v.Divergence != nil {
				t.Fatalf("replay: %v %+v", err, v)
			}
			if v.Root != res.Log.Root || v.Entries != res.Entries {
				t.Error("another root or number of entries")
			}
			if c.value != "" && coreform.FormatLossy(v.Done.Value, 100) != c.value {
				t.Errorf("value %s, want %s", coreform.FormatLossy(v.Done.Value, 100), c.value)
			}
			_, again := record(t, c.src, c.pol, counting(), c.limits)
			if !bytes.Equal(log, again) {
				t.Error("equal runs gave different bytes")
			}
		})
	}
}

// Case RP-01: the order of effects never depends on a Go map.
func TestRP01(t *testing.T) {
	src := `(def es (core/map::entries {`
	for i := range 20 {
		src += fmt.Sprintf("%d %d ", (i*7)%20, i)
	}
	src += `}))
(def each (fn (i)
  (if (core/int::eq? i (core/vec::len es)) (core/effect::pure nil)
    (core/effect::bind (core/effect::perform 'core/store::put {:artifact (core/vec::get es i)} core/effect::pure)
      (fn (x) (each (core/int::add i 1)))))))
(each 0)`
	var first []byte
	for range 50 {
		_, log := record(t, src, nil, nil, kernel.Limits{})
		if first == nil {
			first = log
		}
		if !bytes.Equal(log, first) {
			t.Fatal("logs differ between runs")
		}
	}
}

// Cases RP-04 and RP-06.
// spec: REP-ORDER-1, REP-REPORT-1
func TestDivergence(t *testing.T) {
	base := "(def ask (fn (p) (core/effect::perform 'core/store::put p core/effect::pure)))\n" +
		"(core/effect::bind (ask {:artifact [1 {:a 1 :b 2}]}) (fn (x) (ask {:artifact 2})))"
	_, log := record(t, base, nil, nil, kernel.Limits{})
	for _, c := range []struct {
		name, old, new string
		field          engine.Field
		index          uint64
		path           string
		text           string
	}{
		{"payload", ":b 2", ":b 3", engine.FieldPayload, 0, ":artifact 1 :b", "3"},
		{"later payload", "{:artifact 2}", "{:artifact 5}", engine.FieldPayload, 1, ":artifact", "5"},
		{"only what comes after", "(fn (x) (ask", "(fn (y) (ask", engine.FieldContinuation, 0, "", ""},
		{"op", "'core/store::put p", "'core/store::get p", engine.FieldOp, 0, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := engine.Diagnose(context.Background(), open(t, log), load(t, strings.Replace(base, c.old, c.new, 1), kernel.Limits{}))
			if err != nil || d == nil || d.Field != c.field || d.Index != c.index {
				t.Fatalf("%+v, want %s at %d", d, c.field, c.index)
			}
			if got := strings.Join(d.Path, " "); got != c.path {
				t.Errorf("path %q, want %q", got, c.path)
			}
			if c.text != "" && d.Asked != c.text {
				t.Errorf("asked %q, want %q", d.Asked, c.text)
			}
			if d.Line == 0 || d.Text == "" || d.AskedOp == "" || d.RecordedOp == "" {
				t.Errorf("place or requests missing: %+v", d)
			}
		})
	}
}

func open(t testing.TB, log []byte) *gclog.Log {
	t.Helper()
	l, err := gclog.Open(bytes.NewReader(log), int64(len(log)))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// Any single bit flipped anywhere: the replay is refused or differs.
func TestEveryBitFlipped(t *testing.T) {
	_, log := record(t, sumTimes, policyOf(t, "sys/time::now"), counting(), kernel.Limits{})
	step := 1
	if testing.Short() {
		step = 7
	}
	for bit := 0; bit < len(log)*8; bit += step {
		bad := bytes.Clone(log)
		bad[bit/8] ^= 1 << (bit % 8)
		if v, err := replay(t, bad, engine.ReplayOptions{}); err == nil && v.Faithful {
			t.Fatalf("bit %d flipped and the log replays", bit)
		}
	}
}

// Truncation at every byte: every whole entry, and never a panic (LG-01).
func TestEveryTruncation(t *testing.T) {
	_, log := record(t, sumTimes, policyOf(t, "sys/time::now"), counting(), kernel.Limits{})
	last := uint64(0)
	for n := range log {
		l, err := gclog.Open(bytes.NewReader(log[:n]), int64(n))
		if err != nil {
			if !errors.Is(err, gclog.ErrIncomplete) {
				t.Fatalf("cut at %d: %v", n, err)
			}
			continue
		}
		s := l.Scan()
		for s.Next() {
		}
		if !errors.Is(s.Err(), gclog.ErrIncomplete) || s.Entries() < last {
			t.Fatalf("cut at %d: %v after %d entries", n, s.Err(), s.Entries())
		}
		if s.Entries() > last { // a new whole entry: it replays to there
			last = s.Entries()
			v, err := engine.Replay(context.Background(), l, engine.ReplayOptions{AllowIncomplete: true})
			if err != nil || !v.Faithful || !v.Cut || v.Entries != last {
				t.Fatalf("cut at %d: %v %+v", n, err, v)
			}
		}
	}
	if last != 10 {
		t.Fatalf("met %d entries", last)
	}
}

// spec: EFF-ORDER-3, EFF-ORDER-4, REP-CUT-1
func TestCuts(t *testing.T) {
	broken := errors.New("disk on fire")
	for _, c := range []struct {
		name string
		h    handlerFunc
		kind guest.OutcomeKind
	}{
		{"host failure", func(context.Context, effects.Call) (guest.Response, error) { return guest.Response{}, broken }, guest.OutcomeHostFailure},
		{"panic", func(context.Context, effects.Call) (guest.Response, error) { panic("boom") }, guest.OutcomeHostFailure},
		{"closed pipe", func(context.Context, effects.Call) (guest.Response, error) {
			return guest.Response{}, fmt.Errorf("%w: %w", effects.ErrInterrupted, io.ErrClosedPipe)
		}, guest.OutcomeInterrupted},
	} {
		t.Run(c.name, func(t *testing.T) {
			res, log := record(t, sumTimes, policyOf(t, "sys/time::now"), map[string]effects.Handler{"sys/time::now": c.h}, kernel.Limits{})
			if res.Outcome.Kind != c.kind {
				t.Fatalf("outcome %s (%v), want %s", res.Outcome.Kind, res.Err, c.kind)
			}
			v, err := replay(t, log, engine.ReplayOptions{})
			if err != nil || !v.Faithful || !v.Cut {
				t.Fatalf("replay: %v %+v", err, v)
			}
		})
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	h := handlerFunc(func(context.Context, effects.Call) (guest.Response, error) {
		cancel(effects.ErrWall)
		return effects.OK(coreform.Int(1)), nil
	})
	f := &memFile{}
	res, err := engine.Record(ctx, engine.RecordOptions{Program: load(t, sumTimes, kernel.Limits{}), Policy: policyOf(t, "sys/time::now"),
		Handlers: map[string]effects.Handler{"sys/time::now": h}, File: f})
	if err != nil || res.Outcome.Kind != guest.OutcomeWall || res.Entries != 1 {
		t.Errorf("wall: %v %v after %d entries", err, res.Outcome, res.Entries)
	}
}

// A run that was cut while it computed replays as far as it came, and no
// further.
func TestCutWhileComputing(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	f := &memFile{}
	src := "(def spin (fn (n) (spin n)))\n(core/effect::bind (core/effect::perform 'sys/time::now nil core/effect::pure) spin)"
	res, err := engine.Record(ctx, engine.RecordOptions{Program: load(t, src, kernel.Limits{}), Policy: policyOf(t, "sys/time::now"),
		Handlers: counting(), File: f})
	if err != nil || res.Outcome.Kind != guest.OutcomeInterrupted || res.Entries != 1 {
		t.Fatalf("%v %+v after %d entries", err, res.Outcome, res.Entries)
	}
	v, err := replay(t, f.b, engine.ReplayOptions{})
	if err != nil || !v.Faithful || !v.Cut || v.Fatal != nil || v.Entries != 1 {
		t.Fatalf("replay: %v %+v", err, v)
	}
	if used := open(t, f.b); used.Header().UnicodeProfile != "unicode/17" {
		t.Errorf("unicode profile %q", used.Header().UnicodeProfile)
	}
}

// spec: EFF-BUDGET-1
func TestBudgets(t *testing.T) {
	for _, c := range []struct {
		name, toml string
		entries    uint64
		dimension  string
	}{
		{"ops", "max_effect_ops = 3", 3, "effect-ops"},
		{"payload", "max_payload_bytes_per_run = 14", 4, "payload-bytes"},
		{"response", "max_response_bytes_per_run = 3", 4, "response-bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			file, diags := policy.Parse("caps.toml", []byte("allow = [\"sys/time::now\"]\n[runtime]\n"+c.toml+"\n"))
			if diags.Failed() {
				t.Fatal(diags)
			}
			res, log := record(t, sumTimes, policy.New(file), counting(), kernel.Limits{})
			if res.Outcome.Kind != guest.OutcomeLimit || res.Fatal.Limit.Dimension != c.dimension || res.Entries != c.entries {
				t.Fatalf("%v %+v after %d entries", res.Outcome, res.Fatal, res.Entries)
			}
			v, err := replay(t, log, engine.ReplayOptions{})
			if err != nil || !v.Faithful {
				t.Fatalf("replay: %v %+v %v", err, v, v.Divergence)
			}
		})
	}
}

// spec: EFF-LOG-1
func TestWithheld(t *testing.T) {
	const secret = "correct horse battery staple"
	src := `(core/effect::perform 'io/console::write {:data "` + secret + `" :stream :out} core/effect::pure)`
	answer := handlerFunc(func(context.Context, effects.Call) (guest.Response, error) {
		return effects.OK(coreform.Str("answer: " + secret)), nil
	})
	for _, mode := range []string{"full", "hash", "redact"} {
		toml := "allow = ['io/console::write']\n[op.'io/console::write']\nlog = '" + mode + "'\n"
		file, diags := policy.Parse("caps.toml", []byte(toml))
		if diags.Failed() {
			t.Fatal(diags)
		}
		res, log := record(t, src, policy.New(file), map[string]effects.Handler{"io/console::write": answer}, kernel.Limits{})
		e, err := open(t, log).Entry(0)
		if err != nil || e.Payload.Withheld() != (mode != "full") || e.Resp.Withheld() != (mode == "redact") {
			t.Fatalf("%s: %v, payload withheld %v, response withheld %v", mode, err, e.Payload.Withheld(), e.Resp.Withheld())
		}
		v, err := replay(t, log, engine.ReplayOptions{})
		if mode == "redact" {
			if !errors.Is(err, gclog.ErrWithheld) {
				t.Errorf("redact: %v", err)
			}
			if n := bytes.Count(log, []byte(secret)); n != 1 { // the program's own source
				t.Errorf("redact: the log has the text %d times", n)
			}
			continue
		}
		if err != nil || !v.Faithful || v.Root != res.Log.Root {
			t.Errorf("%s: %v %+v", mode, err, v)
		}
	}
}

// A log that reaches its size ends the run as a limit, before the act, and is
// closed; streaming a blob into it as well.
func TestFullLog(t *testing.T) {
	acts := 0
	for name, h := range map[string]handlerFunc{
		"entries": func(context.Context, effects.Call) (guest.Response, error) {
			acts++
			return effects.OK(coreform.BytesOf(make([]byte, 2000))), nil
		},
		"blob": func(_ context.Context, c effects.Call) (guest.Response, error) {
			w, err := c.Blobs.NewBlob()
			if err != nil {
				return guest.Response{}, err
			}
			for range 100 {
				if _, err := w.Write(make([]byte, 64<<10)); err != nil {
					return guest.Response{}, err
				}
			}
			b, err := w.Finish()
			if err != nil {
				return guest.Response{}, err
			}
			return effects.OK(coreform.BlobBytes(b)), nil
		},
	} {
		f := &memFile{}
		src := strings.ReplaceAll(strings.Replace(sumTimes, "(core/int::add acc t)", "acc", 1), "(loop 10 0)", "(loop 1000 0)")
		res, err := engine.Record(context.Background(), engine.RecordOptions{
			Program: load(t, src, kernel.Limits{}), Policy: policyOf(t, "sys/time::now"),
			Handlers: map[string]effects.Handler{"sys/time::now": h}, File: f, Log: gclog.Options{MaxBytes: 64 << 10, Sync: gclog.SyncNone},
		})
		if err != nil || res.Outcome.Kind != guest.OutcomeLimit || res.Fatal.Limit.Dimension != "log-bytes" {
			t.Fatalf("%s: %v %+v", name, err, res)
		}
		if name == "entries" && uint64(acts) != res.Entries {
			t.Errorf("%d acts, %d entries", acts, res.Entries)
		}
		if len(f.b) > 64<<10 {
			t.Errorf("%s: log of %d bytes", name, len(f.b))
		}
		v, err := replay(t, f.b, engine.ReplayOptions{})
		if err != nil || !v.Faithful || !v.Cut {
			t.Errorf("%s: %v %+v", name, err, v)
		}
	}
}

func BenchmarkRecordEffects(b *testing.B) {
	src := strings.Replace(sumTimes, "(loop 10 0)", fmt.Sprintf("(loop %d 0)", b.N), 1)
	f, err := os.CreateTemp(b.TempDir(), "log")
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	p := load(b, src, kernel.Limits{Steps: -1})
	b.ResetTimer()
	file, _ := policy.Parse("caps.toml", []byte("allow = [\"sys/time::now\"]\n[runtime]\nmax_effect_ops = 1000000000\n"))
	res, err := engine.Record(context.Background(), engine.RecordOptions{Program: p, Policy: policy.New(file), Handlers: counting(), File: f,
		Log: gclog.Options{Sync: gclog.SyncNone}})
	if err != nil || res.Outcome.Kind != guest.OutcomeOK {
		b.Fatal(err, res.Outcome)
	}
	st, err := f.Stat()
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(st.Size())/float64(b.N), "bytes/entry")
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "effects/s")
}

func BenchmarkReplayEffects(b *testing.B) {
	src := strings.Replace(sumTimes, "(loop 10 0)", fmt.Sprintf("(loop %d 0)", b.N), 1)
	file, _ := policy.Parse("caps.toml", []byte("allow = [\"sys/time::now\"]\n[runtime]\nmax_effect_ops = 1000000000\n"))
	_, log := record(b, src, policy.New(file), counting(), kernel.Limits{Steps: -1})
	b.ResetTimer()
	if v, err := replay(b, log, engine.ReplayOptions{}); err != nil || !v.Faithful {
		b.Fatal(err)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "effects/s")
}

// BenchmarkEffectHoldingMap compares the cost of one effect with an empty map and
// with one of 1 000 000 entries captured by its continuation; ratio is that to the
// empty one in the same run.
func BenchmarkEffectHoldingMap(b *testing.B) {
	defer debug.SetGCPercent(debug.SetGCPercent(200)) // as the command does
	empty := 0.0
	for _, size := range []int{0, 100_000, 1_000_000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			src := fmt.Sprintf(`
(def build (fn (i m) (if (core/int::eq? i 0) m (build (core/int::sub i 1) (core/map::put m i i)))))
(def now (core/effect::perform 'sys/time::now nil core/effect::pure))
(def loop (fn (n m)
  (if (core/int::eq? n 0) (core/effect::pure (core/map::len m))
    (core/effect::bind now (fn (t) (loop (core/int::sub n 1) m))))))
(loop %d (build %d '{}))`, b.N, size)
			h := counting()
			now := h["sys/time::now"]
			started := false
			h["sys/time::now"] = handlerFunc(func(ctx context.Context, c effects.Call) (guest.Response, error) {
				if !started { // building and first hashing the map is not the effect's cost
					started = true
					runtime.GC()
					b.ResetTimer()
				}
				return now.Handle(ctx, c)
			})
			file, _ := policy.Parse("caps.toml", []byte("allow = [\"sys/time::now\"]\n[runtime]\nmax_effect_ops = 1000000000\n"))
			record(b, src, policy.New(file), h, kernel.Limits{Steps: -1})
			each := float64(b.Elapsed()) / float64(b.N)
			if size == 0 {
				empty = each
			}
			b.ReportMetric(each/empty, "ratio")
		})
	}
}
