package files

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/effects"
	"github.com/gcrun/gcrun/effects/guest"
	"github.com/gcrun/gcrun/effects/ops"
	"github.com/gcrun/gcrun/effects/policy"
	"github.com/gcrun/gcrun/fspolicy"
	"github.com/gcrun/gcrun/internal/testkit"
)

// ioKinds is the closed list of core/io-error. spec: PATH-3
var ioKinds = []fspolicy.Kind{
	fspolicy.KindNotFound, fspolicy.KindPermissionDenied, fspolicy.KindAlreadyExists, fspolicy.KindIsADirectory,
	fspolicy.KindNotADirectory, fspolicy.KindNotEmpty, fspolicy.KindNotRegular, fspolicy.KindReadOnly,
	fspolicy.KindNoSpace, fspolicy.KindTooLarge, fspolicy.KindTooManyLinks, fspolicy.KindCrossDevice,
	fspolicy.KindBusy, fspolicy.KindInterrupted, fspolicy.KindOther,
}

// hostSteps are the steps at which a memory file system can be made to fail.
var hostSteps = []string{
	"lstat", "readlink", "opendir", "open", "append", "create", "names", "mkdir", "link", "rename", "sync", "read",
	"write", "chmod",
}

// Whatever fails at the host, at any step, is answered with a word from the
// closed list and a base-relative path, or not noticed at all.
func TestEveryHostFailureIsAnAnswer(t *testing.T) {
	calls := []step{
		{op: "read", payload: `{:path "d/l"}`},
		{op: "write", payload: `{:data "x" :path "d/f"}`},
		{op: "write", payload: `{:create "new" :data "x" :path "new/f"}`},
		{op: "append", payload: `{:data "x" :path "d/f"}`},
		{op: "append", payload: `{:data "x" :path "new/f"}`},
		{op: "stat", payload: `{:path "d/l"}`},
		{op: "list", payload: `{:path "." :recursive true}`},
	}
	paths := []string{".", "d", "d/l", "d/f", "new", "new/f", "f"}
	seen := map[string]int{}
	for _, c := range calls {
		for _, at := range hostSteps {
			for _, kind := range ioKinds {
				h := newMemoryHost(t)
				h.addDir("d")
				h.addFile("d/f", "x", 0o644)
				h.addSymlink("f", "d/l")
				h.mem.Inject(func(step, _ string) fspolicy.Kind {
					if step == at {
						return kind
					}
					return ""
				})
				b := newBench(t, h.fs())
				b.grant.createDirs = true
				got := b.do(c.op, c.payload)
				if strings.HasPrefix(got, "ok ") {
					continue
				}
				if !slices.ContainsFunc(paths, func(p string) bool {
					return slices.ContainsFunc(ioKinds, func(k fspolicy.Kind) bool {
						return got == fmt.Sprintf("core/io-error :io-kind %s :path %q", k, p)
					})
				}) {
					t.Errorf("%s %s, %s fails with %s: %s", c.op, c.payload, at, kind, got)
				}
				seen[c.op+" "+string(kind)]++
			}
		}
	}
	for _, kind := range ioKinds {
		for _, op := range []string{"read", "write", "append", "stat", "list"} {
			// A missing entry is an answer of stat, and an entry that vanishes no
			// error of list; both can fail for every other reason.
			if seen[op+" "+string(kind)] == 0 && kind != fspolicy.KindNotFound {
				t.Errorf("no step made %s fail with %s", op, kind)
			}
		}
	}
}

// Every kind of the file system has one error, the same for all ops.
// spec: PATH-3
func TestAnswerToEveryKind(t *testing.T) {
	var out strings.Builder
	for _, kind := range slices.Concat(ioKinds, []fspolicy.Kind{
		fspolicy.KindEmpty, fspolicy.KindNUL, fspolicy.KindBackslash, fspolicy.KindAbsolute, fspolicy.KindEmptyComponent,
		fspolicy.KindDotComponent, fspolicy.KindDotDotComponent, fspolicy.KindDrivePrefix, fspolicy.KindComponentTooLong,
		fspolicy.KindPathTooLong, fspolicy.KindNotNFC, fspolicy.KindNotUTF8, fspolicy.KindEscapes, fspolicy.KindProtected,
		fspolicy.KindRoot, fspolicy.KindUnencodable, fspolicy.KindCollision,
	}) {
		answer := answerTo("io/fs::read", &fspolicy.Error{Kind: kind, Path: "a/b", Count: 2})
		out.WriteString(canonical(t, answer) + "\n")
	}
	testkit.Golden(t, "testdata/answers.golden", []byte(out.String()))
}

// A blob that cannot be written or read is a fault of the host, not an answer.
func TestBlobFaultsStopTheRun(t *testing.T) {
	onBoth(t, func(t *testing.T, h host) {
		h.addFile("big", pattern(300_000), 0o644)
		broken := &fspolicy.Error{Kind: fspolicy.KindNoSpace, Path: "log"}
		for name, sink := range map[string]*blobSink{
			"new": {failNew: broken}, "write": {failWrite: broken}, "end": {failEnd: broken},
		} {
			b := newBench(t, h.fs())
			b.sink = sink
			if r, err := b.handle(context.Background(), "read", term(t, `{:path "big"}`)); err == nil {
				t.Errorf("%s: answered %s", name, short(t, r))
			}
		}
		b := newBench(t, h.fs())
		for _, op := range []string{"write", "append"} {
			b.want("write", `{:data "before" :path "f"}`, "ok nil")
			r, err := b.handle(context.Background(), op, payload("f", coreform.BlobBytes(hugeBlob{1 << 20, 1 << 18})))
			if err == nil || !strings.Contains(err.Error(), errBlob.Error()) {
				t.Errorf("%s: %v, %v", op, r, err)
			}
			if op == "write" {
				b.want("read", `{:path "f"}`, `ok b"before"`)
			}
		}
	})
}

// A failure of the file system that comes with a blob that cannot be dropped is
// a fault of the host.
func TestBlobIsDroppedWhenReadingFails(t *testing.T) {
	h := newMemoryHost(t)
	h.addFile("big", pattern(300_000), 0o644)
	for _, cut := range []error{nil, errBlob} {
		reads := 0
		h.mem.Inject(func(step, _ string) fspolicy.Kind {
			if step == "read" {
				if reads++; reads == 3 {
					return fspolicy.KindBusy
				}
			}
			return ""
		})
		b := newBench(t, h.fs())
		b.sink = &blobSink{failCut: cut}
		r, err := b.handle(context.Background(), "read", term(t, `{:path "big"}`))
		if b.sink.aborted != 1 || b.sink.finished != 0 {
			t.Errorf("%d blobs dropped", b.sink.aborted)
		}
		if cut == nil && (err != nil || short(t, r) != `core/io-error :io-kind busy :path "big"`) || cut != nil && err == nil {
			t.Errorf("dropping gives %v: %v, %v", cut, r, err)
		}
	}
}

// A context that ends is seen between pieces and becomes the error, whatever
// had come so far.
func TestContextEndsAReading(t *testing.T) {
	onBoth(t, func(t *testing.T, h host) {
		h.addSize("big", 8<<20)
		ctx, cancel := context.WithCancel(context.Background())
		b := newBench(t, h.fs())
		b.sink = &blobSink{onWrite: cancel}
		_, err := b.handle(ctx, "read", term(t, `{:path "big"}`))
		if !errors.Is(err, context.Canceled) || b.sink.aborted != 1 || b.sink.written > pieceBytes {
			t.Errorf("%v after %d bytes, %d blobs dropped", err, b.sink.written, b.sink.aborted)
		}
	})
}

// cancelling is content during whose reading a context ends.
type cancelling struct {
	hugeBlob
	cancel func()
}

func (c cancelling) ReadAt(p []byte, off int64) (int, error) {
	if off >= 1<<20 {
		c.cancel()
	}
	return c.hugeBlob.ReadAt(p, off)
}

func TestContextEndsAWriting(t *testing.T) {
	onBoth(t, func(t *testing.T, h host) {
		h.addFile("f", "before", 0o644)
		ctx, cancel := context.WithCancel(context.Background())
		b := newBench(t, h.fs())
		_, err := b.handle(ctx, "write", payload("f", coreform.BlobBytes(cancelling{hugeBlob{1 << 30, 1 << 30}, cancel})))
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
		b.want("read", `{:path "f"}`, `ok b"before"`)
		if got := h.names("."); !slices.Equal(got, []string{"f"}) {
			t.Errorf("the directory holds %q", got)
		}
	})
}

func TestContextThatHasEnded(t *testing.T) {
	onBoth(t, func(t *testing.T, h host) {
		h.addFile("f", "x", 0o644)
		ctx, cancel := context.WithDeadline(context.Background(), time.Now().Add(-time.Second))
		defer cancel()
		b := newBench(t, h.fs())
		for _, s := range all(`"f"`, "") {
			if r, err := b.handle(ctx, s.op, term(t, s.payload)); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: %v, %v", s.op, r, err)
			}
		}
		// What is refused before the host is asked needs no time.
		r, err := b.handle(ctx, "read", term(t, `{:path "/f"}`))
		if err != nil || r.Kind != guest.RespError {
			t.Errorf("%v, %v", r, err)
		}
	})
}

// A host that says "interrupted" by itself gives an answer, not the end.
func TestInterruptedByTheHost(t *testing.T) {
	h := newMemoryHost(t)
	h.addFile("f", "x", 0o644)
	h.mem.Inject(func(step, _ string) fspolicy.Kind {
		if step == "open" {
			return fspolicy.KindInterrupted
		}
		return ""
	})
	newBench(t, h.fs()).want("read", `{:path "f"}`, `core/io-error :io-kind interrupted :path "f"`)
}

// refusing is an FS that must not be asked.
type refusing struct{ fspolicy.FS }

// Paths are refused before any host access: with no FS behind the handler,
// asking it anything would panic. spec: PATH-2
func TestRefusedBeforeTheHostIsAsked(t *testing.T) {
	b := newBench(t, refusing{})
	b.grant.allow = func(string) bool { return false }
	for _, path := range []string{`""`, `"/a"`, `"../a"`, `"a\\b"`, `"fine"`} {
		for _, s := range all(path, "") {
			if got := b.do(s.op, s.payload); !strings.HasPrefix(got, "core/path-error ") {
				t.Errorf("%s %s: %s", s.op, path, got)
			}
		}
	}
}

// Payloads the loop would not let through are errors, not panics or answers.
func TestUncheckedPayloads(t *testing.T) {
	h := newMemoryHost(t)
	h.addFile("f", "x", 0o644)
	b := newBench(t, h.fs())
	for _, c := range []struct{ op, payload string }{
		{"read", `nil`}, {"read", `{}`}, {"read", `{:path f}`}, {"read", `{:path "f" :offset -1}`},
		{"read", `{:path "f" :len "1"}`}, {"read", `{:path "f" :len 9223372036854775808}`},
		{"write", `{:path "f"}`}, {"write", `{:data nil :path "f"}`}, {"write", `{:create "?" :data "x" :path "f"}`},
		{"write", `{:create any :data "x" :path "f"}`}, {"append", `{:path "f"}`},
		{"mkdir", `{:path "g"}`},
	} {
		call := effects.Call{Op: "io/fs::" + c.op, Payload: term(t, c.payload), MaxBytes: 100, Blobs: b.sink}
		if r, err := b.h.handle(context.Background(), call, b.grant); err == nil {
			t.Errorf("%s %s: answered %s", c.op, c.payload, short(t, r))
		}
	}
	b.want("read", `{:path "f"}`, `ok b"x"`)
}

func TestNewKnowsItsOps(t *testing.T) {
	fs := fspolicy.NewMemory()
	defer fs.Close()
	for _, name := range Ops() {
		op, ok := ops.Lookup(name)
		if !ok || !op.Implemented || op.Family != "io/fs" {
			t.Errorf("%s is not an implemented file operation of the catalogue", name)
		}
	}
	for _, op := range ops.All() {
		if op.Family == "io/fs" && op.Implemented != slices.Contains(Ops(), op.Name) {
			t.Errorf("the catalogue and the handler disagree about %s", op.Name)
		}
	}
	h, err := New(map[string]fspolicy.FS{"io/fs::stat": fs, "io/fs::read": fs, "io/fs::rename": fs, "io/db::query": fs})
	if err != nil || !slices.Equal(h.Ops(), []string{"io/fs::read", "io/fs::stat"}) {
		t.Errorf("%v, %v", h.Ops(), err)
	}
	if _, err := h.Handle(context.Background(), effects.Call{Op: "io/fs::write"}); err == nil {
		t.Error("an op without a file system is answered")
	}
	if _, err := New(map[string]fspolicy.FS{"io/fs::read": nil}); err == nil {
		t.Error("New accepts an op without a file system")
	}
}

// Each op has its own directory.
func TestOpsHaveDirectoriesOfTheirOwn(t *testing.T) {
	in, out := newMemoryHost(t), newMemoryHost(t)
	in.addFile("f", "in", 0o644)
	h, err := New(map[string]fspolicy.FS{"io/fs::read": in.fs(), "io/fs::write": out.fs()})
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t, in.fs())
	b.h = h
	b.want("write", `{:data "out" :path "f"}`, "ok nil")
	b.want("read", `{:path "f"}`, `ok b"in"`)
}

// The handler under a policy as a person writes it.
func TestUnderAPolicy(t *testing.T) {
	onBoth(t, func(t *testing.T, h host) {
		file, problems := policy.Parse("caps.toml", []byte(`
allow = ["io/fs::*"]

[family."io/fs"]
base_dir = "data"

[op."io/fs::write"]
paths = ["out/**"]
create_dirs = true
`))
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		pol, b := policy.New(file), newBench(t, h.fs())
		for _, s := range []step{
			{"write", `{:data "x" :path "out/a/b"}`, `ok nil`},
			{"write", `{:data "x" :path "outer/a"}`, refused + `"outer/a" :reason not-granted`},
			{"append", `{:data "y" :path "out/a/b"}`, `ok nil`},
			{"append", `{:data "y" :path "no/f"}`, notFound + `"no/f"`},
			{"read", `{:path "out/a/b"}`, `ok b"xy"`},
			{"list", `{:path "."}`, `ok [{:kind dir :len-bytes 0 :name "out" :path "out"}]`},
		} {
			d := pol.Decide("io/fs::" + s.op)
			if !d.Allow {
				t.Fatalf("%s is not granted: %s", s.op, d.Reason)
			}
			r, err := b.h.Handle(context.Background(), effects.Call{
				Op: "io/fs::" + s.op, Payload: term(t, s.payload), Grant: d.Grant, MaxBytes: 1 << 20, Blobs: b.sink,
			})
			if err != nil {
				t.Fatal(err)
			}
			if got := short(t, r); got != s.want {
				t.Errorf("%s %s\n got %s\nwant %s", s.op, s.payload, got, s.want)
			}
		}
	})
}
