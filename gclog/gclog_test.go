package gclog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/effects/guest"
	"github.com/gcrun/gcrun/internal/digest"
)

// memFile is a File in memory. It fails after limit bytes when limit ≥ 0, and
// remembers what was synced and how often it was written to.
type memFile struct {
	mu     sync.Mutex
	data   []byte
	synced int
	writes int
	syncs  int
	limit  int
	short  bool // a failing write still writes what fits
}

func newMemFile() *memFile { return &memFile{limit: -1} }

var errDisk = errors.New("no space left")

func (f *memFile) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.writes++
	if f.limit >= 0 && len(f.data)+len(p) > f.limit {
		n := 0
		if f.short {
			n = f.limit - len(f.data)
			f.data = append(f.data, p[:n]...)
		}
		return n, errDisk
	}
	f.data = append(f.data, p...)
	return len(p), nil
}

func (f *memFile) ReadAt(p []byte, off int64) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return bytes.NewReader(f.data).ReadAt(p, off)
}

func (f *memFile) Sync() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.syncs++
	f.synced = len(f.data)
	return nil
}

// bytesOf returns deterministic content of n bytes.
func bytesOf(n int, seed byte) []byte {
	b := make([]byte, n)
	x := uint32(seed) + 1
	for i := range b {
		x = x*1664525 + 1013904223
		b[i] = byte(x >> 24)
	}
	return b
}

func testHeader() Header {
	return Header{
		Kind: guest.KindModule, Program: digest.Sum([]byte("module")), Name: "hello.gc",
		LanguageProfile: "gcrun/language/1", StateHashProfile: "gcrun/state-hash/0", UnicodeProfile: "unicode/17",
		Limits:       map[string]int64{"step_limit": 1000, "max_vec_len": 5, "max_effect_ops": 1_000_000},
		PolicyDigest: digest.Sum([]byte("policy")),
		Sources:      []guest.Source{{Path: "hello.gc", Bytes: []byte("(def main 1)\n")}},
		Policy:       kw("allow", coreform.Vec(coreform.Sym("io/fs::read")), "version", coreform.Int(1)),
		Tool:         "gcrun",
	}
}

// kw returns the map of keyword names and values.
func kw(kv ...any) coreform.Value {
	var es []coreform.Entry
	for i := 0; i < len(kv); i += 2 {
		es = append(es, coreform.Entry{Key: coreform.Sym(":" + kv[i].(string)), Value: kv[i+1].(coreform.Value)})
	}
	return coreform.MapOf(es...)
}

// entryOf returns an entry with the right hashes.
func entryOf(t testing.TB, n int, payload, resp coreform.Value) *Entry {
	t.Helper()
	h, err := coreform.TermHash(payload)
	if err != nil {
		t.Fatal(err)
	}
	return &Entry{
		R: uint64(n), Op: "io/fs::read", Payload: DatumOf(payload), PayloadHash: h,
		ContHash: digest.Sum(fmt.Appendf(nil, "cont %d", n)), Decision: Allow,
		Cap:  kw("op", coreform.Sym("io/fs::read")),
		Resp: DatumOf(resp), RespDigest: coreform.StateHash(resp),
		Span: guest.Span{File: "hello.gc", Off: n, End: n + 5},
	}
}

func denied(t testing.TB, n int, payload coreform.Value) *Entry {
	e := entryOf(t, n, payload, kw("error/code", coreform.Str("core/caps/denied")))
	e.Decision, e.Reason, e.Cap, e.RespKind = Deny, "op-not-granted", coreform.Value{}, guest.RespError
	return e
}

// script is what a test log holds: entries, each with an intent if asked for.
type script struct {
	opt     Options
	entries func(t testing.TB) []*Entry
	intents bool
	out     guest.Outcome
}

func pathPayload(n int) coreform.Value {
	return kw("path", coreform.Str(fmt.Sprintf("data/file-%d.txt", n)))
}

// small is a log with one of each frame, of few bytes.
func small() script {
	return script{
		opt: Options{InlineMax: 100},
		entries: func(t testing.TB) []*Entry {
			return []*Entry{
				entryOf(t, 0, pathPayload(0), coreform.BytesOf([]byte("hello"))),
				denied(t, 1, pathPayload(1)),
				entryOf(t, 2, pathPayload(2), coreform.BytesOf(bytesOf(300, 2))),
				entryOf(t, 3, pathPayload(3), coreform.Vec(coreform.Str(string(bytes.Repeat([]byte("ä"), 100))))),
			}
		},
		intents: true,
		out:     okOutcome(),
	}
}

func okOutcome() guest.Outcome {
	d := digest.Sum([]byte("value"))
	return guest.Outcome{Kind: guest.OutcomeOK, Value: &d, Steps: 42}
}

// many is a log of n small entries.
func many(n int) script {
	return script{
		entries: func(t testing.TB) []*Entry {
			es := make([]*Entry, n)
			for i := range es {
				es[i] = entryOf(t, i, pathPayload(i), coreform.Int(int64(i)))
			}
			return es
		},
		out: okOutcome(),
	}
}

// write writes the script to f. The error is the first of the writer.
func (s script) write(t testing.TB, f File) (*Outcome, error) {
	t.Helper()
	w, err := NewWriter(f, testHeader(), s.opt)
	if err != nil {
		return nil, err
	}
	for _, e := range s.entries(t) {
		if s.intents {
			if err := w.Intent(Intent{e.Task, e.R, e.Op, e.ReqHash(), e.R%2 == 0}); err != nil {
				return nil, err
			}
		}
		if err := w.Append(e); err != nil {
			return nil, err
		}
	}
	return w.Close(s.out)
}

// bytes returns the finished log.
func (s script) bytes(t testing.TB) []byte {
	t.Helper()
	f := newMemFile()
	if _, err := s.write(t, f); err != nil {
		t.Fatal(err)
	}
	return f.data
}

// readAll opens and scans a log without checking digests.
func readAll(data []byte) (entries []Entry, s *Scanner, err error) {
	l, err := Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, nil, err
	}
	s = l.Scan()
	for s.Next() {
		entries = append(entries, *s.Entry())
	}
	return entries, s, s.Err()
}

// check opens and checks a log.
func check(data []byte) (*Report, error) {
	l, err := Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, err
	}
	return l.Check(context.Background())
}

func TestRoundTrip(t *testing.T) {
	s := small()
	f := newMemFile()
	out, err := s.write(t, f)
	if err != nil {
		t.Fatal(err)
	}
	got, sc, err := readAll(f.data)
	if err != nil {
		t.Fatal(err)
	}
	want := s.entries(t)
	if len(got) != len(want) {
		t.Fatalf("%d entries, want %d", len(got), len(want))
	}
	for i, w := range want {
		g := got[i]
		if g.I != uint64(i) || g.R != w.R || g.Op != w.Op || g.ReqHash() != w.ReqHash() || g.Decision != w.Decision ||
			g.Reason != w.Reason || g.RespKind != w.RespKind || g.RespDigest != w.RespDigest || g.Span != w.Span ||
			!coreform.Equal(g.Cap, w.Cap) {
			t.Errorf("entry %d: got %+v, want %+v", i, g, w)
		}
		sameValue(t, g.Payload, w.Payload)
		sameValue(t, g.Resp, w.Resp)
	}
	rep, err := check(f.data)
	if err != nil {
		t.Fatal(err)
	}
	if rep.Root != out.Root || sc.Root() != out.Root || rep.Entries != 4 || rep.Commits != 1 || rep.Blobs != 4 ||
		rep.Whole != int64(len(f.data)) || len(rep.Open) != 0 {
		t.Errorf("report %+v, root %v", rep, out.Root)
	}
	l, err := Open(bytes.NewReader(f.data), int64(len(f.data)))
	if err != nil || !l.Complete() {
		t.Fatal(err)
	}
	o, err := l.Outcome()
	if err != nil || o.Kind != guest.OutcomeOK || o.Root != out.Root || *o.Value != *s.out.Value || o.Steps != 42 {
		t.Errorf("outcome %+v, %v", o, err)
	}
	sources, err := l.Sources()
	if err != nil || len(sources) != 1 || string(sources[0].Bytes) != "(def main 1)\n" {
		t.Errorf("sources %v, %v", sources, err)
	}
	policy, err := l.Policy()
	if err != nil || !coreform.Equal(policy, testHeader().Policy) {
		t.Errorf("policy %v, %v", policy, err)
	}
	for i := range want {
		e, err := l.Entry(uint64(i))
		if err != nil {
			t.Fatal(err)
		}
		sameValue(t, e.Resp, want[i].Resp)
	}
	if _, err := l.Entry(4); !errors.Is(err, ErrNoEntry) {
		t.Errorf("entry 4: %v", err)
	}
}

func sameValue(t *testing.T, a, b Datum) {
	t.Helper()
	x, err := a.Value()
	if err != nil {
		t.Fatal(err)
	}
	y, err := b.Value()
	if err != nil {
		t.Fatal(err)
	}
	if !coreform.Equal(x, y) {
		t.Errorf("values differ")
	}
}

var _ io.Writer = (*BlobWriter)(nil)
