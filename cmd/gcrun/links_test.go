//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// codesOf is a program that asks one thing after the other and gives the code of
// each answer, "ok" for one that is no error. The first is only asked, so that a
// test can act while the program sleeps.
func codesOf(asks ...string) string {
	var b strings.Builder
	b.WriteString("(def code (fn (r) (if (core/error::is? r) (core/map::get (core/error::payload r) ':error/code) \"ok\")))\n")
	got := "'[]"
	for i, ask := range asks {
		fmt.Fprintf(&b, "(core/effect::bind %s (fn (r%d)\n", ask, i)
		if i > 0 {
			got = fmt.Sprintf("(core/vec::push %s (code r%d))", got, i)
		}
	}
	return b.String() + "(core/effect::pure " + got + ")" + strings.Repeat("))", len(asks)) + "\n"
}

// Names that lead to the log while it is written, made by somebody else during
// the run, do not open it.
func TestLinksToTheRunningLog(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "p.gc", codesOf(
		`(core/time::sleep 500)`, `(core/fs::read "hard")`, `(core/fs::append "hard" "x")`, `(core/fs::write "hard" "x")`,
		`(core/fs::stat "hard")`, `(core/fs::read "sub/soft")`, `(core/fs::append "sub/soft" "x")`, `(core/fs::read "seen")`))
	write(t, dir, "list.gc", `(core/effect::then (core/time::sleep 500) (core/effect::perform 'io/fs::list {:path "." :recursive true} core/effect::pure))`, "seen", "")
	for _, prog := range []string{"p", "list"} {
		log := filepath.Join(dir, prog+".gclog")
		cmd := command(t, dir, nil, "record", prog+".gc", "--allow", "io/fs=.", "--allow", "sys/time::sleep")
		var out, errs strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &errs
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		waitFor(t, log)
		for _, err := range []error{
			os.RemoveAll(filepath.Join(dir, "hard")), os.Link(log, filepath.Join(dir, "hard")),
			os.RemoveAll(filepath.Join(dir, "sub")), os.Mkdir(filepath.Join(dir, "sub"), 0o700),
			os.Symlink("../"+prog+".gclog", filepath.Join(dir, "sub", "soft")),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := cmd.Wait(); err != nil {
			t.Fatalf("%v: %s", err, errs.String())
		}
		switch prog {
		case "p":
			if s := out.String(); strings.Count(s, "core/path-error") != 6 || !strings.HasSuffix(s, "\"ok\"]\n") {
				t.Errorf("the program got %s", s)
			}
		case "list":
			if s := out.String(); strings.Contains(s, `"hard"`) || strings.Contains(s, "list.gclog") || !strings.Contains(s, `"seen"`) {
				t.Errorf("the program saw %s", s)
			}
		}
		gcrunIn(t, dir, nil, "replay", prog+".gclog").want(t, 0)
	}
}

// The source and the policy are safe as well when they are named by links.
func TestLinkedSourceAndPolicy(t *testing.T) {
	dir := t.TempDir()
	caps := "allow = [\"io/fs::*\"]\n[family.\"io/fs\"]\nbase_dir = \".\"\n"
	var asks []string
	asks = append(asks, `(core/fs::stat ".")`)
	for _, name := range []string{"real.gc", "real.toml", "link.gc", "link.toml"} {
		asks = append(asks, fmt.Sprintf(`(core/fs::write %q "x")`, name), fmt.Sprintf(`(core/fs::append %q "x")`, name))
	}
	source := codesOf(asks...)
	write(t, dir, "real.gc", source, "real.toml", caps)
	for _, ext := range []string{"gc", "toml"} {
		if err := os.Symlink("real."+ext, filepath.Join(dir, "link."+ext)); err != nil {
			t.Fatal(err)
		}
	}
	got := gcrunIn(t, dir, nil, "record", "link.gc", "--caps", "link.toml").want(t, 0)
	if strings.Count(got.stdout, "core/path-error") != 8 {
		t.Errorf("the program got %s", got.stdout)
	}
	if read(t, filepath.Join(dir, "real.gc")) != source || read(t, filepath.Join(dir, "real.toml")) != caps {
		t.Error("source or policy changed")
	}
}
