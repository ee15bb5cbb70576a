package coreform_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/gcrun/gcrun/coreform"
)

// pieces is a writer that remembers its largest piece and may fail.
type pieces struct {
	bytes.Buffer
	largest, failAfter int
}

var errFull = errors.New("disk full")

func (p *pieces) Write(b []byte) (int, error) {
	p.largest = max(p.largest, len(b))
	if p.failAfter > 0 && p.Len()+len(b) > p.failAfter {
		return 0, errFull
	}
	return p.Buffer.Write(b)
}

// spec: CF-PRINT-8
func TestStreamedInPieces(t *testing.T) {
	v := coreform.Vec(
		coreform.Str(strings.Repeat("plain text ", 20_000)),
		coreform.Str(strings.Repeat("\n\u0085", 20_000)),
		coreform.Sym(strings.Repeat("s", 100_000)),
		coreform.BytesOf(bytes.Repeat([]byte{0, 'a'}, 50_000)),
		coreform.Int(5))
	want := mustPrint(t, v)
	var w pieces
	if err := coreform.WriteTerm(&w, v); err != nil || w.String() != want {
		t.Errorf("streamed text differs: %v", err)
	}
	if w.largest > 64<<10 {
		t.Errorf("a piece of %d bytes", w.largest)
	}
	for _, after := range []int{1, 100_000, 300_000} {
		if err := coreform.WriteTerm(&pieces{failAfter: after}, v); !errors.Is(err, errFull) {
			t.Errorf("full after %d: %v", after, err)
		}
	}
	var m pieces
	if err := coreform.WriteModule(&m, []coreform.Value{v, v}); err != nil || m.String() != want+"\n\n"+want+"\n" {
		t.Errorf("streamed module differs: %v", err)
	}
}

// Blob windows, slices of memory, and the fault a broken blob makes.
//
// spec: SH-VAL-2 CF-ORDER-2
func TestBytesViews(t *testing.T) {
	content := []byte("0123456789")
	blob := &memBlob{data: content}
	whole, _ := coreform.BlobBytes(blob).AsBytes()
	memory, _ := coreform.BytesOf(content).AsBytes()
	if whole.Blob() != blob || memory.Blob() != nil || whole.InMemory() || whole.Len() != 10 {
		t.Error("whole blob")
	}
	a, b := whole.Slice(3, 4), memory.Slice(3, 4)
	window, _ := a.AsBytes()
	inner, _ := window.Slice(1, 2).AsBytes()
	if got := inner.MustLoad(); string(got) != "45" || window.Blob() != nil {
		t.Errorf("window of a window: %q", got)
	}
	if !coreform.Equal(a, b) || coreform.StateHash(a) != coreform.StateHash(b) || coreform.Compare(a, b) != 0 {
		t.Error("a window and a slice of the same octets differ")
	}
	if got, err := io.ReadAll(window.Reader()); err != nil || string(got) != "3456" {
		t.Errorf("%q, %v", got, err)
	}
	hashBroken := func() (err error) {
		defer coreform.CatchFault(&err)
		broken, _ := coreform.BlobBytes(&memBlob{data: content, fail: errFull}).AsBytes()
		coreform.StateHash(coreform.Vec(coreform.List(broken.Slice(1, 2))))
		return nil
	}
	var fault coreform.Fault
	if err := hashBroken(); !errors.As(err, &fault) || !errors.Is(err, errFull) {
		t.Errorf("broken: %v", err)
	}
	if coreform.StateHash(coreform.List(a)) != coreform.StateHash(coreform.List(b)) {
		t.Error("hashing after a fault")
	}
	defer func() {
		if recover() == nil {
			t.Error("a slice out of range must panic")
		}
	}()
	whole.Slice(8, 3)
}

// Error texts say where.
//
// spec: CF-READ-6 CF-CANON-7
func TestErrorTexts(t *testing.T) {
	_, err := coreform.ReadTerm([]byte("(a"), coreform.Limits{})
	if got := err.Error(); got != "byte 0: this ( is never closed" {
		t.Error(got)
	}
	_, err = coreform.CanonicalizeTerm(mustRead(t, "(if)"), coreform.Limits{})
	if got := err.Error(); got != "form 0: malformed if: 0 given" {
		t.Error(got)
	}
	_, err = canonicalText("(f (if))")
	if got := err.Error(); got != "form 0, byte 3: malformed if: 0 given" {
		t.Error(got)
	}
	_, err = coreform.PrintTerm(mustRead(t, "(a)"), coreform.Limits{MaxBytes: 1})
	if got := err.Error(); got != "text-bytes limit exceeded: at least 2 needed, 1 allowed" {
		t.Error(got)
	}
}
