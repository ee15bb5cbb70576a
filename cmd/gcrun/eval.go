package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/coreform/kernel"
	"github.com/gcrun/gcrun/coreform/prelude"
	"github.com/gcrun/gcrun/effects/guest"
	"github.com/gcrun/gcrun/internal/escape"
)

func (a *app) evalCommand() *cobra.Command {
	var limits kernel.Limits
	var profile bool
	cmd := &cobra.Command{
		Use: "eval PROG", Short: "Evaluate a module without effects and print its value", Args: cobra.ExactArgs(1),
		Long: `Evaluate a module and print the value of its last form in canonical text. Nothing
is asked of the host: an effect program is shown as such. With --json the value
comes with steps, units and hashes, those of the module's definitions included.
--profile shows what each definition cost by itself, on stderr.`,
		Example: "  gcrun eval prog.gc\n  echo '(core/int::add 1 2)' | gcrun eval -\n  gcrun eval --profile prog.gc",
		RunE: verb(func(ctx context.Context, args []string) error {
			if err := checkLimits(limits); err != nil {
				return err
			}
			lib := prelude.Library()
			if profile {
				lib = lib.Watched()
			}
			p, err := a.loadProgramWith(args[0], lib, limits)
			if err != nil {
				return err
			}
			return a.eval(ctx, p)
		}),
	}
	cmd.Flags().BoolVar(&profile, "profile", false, "show calls, steps and units by definition")
	limitFlags(cmd, &limits)
	return cmd
}

func (a *app) eval(ctx context.Context, p *program) error {
	v, err := p.Eval(ctx)
	costs := p.Costs()
	if err != nil {
		if !a.asJSON {
			fmt.Fprint(a.stderr, costTable(costs))
		}
		var fatal *guest.Fatal
		if errors.As(err, &fatal) {
			return fatalFailure(fatal, p.Info())
		}
		return err
	}
	var failed *failure
	if payload, isErr := kernel.IsError(v); isErr {
		a.exit = exitError
		failed = sealedFailure(payload, kernel.ErrorTrace(v), kernel.ErrorMaker(v), p.Info())
	}
	if a.asJSON {
		a.printEvalJSON(p, v, failed, costs)
		return nil
	}
	if failed != nil {
		fmt.Fprint(a.stderr, failed.render())
	} else {
		fmt.Fprintln(a.stdout, valueText(v))
	}
	if e, ok := v.AsOther().(*kernel.Effect); ok && e.Op() != "" {
		a.note("this program asks for effects; to let it: %s", recordCommandLine(p.arg, recordFlags{}, &policies{}, []string{e.Op()}))
	}
	fmt.Fprint(a.stderr, costTable(costs))
	return nil
}

func (a *app) printEvalJSON(p *program, v coreform.Value, failed *failure, costs []kernel.Cost) {
	definitions := map[string]any{}
	for _, d := range p.Definitions() {
		definitions[d.Name] = d.Hash.String()
	}
	out := map[string]any{"kind": "gcrun/eval/1", "ok": failed == nil, "value": valueText(v),
		"steps": p.Usage().Steps, "units": p.Usage().AllocUnits, "hash": p.Info().Hash.String(),
		"state_hash": coreform.StateHash(v).String(), "definitions": definitions, "module_grained": p.ModuleGrained()}
	if h, err := coreform.ValueHash(v); err == nil {
		out["value_hash"] = h.String()
	}
	if failed != nil {
		out["error"] = failed.json()
	}
	if costs != nil {
		rows := []any{}
		for _, c := range costs {
			rows = append(rows, map[string]any{"definition": c.Name, "calls": c.Calls, "steps": c.Steps, "units": c.Units})
		}
		out["profile"] = rows
	}
	a.printJSON(out)
}

// costTable shows what each definition cost by itself, the dearest first.
func costTable(costs []kernel.Cost) string {
	if len(costs) == 0 {
		return ""
	}
	var steps, units int64
	for _, c := range costs {
		steps, units = steps+c.Steps, units+c.Units
	}
	var b strings.Builder
	row := func(steps, units, calls any, name string) {
		fmt.Fprintf(&b, "%12v %12v %10v  %s\n", steps, units, calls, escape.LineMax(name, 200))
	}
	row("steps", "units", "calls", "definition")
	for _, c := range costs {
		row(c.Steps, c.Units, c.Calls, cmp.Or(c.Name, "(top level)"))
	}
	row(steps, units, "", "all")
	return b.String()
}

// valueText is the canonical text of a value, or what comes closest.
func valueText(v coreform.Value) string {
	if v.IsTerm() {
		if b, err := coreform.PrintTerm(v, coreform.Limits{MaxDepth: coreform.MaximumDepth}); err == nil {
			return string(b)
		}
	}
	if e, ok := v.AsOther().(*kernel.Effect); ok && e.Op() != "" {
		return "#<effect-program " + e.Op() + ">"
	}
	return coreform.FormatLossy(v, 1<<20)
}

// isEmpty reports whether a context says nothing.
func isEmpty(v coreform.Value) bool {
	m, isMap := v.AsMap()
	return v.IsNil() || isMap && m.Len() == 0
}

// sealedFailure is a final sealed error for a person: its payload, the calls
// under which it was made, and the primitive or native that made it, if known.
func sealedFailure(payload coreform.Value, stack []guest.Frame, maker string, info guest.Info) *failure {
	f := &failure{exit: exitError, code: "error", message: oneLine(coreform.FormatLossy(payload, 1000)), offset: -1}
	if m, ok := payload.AsMap(); ok {
		get := func(key string) string {
			v, _ := m.Get(coreform.Sym(key))
			s, _ := v.AsStr()
			return s
		}
		if c := get(":error/code"); c != "" {
			f.code, f.message = c, get(":error/message")
			if ctx, ok := m.Get(coreform.Sym(":error/context")); ok && !isEmpty(ctx) {
				f.message += " " + oneLine(coreform.FormatLossy(ctx, 600))
			}
		}
	}
	if maker != "" && maker != "core/error::make" && maker != "core/protocol::error" {
		f.message += ", from " + maker
	}
	if len(stack) > 0 {
		f.placeSpan(stack[0].Span, info)
	}
	if len(stack) > 1 || len(stack) == 1 && stack[0].Name != "" { // the place alone says less
		f.calls(stack, info)
	}
	return f
}
