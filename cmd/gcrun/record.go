package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
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
		Use: "record PROG [-- ARGS…]", Aliases: []string{"run"},
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
	f.BoolVar(&o.force, "force", false, "replace an existing log named with -o")
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
	p, err := a.loadProgram(arg, o.limits)
	if err != nil {
		return err
	}
	pol, err := a.loadPolicy(o.caps, o.allow)
	if err != nil {
		return err
	}
	grade, err := syncGrade(o.sync, pol)
	if err != nil {
		return err
	}
	host, err := a.openHost(pol, o.caps, o.args)
	if err != nil {
		return err
	}
	defer host.Close()
	log, err := createLog(arg, o.out, o.force)
	if err != nil {
		return err
	}
	defer log.Close()
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
	if res == nil {
		return hostFailure(log.name, err)
	}
	if err != nil {
		fail := hostFailure(log.name, err)
		fail.code, fail.exit = "log/write", exitHost
		fail.hint = "the log keeps what was written: gcrun log show " + shellWord(log.name)
		return fail
	}
	if err := a.saveValue(o.value, res); err != nil {
		return err
	}
	a.exit = exitOf(res.Outcome.Kind)
	a.reportRun(p, log, host, res, o)
	return nil
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
	return context.WithTimeoutCause(ctx, time.Duration(ms)*time.Millisecond, effects.ErrWall)
}

func (a *app) saveValue(name string, res *engine.Recorded) error {
	if name == "" || res.Done == nil || res.Done.IsError {
		return nil
	}
	text := valueText(res.Done.Value) + "\n"
	if err := atomicfile.WriteFile(name, []byte(text), atomicfile.Replace, 0); err != nil {
		return hostFailure(name, err)
	}
	return nil
}

// reportRun tells how the run went.
func (a *app) reportRun(p *program, log *logFile, host *host, res *engine.Recorded, o recordFlags) {
	var fail *failure
	switch {
	case res.Fatal != nil:
		fail = fatalFailure(res.Fatal, p.Info())
	case res.Err != nil:
		fail = hostFailure("", res.Err)
		fail.exit = exitHost
	case res.Done != nil && res.Done.IsError:
		fail = sealedFailure(res.Done.Payload, res.Done.Span, p.Info())
	case res.Outcome.Kind == guest.OutcomeWall:
		fail = &failure{code: res.Outcome.Code, message: "the run took longer than it may", offset: -1,
			hint: "raise --max-wall-ms, or max_wall_ms under [runtime] in the policy"}
	case res.Outcome.Kind == guest.OutcomeInterrupted:
		fail = &failure{code: res.Outcome.Code, message: "the run was interrupted", offset: -1,
			hint: "gcrun log show " + shellWord(log.name) + " prints how far it came"}
	}
	if a.asJSON {
		a.printRecordJSON(log, res, fail)
		return
	}
	if res.Done != nil && !res.Done.IsError && !host.wroteOut() && !res.Done.Value.IsNil() {
		fmt.Fprintln(a.stdout, valueText(res.Done.Value))
	}
	for _, d := range res.Denials {
		fmt.Fprint(a.stderr, a.denialText(p, d, o))
	}
	if fail != nil {
		fmt.Fprint(a.stderr, fail.render())
	}
	denied := uint64(0)
	for _, d := range res.Denials {
		denied += d.Count
	}
	a.note("recorded %s: %d effects, %d denied, outcome %s", escape.Line(log.name), res.Entries, denied, res.Outcome.Kind)
	a.note("root %s", res.Log.Root)
}

func (a *app) printRecordJSON(log *logFile, res *engine.Recorded, fail *failure) {
	denials := []any{}
	for _, d := range res.Denials {
		denials = append(denials, map[string]any{"op": d.Op, "count": d.Count, "reason": d.Reason})
	}
	m := map[string]any{"kind": "gcrun/record/1", "ok": res.Outcome.Kind == guest.OutcomeOK, "log": log.name,
		"entries": res.Entries, "denials": denials, "outcome": string(res.Outcome.Kind), "root": res.Log.Root.String(),
		"steps": res.Outcome.Steps}
	if fail != nil {
		m["error"] = fail.json()
	}
	if res.Done != nil && !res.Done.IsError {
		m["value"] = valueText(res.Done.Value)
	}
	a.printJSON(m)
}

// consoleOut is where a program's output goes: with --json stdout is for the
// object alone.
func (a *app) consoleOut() io.Writer {
	if a.asJSON {
		return a.stderr
	}
	return a.stdout
}

// sameFile reports whether a path still names an open file.
func sameFile(path string, f *os.File) error {
	st, err := f.Stat()
	if err != nil {
		return err
	}
	now, err := os.Lstat(path)
	if err != nil || !os.SameFile(st, now) {
		return errors.New("the log's name no longer leads to the log: it was moved or replaced during the run")
	}
	return nil
}
