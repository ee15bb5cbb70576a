//go:build linux && !race

package main

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gcrun/gcrun/internal/testkit"
)

// Programs that grow without end are stopped while the process is small. The
// race detector multiplies memory, so this test is not in builds that have it.
//
// spec: LIM-MEM-4
func TestGrowthKeepsTheProcessSmall(t *testing.T) {
	if testing.Short() {
		t.Skip("takes over 5 seconds; make check runs it")
	}
	const most = 512 << 20
	for _, path := range testkit.Files(t, filepath.Join(testkit.Root(t), "testdata", "growth", "*.gc")) {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".gc"), func(t *testing.T) {
			cmd := command(t, ".", nil, "eval", path, "--max-live-units", "4194304", "--json")
			start := time.Now()
			_ = cmd.Run()
			taken := time.Since(start)
			if code := cmd.ProcessState.ExitCode(); code != exitLimit {
				t.Errorf("exit code %d, want %d", code, exitLimit)
			}
			peak := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10
			t.Logf("%v, %d MiB", taken.Round(time.Millisecond), peak>>20)
			if peak > most {
				t.Errorf("the process took %d MiB", peak>>20)
			}
			if taken > 20*time.Second { // a figure, not a bar: the machine may be busy
				t.Errorf("took %v", taken)
			}
		})
	}
}
