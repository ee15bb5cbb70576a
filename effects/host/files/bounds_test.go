package files

import (
	"context"
	"fmt"
	"io"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/effects/guest"
	"github.com/gcrun/gcrun/fspolicy"
	"github.com/gcrun/gcrun/internal/digest"
	"github.com/gcrun/gcrun/internal/testkit"
)

// allocated returns how many bytes f allocates, in whatever goroutine.
func allocated(f func()) int64 {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}

// Case RP-12: a file far over the limit is refused in a small answer, without
// being read.
func TestLargeFileOverTheLimitIsNotRead(t *testing.T) {
	onBoth(t, func(t *testing.T, h host) {
		h.addSize("big", 64<<20)
		b := newBench(t, h.fs())
		b.maxBytes = 8 << 20
		reads := countSteps(h, "read")
		used := allocated(func() {
			b.want("read", `{:path "big"}`, `core/caps/resource-limit :dimension "max_bytes" :limit 8388608 :performed true`)
		})
		if used > 1<<20 || b.sink.begun > 0 || *reads > 0 {
			t.Errorf("refusing took %d bytes of memory, %d blobs and %d reads", used, b.sink.begun, *reads)
		}
		if n := b.transcript.Len(); n > 400 {
			t.Errorf("the answer has %d bytes", n)
		}
	})
}

// countSteps counts how often a memory file system takes a step; on others the
// count stays 0.
func countSteps(h host, step string) *int {
	n := new(int)
	if m, ok := h.(*memoryHost); ok {
		m.mem.Inject(func(s, _ string) fspolicy.Kind {
			if s == step {
				*n++
			}
			return ""
		})
	}
	return n
}

// opened is an FS with something happening just after a file was opened.
type opened struct {
	fspolicy.FS
	then func()
}

func (o opened) Open(ctx context.Context, p fspolicy.Path) (*fspolicy.File, error) {
	f, err := o.FS.Open(ctx, p)
	if err == nil {
		o.then()
	}
	return f, err
}

// A file that grows after it was opened is read as it is then, up to the limit.
func TestFileThatGrowsWhileRead(t *testing.T) {
	onBoth(t, func(t *testing.T, h host) {
		grow := func(max int64, add int) string {
			h.addFile("f", "0123", 0o644)
			b := newBench(t, opened{h.fs(), func() { h.grow("f", strings.Repeat("x", add)) }})
			b.maxBytes = max
			return b.do("read", `{:path "f"}`)
		}
		if got := grow(100, 3); got != `ok b"0123xxx"` {
			t.Errorf("grown by 3: %s", got)
		}
		if got := grow(7, 3); got != `ok b"0123xxx"` {
			t.Errorf("grown to the limit: %s", got)
		}
		over := `core/caps/resource-limit :dimension "max_bytes" :limit 7 :performed true`
		for _, add := range []int{4, 5, 300_000} {
			if got := grow(7, add); got != over {
				t.Errorf("grown by %d: %s", add, got)
			}
		}
	})
}

// A file that shrinks after it was opened is shorter, and no error.
func TestFileThatShrinksWhileRead(t *testing.T) {
	testkit.RequireUnix(t)
	h := newRootHost(t)
	h.addFile("f", strings.Repeat("x", 200_000), 0o644)
	b := newBench(t, opened{h.fs(), func() { h.addFile("f", "short", 0o644) }})
	b.sink.inlineMax = 10
	b.want("read", `{:path "f"}`, `ok b"short"`)
}

// Content goes into a blob exactly when it is too large for memory.
func TestReadUsesABlobAboveInlineMax(t *testing.T) {
	onBoth(t, func(t *testing.T, h host) {
		for _, inline := range []int64{0, 1, 1000, pieceBytes, pieceBytes + 1} {
			for _, n := range []int64{0, 1, inline - 1, inline, inline + 1, inline + 3*pieceBytes + 5} {
				if n < 0 {
					continue
				}
				data := pattern(n)
				h.addFile("f", data, 0o644)
				b := newBench(t, h.fs())
				b.sink.inlineMax = inline
				r, err := b.handle(context.Background(), "read", term(t, `{:path "f"}`))
				if err != nil {
					t.Fatal(err)
				}
				got, ok := r.Value.AsBytes()
				if !ok {
					t.Fatalf("%d of %d bytes: %s", n, inline, short(t, r))
				}
				if string(got.MustLoad()) != data {
					t.Errorf("%d of %d bytes: other content", n, inline)
				}
				if got.InMemory() != (n <= inline) || b.sink.finished != b.sink.begun || b.sink.largest > pieceBytes+int(inline) {
					t.Errorf("%d of %d bytes: in memory %v, %d blobs, pieces of %d", n, inline, got.InMemory(), b.sink.begun, b.sink.largest)
				}
			}
		}
	})
}

func pattern(n int64) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*7 + i>>8)
	}
	return string(b)
}

// Reading a large file takes little memory, however large it is.
func TestBigReadStreams(t *testing.T) {
	onBoth(t, func(t *testing.T, h host) {
		h.addSize("big", 48<<20)
		b := newBench(t, h.fs())
		b.sink = &blobSink{inlineMax: 64 << 10, countOnly: true}
		used := allocated(func() {
			r, err := b.handle(context.Background(), "read", term(t, `{:path "big"}`))
			if err != nil || r.Kind != guest.RespOK {
				t.Fatalf("%v, %v", r, err)
			}
		})
		if b.sink.written != 48<<20 || b.sink.largest > pieceBytes {
			t.Errorf("%d bytes in pieces of up to %d", b.sink.written, b.sink.largest)
		}
		if used > 1<<20 {
			t.Errorf("reading took %d bytes of memory", used)
		}
	})
}

// hugeBlob is a blob of zeros that fails from an offset on.
type hugeBlob struct{ size, failFrom int64 }

// errBlob looks like a failure of the file system that is written to.
var errBlob error = &fspolicy.Error{Kind: fspolicy.KindNoSpace, Path: "blob"}

func (b hugeBlob) Size() int64           { return b.size }
func (b hugeBlob) Digest() digest.Digest { return digest.Sum([]byte("huge")) }
func (b hugeBlob) ReadAt(p []byte, off int64) (int, error) {
	n := min(int64(len(p)), b.size-off)
	if off+n > b.failFrom {
		return 0, errBlob
	}
	clear(p[:n])
	if n < int64(len(p)) {
		return int(n), io.EOF
	}
	return int(n), nil
}

func payload(path string, data coreform.Value) coreform.Value {
	return coreform.MapOf(
		coreform.Entry{Key: coreform.Sym(":path"), Value: coreform.Str(path)},
		coreform.Entry{Key: coreform.Sym(":data"), Value: data})
}

// Writing a large blob takes little memory.
func TestBigWriteStreams(t *testing.T) {
	const size = 48 << 20
	for _, op := range []string{"write", "append"} {
		h := newRootHost(t)
		b := newBench(t, h.fs())
		used := allocated(func() {
			r, err := b.handle(context.Background(), op, payload("f", coreform.BlobBytes(hugeBlob{size, math.MaxInt64})))
			if err != nil || r.Kind != guest.RespOK {
				t.Fatalf("%s: %v, %v", op, r, err)
			}
		})
		if used > 2<<20 {
			t.Errorf("%s took %d bytes of memory", op, used)
		}
		b.want("stat", `{:path "f"}`, fmt.Sprintf(`ok {:exists true :kind file :len-bytes %d :path "f" :readonly false}`, size))
	}
}

// A listing is bounded before it is made: of a directory with far too many
// entries only as many are described as an answer could hold.
func TestListStopsAtItsLimit(t *testing.T) {
	onBoth(t, func(t *testing.T, h host) {
		for i := range 2000 {
			h.addFile(fmt.Sprintf("f%04d", i), "", 0o644)
		}
		b := newBench(t, h.fs())
		b.maxBytes = 1000
		described := countSteps(h, "lstat")
		b.want("list", `{:path "."}`, `core/caps/resource-limit :dimension "max_bytes" :limit 1000 :performed true`)
		if *described > 40 {
			t.Errorf("%d entries were described", *described)
		}
		b.maxBytes = math.MaxInt64
		if got := b.do("list", `{:path "."}`); !strings.HasPrefix(got, "ok [") || strings.Count(got, ":kind file") != 2000 {
			t.Errorf("without limit: %.100s", got)
		}
	})
}

// No answer that is within the limit is refused, and nothing is answered whose
// text is over it but for line breaks and escapes.
func TestListLimitIsTight(t *testing.T) {
	onBoth(t, func(t *testing.T, h host) {
		h.addDir("d/d")
		h.addFile("d/x", "", 0o644)
		for _, path := range []string{".", "d", "d/d"} {
			for _, recursive := range []string{"true", "false"} {
				call := `{:path "` + path + `" :recursive ` + recursive + `}`
				b := newBench(t, h.fs())
				b.maxBytes = math.MaxInt64
				r, err := b.handle(context.Background(), "list", term(t, call))
				if err != nil {
					t.Fatal(err)
				}
				least := int64(len(strings.TrimPrefix(short(t, r), "ok ")))
				for max := range least + 10 {
					b.maxBytes = max
					got := b.do("list", call)
					if ok := strings.HasPrefix(got, "ok "); ok != (max >= least) {
						t.Errorf("%s with %d of at least %d bytes: %s", call, max, least, got)
					}
				}
			}
		}
	})
}

// What is too large about a listing may have nothing to do with its answer.
func TestListTooLargeOtherwise(t *testing.T) {
	const limit = 40_000 // allows far fewer rows than a listing may have at most
	const tooLarge = `core/io-error :io-kind too-large :path `
	t.Run("depth", func(t *testing.T) {
		onBoth(t, func(t *testing.T, h host) {
			deep := "d" + strings.Repeat("/d", fspolicy.DefaultListDepth)
			h.addDir(deep)
			b := newBench(t, h.fs())
			for _, max := range []int64{limit, 400_000, math.MaxInt64} {
				b.maxBytes = max
				b.want("list", `{:path "d" :recursive true}`, tooLarge+`"`+deep+`"`)
			}
			b.maxBytes = limit / 10
			b.want("list", `{:path "d" :recursive true}`,
				fmt.Sprintf(`core/caps/resource-limit :dimension "max_bytes" :limit %d :performed true`, limit/10))
		})
	})
	t.Run("names on the way", func(t *testing.T) {
		h := newMemoryHost(t)
		for i := range 100_001 {
			h.mem.AddFile(fmt.Sprint(i), nil, 0o644)
		}
		b := newBench(t, h.fs())
		b.maxBytes = limit
		b.want("list", `{:path "é"}`, tooLarge+`"é"`)
	})
}
