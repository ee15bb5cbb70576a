package main

import (
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gcrun/gcrun/internal/testkit"
)

// example copies an example of the project into a directory.
func example(t testing.TB, dir, name string) {
	t.Helper()
	from := filepath.Join(testkit.Root(t), "examples", name)
	if err := os.CopyFS(dir, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
}

func tree(t testing.TB, dir string) {
	write(t, dir, "tree/a.txt", "alpha\n", "tree/sub/b.bin", "\x00\xff", "tree/sub/é.txt", strings.Repeat("long ", 3000), "tree/empty", "")
}

// Equal trees in two absolute directories give byte-identical logs, whatever
// the environment; and what is replayed has the same root with the files gone.
func TestEqualRunsGiveEqualBytes(t *testing.T) {
	var first string
	for i, env := range [][]string{nil, {"TZ=Asia/Kolkata", "LC_ALL=tr_TR.UTF-8", "GOMAXPROCS=1", "GOGC=10", "HOME=/nonexistent"}} {
		dir := filepath.Join(t.TempDir(), strings.Repeat("deeper/", 3*i), "x")
		example(t, dir, "treesum")
		tree(t, dir)
		rec := gcrunIn(t, dir, env, "record", "treesum.gc", "--allow", "io/fs=tree", "--allow", "io/console::write").want(t, 0)
		log := read(t, filepath.Join(dir, "treesum.gclog"))
		if i == 0 {
			first = log
		} else if log != first {
			t.Error("equal runs in two directories gave different logs")
		}
		if err := os.RemoveAll(filepath.Join(dir, "tree")); err != nil {
			t.Fatal(err)
		}
		rep := gcrunIn(t, dir, env, "replay", "treesum.gclog", "--show-output").want(t, 0)
		if rep.stdout != rec.stdout || rootOf(t, rep.stderr) != rootOf(t, rec.stderr) {
			t.Errorf("recorded %q, replayed %q", rec.stdout, rep.stdout)
		}
	}
}

// Every example records and replays with its files gone.
func TestExamples(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
	}{
		{"wc", []string{"--allow", "io/fs::read=.", "--allow", "sys/args::list", "--", "poem.txt"}},
		{"journal", []string{"--caps", "caps.toml", "--", "bought milk"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, elsewhere := filepath.Join(t.TempDir(), "x"), t.TempDir()
			example(t, dir, c.name)
			log := filepath.Join(elsewhere, "run.gclog")
			rec := gcrunIn(t, dir, nil, append([]string{"record", c.name + ".gc", "-o", log}, c.args...)...).want(t, 0)
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
			rep := gcrunIn(t, elsewhere, nil, "replay", "run.gclog").want(t, 0)
			if rec.stdout == "" || rep.stdout != rec.stdout {
				t.Errorf("recorded %q, replayed %q", rec.stdout, rep.stdout)
			}
		})
	}
}

// No absolute path, user or host name in any log, also of runs that fail.
func TestNoHostFactsInLogs(t *testing.T) {
	marker := "marker-home-7f3a"
	dir := filepath.Join(t.TempDir(), marker, "work")
	write(t, dir, "in/a.txt", "a")
	if err := os.Symlink(filepath.Join(dir, "in", "a.txt"), filepath.Join(dir, "in", "absolute")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "in", "locked"), 0o000); err != nil {
		t.Fatal(err)
	}
	needles := []string{marker, dir, os.TempDir() + "/"}
	if host, err := os.Hostname(); err == nil && len(host) > 3 {
		needles = append(needles, host)
	}
	if u, err := user.Current(); err == nil && len(u.Username) > 4 {
		needles = append(needles, u.Username, u.HomeDir)
	}
	programs := map[string]string{
		"missing":  `(core/fs::read "nope.txt")`,
		"absolute": `(core/fs::read "/etc/passwd")`,
		"parent":   `(core/fs::read "../x")`,
		"escape":   `(core/fs::read "absolute")`,
		"dir":      `(core/fs::read "locked")`,
		"locked":   `(core/fs::read "locked/x")`,
		"list":     `(core/effect::perform 'io/fs::list {:path "." :recursive true} core/effect::pure)`,
		"write":    `(core/fs::write "no/such/dir.txt" "x")`,
		"append":   `(core/fs::append "." "x")`,
		"stat":     `(core/fs::stat "absolute")`,
		"now":      `(core/time::now nil)`,
		"fatal":    `(core/effect::bind (core/fs::read "a.txt") (fn (x) (x x)))`,
		"denied":   `(core/random::bytes 4)`,
	}
	for name, src := range programs {
		write(t, dir, name+".gc", src)
		env := []string{"HOME=" + filepath.Join(dir, marker), "USER=" + marker, "LOGNAME=" + marker, "HOSTNAME=" + marker}
		gcrunIn(t, dir, env, "record", filepath.Join(dir, name+".gc"), "--allow", "io/fs="+filepath.Join(dir, "in"), "--allow", "sys/time::now")
		log := read(t, filepath.Join(dir, name+".gclog"))
		for _, n := range needles {
			if strings.Contains(log, n) {
				t.Errorf("the log of %s holds %q", name, n)
			}
		}
		gcrunIn(t, dir, env, "replay", name+".gclog").want(t, 0)
	}
}
