package prelude_test

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/coreform/kernel"
	"github.com/gcrun/gcrun/effects/guest"
	"github.com/gcrun/gcrun/internal/digest"
)

// countingBlob says how much of it was read; beyond its data it is zeros.
type countingBlob struct {
	data []byte
	size int64
	read int64
	err  error
}

func (b *countingBlob) ReadAt(p []byte, off int64) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	b.read += int64(len(p))
	clear(p)
	if off < int64(len(b.data)) {
		copy(p, b.data[off:])
	}
	return len(p), nil
}

func (b *countingBlob) Size() int64 { return b.size }

func (b *countingBlob) Digest() digest.Digest { return digest.Sum(b.data, []byte{byte(b.size)}) }

// onBlob evaluates an expression of b, a bytes value backed by a blob.
func onBlob(t *testing.T, blob coreform.Blob, expr string) (coreform.Value, *kernel.Program, error) {
	t.Helper()
	p, err := loadWith("(core/effect::perform 'a/b nil (fn (b) "+expr+"))", kernel.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = p.Step(context.Background(), 0, nil); err != nil {
		t.Fatal(err)
	}
	s, err := p.Step(context.Background(), 0, &guest.Response{Value: coreform.BlobBytes(blob)})
	if err != nil {
		return coreform.Value{}, p, err
	}
	return s.Done.Value, p, nil
}

// Bytes in a blob are not read for their length, digest, parts or equality; a
// single octet reads one. The program cannot tell the difference.
//
// spec: LANG-BLOB-1
func TestBlobsAreNotLoaded(t *testing.T) {
	const gigabyte = 1 << 30
	for _, c := range []struct {
		expr, want string
		read       int64
	}{
		{"(core/bytes::len b)", "1073741824", 0},
		{"(core/bytes::len (core/bytes::slice b 5 1000000000))", "1000000000", 0},
		{"(core/bytes::len (core/crypto::blake3 b))", "32", 0},
		{"(core/eq? b b)", "true", 0},
		{`(core/eq? b b"abc")`, "false", 0},
		{"(core/bytes::get b 1)", "98", 1},
		{"(core/bytes::get (core/bytes::slice b 1 5) 1)", "99", 1},
		{"(core/bytes::to-hex (core/bytes::slice b 0 3))", `"616263"`, 3},
		{"(core/str::from-utf8 (core/bytes::slice b 0 3))", `"abc"`, 3},
		{`(core/bytes::concat (core/bytes::slice b 0 3) b"d")`, `b"abcd"`, 3},
		{"(core/bytes::join (core/vec::push [] (core/bytes::slice b 1 2)))", `b"bc"`, 2},
		{"(core/coreform::escape-bytes (core/bytes::slice b 0 3))", `"abc"`, 3},
		{`(core/eq? (core/bytes::slice b 0 3) b"abc")`, "true", 3},
		{"(core/data::tag b)", ":bytes", 0},
	} {
		blob := &countingBlob{data: []byte("abc"), size: gigabyte}
		v, _, err := onBlob(t, blob, c.expr)
		if err != nil {
			t.Errorf("%s: %v", c.expr, err)
			continue
		}
		if blob.read > c.read {
			t.Errorf("%s: %d bytes read, want %d", c.expr, blob.read, c.read)
		}
		if got := show(v); got != c.want {
			t.Errorf("%s: %s, want %s", c.expr, got, c.want)
		}
	}
}

// What needs the content in memory is stopped before it is read; a blob that
// cannot be read is a fault of the host, never an error of the program.
func TestBlobsAreChargedAndFail(t *testing.T) {
	for _, expr := range []string{
		"(core/str::from-utf8 b)", "(core/bytes::to-hex b)", "(core/bytes::concat b b)", "(core/coreform::escape-bytes b)",
		"(core/bytes::join (core/vec::push [] b))", "(core/coreform::parse-term b)",
	} {
		blob := &countingBlob{size: 1 << 40}
		_, _, err := onBlob(t, blob, expr)
		f, ok := errors.AsType[*guest.Fatal](err)
		if !ok || f.Limit == nil || blob.read > 0 {
			t.Errorf("%s: %v, %d bytes read", expr, err, blob.read)
		}
		broken := &countingBlob{size: 100, err: errors.New("disk gone")}
		if _, _, err := onBlob(t, broken, expr); !errors.Is(err, broken.err) {
			t.Errorf("%s: %v", expr, err)
		}
	}
	// The same program takes the same steps whatever holds the bytes.
	data := bytes.Repeat([]byte("abcdefgh"), 1000)
	for _, expr := range []string{"(core/crypto::blake3 b)", "(core/eq? b b)", "(core/bytes::to-hex b)", "(core/bytes::get b 7)"} {
		_, p, err := onBlob(t, &countingBlob{data: data, size: int64(len(data))}, expr)
		if err != nil {
			t.Fatal(err)
		}
		q, _ := loadWith("(core/effect::perform 'a/b nil (fn (b) "+expr+"))", kernel.Limits{})
		_, _ = q.Step(context.Background(), 0, nil)
		if _, err := q.Step(context.Background(), 0, &guest.Response{Value: coreform.BytesOf(data)}); err != nil {
			t.Fatal(err)
		}
		if p.Usage().Steps != q.Usage().Steps {
			t.Errorf("%s: %d steps on a blob, %d in memory", expr, p.Usage().Steps, q.Usage().Steps)
		}
	}
}
