package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gcrun/gcrun/internal/testkit"
)

// Replay runs in an empty directory and an empty network namespace, and
// changes nothing there.
func TestReplayInAnEmptyWorld(t *testing.T) {
	testkit.RequireUnix(t)
	dir, empty := t.TempDir(), t.TempDir()
	tree(t, dir)
	example(t, filepath.Join(dir, "x"), "treesum")
	rec := gcrunIn(t, filepath.Join(dir, "x"), nil, "record", "treesum.gc", "--allow", "io/fs=../tree", "--allow", "io/console::write").want(t, 0)
	log := filepath.Join(empty, "run.gclog")
	if err := os.Rename(filepath.Join(dir, "x", "treesum.gclog"), log); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	testkit.Unchanged(t, empty, func() {
		rep := gcrunIn(t, empty, nil, "replay", "run.gclog", "--show-output").want(t, 0)
		if rep.stdout != rec.stdout {
			t.Errorf("replayed %q, recorded %q", rep.stdout, rec.stdout)
		}
	})
	if exec.Command("unshare", "-rn", "true").Run() != nil {
		t.Log("no network namespaces here: the part in one was not run")
		return
	}
	bin, err := exec.LookPath("gcrun")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("unshare", "-rn", bin, "replay", log, "--show-output")
	cmd.Dir = empty
	out, err := cmd.Output()
	if err != nil || string(out) != rec.stdout {
		t.Errorf("in an empty network namespace: %v, %q", err, out)
	}
}

// A reader that goes away ends the run as an interruption, with a closed log.
func TestClosedPipe(t *testing.T) {
	testkit.RequireUnix(t)
	dir := t.TempDir()
	write(t, dir, "p.gc", `
(def loop (fn (n) (core/effect::bind (core/console::print "line after line after line\n") (fn (x) (loop n)))))
(loop 0)`)
	cmd := command(t, dir, nil, "record", "p.gc", "--allow", "io/console::write", "--sync", "none")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var errs strings.Builder
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(out, make([]byte, 100)); err != nil {
		t.Fatal(err)
	}
	out.Close()
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != exitInterrupted {
		t.Fatalf("exit code %d: %s", code, errs.String())
	}
	gcrunIn(t, dir, nil, "log", "show", "p.gclog").want(t, 0)
	gcrunIn(t, dir, nil, "replay", "p.gclog").want(t, 0)
}

// Ctrl-C closes the log with outcome interrupted, also while the program
// computes or an operation waits.
func TestInterrupt(t *testing.T) {
	testkit.RequireUnix(t)
	for name, src := range map[string]string{
		"waiting":   `(core/time::sleep 600000)`,
		"computing": `(core/effect::bind (core/time::now nil) (fn (t) (let ((f 1)) (spin t))))` + "\n(def spin (fn (n) (spin n)))",
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if name == "computing" {
				src = "(def spin (fn (n) (spin n)))\n(core/effect::bind (core/time::now nil) spin)"
			}
			write(t, dir, "p.gc", src)
			cmd := command(t, dir, nil, "record", "p.gc", "--allow", "sys/time::sleep", "--allow", "sys/time::now")
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(300 * time.Millisecond)
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			if code := cmd.ProcessState.ExitCode(); code != exitInterrupted {
				t.Fatalf("exit code %d", code)
			}
			show := gcrunIn(t, dir, nil, "log", "show", "p.gclog").want(t, 0)
			if !strings.Contains(show.stdout, "outcome interrupted") {
				t.Errorf("the log says: %s", show.stdout)
			}
		})
	}
}
