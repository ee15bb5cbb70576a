package project

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gcrun/gcrun/internal/testkit"
)

// lineLimit keeps examples short enough to be read.
const lineLimit = 150

// varying are examples whose recordings differ each time, with the command that
// makes a new one. What they show is the replay.
var varying = map[string][]string{
	"journal": {"record", "journal.gc", "--caps", "caps.toml", "--", "bought milk"},
}

// TestExamples runs the session in the README of every example, in a copy of its
// folder. The logs it leaves are those of its folder recorded, byte for byte
// (-update replaces them), and each of these replays with nothing else there.
func TestExamples(t *testing.T) {
	testkit.RequireUnix(t)
	command := buildCommand(t)
	for _, program := range testkit.Files(t, filepath.Join(testkit.Root(t), "examples", "*", "*.gc")) {
		from := filepath.Dir(program)
		t.Run(filepath.Base(from), func(t *testing.T) {
			checkProgram(t, command, program)
			recorded := filepath.Join(from, "recorded")
			if args, ok := varying[filepath.Base(from)]; ok {
				checkVarying(t, command, program, args)
			}
			dir := copyFolder(t, from)
			if runDocument(t, command, filepath.Join(from, "README.md"), dir).sessions == 0 {
				t.Error("README.md has no session")
			}
			if _, ok := varying[filepath.Base(from)]; !ok {
				compareLogs(t, recorded, logs(t, dir))
			}
			for name, log := range logs(t, recorded) {
				if fault := replayAlone(t, command, name, log, program); fault != "" {
					t.Error(fault)
				}
			}
		})
	}
}

func copyFolder(t *testing.T, from string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// checkProgram holds a program to what can be seen without running it.
func checkProgram(t *testing.T, command, program string) {
	t.Helper()
	data, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(data), "\n"); n >= lineLimit {
		t.Errorf("%s has %d lines; fewer than %d are allowed", filepath.Base(program), n, lineLimit)
	}
	if name, _, _ := strings.Cut(filepath.Base(program), "."); name != filepath.Base(filepath.Dir(program)) || !strings.HasPrefix(string(data), "; "+name+": ") {
		t.Errorf("%s does not have the name of its folder, and say in its first line what it is", filepath.Base(program))
	}
	if out, err := exec.Command(filepath.Join(command, "gcrun"), "check", "--strict", program).Output(); err != nil || len(out) > 0 {
		t.Errorf("gcrun check: %v\n%s", err, out)
	}
}

// logs returns the logs in a folder by their names.
func logs(t *testing.T, dir string) map[string]string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.gclog"))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		found[filepath.Base(name)] = string(data)
	}
	return found
}

// compareLogs holds the logs that were left to those that are stored.
func compareLogs(t *testing.T, recorded string, left map[string]string) {
	t.Helper()
	if len(left) == 0 {
		t.Error("the session records nothing")
	}
	if testkit.Updating() {
		replaceLogs(t, recorded, left)
	}
	stored := logs(t, recorded)
	for name, log := range left {
		if stored[name] != log {
			t.Errorf("recorded/%s is not what is recorded now (-update replaces it)", name)
		}
	}
	for name := range stored {
		if _, ok := left[name]; !ok {
			t.Errorf("recorded/%s is not recorded by the session", name)
		}
	}
}

// checkVarying makes a recording that is another each time, and replays it. It is
// stored if there is none of this program and that is asked for.
func checkVarying(t *testing.T, command, program string, args []string) {
	t.Helper()
	record := exec.Command(filepath.Join(command, "gcrun"), args...)
	record.Dir = copyFolder(t, filepath.Dir(program))
	if out, err := record.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	recorded := filepath.Join(filepath.Dir(program), "recorded")
	stored, left := logs(t, recorded), logs(t, record.Dir)
	if len(left) != 1 {
		t.Fatalf("%d logs", len(left))
	}
	for name, log := range left {
		if fault := replayAlone(t, command, name, log, program); fault != "" {
			t.Error(fault)
		}
		if stored[name] == "" && !testkit.Updating() {
			t.Errorf("recorded/%s does not exist (-update makes it)", name)
		} else if testkit.Updating() && replayAlone(t, command, name, stored[name], program) != "" {
			replaceLogs(t, recorded, left)
		}
	}
}

func replaceLogs(t *testing.T, dir string, left map[string]string) {
	t.Helper()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, log := range left {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(log), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// replayAlone replays a log in an empty folder, and finds out whether the program
// asks for the same and comes to the same end. It says what is wrong.
func replayAlone(t *testing.T, command, name, log, program string) (fault string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(log), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"replay", "--json", name}, {"replay", "--json", name, "--program", program}} {
		replay := exec.Command(filepath.Join(command, "gcrun"), args...)
		replay.Dir = dir
		out, err := replay.Output()
		var report struct{ Verdict string }
		if err != nil || json.Unmarshal(out, &report) != nil || !strings.HasPrefix(report.Verdict, "reproduced, ") {
			fault += fmt.Sprintf("gcrun %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	return fault
}
