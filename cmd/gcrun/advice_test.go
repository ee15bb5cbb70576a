package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/gcrun/gcrun/effects/ops"
)

// askEverything asks for every operation of this version once.
func askEverything(t testing.TB) string {
	t.Helper()
	payloads := map[string]string{
		"io/fs::read": `{:path "a.txt"}`, "io/fs::write": `{:path "w.txt" :data "x"}`, "io/fs::append": `{:path "w.txt" :data "x"}`,
		"io/fs::stat": `{:path "a.txt"}`, "io/fs::list": `{:path "."}`, "sys/time::now": "nil", "sys/time::sleep": "{:ms 0}",
		"sys/random::bytes": "{:len 4}", "sys/args::list": "nil", "io/console::write": `{:stream :err :data ""}`,
	}
	var asks []string
	for _, op := range ops.All() {
		if !op.Implemented {
			continue
		}
		payload, ok := payloads[op.Name]
		if !ok {
			t.Fatalf("no payload for %s: add one here", op.Name)
		}
		asks = append(asks, "(core/effect::perform '"+op.Name+" "+payload+" core/effect::pure)")
	}
	return codesOf(append([]string{"(core/effect::pure nil)"}, asks...)...)
}

// advice takes the command line and the policy out of what a denied run printed.
func advice(t testing.TB, stderr string) (words []string, toml string) {
	t.Helper()
	_, rest, ok := strings.Cut(stderr, "for this directory:\n")
	line, rest, ok2 := strings.Cut(rest, "\n")
	_, rest, ok3 := strings.Cut(rest, ":\n")
	if !ok || !ok2 || !ok3 {
		t.Fatalf("no advice in %s", stderr)
	}
	var b strings.Builder
	for line := range strings.Lines(rest) {
		if !strings.HasPrefix(line, "  ") || strings.HasPrefix(line, "  next:") {
			break
		}
		b.WriteString(line[2:])
	}
	return strings.Fields(line)[1:], b.String()
}

// What a run that is denied everything prints, allows everything when pasted:
// all of it at once, as flags and as a policy, and beside a policy there is.
func TestAdviceForEveryOperation(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "p.gc", askEverything(t), "a.txt", "a")
	denied := gcrunIn(t, dir, nil, "record", "p.gc").want(t, 0)
	n := strings.Count(denied.stdout, "core/caps/denied")
	if n < 10 || strings.Contains(denied.stdout, `"ok"`) {
		t.Fatalf("the program saw %s", denied.stdout)
	}
	granted := func(how string, args ...string) {
		t.Helper()
		got := gcrunIn(t, dir, nil, args...).want(t, 0)
		if strings.Count(got.stdout, `"ok"`) != n || strings.Contains(got.stderr, "denied: ") {
			t.Errorf("%s: %s%s", how, got.stdout, got.stderr)
		}
	}
	flags, toml := advice(t, denied.stderr)
	granted("flags", flags...)
	write(t, dir, "caps.toml", toml)
	granted("policy", "record", "p.gc", "--caps", "caps.toml")

	for name, policy := range map[string]string{
		"clock": "allow = [\"sys/time::now\"]\n", "files": "allow = [\"io/fs::read\"]\n[family.\"io/fs\"]\nbase_dir = \".\"\n", "nothing": "version = 1\n",
	} {
		file := name + ".toml"
		write(t, dir, file, policy)
		denied := gcrunIn(t, dir, nil, "record", "p.gc", "--caps", file, "--allow", "sys/args::list").want(t, 0)
		flags, toml := advice(t, denied.stderr)
		granted(name+" and flags", flags...)
		// "in place of what it has for allow"
		var kept strings.Builder
		for line := range strings.Lines(policy) {
			if !strings.HasPrefix(line, "allow = ") {
				kept.WriteString(line)
			}
		}
		allow, tables, _ := strings.Cut(toml, "\n")
		write(t, dir, file, allow+"\n"+kept.String()+tables)
		granted(name+" changed", "record", "p.gc", "--caps", file, "--allow", "sys/args::list")
	}
	if logs, _ := filepath.Glob(filepath.Join(dir, "p*.gclog")); len(logs) != 12 {
		t.Errorf("%d logs, want one for each run", len(logs))
	}
}
