//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// waitFor waits for a file that another process makes to have a first frame.
func waitFor(t testing.TB, name string) {
	t.Helper()
	for range 500 {
		if st, err := os.Stat(name); err == nil && st.Size() > 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%s was not made", filepath.Base(name))
}

// A log that is moved, replaced or removed while it is written is a failure of
// the host in every durability, and nothing that is there is lost.
func TestLogMovedDuringTheRun(t *testing.T) {
	const other = "somebody else's file"
	for _, grade := range []string{"none", "commit", "always"} {
		for act, do := range map[string]func(log, moved string) error{
			"moved":    os.Rename,
			"removed":  func(log, _ string) error { return os.Remove(log) },
			"replaced": func(log, moved string) error { return replaceWith(log, moved, other) },
		} {
			t.Run(grade+" "+act, func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				log, moved := filepath.Join(dir, "p.gclog"), filepath.Join(dir, "moved.gclog")
				write(t, dir, "p.gc", "(core/effect::then (core/time::sleep 600) (core/effect::pure 1))")
				cmd := command(t, dir, nil, "record", "p.gc", "--allow", "sys/time::sleep", "--sync", grade)
				var errs strings.Builder
				cmd.Stderr = &errs
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				waitFor(t, log)
				if err := do(log, moved); err != nil {
					t.Fatal(err)
				}
				_ = cmd.Wait()
				if code := cmd.ProcessState.ExitCode(); code != exitHost || !strings.Contains(errs.String(), "[log/moved]") {
					t.Errorf("exit code %d: %s", code, errs.String())
				}
				if act == "replaced" && read(t, log) != other {
					t.Error("the file that took the log's name was changed")
				}
				if act == "removed" {
					return
				}
				show := gcrunIn(t, dir, nil, "log", "show", "moved.gclog")
				if show.code != exitOK && show.code != exitLog || !strings.Contains(show.stdout, "log 4-dev of module p.gc") {
					t.Errorf("of the moved log: exit code %d, %s", show.code, show.stderr)
				}
			})
		}
	}
}

func replaceWith(log, moved, content string) error {
	if err := os.Rename(log, moved); err != nil {
		return err
	}
	return os.WriteFile(log, []byte(content), 0o600)
}

// A log that cannot be written on ends the run as a failure of the host; every
// whole entry stays, and replays. One that cannot even be begun leaves nothing.
func TestLogThatCannotGrow(t *testing.T) {
	bin, err := exec.LookPath("gcrun")
	if err != nil {
		t.Fatal(err)
	}
	for _, grade := range []string{"none", "commit", "always"} {
		t.Run(grade, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, "p.gc", strings.Replace(manyReads, "3000", "1000", 1), "in/a.txt", "a")
			got := limited(t, dir, 64, bin, "record", "p.gc", "--allow", "io/fs::read=in", "--sync", grade)
			if got.code != exitHost || !strings.Contains(got.stderr, "[log/write]") {
				t.Fatalf("exit code %d: %s", got.code, got.stderr)
			}
			show := gcrunIn(t, dir, nil, "log", "show", "p.gclog").want(t, exitLog)
			whole := strings.Count(show.stdout, "io/fs::read")
			if whole < 10 || whole > 999 {
				t.Fatalf("%d whole entries", whole)
			}
			rep := gcrunIn(t, dir, nil, "replay", "p.gclog", "--allow-incomplete").want(t, exitOK)
			if want := fmt.Sprintf("replayed %d entries", whole); !strings.Contains(rep.stderr, want) {
				t.Errorf("%q is not in %s", want, rep.stderr)
			}
		})
	}
	dir := t.TempDir()
	write(t, dir, "p.gc", "1")
	got := limited(t, dir, 0, bin, "record", "p.gc")
	if got.code != exitHost || !strings.Contains(got.stderr, "[log/create]") {
		t.Errorf("exit code %d: %s", got.code, got.stderr)
	}
	if _, err := os.Lstat(filepath.Join(dir, "p.gclog")); err == nil {
		t.Error("a log that was never begun was left")
	}
}

// limited runs a command that may write files of so many blocks of 512 bytes
// (of 1024 in some shells).
func limited(t testing.TB, dir string, blocks int, args ...string) outcome {
	t.Helper()
	cmd := exec.Command("sh", append([]string{"-c", fmt.Sprintf(`ulimit -f %d && exec "$@"`, blocks), "sh"}, args...)...)
	var out, errs strings.Builder
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &errs
	_ = cmd.Run()
	return outcome{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
}

// What cannot be printed was not printed: the exit code says so.
func TestStandardOutputFull(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("there is no /dev/full here")
	}
	defer full.Close()
	dir := t.TempDir()
	write(t, dir, "p.gc", "1", "doc.json", "{}", "print.gc", `(core/console::print "x")`)
	gcrunIn(t, dir, nil, "record", "p.gc").want(t, 0)
	for _, args := range [][]string{
		{"eval", "p.gc"}, {"hash", "p.gc"}, {"fmt", "--canonical", "p.gc"}, {"canon", "doc.json"}, {"version"},
		{"log", "show", "p.gclog"}, {"replay", "p.gclog"}, {"record", "p.gc"}, {"eval", "p.gc", "--json"},
	} {
		cmd := command(t, dir, nil, args...)
		cmd.Stdout = full
		_ = cmd.Run()
		if code := cmd.ProcessState.ExitCode(); code != exitHost {
			t.Errorf("%v: exit code %d", args, code)
		}
	}
	// A program is told, and can go on.
	cmd := command(t, dir, nil, "record", "print.gc", "--allow", "io/console::write")
	cmd.Stdout = full
	var errs strings.Builder
	cmd.Stderr = &errs
	_ = cmd.Run()
	if code := cmd.ProcessState.ExitCode(); code != exitError || !strings.Contains(errs.String(), "no-space") {
		t.Errorf("exit code %d: %s", code, errs.String())
	}
}

// Ctrl-C ends what records nothing as well.
func TestInterruptedEvaluation(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "p.gc", "(def spin (fn (n) (spin n)))\n(spin 0)")
	cmd := command(t, dir, nil, "eval", "p.gc", "--step-limit", "100000000000")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(300 * time.Millisecond)
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != exitInterrupted {
		t.Errorf("exit code %d", code)
	}
}
