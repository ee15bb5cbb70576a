package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gcrun/gcrun/internal/testkit"
)

const manyReads = `
(def loop (fn (n)
  (if (core/int::eq? n 0)
    (core/effect::pure n)
    (core/effect::bind (core/fs::read "a.txt") (fn (b) (loop (core/int::sub n 1)))))))
(loop 3000)`

// SIGKILL during record at 50 moments: log show gives every whole entry and
// says incomplete (or the run was over), and what is there replays.
func TestSIGKILL(t *testing.T) {
	testkit.RequireUnix(t)
	if testing.Short() {
		t.Skip("starts 150 processes; make check runs it")
	}
	dir := t.TempDir()
	write(t, dir, "in/a.txt", strings.Repeat("x", 200), "p.gc", manyReads)
	start := time.Now()
	gcrunIn(t, dir, nil, "record", "p.gc", "--allow", "io/fs::read=in", "-o", "whole.gclog", "--sync", "none").want(t, 0)
	took := time.Since(start)
	incomplete := 0
	for i := range 50 {
		log := fmt.Sprintf("k%d.gclog", i)
		cmd := command(t, dir, nil, "record", "p.gc", "--allow", "io/fs::read=in", "-o", log, "--sync", "none")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(took * time.Duration(i+1) / 45)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		name := filepath.Join(dir, log)
		if _, err := os.Stat(name); err != nil {
			continue // killed before there was a log
		}
		show := gcrunIn(t, dir, nil, "log", "show", log)
		switch show.code {
		case exitLog:
			incomplete++
			if !strings.Contains(show.stderr, "log/incomplete") {
				t.Fatalf("killed at moment %d: %s", i, show.stderr)
			}
		case exitOK:
		default:
			t.Fatalf("killed at moment %d: exit %d: %s", i, show.code, show.stderr)
		}
		// Before the header is whole there is no program to replay.
		rep := gcrunIn(t, dir, nil, "replay", "--allow-incomplete", log)
		if rep.code != exitOK && !strings.Contains(rep.stderr, "log/incomplete") {
			t.Fatalf("killed at moment %d: replay exit %d: %s", i, rep.code, rep.stderr)
		}
		if shown := strings.Count(show.stdout, "io/fs::read"); rep.code == exitOK && !strings.Contains(rep.stderr, fmt.Sprintf("replayed %d entr", shown)) {
			t.Fatalf("killed at moment %d: %d entries shown, but: %s", i, shown, rep.stderr)
		}
		_ = os.Remove(name)
	}
	if incomplete < 10 {
		t.Errorf("only %d of 50 kills hit a run: the test proves too little", incomplete)
	}
}

// Truncation at every byte and any single bit flipped, through the command.
func TestTruncatedAndFlippedLogs(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "in/a.txt", "a", "p.gc", strings.Replace(manyReads, "3000", "3", 1))
	gcrunIn(t, dir, nil, "record", "p.gc", "--allow", "io/fs::read=in").want(t, 0)
	log := read(t, filepath.Join(dir, "p.gclog"))
	name := filepath.Join(dir, "bad.gclog")
	step := 1
	if testing.Short() {
		step = 17
	}
	inProcess := func(args ...string) int { // a process for each bit would take an hour
		var none strings.Builder
		return run(args, strings.NewReader(""), &none, &none)
	}
	last := 0
	for n := 0; n < len(log); n += step {
		write(t, dir, "bad.gclog", log[:n])
		var out, errs strings.Builder
		if code := run([]string{"log", "show", name}, strings.NewReader(""), &out, &errs); code != exitLog {
			t.Fatalf("cut at %d: log show exit %d: %s", n, code, errs.String())
		}
		whole := strings.Count(out.String(), "io/fs::read")
		if whole < last || !strings.Contains(errs.String(), "incomplete") {
			t.Fatalf("cut at %d: %d entries after %d: %s", n, whole, last, errs.String())
		}
		last = whole
	}
	if last != 3 {
		t.Errorf("the last cut shows %d entries, want 3", last)
	}
	// Every bit is flipped in package engine; here every fifth goes through the
	// command, to see its exit codes.
	for bit := 0; bit < 8*len(log); bit += max(5, step) {
		b := []byte(log)
		b[bit/8] ^= 1 << (bit % 8)
		write(t, dir, "bad.gclog", string(b))
		if code := inProcess("replay", name); code != exitLog && code != exitDiverged {
			t.Fatalf("bit %d flipped: replay exit %d", bit, code)
		}
	}
}
