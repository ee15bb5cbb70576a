// Command gcrun runs programs that have no ambient authority, records every
// effect they ask for in a log, and replays the run from that log alone.
//
// This file is the whole of main; one file per verb has the rest. What a person
// reads goes to stderr, what a machine or a pipe reads to stdout. Exit codes are
// in exit.go and in spec/errors.md.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/gcrun/gcrun/effects"
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// run is the command without the process around it.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	// A closed pipe must end the run, not the process: the log is closed first.
	signal.Ignore(syscall.SIGPIPE)
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	go func() {
		for range signals {
			cancel(effects.ErrInterrupted)
		}
	}()
	a := &app{stdin: stdin, stdout: stdout, stderr: stderr}
	return a.execute(ctx, args)
}
