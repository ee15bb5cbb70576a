package atomicfile

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// names lists a directory, so that a test sees every file left behind.
func names(t *testing.T, dir string) string {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range list {
		out = append(out, e.Name())
	}
	return strings.Join(out, " ")
}

func TestWriteFile(t *testing.T) {
	for _, mode := range []Mode{New, Replace} {
		dir := t.TempDir()
		path := filepath.Join(dir, "a")
		if err := WriteFile(path, []byte("one\n"), mode, 0); err != nil {
			t.Fatal(err)
		}
		if got := read(t, path); got != "one\n" {
			t.Errorf("mode %d: content %q", mode, got)
		}
		if got := names(t, dir); got != "a" {
			t.Errorf("mode %d: directory holds %q", mode, got)
		}
		assertPerm(t, path, 0o600)
	}
}

func assertPerm(t *testing.T, path string, want fs.FileMode) {
	t.Helper()
	if runtime.GOOS == "windows" {
		return
	}
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode(); got != want {
		t.Errorf("mode of %s is %v, want %v", filepath.Base(path), got, want)
	}
}

func TestNewNeverReplaces(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "outside")
	for name, make := range map[string]func(path string) error{
		"file":      func(p string) error { return os.WriteFile(p, []byte("old"), 0o644) },
		"directory": func(p string) error { return os.Mkdir(p, 0o700) },
		"dangling":  func(p string) error { return os.Symlink(outside, p) },
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "a")
		late, err := Create(path, New, 0)
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(late, "new")
		if err := make(path); err != nil {
			t.Fatal(err)
		}
		before, _ := os.Lstat(path)
		if _, err := Create(path, New, 0); !errors.Is(err, fs.ErrExist) {
			t.Errorf("%s: Create: %v", name, err)
		}
		if err := late.Commit(); !errors.Is(err, fs.ErrExist) {
			t.Errorf("%s: Commit after it appeared: %v", name, err)
		}
		after, _ := os.Lstat(path)
		if !os.SameFile(before, after) || before.Mode() != after.Mode() {
			t.Errorf("%s: changed", name)
		}
		if got := names(t, dir); got != "a" {
			t.Errorf("%s: directory holds %q", name, got)
		}
	}
	if _, err := os.Lstat(outside); err == nil {
		t.Error("wrote through a link")
	}
}

func TestReplace(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	if err := os.WriteFile(path, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	open, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	if err := WriteFile(path, []byte("new"), Replace, 0o640); err != nil {
		t.Fatal(err)
	}
	assertPerm(t, path, 0o640)
	if got := read(t, path); got != "new" {
		t.Errorf("content %q", got)
	}
	if old, _ := io.ReadAll(open); string(old) != "old" {
		t.Errorf("a reader that had the file open now sees %q", old)
	}
}

func TestReplaceReplacesTheLinkItself(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	if err := os.WriteFile(target, []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("target", link); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	if err := WriteFile(link, []byte("new"), Replace, 0); err != nil {
		t.Fatal(err)
	}
	if got := read(t, target); got != "kept" {
		t.Errorf("the link's destination became %q", got)
	}
	assertPerm(t, link, 0o600)
}

func TestFailureLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	bad := errors.New("bad")
	err := WriteFrom(path, Replace, 0, func(w io.Writer) error {
		io.WriteString(w, "half")
		list, _ := filepath.Glob(filepath.Join(dir, ".gcrun-*"))
		if len(list) != 1 || !IsTempName(filepath.Base(list[0])) {
			t.Errorf("temporary files while writing: %q", list)
		} else {
			assertPerm(t, list[0], 0o600)
		}
		return bad
	})
	if err != bad {
		t.Errorf("error %v", err)
	}
	if got := read(t, path) + " " + names(t, dir); got != "old a" {
		t.Errorf("left %q", got)
	}
}

func TestAFailedWriteCannotBeCommitted(t *testing.T) {
	dir := t.TempDir()
	f, err := Create(filepath.Join(dir, "a"), New, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.temp.Close() // the next write fails as on a full disk
	if _, err := io.WriteString(f, "x"); err == nil {
		t.Fatal("write to a closed file succeeded")
	}
	if err := f.Commit(); err == nil {
		t.Error("committed after a failed write")
	}
	if _, err := f.Write(nil); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("write after the end: %v", err)
	}
	if err := f.Commit(); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("second commit: %v", err)
	}
	f.Abort()
	if got := names(t, dir); got != "" {
		t.Errorf("left %q", got)
	}
}

func TestReplaceFailsOnADirectory(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	if err := os.MkdirAll(filepath.Join(path, "in"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(path, []byte("x"), Replace, 0); err == nil {
		t.Error("replaced a directory")
	}
	if got := names(t, dir); got != "a" {
		t.Errorf("left %q", got)
	}
}

func TestMissingDirectory(t *testing.T) {
	err := WriteFile(filepath.Join(t.TempDir(), "no", "a"), nil, Replace, 0)
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}

// One of many writers wins and the others learn that they did not, with links
// and without.
func TestOneWinner(t *testing.T) {
	for name, give := range map[string]func(temp, path string) error{
		"links": nameNew, "without links": nameNewWithoutLinks,
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "a")
		const writers = 8
		errs := make([]error, writers)
		var wg sync.WaitGroup
		for i := range writers {
			temp := filepath.Join(dir, TempName())
			if err := os.WriteFile(temp, bytes.Repeat([]byte{byte('a' + i)}, 1000), 0o600); err != nil {
				t.Fatal(err)
			}
			wg.Go(func() { errs[i] = give(temp, path) })
		}
		wg.Wait()
		won := -1
		for i, err := range errs {
			switch {
			case err == nil && won >= 0:
				t.Errorf("%s: %d and %d both won", name, won, i)
			case err == nil:
				won = i
			case !errors.Is(err, fs.ErrExist):
				t.Errorf("%s: loser %d: %v", name, i, err)
			}
		}
		if won < 0 {
			t.Fatalf("%s: nobody won", name)
		}
		if got := read(t, path); got != strings.Repeat(string(rune('a'+won)), 1000) {
			t.Errorf("%s: the content is not the winner's", name)
		}
	}
}

func TestTempName(t *testing.T) {
	if a, b := TempName(), TempName(); a == b || !IsTempName(a) || len(a) != 23 {
		t.Errorf("names %q, %q", a, b)
	}
	for name, want := range map[string]bool{
		".gcrun-0123456789abcdef": true,
		".gcrun-0123456789abcde":  false,
		".gcrun-0123456789ABCDEF": false,
		".gcrun-0123456789abcdeg": false,
		"gcrun-0123456789abcdef":  false,
		".gcrun-":                 false,
		"":                        false,
	} {
		if IsTempName(name) != want {
			t.Errorf("IsTempName(%q) = %v", name, !want)
		}
	}
}
