package main

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/coreform/kernel"
	"github.com/gcrun/gcrun/gclog"
)

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version of gcrun and of its formats", Args: cobra.NoArgs,
		Example: "  gcrun version\n  gcrun version --json",
		RunE: verb(func(context.Context, []string) error {
			v := buildVersion()
			stateHash := fmt.Sprintf("gcrun/state-hash/%d", coreform.StateHashProfile)
			if a.asJSON {
				a.printJSON(map[string]any{"kind": "gcrun/version/1", "ok": true, "version": v, "go": runtime.Version(),
					"log": gclog.Version, "language": kernel.LanguageProfile, "state_hash": stateHash})
				return nil
			}
			fmt.Fprintf(a.stdout, "gcrun %s\nlog %s, language %s, state hash %s, %s\n",
				v, gclog.Version, kernel.LanguageProfile, stateHash, runtime.Version())
			return nil
		}),
	}
}

func buildVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
