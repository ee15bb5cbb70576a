package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/gcrun/gcrun/coreform/kernel"
	"github.com/gcrun/gcrun/effects"
	"github.com/gcrun/gcrun/effects/engine"
	"github.com/gcrun/gcrun/effects/guest"
	"github.com/gcrun/gcrun/effects/policy"
	"github.com/gcrun/gcrun/gclog"
	"github.com/gcrun/gcrun/internal/atomicfile"
	"github.com/gcrun/gcrun/internal/escape"
)

type recordFlags struct {
	caps   string
	allow  []string
	out    string
	force  bool
	sync   string
	value  string
	wallMs int64
	limits kernel.Limits
	args   []string // of the program
}

func (a *app) recordCommand() *cobra.Command {
	var o recordFlags
	cmd := &cobra.Command{
		Use: "record PROG [flags] [-- ARGS…]", DisableFlagsInUseLine: true, Aliases: []string{"run"},
		Short: "Run a program under a policy and log every effect",
		Long: `Run a program. What it asks for is decided by the policy (--caps, --allow; without
either everything is denied) and written to a log beside the program. The program
cannot reach its log, and cannot change its policy and its source.

The exit code is that of the program: 0 ok, 20 error, 41 denied, 42 limit, 130
interrupted. The log is left in every case.`,
		Example: "  gcrun record prog.gc\n  gcrun record prog.gc --allow io/fs=./data --allow io/console::write\n" +
			"  gcrun record prog.gc --caps caps.toml -o run.gclog -- one two",
		Args: cobra.MinimumNArgs(1),
		RunE: verb(func(ctx context.Context, args []string) error {
			o.args = args[1:]
			return a.record(ctx, args[0], o)
		}),
	}
	f := cmd.Flags()
	f.StringVar(&o.caps, "caps", "", "policy file")
	f.StringArrayVar(&o.allow, "allow", nil, "grant OP, OP=DIR or FAMILY=DIR; may be repeated")
	f.StringVarP(&o.out, "output", "o", "", "log file (default: beside the program, numbered if it exists)")
	f.BoolVar(&o.force, "force", false, "replace an existing log named with -o (logs only)")
	f.StringVar(&o.sync, "sync", "", "durability: none, commit or always (default commit, or what the policy says)")
	f.StringVar(&o.value, "value", "", "write the final value to this file")
	f.Int64Var(&o.wallMs, "max-wall-ms", 0, "milliseconds the run may take (default none, or what the policy says)")
	limitFlags(cmd, &o.limits)
	f.SetInterspersed(true)
	return cmd
}

// record prepares everything that can fail before anything is created, then
// runs.
func (a *app) record(ctx context.Context, arg string, o recordFlags) error {
	if err := checkLimits(o.limits); err != nil {
		return err
	}
	if o.wallMs < 0 {
		return usage("--max-wall-ms must be a positive number, not %d", o.wallMs)
	}
	if arg == "-" && o.caps == "-" {
		return usage("program and policy cannot both be standard input")
	}
	p, err := a.loadProgram(arg, o.limits)
	if err != nil {
		return err
	}
	policies, err := a.loadPolicy(o.caps, o.allow)
	if err != nil {
		return err
	}
	pol := policies.run
	grade, err := syncGrade(o.sync, pol)
	if err != nil {
		return err
	}
	host, err := a.openHost(pol, o.caps, o.args)
	if err != nil {
		return err
	}
	defer host.Close()
	log, err := createLog(arg, o.out, o.force, o.caps)
	if err != nil {
		return err
	}
	defer log.Close()
	for _, name := range []string{arg, o.caps, log.name} {
		if isSameFile(o.value, name) {
			log.discard()
			return usage("--value %s: this is a file of the run, which the value may not replace", o.value)
		}
	}
	if err := host.protect(log, arg, o.caps); err != nil {
		log.discard()
		return err
	}
	ctx, cancel := withWall(ctx, o.wallMs, pol)
	defer cancel()
	res, err := engine.Record(ctx, engine.RecordOptions{
		Program: p, Policy: pol, Handlers: host.handlers, File: log,
		Log: gclog.Options{Sync: grade, InlineMax: int(pol.LogInlineMax()), MaxBytes: pol.LogMaxBytes()},
	})
	if res == nil && !errors.Is(err, errMoved) { // nothing ran
		log.discard()
		fail := noLog(log.name, err)
		if errors.Is(err, gclog.ErrUnrecordable) {
			fail.exit, fail.code, fail.hint = exitInput, "log/unrecordable", "rename the program: its name enters the log"
		}
		return fail
	}
	if err == nil {
		err = log.inPlace() // in grade none nothing has looked yet
	}
	if err != nil {
		return logWriteFailure(log.name, err)
	}
	a.exit = exitOf(res.Outcome.Kind)
	a.reportRun(&finished{p, policies, log, host, res, runFailure(p, log, res)}, o)
	return nil
}

// logWriteFailure is a log that could not be written to its end, or is no longer
// where it was made.
func logWriteFailure(name string, err error) *failure {
	fail := hostFailure(name, err)
	fail.code, fail.exit = "log/write", exitHost
	fail.hint = "the log keeps what was written: gcrun log show " + shellWord(name)
	if errors.Is(err, errMoved) {
		fail.code = "log/moved"
		fail.hint = "find out who moved it; the file that was moved keeps what was written"
	}
	return fail
}

func syncGrade(flag string, pol *policy.Policy) (gclog.SyncGrade, error) {
	if flag == "" {
		flag = pol.LogSync()
	}
	if flag == "" {
		return gclog.SyncCommit, nil
	}
	g, ok := gclog.ParseSyncGrade(flag)
	if !ok {
		return g, usage("--sync takes none, commit or always, not %q", flag)
	}
	return g, nil
}

// withWall bounds the run in time, by the flag or else the policy.
func withWall(ctx context.Context, ms int64, pol *policy.Policy) (context.Context, context.CancelFunc) {
	if ms == 0 {
		ms = pol.Runtime()["max_wall_ms"]
	}
	if ms == 0 {
		return context.WithCancel(ctx)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(time.Duration(ms)*time.Millisecond, func() { cancel(effects.ErrWall) })
	return ctx, func() { timer.Stop(); cancel(nil) }
}

// saveValue writes the final value where --value says, in canonical text.
func (a *app) saveValue(name string, res *engine.Recorded) *failure {
	if name == "" || res.Done == nil || res.Done.IsError {
		return nil
	}
	text := valueText(res.Done.Value) + "\n"
	if err := atomicfile.WriteFile(name, []byte(text), atomicfile.Replace, 0); err != nil {
		fail := hostFailure(name, err)
		fail.exit, fail.code, fail.hint = exitHost, "value/write", "name another file with --value; the log holds the run"
		return fail
	}
	return nil
}

// finished is a run whose log is closed, with what there is to tell of it.
type finished struct {
	p    *program
	pol  *policies
	log  *logFile
	host *host
	*engine.Recorded
	fail *failure // how the run failed, nil if it did not
}

// runFailure is the failure a run ended in.
func runFailure(p *program, log *logFile, res *engine.Recorded) *failure {
	switch {
	case res.Fatal != nil:
		return fatalFailure(res.Fatal, p.Info())
	case res.Err != nil:
		fail := hostFailure("", res.Err)
		fail.exit = exitHost
		return fail
	case res.Done != nil && res.Done.IsError:
		fail := sealedFailure(res.Done.Payload, res.Done.Stack, res.Done.Maker, p.Info())
		if res.Outcome.Kind == guest.OutcomeDenied {
			fail.text = "" // what is told of the denial shows the line
		}
		return fail
	case res.Outcome.Kind == guest.OutcomeWall:
		return &failure{code: res.Outcome.Code, message: "the run took longer than it may", offset: -1,
			hint: "raise --max-wall-ms, or max_wall_ms under [runtime] in the policy"}
	case res.Outcome.Kind == guest.OutcomeInterrupted:
		return &failure{code: res.Outcome.Code, message: "the run was interrupted", offset: -1,
			hint: "gcrun log show " + shellWord(log.name) + " prints how far it came"}
	}
	return nil
}

// reportRun tells how the run went.
func (a *app) reportRun(r *finished, o recordFlags) {
	unsaved := a.saveValue(o.value, r.Recorded)
	if unsaved != nil {
		a.exit = unsaved.exit
	}
	if a.asJSON {
		a.printRecordJSON(r, unsaved, o)
		return
	}
	if r.Done != nil && !r.Done.IsError && !r.host.wroteOut() && !r.Done.Value.IsNil() {
		fmt.Fprintln(a.stdout, valueText(r.Done.Value))
	}
	fmt.Fprint(a.stderr, a.denialText(r.p, r.Denials, r.pol, o))
	for _, f := range []*failure{r.fail, unsaved} {
		if f != nil {
			fmt.Fprint(a.stderr, f.render())
		}
	}
	denied := uint64(0)
	for _, d := range r.Denials {
		denied += d.Count
	}
	a.note("recorded %s: %s, %d denied, outcome %s", escape.Line(r.log.name), counted(r.Entries, "effect", "effects"), denied, r.Outcome.Kind)
	a.note("root %s", r.Log.Root)
}

// counted is a number with its noun.
func counted(n uint64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func (a *app) printRecordJSON(r *finished, unsaved *failure, o recordFlags) {
	denials := []any{}
	for _, d := range r.Denials {
		row := map[string]any{"op": d.Op, "count": d.Count, "reason": d.Reason}
		if at := (&failure{offset: -1}).placeSpan(d.First.Span, r.p.Info()); at.line > 0 {
			row["file"], row["line"], row["col"] = jsonText(at.file), at.line, at.col
		}
		denials = append(denials, row)
	}
	m := map[string]any{"kind": "gcrun/record/1", "ok": r.Outcome.Kind == guest.OutcomeOK && unsaved == nil, "log": jsonText(r.log.name),
		"entries": r.Entries, "denials": denials, "outcome": string(r.Outcome.Kind), "root": r.Log.Root.String(),
		"steps": r.Outcome.Steps}
	switch {
	case unsaved != nil:
		m["error"] = unsaved.json()
	case r.fail != nil:
		if r.Outcome.Kind == guest.OutcomeDenied {
			r.fail.hint = allowHint(r.p.arg, o, r.pol, r.Denials)
		}
		m["error"] = r.fail.json()
	}
	if r.Done != nil && !r.Done.IsError {
		m["value"] = valueText(r.Done.Value)
	}
	a.printJSON(m)
}

// consoleOut is where a program's output goes: with --json stdout is for the
// object alone.
func (a *app) consoleOut() io.Writer {
	if a.asJSON {
		return a.stderr
	}
	return a.console
}
