package project

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gcrun/gcrun/internal/testkit"
)

// TestReadmeSession pastes the session of the README into a shell, in a copy of
// the examples, and compares what is printed. Run with -update to rewrite it.
func TestReadmeSession(t *testing.T) {
	testkit.RequireUnix(t)
	root := testkit.Root(t)
	name := filepath.Join(root, "README.md")
	readme, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(readme), "```console\n")
	session, after, ok2 := strings.Cut(rest, "```\n")
	if !ok || !ok2 {
		t.Fatal("README.md has no ```console block")
	}
	got := runSession(t, root, session)
	if got == session {
		return
	}
	if !testkit.Updating() {
		t.Fatalf("the session of README.md prints something else (-update rewrites it):\n%s", testkit.Difference([]byte(session), []byte(got)))
	}
	if err := os.WriteFile(name, []byte(before+"```console\n"+got+"```\n"+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

// runSession runs the lines that begin with "$ " in one shell and returns the
// session with what they print.
func runSession(t *testing.T, root, session string) string {
	dir := t.TempDir()
	if out, err := exec.Command("cp", "-R", filepath.Join(root, "examples"), dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	build := exec.Command("go", "build", "-o", filepath.Join(dir, "bin", "gcrun"), "./cmd/gcrun")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var script strings.Builder
	commands := 0
	for line := range strings.Lines(session) {
		command, ok := strings.CutPrefix(line, "$ ")
		if !ok {
			continue
		}
		commands++
		script.WriteString("printf '%s\\n' " + quote("$ "+strings.TrimSuffix(command, "\n")) + "\n")
		script.WriteString(strings.ReplaceAll(command, "make -s build", "true"))
	}
	if commands == 0 {
		t.Fatal("the session runs no command")
	}
	sh := exec.Command("bash")
	sh.Dir, sh.Stdin = dir, strings.NewReader(script.String())
	var out bytes.Buffer
	sh.Stdout, sh.Stderr = &out, &out
	_ = sh.Run() // the last command is meant to be denied
	return out.String()
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
