package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/coreform/kernel"
	"github.com/gcrun/gcrun/effects/guest"
)

func (a *app) evalCommand() *cobra.Command {
	var limits kernel.Limits
	cmd := &cobra.Command{
		Use: "eval PROG", Short: "Evaluate a module without effects and print its value", Args: cobra.ExactArgs(1),
		Long: `Evaluate a module and print the value of its last form in canonical text. Nothing
is asked of the host: an effect program is shown as such.`,
		Example: "  gcrun eval prog.gc\n  echo '(core/int::add 1 2)' | gcrun eval -",
		RunE: verb(func(ctx context.Context, args []string) error {
			if err := checkLimits(limits); err != nil {
				return err
			}
			p, err := a.loadProgram(args[0], limits)
			if err != nil {
				return err
			}
			return a.eval(ctx, p)
		}),
	}
	limitFlags(cmd, &limits)
	return cmd
}

func (a *app) eval(ctx context.Context, p *program) error {
	v, err := p.Eval(ctx)
	if err != nil {
		var fatal *guest.Fatal
		if errors.As(err, &fatal) {
			return fatalFailure(fatal, p.Info())
		}
		return err
	}
	text := valueText(v)
	payload, isErr := kernel.IsError(v)
	if isErr {
		a.exit = exitError
	}
	if a.asJSON {
		out := map[string]any{"kind": "gcrun/eval/1", "ok": !isErr, "value": text,
			"steps": p.Usage().Steps, "units": p.Usage().AllocUnits, "hash": p.Info().Hash.String(),
			"state_hash": coreform.StateHash(v).String()}
		if isErr {
			out["error"] = sealedFailure(payload, kernel.ErrorSite(v), p.Info()).json()
		}
		a.printJSON(out)
		return nil
	}
	if isErr {
		fmt.Fprint(a.stderr, sealedFailure(payload, kernel.ErrorSite(v), p.Info()).render())
		return nil
	}
	fmt.Fprintln(a.stdout, text)
	if e, ok := v.AsOther().(*kernel.Effect); ok && e.Op() != "" {
		a.note("this program asks for effects; to let it: %s", recordCommandLine(p.arg, recordFlags{}, &policies{}, []string{e.Op()}))
	}
	return nil
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

// sealedFailure is a final sealed error for a person.
func sealedFailure(payload coreform.Value, site guest.Span, info guest.Info) *failure {
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
	return f.placeSpan(site, info)
}
