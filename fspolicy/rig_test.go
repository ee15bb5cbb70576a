package fspolicy

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// rig is an FS together with the hand of its host: one for each
// implementation, so that every test of the suite runs on both.
type rig interface {
	fs() FS
	addFile(path, data string, perm os.FileMode)
	addDir(path string, perm os.FileMode)
	addSymlink(target, path string)
	addLink(old, path string)
	addFIFO(path string)
	hostNames(dir string) []string
	content(path string) string
	perm(path string) os.FileMode
	protect(path string, level Level)
	rename(from, to string) // by someone else
	remove(path string)     // likewise
}

// onBoth runs test on a Root and on a Memory, each empty.
func onBoth(t *testing.T, test func(t *testing.T, r rig)) {
	t.Run("root", func(t *testing.T) { test(t, newRootRig(t)) })
	t.Run("memory", func(t *testing.T) { test(t, newMemoryRig(t)) })
}

type rootRig struct {
	t    *testing.T
	base string
	root *Root
}

func newRootRig(t *testing.T) *rootRig {
	t.Helper()
	base := filepath.Join(t.TempDir(), "base")
	if err := os.Mkdir(base, 0o755); err != nil {
		t.Fatal(err)
	}
	root, err := OpenRoot(base)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return &rootRig{t: t, base: base, root: root}
}

func (r *rootRig) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *rootRig) host(path string) string { return r.base + "/" + path }
func (r *rootRig) fs() FS                  { return r.root }

func (r *rootRig) addFile(path, data string, perm os.FileMode) {
	r.t.Helper()
	r.must(os.WriteFile(r.host(path), []byte(data), perm))
	r.must(os.Chmod(r.host(path), perm))
}

func (r *rootRig) addDir(path string, perm os.FileMode) {
	r.t.Helper()
	r.must(os.Mkdir(r.host(path), 0o755))
	r.must(os.Chmod(r.host(path), perm))
	r.t.Cleanup(func() { os.Chmod(r.host(path), 0o755) })
}

func (r *rootRig) addSymlink(target, path string) {
	r.t.Helper()
	r.must(os.Symlink(target, r.host(path)))
}

func (r *rootRig) addLink(old, path string) {
	r.t.Helper()
	r.must(os.Link(r.host(old), r.host(path)))
}

func (r *rootRig) hostNames(dir string) []string {
	r.t.Helper()
	f, err := os.Open(r.host(dir))
	r.must(err)
	defer f.Close()
	names, err := f.Readdirnames(-1)
	r.must(err)
	slices.Sort(names)
	return names
}

func (r *rootRig) content(path string) string {
	r.t.Helper()
	b, err := os.ReadFile(r.host(path))
	r.must(err)
	return string(b)
}

func (r *rootRig) perm(path string) os.FileMode {
	r.t.Helper()
	info, err := os.Stat(r.host(path))
	r.must(err)
	return info.Mode().Perm()
}

func (r *rootRig) protect(path string, level Level) {
	r.t.Helper()
	r.must(r.root.ProtectPath(r.host(path), level))
}

func (r *rootRig) rename(from, to string) {
	r.t.Helper()
	r.must(os.Rename(r.host(from), r.host(to)))
}

func (r *rootRig) remove(path string) {
	r.t.Helper()
	r.must(os.Remove(r.host(path)))
}

type memoryRig struct {
	t   *testing.T
	mem *Memory
}

func newMemoryRig(t *testing.T) *memoryRig {
	m := NewMemory()
	t.Cleanup(func() { m.Close() })
	return &memoryRig{t: t, mem: m}
}

func (r *memoryRig) fs() FS { return r.mem }
func (r *memoryRig) addFile(path, data string, perm os.FileMode) {
	r.mem.AddFile(path, []byte(data), uint32(perm))
}
func (r *memoryRig) addDir(path string, perm os.FileMode) { r.mem.AddDir(path, uint32(perm)) }
func (r *memoryRig) addSymlink(target, path string)       { r.mem.AddSymlink(target, path) }
func (r *memoryRig) addLink(old, path string)             { r.mem.AddLink(old, path) }
func (r *memoryRig) addFIFO(path string)                  { r.mem.AddOther(path, 0o644) }
func (r *memoryRig) hostNames(dir string) []string        { return r.mem.HostNames(dir) }
func (r *memoryRig) content(path string) string           { return string(r.mem.lookup(path).data) }
func (r *memoryRig) perm(path string) os.FileMode         { return os.FileMode(r.mem.lookup(path).perm) }
func (r *memoryRig) protect(path string, level Level)     { r.mem.Protect(path, level) }

func (r *memoryRig) rename(from, to string) {
	src, name := r.mem.split(from)
	dst, toName := r.mem.split(to)
	n := src.children[name]
	delete(src.children, name)
	dst.children[toName], n.parent = n, dst
}

func (r *memoryRig) remove(path string) {
	dir, name := r.mem.split(path)
	delete(dir.children, name)
}

// The operations in the short form tests use, on paths as strings.

var bg = context.Background()

func p(t testing.TB, s string) Path {
	t.Helper()
	return mustPath(t, s)
}

func read(t testing.TB, f FS, path string) (string, error) {
	t.Helper()
	h, err := f.Open(bg, p(t, path))
	if err != nil {
		return "", err
	}
	defer h.Close()
	b, err := io.ReadAll(h)
	return string(b), err
}

func write(t testing.TB, f FS, path, data string, mode WriteMode) error {
	t.Helper()
	return f.Write(bg, p(t, path), strings.NewReader(data), mode)
}

func appendTo(t testing.TB, f FS, path, data string) error {
	t.Helper()
	return f.Append(bg, p(t, path), strings.NewReader(data))
}

func list(t testing.TB, f FS, path string, opts ListOptions) (string, error) {
	t.Helper()
	rows, err := f.List(bg, p(t, path), opts)
	var out []string
	for _, e := range rows {
		if e.Path.Base() != e.Name {
			t.Errorf("row %s has the name %s", e.Path, e.Name)
		}
		out = append(out, e.Path.String()+":"+string(e.Kind))
	}
	return strings.Join(out, " "), err
}

// wantErr checks an error by kind and path; kind "" means none.
func wantErr(t testing.TB, what string, err error, kind Kind, path string) {
	t.Helper()
	if kind == "" {
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
		return
	}
	e, ok := err.(*Error)
	if !ok || e.Kind != kind || e.Path != path {
		t.Errorf("%s: %v, want %s about %q", what, err, kind, path)
	}
}

func wantRead(t testing.TB, f FS, path, want string) {
	t.Helper()
	got, err := read(t, f, path)
	if err != nil || got != want {
		t.Errorf("read %s: %q, %v, want %q", path, got, err, want)
	}
}

func wantList(t testing.TB, f FS, path string, opts ListOptions, want string) {
	t.Helper()
	got, err := list(t, f, path, opts)
	if err != nil || got != want {
		t.Errorf("list %s: %q, %v, want %q", path, got, err, want)
	}
}
