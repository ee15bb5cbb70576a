package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/coreform/kernel"
	"github.com/gcrun/gcrun/coreform/prelude"
	"github.com/gcrun/gcrun/evidence/canonjson"
)

// app is the command and its streams.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	console        io.Writer // stdout as a program gets it

	asJSON bool
	quiet  bool
	exit   int // of a verb that succeeded in its own terms
}

// execute runs one command line.
func (a *app) execute(ctx context.Context, args []string) int {
	out := &output{w: a.stdout}
	a.console, a.stdout = a.stdout, out
	root := a.root()
	root.SetArgs(args)
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		if out.err != nil && a.exit == exitOK && !errors.Is(out.err, syscall.EPIPE) {
			fmt.Fprint(a.stderr, hostFailure("standard output", out.err).render())
			return exitHost
		}
		return a.exit
	}
	var f *failure
	switch {
	case errors.As(err, &f):
	case isCobraError(err):
		f = usageOf(cmd, err, args)
		a.asJSON = a.asJSON || asksForJSON(args) // flags behind the wrong word were not parsed
	default:
		f = asFailure(err)
	}
	a.fail(cmd, f)
	return f.exit
}

// output remembers that something could not be written: what nobody can read was
// not printed, and the exit code must say so. That the reader of a pipe has seen
// enough is no failure.
type output struct {
	w   io.Writer
	err error
}

func (o *output) Write(p []byte) (int, error) {
	n, err := o.w.Write(p)
	if err != nil && o.err == nil {
		o.err = err
	}
	return n, err
}

// asksForJSON looks for --json in a command line that cannot be parsed.
func asksForJSON(args []string) bool {
	if i := slices.Index(args, "--"); i >= 0 {
		args = args[:i]
	}
	return slices.Contains(args, "--json")
}

// usageOf is a command line that cannot be understood.
func usageOf(cmd *cobra.Command, err error, args []string) *failure {
	f := usage("%s", err)
	if cmd.HasParent() {
		f.hint = strings.Replace(cmd.CommandPath(), "gcrun", "gcrun help", 1) + " shows how it is used"
	} else if len(args) > 0 {
		if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
			f.hint = "did you mean gcrun " + near[0] + "?"
		}
	}
	return f
}

// isCobraError tells errors of the command line from those of a verb: verbs
// return *failure for what they know, and mark the rest as started.
func isCobraError(err error) bool {
	var started startedError
	return !errors.As(err, &started)
}

// startedError is any error of a verb that had begun its work.
type startedError struct{ error }

func (e startedError) Unwrap() error { return e.error }

// verb wraps the work of a command.
func verb(work func(ctx context.Context, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if err := work(cmd.Context(), args); err != nil {
			return startedError{err}
		}
		return nil
	}
}

func (a *app) fail(cmd *cobra.Command, f *failure) {
	if a.asJSON {
		a.printJSON(map[string]any{"kind": kindOf(cmd), "ok": false, "error": f.json()})
		return
	}
	fmt.Fprint(a.stderr, f.render())
}

// kindOf names the JSON object of a command: gcrun/record/1 and so on. It is the
// same whether the command succeeds or fails.
func kindOf(cmd *cobra.Command) string {
	switch path := strings.TrimPrefix(cmd.CommandPath(), "gcrun "); path {
	case "gcrun": // no command was found
		return "gcrun/error/1"
	case "log show":
		return "gcrun/log/1"
	default:
		return "gcrun/" + strings.ReplaceAll(path, " ", "-") + "/1"
	}
}

// printJSON prints one canonical object and a newline on stdout.
func (a *app) printJSON(v any) {
	out, err := canonjson.Marshal(v)
	if err != nil {
		fmt.Fprintf(a.stderr, "error: %v\n", err)
		return
	}
	_, _ = a.stdout.Write(append(out, '\n'))
}

// note prints a line for a person, unless --quiet.
func (a *app) note(format string, args ...any) {
	if !a.quiet {
		fmt.Fprintf(a.stderr, format+"\n", args...)
	}
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "gcrun",
		Short: "Run programs without ambient authority, record every effect, replay from the log alone",
		Long: `gcrun runs CoreForm programs that can touch nothing by themselves: what they
want, they ask for, a policy decides, and request and answer go into a log. The
log alone replays the run, on another machine, with the files gone.`,
		Example:       "  gcrun record prog.gc --allow io/fs::read=./data\n  gcrun replay prog.gclog\n  gcrun log show prog.gclog",
		SilenceErrors: true, SilenceUsage: true,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.SuggestionsMinimumDistance = 2
	root.PersistentFlags().BoolVar(&a.asJSON, "json", false, "print one JSON object on stdout")
	root.PersistentFlags().BoolVar(&a.quiet, "quiet", false, "no notes on stderr, only errors")
	root.AddCommand(a.recordCommand(), a.replayCommand(), a.evalCommand(), a.checkCommand(), a.fmtCommand(), a.hashCommand(),
		a.canonCommand(), a.logCommand(), a.docCommand(), a.versionCommand())
	root.SetHelpCommand(helpCommand(root))
	return root
}

// helpCommand is help that fails for what there is no help about.
func helpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND]", Short: "Help about any command",
		RunE: verb(func(_ context.Context, args []string) error {
			cmd, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return usage("there is no command %q", strings.Join(args, " "))
			}
			return cmd.Help()
		}),
	}
}

// maxSource is the largest source, policy or JSON file that is read.
const maxSource = coreform.DefaultBytes

// readInput reads a named file, or standard input for "-", up to maxSource.
func (a *app) readInput(name string) ([]byte, error) {
	var r io.Reader = a.stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, hostFailure(name, err)
		}
		defer f.Close()
		if st, err := f.Stat(); err == nil && st.IsDir() {
			return nil, &failure{exit: exitInput, code: "file/directory", file: name, offset: -1,
				message: "this is a directory", hint: "name a file in it"}
		}
		r = f
	}
	b, err := io.ReadAll(io.LimitReader(r, maxSource+1))
	if err != nil {
		return nil, hostFailure(name, err)
	}
	if len(b) > maxSource {
		return nil, &failure{exit: exitInput, code: "file/too-large", file: name, offset: maxSource,
			message: fmt.Sprintf("the file has more than %d bytes", maxSource), hint: "split it"}
	}
	return b, nil
}

// program is a source that was read and loaded.
type program struct {
	arg    string // as on the command line
	name   string // base name, "stdin" for "-"
	source []byte
	*kernel.Program
}

func (a *app) loadProgram(arg string, limits kernel.Limits) (*program, error) {
	return a.loadProgramWith(arg, prelude.Library(), limits)
}

func (a *app) loadProgramWith(arg string, lib *kernel.Library, limits kernel.Limits) (*program, error) {
	src, err := a.readInput(arg)
	if err != nil {
		return nil, err
	}
	name := filepath.Base(arg)
	if arg == "-" {
		name = "stdin"
	}
	boundHeap(limits)
	p, err := kernel.Load(name, src, lib, limits)
	if err != nil {
		return nil, sourceFailure(shownName(arg), src, err)
	}
	return &program{arg: arg, name: name, source: src, Program: p}, nil
}

// limitFlags adds the flags of the evaluator's limits.
func limitFlags(cmd *cobra.Command, l *kernel.Limits) {
	f := cmd.Flags()
	f.Int64Var(&l.Steps, "step-limit", 0, "evaluation steps the run may take (default 1000000000)")
	f.Int64Var(&l.LiveUnits, "max-live-units", 0, "memory alive at once, in units of 16 bytes (default 33554432)")
	f.Int64Var(&l.AllocUnits, "max-alloc-units", 0, "memory allocated in all, in units of 16 bytes (default none)")
	f.Int64Var(&l.PairCells, "max-pair-cells", 0, "pairs made in all (default none)")
	f.Int64Var(&l.VecLen, "max-vec-len", 0, "elements of one vector (default none)")
	f.Int64Var(&l.MapLen, "max-map-len", 0, "entries of one map (default none)")
	f.Int64Var(&l.BytesLen, "max-bytes-len", 0, "octets of one bytes value (default none)")
	f.Int64Var(&l.StringLen, "max-string-len", 0, "UTF-8 bytes of one string (default none)")
}

// checkLimits refuses limits that nobody can mean.
func checkLimits(l kernel.Limits) error {
	for _, v := range []int64{l.Steps, l.LiveUnits, l.AllocUnits, l.PairCells, l.VecLen, l.MapLen, l.BytesLen, l.StringLen} {
		if v < 0 {
			return usage("a limit must be a positive number, not %d", v)
		}
	}
	return nil
}
