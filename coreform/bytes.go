package coreform

import (
	"fmt"
	"io"

	"github.com/gcrun/gcrun/internal/digest"
)

// Bytes is the heap part of a bytes value: octets in memory, or a window of a
// [Blob] whose content is read only when somebody looks at it.
type Bytes struct {
	data []byte
	blob Blob
	off  int64
	n    int64
	cell DigestCell // plain BLAKE3 of the content
}

// Blob is immutable content kept outside memory, for instance in a log. It is
// safe for concurrent use.
type Blob interface {
	io.ReaderAt
	// Size is the length in bytes.
	Size() int64
	// Digest is the plain BLAKE3-256 of the content, which is its name.
	Digest() digest.Digest
}

// Fault is the panic value by which a blob that cannot be read leaves code
// that has no way to return an error (comparison, hashing). Use [CatchFault] at
// the entry of whatever may touch blobs; nothing else is ever thrown this way.
type Fault struct{ Err error }

func (f Fault) Error() string { return "reading a blob: " + f.Err.Error() }

// Unwrap returns the error of the blob.
func (f Fault) Unwrap() error { return f.Err }

// CatchFault, deferred, turns a Fault panic into *err. Other panics go on.
func CatchFault(err *error) {
	switch f := recover().(type) {
	case nil:
	case Fault:
		*err = f
	default:
		panic(f)
	}
}

// BytesOf returns a bytes value. It takes ownership of b.
func BytesOf(b []byte) Value { return Value{ref: &Bytes{data: b, n: int64(len(b))}} }

// BlobBytes returns a bytes value whose content stays in the blob.
func BlobBytes(b Blob) Value {
	v := &Bytes{blob: b, n: b.Size()}
	v.cell.store(b.Digest())
	return Value{ref: v}
}

// Len returns the number of octets.
func (b *Bytes) Len() int64 { return b.n }

// InMemory reports whether the content is held in memory.
func (b *Bytes) InMemory() bool { return b.blob == nil }

// Blob returns the blob behind b if b is all of one, else nil.
func (b *Bytes) Blob() Blob {
	if b.blob != nil && b.off == 0 && b.n == b.blob.Size() {
		return b.blob
	}
	return nil
}

// Slice returns the octets from start, n of them, sharing storage with b. The
// caller has checked 0 ≤ start, 0 ≤ n, start+n ≤ Len.
func (b *Bytes) Slice(start, n int64) Value {
	if start < 0 || n < 0 || start > b.n || n > b.n-start {
		panic(fmt.Sprintf("BUG: coreform: slice [%d,+%d) of %d bytes", start, n, b.n))
	}
	if start == 0 && n == b.n {
		return Value{ref: b}
	}
	s := &Bytes{blob: b.blob, off: b.off + start, n: n}
	if b.blob == nil {
		s.data = b.data[start : start+n : start+n]
	}
	return Value{ref: s}
}

// At returns octet i; 0 ≤ i < Len. It panics with a [Fault] if a blob cannot be
// read.
func (b *Bytes) At(i int64) byte {
	if b.blob == nil {
		return b.data[i]
	}
	var one [1]byte
	if _, err := b.blob.ReadAt(one[:], b.off+i); err != nil && err != io.EOF {
		panic(Fault{err})
	}
	return one[0]
}

// Load returns the content, reading it if it is in a blob. The result must not
// be changed. The error is that of the blob, which is a fault of the host.
func (b *Bytes) Load() ([]byte, error) {
	if b.blob == nil {
		return b.data, nil
	}
	out := make([]byte, b.n)
	if _, err := io.ReadFull(b.Reader(), out); err != nil {
		return nil, Fault{err}
	}
	return out, nil
}

// MustLoad is Load that panics with a [Fault].
func (b *Bytes) MustLoad() []byte {
	p, err := b.Load()
	if err != nil {
		panic(err)
	}
	return p
}

// Reader returns a new reader over the content.
func (b *Bytes) Reader() io.Reader {
	if b.blob == nil {
		return io.NewSectionReader(sliceAt(b.data), 0, b.n)
	}
	return io.NewSectionReader(b.blob, b.off, b.n)
}

// ContentDigest returns the plain BLAKE3-256 of the content, reading a blob
// window once. It panics with a [Fault] if that fails.
func (b *Bytes) ContentDigest() digest.Digest {
	if d, ok := b.cell.load(); ok {
		return d
	}
	var d digest.Digest
	if b.blob == nil {
		d = digest.Sum(b.data)
	} else {
		h := digest.NewHash()
		defer h.Release()
		if _, err := io.Copy(h, b.Reader()); err != nil {
			panic(Fault{err})
		}
		d = h.Digest()
	}
	b.cell.store(d)
	return d
}

type sliceAt []byte

func (s sliceAt) ReadAt(p []byte, off int64) (int, error) {
	if off >= int64(len(s)) {
		return 0, io.EOF
	}
	n := copy(p, s[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}
