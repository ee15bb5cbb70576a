package files

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/effects"
	"github.com/gcrun/gcrun/effects/guest"
	"github.com/gcrun/gcrun/effects/ops"
	"github.com/gcrun/gcrun/fspolicy"
	"github.com/gcrun/gcrun/internal/digest"
)

var _ effects.Handler = (*Handler)(nil)

// host is a file system under the handler together with the hand of whoever
// else may write there: one for each implementation.
type host interface {
	fs() fspolicy.FS
	addFile(path, data string, perm os.FileMode)
	addSize(path string, size int64)
	addDir(path string)
	addSymlink(target, path string)
	addFIFO(path string)
	protect(path string, level fspolicy.Level)
	grow(path, data string)
	names(dir string) []string
}

// marker is in the path of every base directory.
const marker = "gcrun-marker-home-5e1f"

type rootHost struct {
	t    testing.TB
	base string
	root *fspolicy.Root
}

func newRootHost(t testing.TB) *rootHost {
	t.Helper()
	base := filepath.Join(t.TempDir(), marker, "base")
	if err := os.MkdirAll(base, 0o755); err != nil {
		t.Fatal(err)
	}
	root, err := fspolicy.OpenRoot(base)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return &rootHost{t: t, base: base, root: root}
}

func (h *rootHost) must(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

func (h *rootHost) at(path string) string { return h.base + "/" + path }
func (h *rootHost) fs() fspolicy.FS       { return h.root }

func (h *rootHost) addFile(path, data string, perm os.FileMode) {
	h.t.Helper()
	h.must(os.WriteFile(h.at(path), []byte(data), perm))
	h.must(os.Chmod(h.at(path), perm))
}

func (h *rootHost) addSize(path string, size int64) {
	h.t.Helper()
	h.addFile(path, "", 0o644)
	h.must(os.Truncate(h.at(path), size))
}

func (h *rootHost) addDir(path string) {
	h.t.Helper()
	h.must(os.MkdirAll(h.at(path), 0o755))
}

func (h *rootHost) addSymlink(target, path string) {
	h.t.Helper()
	h.must(os.Symlink(target, h.at(path)))
}

func (h *rootHost) protect(path string, level fspolicy.Level) {
	h.t.Helper()
	h.must(h.root.ProtectPath(h.at(path), level))
}

func (h *rootHost) grow(path, data string) {
	h.t.Helper()
	f, err := os.OpenFile(h.at(path), os.O_WRONLY|os.O_APPEND, 0)
	h.must(err)
	_, err = f.WriteString(data)
	h.must(errors.Join(err, f.Close()))
}

func (h *rootHost) names(dir string) []string {
	h.t.Helper()
	entries, err := os.ReadDir(h.at(dir))
	h.must(err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	slices.Sort(names)
	return names
}

type memoryHost struct {
	t   testing.TB
	mem *fspolicy.Memory
}

func newMemoryHost(t testing.TB) *memoryHost {
	m := fspolicy.NewMemory()
	t.Cleanup(func() { m.Close() })
	return &memoryHost{t: t, mem: m}
}

func (h *memoryHost) fs() fspolicy.FS { return h.mem }
func (h *memoryHost) addFile(path, data string, perm os.FileMode) {
	h.mem.AddFile(path, []byte(data), uint32(perm))
}
func (h *memoryHost) addSize(path string, n int64)   { h.mem.AddFile(path, make([]byte, n), 0o644) }
func (h *memoryHost) addSymlink(target, path string) { h.mem.AddSymlink(target, path) }
func (h *memoryHost) addFIFO(path string)            { h.mem.AddOther(path, 0o644) }
func (h *memoryHost) names(dir string) []string      { return h.mem.HostNames(dir) }
func (h *memoryHost) protect(path string, level fspolicy.Level) {
	h.mem.Protect(path, level)
}

func (h *memoryHost) addDir(path string) {
	h.t.Helper()
	if err := h.mem.Mkdir(context.Background(), parse(h.t, path), true); err != nil {
		h.t.Fatal(err)
	}
}

func (h *memoryHost) grow(path, data string) {
	h.t.Helper()
	if err := h.mem.Append(context.Background(), parse(h.t, path), strings.NewReader(data)); err != nil {
		h.t.Fatal(err)
	}
}

func parse(t testing.TB, path string) fspolicy.Path {
	t.Helper()
	p, err := fspolicy.ParsePath(path)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// onBoth runs test on both implementations, each empty.
func onBoth(t *testing.T, test func(t *testing.T, h host)) {
	t.Run("root", func(t *testing.T) { test(t, newRootHost(t)) })
	t.Run("memory", func(t *testing.T) { test(t, newMemoryHost(t)) })
}

// fakeGrant lets everything unless allow says otherwise.
type fakeGrant struct {
	allow      func(path string) bool
	createDirs bool
}

func (g fakeGrant) AllowsPath(p string) bool { return g.allow == nil || g.allow(p) }
func (g fakeGrant) CreateDirs() bool         { return g.createDirs }

// blobSink keeps blobs in memory, or only counts them, and can fail.
type blobSink struct {
	inlineMax                            int64
	countOnly                            bool
	failNew, failWrite, failEnd, failCut error
	onWrite                              func()

	begun, finished, aborted int
	largest                  int
	buf                      bytes.Buffer
	written                  int64
}

func (s *blobSink) InlineMax() int64 { return s.inlineMax }

func (s *blobSink) NewBlob() (effects.BlobWriter, error) {
	s.begun++
	s.buf.Reset()
	s.written = 0
	return s, s.failNew
}

func (s *blobSink) Write(b []byte) (int, error) {
	if s.failWrite != nil {
		return 0, s.failWrite
	}
	if s.onWrite != nil {
		s.onWrite()
	}
	s.largest = max(s.largest, len(b))
	s.written += int64(len(b))
	if s.countOnly {
		return len(b), nil
	}
	return s.buf.Write(b)
}

func (s *blobSink) Finish() (coreform.Blob, error) {
	s.finished++
	content := bytes.Clone(s.buf.Bytes())
	return memBlob{bytes.NewReader(content), digest.Sum(content)}, s.failEnd
}

func (s *blobSink) Abort() error { s.aborted++; return s.failCut }

type memBlob struct {
	*bytes.Reader
	sum digest.Digest
}

func (b memBlob) Digest() digest.Digest { return b.sum }

// bench is a handler on one file system for all ops, and what calls are made
// with.
type bench struct {
	t        testing.TB
	h        *Handler
	grant    fakeGrant
	sink     *blobSink
	maxBytes int64
	// transcript is the canonical text of all answers.
	transcript bytes.Buffer
}

func newBench(t testing.TB, fs fspolicy.FS) *bench {
	t.Helper()
	roots := map[string]fspolicy.FS{}
	for _, op := range Ops() {
		roots[op] = fs
	}
	h, err := New(roots)
	if err != nil {
		t.Fatal(err)
	}
	return &bench{t: t, h: h, sink: &blobSink{inlineMax: 1 << 20}, maxBytes: 64 << 20}
}

// term reads a payload or an answer.
func term(t testing.TB, text string) coreform.Value {
	t.Helper()
	v, err := coreform.ReadTerm([]byte(text), coreform.Limits{})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

func canonical(t testing.TB, v coreform.Value) string {
	t.Helper()
	text, err := coreform.PrintTerm(v, coreform.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func (b *bench) handle(ctx context.Context, op string, payload coreform.Value) (guest.Response, error) {
	b.t.Helper()
	o, ok := ops.Lookup("io/fs::" + op)
	if !ok {
		b.t.Fatalf("no op %s", op)
	}
	if f := ops.CheckPayload(o, payload); f != nil {
		b.t.Fatalf("%s: the loop would refuse this payload: %v", op, f)
	}
	call := effects.Call{Op: o.Name, Payload: payload, MaxBytes: b.maxBytes, Blobs: b.sink}
	r, err := b.h.handle(ctx, call, b.grant)
	if err == nil {
		b.checkAnswer(o, r)
	}
	if b.sink.begun != b.sink.finished+b.sink.aborted && b.sink.failNew == nil {
		b.t.Errorf("%s left a blob open", op)
	}
	return r, err
}

// do performs a call that must be answered and returns the answer in short:
// "ok" and the value, or the error's code and what its context says beside the
// op.
func (b *bench) do(op, payload string) string {
	b.t.Helper()
	r, err := b.handle(context.Background(), op, term(b.t, payload))
	if err != nil {
		b.t.Fatalf("%s %s: %v", op, payload, err)
	}
	b.transcript.WriteString(canonical(b.t, r.Value) + "\n")
	return short(b.t, r)
}

func short(t testing.TB, r guest.Response) string {
	t.Helper()
	if r.Kind == guest.RespOK {
		return "ok " + oneLine(canonical(t, r.Value))
	}
	code, _ := ops.ErrorCode(r.Value)
	out := code
	for k, v := range field(t, r.Value, ":error/context").All() {
		if !k.IsSym(":op") {
			out += " " + canonical(t, k) + " " + canonical(t, v)
		}
	}
	return out
}

// oneLine takes the layout out of a canonical text whose strings hold single
// spaces only.
func oneLine(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	return strings.NewReplacer("[ ", "[", "{ ", "{").Replace(text)
}

// field returns a map in a map.
func field(t testing.TB, v coreform.Value, key string) *coreform.Map {
	t.Helper()
	m, ok := v.AsMap()
	if !ok {
		t.Fatalf("no map: %s", canonical(t, v))
	}
	inner, _ := m.Get(coreform.Sym(key))
	sub, ok := inner.AsMap()
	if !ok {
		t.Fatalf("no map in %s: %s", key, canonical(t, v))
	}
	return sub
}

// checkAnswer holds every answer to the catalogue.
func (b *bench) checkAnswer(op *ops.Op, r guest.Response) {
	b.t.Helper()
	if !r.Value.IsTerm() {
		b.t.Errorf("%s: an answer that is no term", op.Name)
	}
	if r.Kind == guest.RespOK {
		return
	}
	code, ok := ops.ErrorCode(r.Value)
	if !ok || !slices.Contains(op.Errors, code) && code != ops.CodeResourceLimit {
		b.t.Errorf("%s: the catalogue has no error %q for it", op.Name, code)
	}
	m, _ := r.Value.AsMap()
	context := field(b.t, r.Value, ":error/context")
	at, _ := m.Get(coreform.Sym(":error/op"))
	inContext, _ := context.Get(coreform.Sym(":op"))
	if m.Len() != 4 || !at.IsSym(op.Name) || !inContext.IsSym(op.Name) {
		b.t.Errorf("%s: error of another shape: %s", op.Name, canonical(b.t, r.Value))
	}
}

// want performs a call and compares its short answer.
func (b *bench) want(op, payload, want string) {
	b.t.Helper()
	if got := b.do(op, payload); got != want {
		b.t.Errorf("%s %s\n got %s\nwant %s", op, payload, got, want)
	}
}
