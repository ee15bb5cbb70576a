package effects_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/effects"
	"github.com/gcrun/gcrun/effects/guest"
	"github.com/gcrun/gcrun/effects/ops"
	"github.com/gcrun/gcrun/effects/policy"
	"github.com/gcrun/gcrun/internal/digest"
)

// script is a program that makes fixed requests and ends.
type script struct {
	requests []guest.Request
	answers  []guest.Response
	trace    *[]string
}

func (s *script) Info() guest.Info   { return guest.Info{} }
func (s *script) Usage() guest.Usage { return guest.Usage{} }
func (s *script) Step(_ context.Context, _ guest.TaskID, a *guest.Response) (guest.Step, error) {
	if a != nil {
		*s.trace = append(*s.trace, "answered")
		s.answers = append(s.answers, *a)
	}
	if len(s.answers) == len(s.requests) {
		return guest.Step{Done: &guest.Done{}}, nil
	}
	return guest.Step{Request: &s.requests[len(s.answers)]}, nil
}

// tracer notes what happens, in order.
type tracer struct{ events []string }

func (t *tracer) Intend(ask *effects.Ask, c ops.Class) error {
	t.events = append(t.events, "intent "+c.String())
	return nil
}

func (t *tracer) Record(_ *effects.Ask, a *effects.Answer) error {
	code, _ := ops.ErrorCode(a.Response.Value)
	t.events = append(t.events, strings.TrimSpace("entry "+code))
	return nil
}

func (t *tracer) Handle(ctx context.Context, c effects.Call) (guest.Response, error) {
	t.events = append(t.events, "act")
	if c.Op == "sys/time::sleep" {
		<-ctx.Done()
		return guest.Response{}, ctx.Err()
	}
	return effects.OK(coreform.BytesOf(make([]byte, 100))), nil
}

func payload(kv ...coreform.Value) coreform.Value {
	var es []coreform.Entry
	for i := 0; i < len(kv); i += 2 {
		es = append(es, coreform.Entry{Key: kv[i], Value: kv[i+1]})
	}
	return coreform.MapOf(es...)
}

// spec: EFF-ORDER-1, EFF-ORDER-2
func TestOrderOfWork(t *testing.T) {
	path := payload(coreform.Sym(":path"), coreform.Str("a"))
	appendTo := payload(coreform.Sym(":path"), coreform.Str("a"), coreform.Sym(":data"), coreform.Str("x"))
	for _, c := range []struct {
		name, toml, op string
		payload        coreform.Value
		want           string
	}{
		{"denied before anything", `allow = []`, "io/fs::read", coreform.Int(1), "entry core/caps/denied, answered"},
		{"no handler", `allow = ["io/fs::mkdir"]` + "\n[family.\"io/fs\"]\nbase_dir=\".\"", "io/fs::mkdir", path, "entry core/caps/unknown-op, answered"},
		{"payload before act", `allow = ["io/fs::read"]` + "\n[family.\"io/fs\"]\nbase_dir=\".\"", "io/fs::read", coreform.Int(1), "entry core/caps/bad-payload, answered"},
		{"pure", `allow = ["io/fs::read"]` + "\n[family.\"io/fs\"]\nbase_dir=\".\"", "io/fs::read", path, "intent pure, act, entry, answered"},
		{"once", `allow = ["io/fs::append"]` + "\n[family.\"io/fs\"]\nbase_dir=\".\"", "io/fs::append", appendTo, "intent once, act, entry, answered"},
		{"answer too large", `allow = ["io/fs::read"]` + "\n[family.\"io/fs\"]\nbase_dir=\".\"\nmax_bytes=99", "io/fs::read", path, "intent pure, act, entry core/caps/resource-limit, answered"},
		{"timeout", `allow = ["sys/time::sleep"]` + "\n[op.\"sys/time::sleep\"]\ntimeout_ms=1", "sys/time::sleep", payload(coreform.Sym(":ms"), coreform.Int(5)), "intent pure, act, entry core/caps/timeout, answered"},
	} {
		t.Run(c.name, func(t *testing.T) {
			file, diags := policy.Parse("caps.toml", []byte(c.toml))
			if diags.Failed() {
				t.Fatal(diags)
			}
			tr := &tracer{}
			p := &script{trace: &tr.events, requests: []guest.Request{{Op: c.op, Payload: c.payload}}}
			handlers := map[string]effects.Handler{"io/fs::read": tr, "io/fs::append": tr, "sys/time::sleep": tr}
			run := effects.Run{Program: p, Recorder: tr, Answers: &effects.Live{Policy: policy.New(file), Handlers: handlers, Intents: tr}}
			res := run.Do(context.Background())
			if res.Err != nil || res.Outcome.Kind != guest.OutcomeOK {
				t.Fatal(res.Outcome, res.Err)
			}
			if got := strings.Join(tr.events, ", "); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// spec: EFF-BUDGET-2
func TestSizes(t *testing.T) {
	big := coreform.BytesOf(make([]byte, 1000)) // its escaped text is 4002 bytes
	for _, c := range []struct {
		v        coreform.Value
		payload  int64
		response int64
	}{
		{coreform.Value{}, 3, 3},
		{coreform.Str("ab"), 4, 4},
		{big, 1000, 1000},
		{payload(coreform.Sym(":data"), big), 1000 + int64(len(`{:data b""}`)), int64(len(printed(t, payload(coreform.Sym(":data"), big))))},
	} {
		if got := ops.PayloadBytes(nil, c.v); got != c.payload {
			t.Errorf("payload of %s: %d, want %d", coreform.FormatLossy(c.v, 20), got, c.payload)
		}
		if got := effects.ResponseBytes(c.v); got != c.response {
			t.Errorf("response of %s: %d, want %d", coreform.FormatLossy(c.v, 20), got, c.response)
		}
	}
}

func printed(t *testing.T, v coreform.Value) []byte {
	b, err := coreform.PrintTerm(v, coreform.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A request that is cut while a handler works has no entry, and the outcome is
// that of the cause; what the recorder refuses stops the run.
func TestCutWithinAHandler(t *testing.T) {
	file, _ := policy.Parse("caps.toml", []byte(`allow = ["sys/time::sleep"]`))
	tr := &tracer{}
	p := &script{trace: &tr.events, requests: []guest.Request{{Op: "sys/time::sleep", Payload: payload(coreform.Sym(":ms"), coreform.Int(1<<40))}}}
	ctx, cancel := context.WithTimeoutCause(context.Background(), 10*time.Millisecond, effects.ErrWall)
	defer cancel()
	run := effects.Run{Program: p, Recorder: tr, Answers: &effects.Live{Policy: policy.New(file), Handlers: map[string]effects.Handler{"sys/time::sleep": tr}, Intents: tr}}
	res := run.Do(ctx)
	if res.Outcome.Kind != guest.OutcomeWall || res.Entries != 0 || res.Err != nil {
		t.Errorf("%+v %v after %d entries", res.Outcome, res.Err, res.Entries)
	}
}

type brokenRecorder struct{}

var errDisk = errors.New("disk full")

func (brokenRecorder) Record(*effects.Ask, *effects.Answer) error { return errDisk }

func TestEntryThatCannotBeWrittenStopsTheRun(t *testing.T) {
	var trace []string
	p := &script{trace: &trace, requests: []guest.Request{{Op: "a/b", ContHash: digest.Sum(nil)}}}
	run := effects.Run{Program: p, Recorder: brokenRecorder{}, Answers: &effects.Live{}}
	res := run.Do(context.Background())
	if res.Outcome.Kind != guest.OutcomeHostFailure || !errors.Is(res.Err, errDisk) || len(p.answers) != 0 {
		t.Errorf("%+v %v, program saw %d answers", res.Outcome, res.Err, len(p.answers))
	}
}
