package coreform_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/internal/digest"
)

// spec: CF-HASH-3 CF-HASH-4 CF-HASH-5
func TestEffectHashVectors(t *testing.T) {
	var v struct {
		Data []struct {
			Term   string `json:"term"`
			ValueH string `json:"value_h"`
		} `json:"data"`
		Sealed []struct {
			Payload string `json:"payload"`
			ValueH  string `json:"value_h"`
		} `json:"sealed_error"`
		Requests []struct {
			Op       string `json:"op"`
			Payload  string `json:"payload"`
			PayloadH string `json:"payload_h"`
			ContH    string `json:"cont_h"`
			ReqH     string `json:"req_h"`
		} `json:"requests"`
	}
	loadJSON(t, "effect-hash.json", &v)
	if len(v.Data) == 0 || len(v.Sealed) == 0 || len(v.Requests) == 0 {
		t.Fatal("vectors are missing")
	}
	for _, c := range v.Data {
		if h, err := coreform.ValueHash(mustRead(t, c.Term)); err != nil || h.String() != c.ValueH {
			t.Errorf("%s: %s, %v", c.Term, h, err)
		}
	}
	for _, c := range v.Sealed {
		if h, err := coreform.ErrorValueHash(mustRead(t, c.Payload)); err != nil || h.String() != c.ValueH {
			t.Errorf("sealed %s: %s, %v", c.Payload, h, err)
		}
	}
	for _, c := range v.Requests {
		ph, err := coreform.TermHash(mustRead(t, c.Payload))
		if err != nil || ph.String() != c.PayloadH {
			t.Errorf("%s: payload %s, %v", c.Op, ph, err)
		}
		ch, err := digest.Parse(c.ContH)
		if err != nil {
			t.Fatal(err)
		}
		if h := coreform.RequestHash(c.Op, ph, ch); h.String() != c.ReqH {
			t.Errorf("%s: request %s", c.Op, h)
		}
	}
}

// The empty module and the value hashes of containers of reference section 10.
//
// spec: CF-HASH-2 CF-HASH-3
func TestReferenceHashes(t *testing.T) {
	if h, err := coreform.ModuleHash(nil); err != nil || h.String() != "3e98625522828e5d95e410688203d74993fdbe9584a1df89ced10d9184055bf1" {
		t.Errorf("empty module: %s, %v", h, err)
	}
	if h, err := coreform.ValueHash(mustRead(t, "[1]")); err != nil || h.String() != "ccccf0d8ef28606fb6aa14371ca6ec15670cb58e8dc90f28fa26e7f03a3ec66f" {
		t.Errorf("[1]: %s, %v", h, err)
	}
}

// Case CF-07: the same bytes hashed in different roles differ.
//
// spec: CF-HASH-6
func TestCF07DomainsDiffer(t *testing.T) {
	v := mustRead(t, "nil")
	seen := map[digest.Digest]string{}
	add := func(role string, d digest.Digest, err error) {
		if err != nil {
			t.Fatal(err)
		}
		if other, dup := seen[d]; dup {
			t.Errorf("%s and %s have one digest", role, other)
		}
		seen[d] = role
	}
	th, err := coreform.TermHash(v)
	add("term", th, err)
	mh, err := coreform.ModuleHash([]coreform.Value{v})
	add("module", mh, err)
	vh, err := coreform.ValueHash(v)
	add("value", vh, err)
	eh, err := coreform.ErrorValueHash(v)
	add("error", eh, err)
	add("request", coreform.RequestHash("nil", th, th), nil)
	add("state", coreform.StateHash(v), nil)
	add("blob", digest.Sum([]byte("nil")), nil)
	add("log record", digest.NewDomain("test log record").Sum([]byte("nil")), nil)
}

// memBlob is a blob in memory that counts the largest read.
type memBlob struct {
	data    []byte
	largest int
	fail    error
}

func (b *memBlob) ReadAt(p []byte, off int64) (int, error) {
	b.largest = max(b.largest, len(p))
	if b.fail != nil {
		return 0, b.fail
	}
	n := copy(p, b.data[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}
func (b *memBlob) Size() int64           { return int64(len(b.data)) }
func (b *memBlob) Digest() digest.Digest { return digest.Sum(b.data) }

// spec: CF-PRINT-8 CF-HASH-1
func TestBlobsAreStreamed(t *testing.T) {
	content := bytes.Repeat([]byte("\x00text\"\n\xff"), 100_000)
	blob := &memBlob{data: content}
	inBlob := coreform.MapOf(coreform.Entry{Key: coreform.Sym(":body"), Value: coreform.BlobBytes(blob)})
	inMemory := coreform.MapOf(coreform.Entry{Key: coreform.Sym(":body"), Value: coreform.BytesOf(content)})
	a, err := coreform.TermHash(inBlob)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := coreform.TermHash(inMemory); err != nil || a != b {
		t.Errorf("hashes differ: %v", err)
	}
	if blob.largest > 64<<10 {
		t.Errorf("a read of %d bytes: the blob is loaded, not streamed", blob.largest)
	}
	if mustPrint(t, inBlob) != mustPrint(t, inMemory) {
		t.Error("texts differ")
	}
	broken := coreform.BlobBytes(&memBlob{data: content, fail: errors.New("disk gone")})
	var fault coreform.Fault
	if _, err := coreform.TermHash(broken); !errors.As(err, &fault) {
		t.Errorf("broken blob: %v", err)
	}
	small := coreform.Vec(coreform.BlobBytes(&memBlob{data: []byte("ab"), fail: errors.New("disk gone")}))
	if _, err := coreform.PrintTerm(small, coreform.Limits{}); !errors.As(err, &fault) {
		t.Errorf("small broken blob: %v", err)
	}
	if got := coreform.FormatLossy(small, 100); !strings.Contains(got, "#<unreadable-bytes>") {
		t.Errorf("lossy: %q", got)
	}
}
