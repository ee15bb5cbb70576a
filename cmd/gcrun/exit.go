package main

import "github.com/gcrun/gcrun/effects/guest"

// Exit codes (spec ERR-EXIT-1).
const (
	exitOK          = 0
	exitInternal    = 1  // a fault in gcrun
	exitUsage       = 2  // wrong words on the command line; the log named exists
	exitInput       = 10 // source, policy, log text or JSON that is not valid
	exitError       = 20 // the program ended in an error
	exitDiverged    = 40
	exitDenied      = 41 // the program ended because something was denied
	exitLimit       = 42
	exitLog         = 60 // log incomplete, damaged, or a response withheld
	exitHost        = 70 // the host failed
	exitInterrupted = 130
)

// exitOf is the exit code of a run that ended so.
func exitOf(k guest.OutcomeKind) int {
	switch k {
	case guest.OutcomeOK:
		return exitOK
	case guest.OutcomeError:
		return exitError
	case guest.OutcomeDenied:
		return exitDenied
	case guest.OutcomeLimit, guest.OutcomeWall:
		return exitLimit
	case guest.OutcomeHostFailure:
		return exitHost
	case guest.OutcomeInterrupted:
		return exitInterrupted
	}
	return exitInternal
}
