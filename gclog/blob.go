package gclog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/internal/digest"
)

// A blob is a run of part frames and one blob frame that names them (spec
// LOG-BLOB-2 … 5). All parts but the last hold partSize bytes, so any offset is
// found by one division. Parts of blobs written at the same time may mix; parts
// that no blob frame names are left over from work that was given up.

// fileBlob is a blob inside a log file.
type fileBlob struct {
	r     io.ReaderAt
	ref   Ref
	parts []int64 // where the content of each part begins in the file
}

func (b *fileBlob) Size() int64           { return b.ref.Size }
func (b *fileBlob) Digest() digest.Digest { return b.ref.Digest }

// ReadAt reads across parts.
func (b *fileBlob) ReadAt(p []byte, off int64) (n int, err error) {
	if off < 0 {
		return 0, errors.New("negative offset in a blob")
	}
	for len(p) > n && off < b.ref.Size {
		in := off % partSize
		want := min(int64(len(p)-n), partSize-in, b.ref.Size-off)
		if err := readFull(b.r, p[n:n+int(want)], b.parts[off/partSize]+in); err != nil {
			return n, err
		}
		n += int(want)
		off += want
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// verify reads the content through buf, which grows to a part at most, and
// compares it with the name of the blob.
func (b *fileBlob) verify(buf *[]byte) (bool, error) {
	h := digest.NewHash()
	if need := min(b.ref.Size, partSize); int64(cap(*buf)) < need {
		*buf = make([]byte, need)
	}
	for off := int64(0); off < b.ref.Size; off += partSize {
		p := (*buf)[:min(partSize, b.ref.Size-off)]
		if err := readFull(b.r, p, b.parts[off/partSize]); err != nil {
			return false, err
		}
		_, _ = h.Write(p)
	}
	return h.Digest() == b.ref.Digest, nil
}

// memBlob is a blob that is small enough to stay in memory.
type memBlob struct {
	data []byte
	sum  digest.Digest
}

func (b *memBlob) Size() int64           { return int64(len(b.data)) }
func (b *memBlob) Digest() digest.Digest { return b.sum }

func (b *memBlob) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 || off >= int64(len(b.data)) {
		return 0, io.EOF
	}
	n := copy(p, b.data[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// partBodyHead is what a part body has before its content of n bytes.
func partBodyHead(b []byte, n int) []byte {
	b = appendUint(appendHead(b, majArray, 2), uint64(kindPart))
	return appendHead(b, majBytes, uint64(n))
}

// takePart returns the content of a part frame, which aliases the body.
func takePart(f *frame) ([]byte, error) {
	c := f.cursor(2)
	p := c.bytes()
	if c.err == nil && (len(p) == 0 || len(p) > partSize) {
		c.fail("a part of %d bytes", len(p))
	}
	return p, c.done()
}

const blobItems = 5

// appendBlobBody appends the body of a blob frame. The parts are given by the
// offsets of their frames.
func appendBlobBody(b []byte, ref Ref, parts []int64) []byte {
	b = appendUint(appendHead(b, majArray, blobItems), uint64(kindBlob))
	b = appendUint(appendDigest(b, ref.Digest), uint64(ref.Size))
	b = appendHead(appendUint(b, uint64(ref.Form)), majBytes, uint64(8*len(parts)))
	for _, off := range parts {
		b = binary.BigEndian.AppendUint64(b, uint64(off))
	}
	return b
}

// maxParts is how many parts a blob frame has room for.
const maxParts = (1 << 20) / 8

// takeBlob reads a blob frame: its name and the offsets of its part frames,
// ascending and before the blob frame itself.
func takeBlob(f *frame) (ref Ref, parts []int64, err error) {
	c := f.cursor(blobItems)
	ref.Digest = c.digest()
	ref.Size = int64(c.uintMax(maxFile, "the size of a blob"))
	ref.Form = Form(c.uintMax(uint64(FormTerm), "the form of a blob"))
	p := c.bytes()
	if err := c.done(); err != nil {
		return ref, nil, err
	}
	if len(p)%8 != 0 || int64(len(p)/8) != (ref.Size+partSize-1)/partSize {
		return ref, nil, fmt.Errorf("a blob of %d bytes with %d bytes of part offsets", ref.Size, len(p))
	}
	free := int64(1) // where the next part may begin
	parts = make([]int64, len(p)/8)
	for i := range parts {
		off := binary.BigEndian.Uint64(p[8*i:])
		if off < uint64(free) || off >= uint64(f.off) {
			return ref, nil, errors.New("the parts of a blob are out of order")
		}
		parts[i] = int64(off)
		length := partLen(ref.Size, i)
		if free = contentOff(parts[i], length) + length; free > f.off {
			return ref, nil, errors.New("a part of a blob runs past the blob frame")
		}
	}
	return ref, parts, nil
}

// partLen is how long part i of a blob of that size is.
func partLen(size int64, i int) int64 { return min(partSize, size-int64(i)*partSize) }

// contentOff is where the content of a part frame at off begins. Part frames
// are never the first of a file.
func contentOff(off, length int64) int64 {
	body := len(partBodyHead(nil, int(length))) + int(length)
	return off + int64(envelopeLen(body, 1)) + int64(body) - length
}

// newFileBlob returns the blob of a blob frame that has been checked.
func newFileBlob(r io.ReaderAt, ref Ref, frames []int64) *fileBlob {
	b := &fileBlob{r: r, ref: ref, parts: make([]int64, len(frames))}
	for i, off := range frames {
		b.parts[i] = contentOff(off, partLen(ref.Size, i))
	}
	return b
}

// openBlobAt opens the blob whose frame is at off.
func openBlobAt(r io.ReaderAt, size, off int64) (*fileBlob, error) {
	f, err := readFrameAt(r, size, off, nil)
	if err != nil {
		return nil, err
	}
	return blobOfFrame(r, &f)
}

// blobOfFrame opens the blob of a blob frame. Its content is not looked at.
func blobOfFrame(r io.ReaderAt, f *frame) (*fileBlob, error) {
	bad := func(reason string) error {
		return &FormatError{Err: ErrDamaged, Off: f.off, Frame: f.number, Reason: reason}
	}
	if f.kind != kindBlob {
		return nil, bad("a frame of kind " + f.kind.String() + " where a blob is due")
	}
	ref, parts, err := takeBlob(f)
	if err != nil {
		return nil, bad(err.Error())
	}
	return newFileBlob(r, ref, parts), nil
}

// blobSet gives out the blobs of one file, each checked once against its name.
// It is safe for concurrent use.
type blobSet struct {
	r    io.ReaderAt
	size int64
	// find returns the offset of the blob frame of a digest, or ErrNotKept.
	find func(d digest.Digest) (int64, error)

	mu      sync.Mutex
	checked map[digest.Digest]bool
}

var _ blobSource = (*blobSet)(nil)

func (s *blobSet) blob(d digest.Digest) (coreform.Blob, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	off, err := s.find(d)
	if err != nil {
		return nil, err
	}
	b, err := openBlobAt(s.r, s.size, off)
	if err != nil {
		return nil, err
	}
	if b.ref.Digest != d {
		return nil, &FormatError{Err: ErrDamaged, Off: off, Reason: "the index names another blob"}
	}
	if !s.checked[d] {
		ok, err := b.verify(new([]byte))
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, &FormatError{Err: ErrDamaged, Off: off, Reason: blobDiffers}
		}
		if s.checked == nil {
			s.checked = map[digest.Digest]bool{}
		}
		s.checked[d] = true
	}
	return b, nil
}

const blobDiffers = "the content of a blob is not what its name says"
