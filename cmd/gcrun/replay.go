package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/effects/engine"
	"github.com/gcrun/gcrun/effects/guest"
	"github.com/gcrun/gcrun/gclog"
	"github.com/gcrun/gcrun/internal/digest"
	"github.com/gcrun/gcrun/internal/escape"
)

type replayFlags struct {
	allowIncomplete bool
	root            string
	showOutput      bool
	program         string
}

func (a *app) replayCommand() *cobra.Command {
	var o replayFlags
	cmd := &cobra.Command{
		Use: "replay LOG", Short: "Run a program again on the answers of its log", Args: cobra.ExactArgs(1),
		Long: `Verify a log and run the program it embeds on the recorded answers. Nothing but
the log is read, and nothing is written. On stdout stands what record printed
there: the final value, if the program wrote nothing itself.`,
		Example: "  gcrun replay prog.gclog\n  gcrun replay prog.gclog --show-output\n  gcrun replay prog.gclog --program changed.gc\n  gcrun replay prog.gclog --root 64-hex-digits",
		RunE: verb(func(ctx context.Context, args []string) error {
			return a.replay(ctx, args[0], o)
		}),
	}
	cmd.Flags().BoolVar(&o.allowIncomplete, "allow-incomplete", false, "replay a log that has no end, up to the cut")
	cmd.Flags().StringVar(&o.root, "root", "", "the transcript root the log must have")
	cmd.Flags().StringVar(&o.program, "program", "", "run this program instead of the one in the log, and say where it first differs")
	cmd.Flags().BoolVar(&o.showOutput, "show-output", false, "print what the program wrote to its console")
	return cmd
}

// openLog opens a log for reading. The caller closes the file.
func openLog(name string) (*os.File, *gclog.Log, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, nil, hostFailure(name, err)
	}
	st, err := f.Stat()
	if err == nil && st.IsDir() {
		err = errors.New("this is a directory, not a log")
	}
	if err != nil {
		f.Close()
		return nil, nil, &failure{exit: exitInput, code: "file/directory", file: name, message: plainHostError(err), offset: -1,
			hint: "name the .gclog file"}
	}
	log, err := gclog.Open(f, st.Size())
	if err != nil {
		f.Close()
		fail := logFailure(name, err)
		if errors.Is(err, gclog.ErrIncomplete) || errors.Is(err, gclog.ErrDamaged) {
			fail.hint = "its header is not whole, so nothing in it can be used: record the run again"
		}
		return nil, nil, fail
	}
	return f, log, nil
}

func (a *app) replay(ctx context.Context, name string, o replayFlags) error {
	var pinned digest.Digest
	if o.root != "" {
		var err error
		if pinned, err = digest.Parse(o.root); err != nil {
			return usage("--root: %v", err)
		}
	}
	f, log, err := openLog(name)
	if err != nil {
		return err
	}
	defer f.Close()
	out := &outputs{}
	v, err := engine.Replay(ctx, log, engine.ReplayOptions{AllowIncomplete: o.allowIncomplete, OnEntry: out.entry})
	if err != nil {
		if errors.Is(err, context.Canceled) {
			return asFailure(err)
		}
		if errors.Is(err, gclog.ErrIncomplete) {
			fail := logFailure(name, err)
			fail.hint = "gcrun replay --allow-incomplete " + shellWord(name) + " replays what is whole"
			return fail
		}
		return logFailure(name, err)
	}
	if o.root != "" && v.Root != pinned {
		return &failure{exit: exitDiverged, code: "replay/root-mismatch", file: name, offset: -1,
			message: fmt.Sprintf("the log has root %s, not the one that was asked for", v.Root),
			hint:    "this is another run; compare where the root came from"}
	}
	if v.Divergence != nil {
		return a.diverged(name, v.Divergence, v.Entries)
	}
	if o.program != "" {
		if differs, err := a.diagnose(ctx, name, log, o.program); differs || err != nil {
			return err
		}
	}
	return a.replayed(ctx, v, o, out)
}

// diagnose runs another program on a log that is faithful to its own. Another
// program is never a reproduction, even if no entry tells it apart. It reports
// false when the program is the log's own: then it is an ordinary replay.
func (a *app) diagnose(ctx context.Context, name string, log *gclog.Log, prog string) (differs bool, err error) {
	p, err := a.loadProgram(prog, engine.Limits(log))
	if err != nil {
		return true, err
	}
	d, err := engine.Diagnose(ctx, log, p)
	if err != nil {
		return true, logFailure(name, err)
	}
	if d != nil {
		return true, a.diverged(name, d, d.Index)
	}
	if got, want := p.Info().Hash, log.Header().Program; got != want {
		return true, &failure{exit: exitDiverged, code: "replay/program-mismatch", file: prog, offset: -1,
			message: fmt.Sprintf("the program hashes to %s, the log is of %s; every request and the outcome are the same", got, want),
			hint:    "gcrun replay " + shellWord(name) + " without --program replays what was recorded"}
	}
	a.note("the program is the one in the log")
	return false, nil
}

// outputs collects what a recorded program wrote to its console.
type outputs struct {
	out, err bytes.Buffer
}

func (o *outputs) entry(e *gclog.Entry) {
	if e.Op != "io/console::write" || e.Decision != gclog.Allow || e.RespKind != guest.RespOK {
		return
	}
	p, err := e.Payload.Value()
	if err != nil {
		return
	}
	m, _ := p.AsMap()
	stream, _ := m.Get(coreform.Sym(":stream"))
	data, _ := m.Get(coreform.Sym(":data"))
	to := &o.out
	if stream.IsSym(":err") {
		to = &o.err
	}
	if s, ok := data.AsStr(); ok {
		to.WriteString(s)
	} else if b, ok := data.AsBytes(); ok {
		if raw, err := b.Load(); err == nil {
			to.Write(raw)
		}
	}
}

func (a *app) replayed(_ context.Context, v *engine.Verdict, o replayFlags, out *outputs) error {
	verdict := "reproduced, consistent with its log"
	if o.root != "" {
		verdict += ", root as pinned"
	} else {
		verdict += ", unpinned"
	}
	if v.Cut {
		verdict = "reproduced up to the cut"
	}
	if v.Incomplete {
		verdict += ", the log is incomplete"
	}
	kind := guest.OutcomeKind("cut")
	if v.Recorded != nil {
		kind = v.Recorded.Kind
	}
	value, hasValue := "", false
	if v.Cut { // how the program would have ended is nothing that was recorded
		v.Done, v.Fatal = nil, nil
	}
	if v.Done != nil && !v.Done.IsError {
		value, hasValue = valueText(v.Done.Value), true
	}
	if a.asJSON {
		m := map[string]any{"kind": "gcrun/replay/1", "ok": true, "verdict": verdict, "entries": v.Entries,
			"root": v.Root.String(), "outcome": string(kind), "program": v.Program.Hash.String()}
		if hasValue {
			m["value"] = value
		}
		if o.showOutput {
			m["output"] = map[string]any{"out": printable(out.out.Bytes()), "err": printable(out.err.Bytes())}
		}
		a.printJSON(m)
		return nil
	}
	if o.showOutput {
		_, _ = a.stdout.Write(out.out.Bytes())
		_, _ = a.stderr.Write(out.err.Bytes())
	}
	if hasValue && out.out.Len() == 0 && !v.Done.Value.IsNil() {
		fmt.Fprintln(a.stdout, value)
	}
	if v.Done != nil && v.Done.IsError {
		fmt.Fprint(a.stderr, sealedFailure(v.Done.Payload, v.Done.Stack, v.Done.Maker, v.Program).render())
	}
	if v.Fatal != nil {
		fmt.Fprint(a.stderr, fatalFailure(v.Fatal, v.Program).render())
	}
	a.note("replayed %s: %s, outcome %s", counted(v.Entries, "entry", "entries"), verdict, kind)
	a.note("root %s", v.Root)
	return nil
}

// printable is program output as text for JSON: what is not UTF-8 is escaped.
func printable(b []byte) string { return strings.ToValidUTF8(string(b), "\uFFFD") }

const shownSide = 300

// diverged reports the first difference on one screen.
func (a *app) diverged(name string, d *engine.Divergence, entries uint64) error {
	a.exit = exitDiverged
	hint := d.Hint
	if hint == "" {
		hint = fmt.Sprintf("gcrun log show %s --entry %d prints the recorded entry", shellWord(name), d.Index)
		if d.RecordedOp == "" {
			hint = "gcrun log show " + shellWord(name) + " prints what was recorded"
		}
	}
	if a.asJSON {
		fail := &failure{code: d.Field.Code(), message: divergenceTitle(d), file: name, hint: hint, offset: -1}
		a.printJSON(map[string]any{"kind": "gcrun/replay/1", "ok": false, "entries": entries,
			"error": fail.json(), "divergence": divergenceJSON(d)})
		return nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "diverged at entry %d: %s [%s]\n", d.Index, divergenceTitle(d), d.Field.Code())
	side := func(label, op string, payload *coreform.Value) {
		if op == "" {
			return
		}
		text := "(payload not in the log)"
		if payload != nil {
			text = coreform.FormatLossy(*payload, 4*shownSide)
		}
		fmt.Fprintf(&b, "  %s  %s %s\n", label, escape.LineMax(op, 100), escape.LineMax(oneLine(text), shownSide))
	}
	side("recorded", d.RecordedOp, d.RecordedPayload)
	side("asked   ", d.AskedOp, d.AskedPayload)
	if d.Recorded != "" || d.Asked != "" {
		if len(d.Path) > 0 {
			fmt.Fprintf(&b, "differs at %s\n", escape.LineMax(strings.Join(d.Path, " › "), shownSide))
		}
		fmt.Fprintf(&b, "  - %s\n  + %s\n", escape.LineMax(oneLine(d.Recorded), shownSide), escape.LineMax(oneLine(d.Asked), shownSide))
	}
	if d.Line > 0 {
		fmt.Fprintf(&b, "asked at %s:%d:%d\n%s", escape.Line(d.Span.File), d.Line, d.Col, caret(d.Text, d.Col))
	}
	fmt.Fprintf(&b, "  next: %s\n", escape.Line(hint))
	fmt.Fprint(a.stderr, b.String())
	return nil
}

// oneLine folds the layout of canonical text, whose strings hold no raw LF.
func oneLine(s string) string {
	return layout.ReplaceAllString(opening.ReplaceAllString(s, "$1"), " ")
}

var (
	opening = regexp.MustCompile("([\\[({])\n *")
	layout  = regexp.MustCompile("\n *")
)

func divergenceTitle(d *engine.Divergence) string {
	switch d.Field {
	case engine.FieldOp:
		return "the program asks for another operation"
	case engine.FieldPayload:
		return "the program asks with another payload"
	case engine.FieldContinuation:
		return "the program would go on differently"
	case engine.FieldLeftover:
		return "the program ended, the log goes on"
	case engine.FieldMissing:
		return "the log ended, the program asks for more"
	case engine.FieldOutcome:
		return "the program ended differently"
	case engine.FieldResponse:
		return "the recorded answer does not have its digest"
	case engine.FieldDecision:
		return "decision and capability of the entry contradict each other"
	}
	return "another task or request number"
}

func divergenceJSON(d *engine.Divergence) map[string]any {
	show := func(op string, payload *coreform.Value, s string) map[string]any {
		m := map[string]any{"shown": s}
		if op != "" {
			m["op"] = op
		}
		if payload != nil {
			m["payload"] = coreform.FormatLossy(*payload, 64<<10)
		}
		return m
	}
	path := []any{}
	for _, p := range d.Path {
		path = append(path, p)
	}
	m := map[string]any{"index": d.Index, "task": uint64(d.Task), "r": d.R, "field": string(d.Field), "path": path,
		"recorded": show(d.RecordedOp, d.RecordedPayload, d.Recorded), "asked": show(d.AskedOp, d.AskedPayload, d.Asked)}
	if d.Line > 0 {
		m["span"] = map[string]any{"file": d.Span.File, "line": d.Line, "col": d.Col, "text": d.Text}
	}
	return m
}
