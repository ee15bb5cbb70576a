package main

import (
	"os"
	"runtime/debug"

	"github.com/gcrun/gcrun/coreform/kernel"
)

// boundHeap tells the collector how much memory a run under limits may take:
// four times what its live units stand for, and 64 MiB for gcrun itself (spec
// LIM-MEM-4). Below that garbage may pile up longer than Go would let it, which
// makes runs that hold little faster. GOGC and GOMEMLIMIT, where somebody set
// them, stand.
func boundHeap(limits kernel.Limits) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(200)
	}
	live, bounded := limits.Named()["max_live_units"]
	if os.Getenv("GOMEMLIMIT") == "" && bounded && live < 1<<50 {
		debug.SetMemoryLimit(4*16*live + 64<<20)
	}
}
