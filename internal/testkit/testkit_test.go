package testkit

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// recorder is a testing.TB that notes failures instead of failing.
type recorder struct {
	testing.TB
	failures []string
}

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}

func (r *recorder) Fatal(args ...any) { r.Fatalf("%s", fmt.Sprint(args...)) }

// failures returns what f reports to the testing.TB it is given.
func failures(t *testing.T, f func(testing.TB)) []string {
	r := &recorder{TB: t}
	done := make(chan struct{})
	go func() { // Fatal ends the goroutine
		defer close(done)
		f(r)
	}()
	<-done
	return r.failures
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestGolden(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.golden")
	if f := failures(t, func(t testing.TB) { Golden(t, path, nil) }); len(f) != 1 || !strings.Contains(f[0], "-update") {
		t.Errorf("missing file: %q", f)
	}
	write(t, path, "one\ntwo\n")
	if f := failures(t, func(t testing.TB) { Golden(t, path, []byte("one\ntwo\n")) }); f != nil {
		t.Errorf("equal: %q", f)
	}
	for _, got := range []string{"one\n2\n", "one\ntwo", "one\ntwo\n\n", "one\n", ""} {
		f := failures(t, func(t testing.TB) { Golden(t, path, []byte(got)) })
		if len(f) != 1 || !strings.Contains(f[0], "line ") {
			t.Errorf("%q: %q", got, f)
		}
	}
}

func TestFilesRefusesNone(t *testing.T) {
	dir := t.TempDir()
	if f := failures(t, func(t testing.TB) { Files(t, filepath.Join(dir, "*")) }); len(f) != 1 {
		t.Errorf("no files: %q", f)
	}
	write(t, filepath.Join(dir, "b"), "")
	write(t, filepath.Join(dir, "a"), "")
	if got := Files(t, filepath.Join(dir, "*")); len(got) != 2 || filepath.Base(got[0]) != "a" {
		t.Errorf("files %q", got)
	}
}

func TestVectorsRefusesNone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "v.json")
	type file struct {
		About string
		Cases []string
		Names map[string]int
	}
	for content, fails := range map[string]bool{
		`{"cases":["a"],"names":{"a":1}}`: false,
		`{"cases":["a"],"names":{}}`:      true,
		`{"cases":[],"names":{"a":1}}`:    true,
		`{"names":{"a":1}}`:               true,
		`{`:                               true,
	} {
		write(t, path, content)
		f := failures(t, func(t testing.TB) { Vectors(t, path, new(file)) })
		if (len(f) > 0) != fails {
			t.Errorf("%s: %q", content, f)
		}
	}
	write(t, path, "[]")
	if f := failures(t, func(t testing.TB) { Vectors(t, path, new([]int)) }); len(f) != 1 {
		t.Errorf("empty list: %q", f)
	}
}

func TestRoot(t *testing.T) {
	root := Root(t)
	if _, err := os.Stat(filepath.Join(root, "internal", "testkit", "testkit.go")); err != nil {
		t.Error(err)
	}
	t.Chdir(t.TempDir())
	if f := failures(t, func(t testing.TB) { Root(t) }); len(f) != 1 {
		t.Errorf("outside the module: %q", f)
	}
}

func TestUnchanged(t *testing.T) {
	RequireUnix(t)
	fresh := func() string {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "file"), "one\n")
		if err := os.Mkdir(filepath.Join(dir, "sub"), 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, "sub", "file"), "two\n")
		if err := os.Symlink("file", filepath.Join(dir, "link")); err != nil {
			t.Fatal(err)
		}
		past := time.Unix(1_000_000, 0)
		for _, name := range []string{"file", "sub/file", "sub", ""} {
			if err := os.Chtimes(filepath.Join(dir, name), past, past); err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	for name, c := range map[string]struct {
		change func(dir string) error
		want   string // of some report
	}{
		"nothing":  {func(string) error { return nil }, ""},
		"read":     {func(d string) error { _, err := os.ReadFile(d + "/sub/file"); return err }, ""},
		"content":  {func(d string) error { return os.WriteFile(d+"/sub/file", []byte("2\n"), 0) }, "sub/file has other content"},
		"mode":     {func(d string) error { return os.Chmod(d+"/file", 0o644) }, "file was -rw-------"},
		"new":      {func(d string) error { return os.WriteFile(d+"/sub/new", nil, 0o600) }, "sub/new appeared"},
		"gone":     {func(d string) error { return os.Remove(d + "/file") }, "file is gone"},
		"relinked": {func(d string) error { return os.Rename(d+"/sub/file", d+"/link") }, "link has other content"},
		"rewritten with the same bytes": {
			func(d string) error { return os.WriteFile(d+"/file", []byte("one\n"), 0o600) }, "file was -rw-------",
		},
	} {
		dir := fresh()
		f := failures(t, func(tb testing.TB) {
			Unchanged(tb, dir, func() {
				if err := c.change(dir); err != nil {
					tb.Fatal(name, err)
				}
			})
		})
		if c.want == "" && f != nil {
			t.Errorf("%s: %q", name, f)
		}
		if c.want != "" && !slices.ContainsFunc(f, func(s string) bool { return strings.Contains(s, ": "+c.want) }) {
			t.Errorf("%s: %q, want %q", name, f, c.want)
		}
	}
}
