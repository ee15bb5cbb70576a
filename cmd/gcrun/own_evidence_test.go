package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gcrun/gcrun/internal/testkit"
)

// base_dir "." with the log in it: the program cannot read, list, change or
// replace the log, nor change its policy or its source, by any name.
func TestProgramCannotReachItsEvidence(t *testing.T) {
	testkit.RequireUnix(t)
	dir := t.TempDir()
	const caps = "allow = [\"io/fs::read\", \"io/fs::write\", \"io/fs::append\", \"io/fs::stat\", \"io/fs::list\"]\n[family.\"io/fs\"]\nbase_dir = \".\"\n"
	type act struct{ name, expr, want string }
	acts := []act{
		{"read log", `(core/fs::read "p.gclog")`, "core/path-error"},
		{"write log", `(core/fs::write "p.gclog" "x")`, "core/path-error"},
		{"append log", `(core/fs::append "p.gclog" "x")`, "core/path-error"},
		{"stat log", `(core/fs::stat "p.gclog")`, "core/path-error"},
		{"read log by link", `(core/fs::read "link")`, "core/path-error"},
		{"append log by link", `(core/fs::append "link" "x")`, "core/path-error"},
		{"sidecar", `(core/fs::write "p.gclog.side" "x")`, "core/path-error"},
		{"write caps", `(core/fs::write "caps.toml" "x")`, "core/path-error"},
		{"append caps", `(core/fs::append "caps.toml" "x")`, "core/path-error"},
		{"append caps by hard link", `(core/fs::append "hard" "x")`, "core/path-error"},
		{"write source", `(core/fs::write "p.gc" "x")`, "core/path-error"},
		{"read caps", `(core/fs::read "caps.toml")`, "ok"},
		{"read source", `(core/fs::read "p.gc")`, "ok"},
		{"write other", `(core/fs::write "other.txt" "x")`, "ok"},
	}
	for _, a := range acts {
		t.Run(a.name, func(t *testing.T) {
			d := filepath.Join(dir, strings.ReplaceAll(a.name, " ", "-"))
			src := `(core/effect::bind ` + a.expr + ` (fn (r) (core/effect::pure
			  (if (core/error::is? r) (core/map::get (core/error::payload r) ':error/code) "ok"))))`
			write(t, d, "p.gc", src, "caps.toml", caps)
			if err := os.Symlink("p.gclog", filepath.Join(d, "link")); err != nil {
				t.Fatal(err)
			}
			if err := os.Link(filepath.Join(d, "caps.toml"), filepath.Join(d, "hard")); err != nil {
				t.Fatal(err)
			}
			got := gcrunIn(t, d, nil, "record", "p.gc", "--caps", "caps.toml").want(t, 0)
			if strings.TrimSpace(got.stdout) != `"`+a.want+`"` {
				t.Errorf("%s gave %s, want %s", a.expr, got.stdout, a.want)
			}
			if read(t, filepath.Join(d, "caps.toml")) != caps || read(t, filepath.Join(d, "p.gc")) != src {
				t.Error("policy or source changed")
			}
			gcrunIn(t, d, nil, "replay", "p.gclog").want(t, 0)
		})
	}
	// The log is not in a listing.
	write(t, dir, "list/p.gc", `(core/fs::list ".")`, "list/caps.toml", caps, "list/seen.txt", "")
	got := gcrunIn(t, filepath.Join(dir, "list"), nil, "record", "p.gc", "--caps", "caps.toml").want(t, 0)
	if strings.Contains(got.stdout, "gclog") || !strings.Contains(got.stdout, "seen.txt") {
		t.Errorf("the listing is %s", got.stdout)
	}
}

// A program denied everything still runs and sees core/caps/denied, and what is
// printed loads when pasted: the flags and the policy.
func TestDenialAdviceWorks(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.txt", "hello", "p.gc", `(core/effect::bind (core/fs::read "a.txt") (fn (r)
	  (if (core/error::is? r) (core/effect::pure (core/map::get (core/error::payload r) ':error/code)) (core/effect::pure (core/bytes::len r)))))`)
	denied := gcrunIn(t, dir, nil, "record", "p.gc").want(t, 0)
	if strings.TrimSpace(denied.stdout) != `"core/caps/denied"` {
		t.Fatalf("the program saw %s", denied.stdout)
	}
	_, advice, ok := strings.Cut(denied.stderr, "to allow it for this directory:\n")
	flags, policy, ok2 := strings.Cut(advice, "or in caps.toml:\n")
	if !ok || !ok2 {
		t.Fatalf("no advice in %s", denied.stderr)
	}
	words := strings.Fields(flags)
	got := gcrunIn(t, dir, nil, words[1:]...).want(t, 0)
	if strings.TrimSpace(got.stdout) != "5" {
		t.Errorf("with the flags: %s", got.stdout)
	}
	var toml strings.Builder
	for line := range strings.Lines(policy) {
		rest, indented := strings.CutPrefix(line, "  ")
		if !indented {
			break
		}
		toml.WriteString(rest)
	}
	write(t, dir, "caps.toml", toml.String())
	got = gcrunIn(t, dir, nil, "record", "p.gc", "--caps", "caps.toml").want(t, 0)
	if strings.TrimSpace(got.stdout) != "5" {
		t.Errorf("with the policy: %s", got.stdout)
	}
}

// Input that is bad leaves nothing behind.
func TestBadInputLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "bad.gc", "(", "good.gc", "1", "bad.toml", "allow = [", "nodir.toml", "allow = [\"io/fs::read\"]\n[family.\"io/fs\"]\nbase_dir = \"nowhere\"\n")
	testkit.Unchanged(t, dir, func() {
		gcrunIn(t, dir, nil, "record", "bad.gc").want(t, exitInput)
		gcrunIn(t, dir, nil, "record", "good.gc", "--caps", "bad.toml").want(t, exitInput)
		gcrunIn(t, dir, nil, "record", "good.gc", "--caps", "missing.toml").want(t, exitInput)
		gcrunIn(t, dir, nil, "record", "good.gc", "--caps", "nodir.toml").want(t, exitInput)
		gcrunIn(t, dir, nil, "record", "good.gc", "--allow", "io/fs::raed=.").want(t, exitUsage)
		gcrunIn(t, dir, nil, "record", "missing.gc").want(t, exitInput)
		gcrunIn(t, dir, nil, "record", "good.gc", "--sync", "maybe").want(t, exitUsage)
	})
}

// Input that is too large, or whose name is no text, is told of like any other.
func TestUnusualInput(t *testing.T) {
	testkit.RequireUnix(t)
	dir := t.TempDir()
	huge := filepath.Join(dir, "huge.gc")
	write(t, dir, "huge.gc", "1\n")
	if err := os.Truncate(huge, maxSource+1); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"record", "huge.gc"}, {"eval", "huge.gc"}, {"hash", "huge.gc"}, {"canon", "huge.gc"}, {"record", "p.gc", "--caps", "huge.gc"},
	} {
		write(t, dir, "p.gc", "1")
		got := gcrunIn(t, dir, nil, args...).want(t, exitInput)
		if !strings.Contains(got.stderr, "[file/too-large]") || !strings.Contains(got.stderr, "next: ") {
			t.Errorf("%v: %s", args, got.stderr)
		}
	}
	got := gcrunIn(t, dir, nil, "eval", "no\xfftext.gc", "--json").want(t, exitInput)
	doc, err := oneObject([]byte(got.stdout))
	if err != nil {
		t.Fatal(err)
	}
	if file, _ := lookup(doc, "error.file"); file != `no\xfftext.gc` {
		t.Errorf("the file is called %q", file)
	}
	gcrunIn(t, dir, nil, "record", "p.gc", "--allow", "sys/args::list", "--", "no\xfftext").want(t, exitUsage)
	gcrunIn(t, dir, nil, "record", `back\slash.gc`).want(t, exitInput)
	write(t, dir, `back\slash.gc`, "1")
	got = gcrunIn(t, dir, nil, "record", `back\slash.gc`).want(t, exitInput)
	if !strings.Contains(got.stderr, "rename the program") {
		t.Error(got.stderr)
	}
	if logs, _ := filepath.Glob(filepath.Join(dir, "*.gclog")); len(logs) > 0 {
		t.Errorf("bad input left %q", logs)
	}
}
