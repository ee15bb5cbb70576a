package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/evidence/canonjson"
	"github.com/gcrun/gcrun/internal/escape"
)

// canonicalForms reads a source and canonicalizes it.
func (a *app) canonicalForms(name string) ([]coreform.Value, error) {
	src, err := a.readInput(name)
	if err != nil {
		return nil, err
	}
	nodes, err := coreform.ReadModule(src, coreform.Limits{})
	if err == nil {
		nodes, err = coreform.CanonicalizeModule(nodes, coreform.Limits{})
	}
	if err != nil {
		return nil, sourceFailure(shownName(name), src, err)
	}
	return coreform.Terms(nodes), nil
}

func tooLong(name string, err error) error {
	return &failure{exit: exitInput, code: "core/resource-exhausted", file: name, message: err.Error(), offset: -1,
		hint: "split the module; canonical text grows with how deep calls nest"}
}

// hashKind is what gcrun hash hashes.
type hashKind struct{ term, value bool }

func (a *app) hashCommand() *cobra.Command {
	var kind hashKind
	cmd := &cobra.Command{
		Use: "hash FILE…", Short: "Print the module hash of sources",
		Long: `Print, for each file, the module hash: BLAKE3 of the canonical module text under
its prefix. With --term each file holds one term, which is hashed as it is read.
With --value each file holds one term, of which the state hash is printed, the
digest logs and continuations use; --json adds the value hash of GenesisCode.
- is standard input.`,
		Example: "  gcrun hash prog.gc\n  echo '{:a 1}' | gcrun hash --term -\n  echo '{:a 1}' | gcrun hash --value --json -",
		Args:    cobra.MinimumNArgs(1),
		RunE: verb(func(_ context.Context, args []string) error {
			rows := []any{}
			for _, name := range args {
				row, err := a.hashOne(name, kind)
				if err != nil {
					return err
				}
				if a.asJSON {
					row["file"] = jsonText(name)
					rows = append(rows, row)
					continue
				}
				fmt.Fprintf(a.stdout, "%s  %s\n", row["hash"], escape.Line(name))
			}
			if a.asJSON {
				a.printJSON(map[string]any{"kind": "gcrun/hash/1", "ok": true, "hashes": rows})
			}
			return nil
		}),
	}
	cmd.Flags().BoolVar(&kind.term, "term", false, "hash the one term in each file")
	cmd.Flags().BoolVar(&kind.value, "value", false, "print the state hash of the one term in each file")
	cmd.MarkFlagsMutuallyExclusive("term", "value")
	return cmd
}

// hashOne returns the hashes of a file, "hash" being the one asked for.
func (a *app) hashOne(name string, kind hashKind) (map[string]any, error) {
	if !kind.term && !kind.value {
		forms, err := a.canonicalForms(name)
		if err != nil {
			return nil, err
		}
		h, err := coreform.ModuleHash(forms)
		if err != nil {
			return nil, tooLong(name, err)
		}
		return map[string]any{"hash": h.String()}, nil
	}
	src, err := a.readInput(name)
	if err != nil {
		return nil, err
	}
	v, err := coreform.ReadTerm(src, coreform.Limits{})
	if err != nil {
		return nil, sourceFailure(shownName(name), src, err)
	}
	if kind.value {
		h, err := coreform.ValueHash(v)
		if err != nil {
			return nil, tooLong(name, err)
		}
		return map[string]any{"hash": coreform.StateHash(v).String(), "value_hash": h.String()}, nil
	}
	h, err := coreform.TermHash(v)
	if err != nil {
		return nil, tooLong(name, err)
	}
	return map[string]any{"hash": h.String()}, nil
}

func (a *app) canonCommand() *cobra.Command {
	var profile string
	cmd := &cobra.Command{
		Use: "canon FILE", Short: "Print JSON in canonical form", Args: cobra.ExactArgs(1),
		Long: `Print a JSON document in canonical form, without a newline at the end. Profile jcs
is RFC 8785; profile evidence also puts text into Unicode form C and refuses
numbers that would not survive. - is standard input.`,
		Example: "  gcrun canon doc.json\n  echo '{\"b\":1,\"a\":2}' | gcrun canon -",
		RunE: verb(func(_ context.Context, args []string) error {
			p, ok := canonjson.ParseProfile(profile)
			if !ok {
				return usage("there is no profile %q: jcs and evidence are", profile)
			}
			src, err := a.readInput(args[0])
			if err != nil {
				return err
			}
			out, err := canonjson.Canonicalize(p, src, canonjson.Limits{})
			if err != nil {
				return jsonFailure(args[0], src, err)
			}
			if a.asJSON {
				a.printJSON(map[string]any{"kind": "gcrun/canon/1", "ok": true, "profile": profile, "canonical": string(out)})
				return nil
			}
			_, err = a.stdout.Write(out)
			return err
		}),
	}
	cmd.Flags().StringVar(&profile, "profile", "jcs", "jcs or evidence")
	return cmd
}

func jsonFailure(name string, src []byte, err error) error {
	var cj *canonjson.Error
	if !errors.As(err, &cj) {
		return err
	}
	f := &failure{exit: exitInput, code: string(cj.Code), message: cj.Detail, hint: cj.Hint}
	return f.place(shownName(name), src, int(cj.Offset))
}

// shownName is how a named input is called in messages.
func shownName(name string) string {
	if name == "-" {
		return "stdin"
	}
	return name
}
