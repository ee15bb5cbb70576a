package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/coreform/check"
	"github.com/gcrun/gcrun/coreform/prelude"
)

func (a *app) checkCommand() *cobra.Command {
	var strict bool
	cmd := &cobra.Command{
		Use: "check PROG", Short: "Find faults of a module without running it", Args: cobra.ExactArgs(1),
		Long: `Find faults of a module without running it: names that are not bound, wrong numbers
of arguments, conditions that are always true, operations that :caps does not
declare, code in vector literals, names defined twice. What is reported is
certain; where nothing is known nothing is said. Problems go to standard output.
The exit code is 10 if one of them is an error. - is standard input.`,
		Example: "  gcrun check prog.gc\n  gcrun check --strict --json prog.gc",
		RunE: verb(func(_ context.Context, args []string) error {
			src, err := a.readInput(args[0])
			if err != nil {
				return err
			}
			problems, err := check.Module(shownName(args[0]), src, prelude.Library())
			if err != nil {
				return err
			}
			if strict {
				for i := range problems {
					problems[i].Severity = check.Error
				}
			}
			return a.showProblems(src, problems)
		}),
	}
	cmd.Flags().BoolVar(&strict, "strict", false, "treat warnings as errors")
	return cmd
}

// showProblems prints what check found and sets the exit code.
func (a *app) showProblems(src []byte, problems []check.Problem) error {
	n := map[check.Severity]uint64{}
	for _, p := range problems {
		n[p.Severity]++
	}
	if n[check.Error] > 0 {
		a.exit = exitInput
	}
	if a.asJSON {
		list := make([]any, 0, len(problems))
		for _, p := range problems {
			m := problemFailure(src, p).json()
			m["severity"] = p.Severity.String()
			list = append(list, m)
		}
		a.printJSON(map[string]any{"kind": "gcrun/check/1", "ok": n[check.Error] == 0, "problems": list})
		return nil
	}
	if len(problems) == 0 {
		a.note("no problems found")
		return nil
	}
	var b strings.Builder
	for _, p := range problems {
		b.WriteString(p.Severity.String() + ": " + strings.TrimPrefix(problemFailure(src, p).render(), "error: "))
	}
	fmt.Fprintf(&b, "%s, %s\n", counted(n[check.Error], "error", "errors"), counted(n[check.Warning], "warning", "warnings"))
	_, err := a.stdout.Write([]byte(b.String()))
	return err
}

// longestShown is the longest source line that is shown with a problem.
const longestShown = 1 << 16

// problemFailure is a problem in the shape of all that is told to people.
func problemFailure(src []byte, p check.Problem) *failure {
	f := &failure{exit: exitInput, code: p.Code, message: p.Message, hint: p.Hint,
		file: p.File, line: p.Line, col: p.Col, offset: int64(p.Offset)}
	if line := coreform.SourceLine(src, p.Offset); len(line) <= longestShown {
		f.text = string(line)
	}
	return f
}
