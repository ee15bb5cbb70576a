package gclog

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/gcrun/gcrun/internal/digest"
)

// The file is a CBOR sequence of frames (spec LOG-FRAME-1 … 7):
//
//	frame 0:  D9 D9F7  82  54 head  bstr body
//	others:            82  54 head  bstr body
//
// head, 20 bytes, numbers big-endian:
//
//	0  length of the body, u32
//	4  number of the frame, u32
//	8  CRC-32C of bytes 0 to 8
//	12 CRC-32C of the body
//	16 first 4 bytes of the chain digest of the frame before (head ‖ body);
//	   zero in frame 0
//
// The length in the head decides the head of the byte string around the body,
// so no bit of the envelope is free.
const (
	headSize = 20
	maxBody  = 1<<20 + 1<<10

	// partSize is how much of a blob one part frame holds; only the last part of
	// a blob is shorter.
	partSize = 1 << 20
)

var (
	selfDescribed = []byte{0xD9, 0xD9, 0xF7} // tag 55799
	frameStart    = []byte{0x82, 0x54}       // array of two, byte string of 20

	chainDomain = digest.NewDomain("gcrun 2026-11 log chain")
)

// frameKind is the first item of every body.
type frameKind uint64

// The kinds of frames. Those this version does not have are reserved, and
// refused when met.
const (
	kindHeader frameKind = iota
	kindPart
	kindBlob
	kindIntent
	kindEntry
	kindCommit
	kindNote      // reserved
	kindRecovered // reserved
	kindReopened  // reserved
	kindEnd
	kindIndex
	kindLocator
	kindPolicyChange // reserved
)

func (k frameKind) String() string {
	names := [...]string{"header", "blob-part", "blob", "intent", "entry", "commit", "note",
		"recovered", "reopened", "end", "index", "locator", "policy-change"}
	if k < frameKind(len(names)) {
		return names[k]
	}
	return "unknown"
}

// envelopeLen is how many bytes a frame has around a body of n bytes.
func envelopeLen(n int, number uint32) int {
	size := len(frameStart) + headSize + headLen(uint64(n))
	if number == 0 {
		size += len(selfDescribed)
	}
	return size
}

// place is where the next frame goes: its number, its link, its offset.
type place struct {
	number uint32
	link   [4]byte
	off    int64
}

// append appends the frame of a body to b and moves the place behind it.
func (p *place) append(b, body []byte) []byte {
	before := len(b)
	if p.number == 0 {
		b = append(b, selfDescribed...)
	}
	b = append(b, frameStart...)
	head := len(b)
	b = binary.BigEndian.AppendUint32(b, uint32(len(body)))
	b = binary.BigEndian.AppendUint32(b, p.number)
	b = binary.BigEndian.AppendUint32(b, digest.CRC32C(b[head:head+8]))
	b = binary.BigEndian.AppendUint32(b, digest.CRC32C(body))
	b = append(b, p.link[:]...)
	p.link = link(b[head:head+headSize], body)
	b = appendBytes(b, body)
	p.number++
	p.off += int64(len(b) - before)
	return b
}

// link is what the next head holds of this frame.
func link(head, body []byte) (l [4]byte) {
	d := chainDomain.Sum(head, body)
	copy(l[:], d[:])
	return l
}

// frame is one frame as read. Its body is valid until the reader moves on.
type frame struct {
	off, end int64
	number   uint32
	kind     frameKind
	body     []byte
}

// cursor returns a cursor behind the kind, which must open an array of n.
func (f *frame) cursor(n uint64) *cursor {
	c := &cursor{b: f.body}
	c.array(n)
	c.uint()
	return c
}

// readKind fills in f.kind from the body.
func (f *frame) readKind() error {
	c := cursor{b: f.body}
	c.want(majArray, "an array")
	f.kind = frameKind(c.uint())
	return c.err
}

// headFault tells how the first bytes of a frame fail.
type headFault uint8

const (
	headOK  headFault = iota
	headCut           // whole as far as it goes, but the file ends
	headBad           // not what a writer writes there
)

// parsedHead is what a valid head says.
type parsedHead struct {
	length, number, bodyCRC uint32
	link                    [4]byte
	raw                     []byte
	size                    int // of everything before the body
}

// parseHead reads the envelope and head of a frame from b, which may be cut.
func parseHead(b []byte, first bool) (h parsedHead, fault headFault, reason string) {
	prefix := frameStart
	if first {
		prefix = append(selfDescribed[:3:3], frameStart...)
	}
	if n := min(len(b), len(prefix)); !bytes.Equal(b[:n], prefix[:n]) {
		return h, headBad, "no frame begins here"
	}
	if len(b) < len(prefix)+headSize {
		return h, headCut, "the file ends inside a head"
	}
	h.raw = b[len(prefix) : len(prefix)+headSize]
	if digest.CRC32C(h.raw[:8]) != binary.BigEndian.Uint32(h.raw[8:]) {
		return h, headBad, "the checksum of a head differs"
	}
	h.length = binary.BigEndian.Uint32(h.raw)
	h.number = binary.BigEndian.Uint32(h.raw[4:])
	h.bodyCRC = binary.BigEndian.Uint32(h.raw[12:])
	copy(h.link[:], h.raw[16:])
	if h.length > maxBody || h.length == 0 {
		return h, headBad, fmt.Sprintf("a body of %d bytes, beyond the limit", h.length)
	}
	var want [9]byte
	str := appendHead(want[:0], majBytes, uint64(h.length))
	rest := b[len(prefix)+headSize:]
	if n := min(len(rest), len(str)); !bytes.Equal(rest[:n], str[:n]) {
		return h, headBad, "the envelope of a frame contradicts its head"
	}
	h.size = len(prefix) + headSize + len(str)
	if len(b) < h.size {
		return h, headCut, "the file ends inside a frame"
	}
	return h, headOK, ""
}

// maxEnvelope is the most bytes before a body.
const maxEnvelope = 3 + 2 + headSize + 5

// window reads a file in large steps and hands out slices of its buffer, which
// are valid until the next call.
type window struct {
	r    io.ReaderAt
	size int64
	base int64
	buf  []byte
	n    int
}

const windowSize = 256 << 10

// at returns n bytes at off; the caller has checked that the file has them.
func (w *window) at(off int64, n int) ([]byte, error) {
	if off < w.base || off+int64(n) > w.base+int64(w.n) {
		want := int(min(int64(max(n, windowSize)), w.size-off))
		if cap(w.buf) < want {
			w.buf = make([]byte, want)
		}
		w.buf = w.buf[:want]
		w.base, w.n = off, 0
		if err := readFull(w.r, w.buf, off); err != nil {
			return nil, err
		}
		w.n = want
	}
	return w.buf[off-w.base : off-w.base+int64(n)], nil
}

// readFull reads len(p) bytes at off. A file that turns out shorter than it was
// said to be is an error of the host.
func readFull(r io.ReaderAt, p []byte, off int64) error {
	n, err := r.ReadAt(p, off)
	if n == len(p) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("reading the log at byte %d: %w", off+int64(n), err)
}

// frameReader reads frames one after another and checks all that a frame can
// show: envelope, both checksums, number, link.
type frameReader struct {
	window
	next place
}

// read returns the frame at the place, io.EOF at the end of the file, a
// *FormatError for what is not a frame, or the error of the file.
func (fr *frameReader) read() (f frame, err error) {
	off, avail := fr.next.off, fr.size-fr.next.off
	if avail == 0 {
		return f, io.EOF
	}
	b, err := fr.at(off, int(min(avail, maxEnvelope)))
	if err != nil {
		return f, err
	}
	h, fault, reason := parseHead(b, fr.next.number == 0)
	switch {
	case fault == headCut:
		return f, fr.fault(ErrIncomplete, reason)
	case fault == headBad:
		return f, fr.classify(off+1, reason)
	case h.number != fr.next.number:
		return f, fr.fault(ErrDamaged, fmt.Sprintf("frame %d where frame %d is due", h.number, fr.next.number))
	}
	size := int64(h.size) + int64(h.length)
	if size > avail {
		return f, fr.fault(ErrIncomplete, "the file ends inside a frame")
	}
	if b, err = fr.at(off, int(size)); err != nil {
		return f, err
	}
	headAt := h.size - headLen(uint64(h.length)) - headSize
	head, body := b[headAt:headAt+headSize], b[h.size:]
	if digest.CRC32C(body) != h.bodyCRC {
		return f, fr.classify(off+size, "the checksum of a body differs")
	}
	if h.link != fr.next.link {
		return f, fr.fault(ErrDamaged, "a frame is not linked to the one before it")
	}
	f = frame{off: off, end: off + size, number: h.number, body: body}
	if err := f.readKind(); err != nil {
		return f, fr.fault(ErrDamaged, err.Error())
	}
	fr.next = place{number: h.number + 1, link: link(head, body), off: f.end}
	return f, nil
}

func (fr *frameReader) fault(state error, reason string) *FormatError {
	return &FormatError{Err: state, Off: fr.next.off, Frame: fr.next.number, Reason: reason}
}

// classify tells torn bytes at the end, after which no later head is found,
// from damage in the middle. A file whose first frame is not even cut off but
// wrong is damaged. (spec LOG-STATE-3)
func (fr *frameReader) classify(from int64, reason string) error {
	if fr.next.number == 0 {
		return fr.fault(ErrDamaged, reason)
	}
	later, err := fr.laterHead(from)
	if err != nil {
		return err
	}
	if later {
		return fr.fault(ErrDamaged, reason)
	}
	return fr.fault(ErrIncomplete, reason+", and no whole frame follows")
}

// laterHead reports whether any byte from off on begins a valid head of a frame
// that would come later.
func (fr *frameReader) laterHead(off int64) (bool, error) {
	const need = 2 + headSize
	most := uint64(fr.next.number) + uint64(fr.size-fr.next.off)/need
	for off+need <= fr.size {
		b, err := fr.at(off, int(min(fr.size-off, windowSize)))
		if err != nil {
			return false, err
		}
		for i := 0; ; i++ {
			j := bytes.Index(b[i:], frameStart)
			if j < 0 || len(b)-(i+j) < need {
				break
			}
			i += j
			h, fault, _ := parseHead(b[i:], false)
			if h.number > fr.next.number && uint64(h.number) <= most && fault != headBad {
				return true, nil
			}
		}
		off += int64(len(b) - (need - 1))
	}
	return false, nil
}

// readFrameAt reads one frame at a known offset, checking all but its link. A
// frame that is not there is a *FormatError wrapping ErrDamaged.
func readFrameAt(r io.ReaderAt, size, off int64, buf []byte) (frame, error) {
	bad := func(reason string) error {
		return &FormatError{Err: ErrDamaged, Off: off, Reason: reason}
	}
	if off <= 0 || off >= size {
		return frame{}, bad("a reference points outside the file")
	}
	var env [maxEnvelope]byte
	b := env[:min(int64(len(env)), size-off)]
	if err := readFull(r, b, off); err != nil {
		return frame{}, err
	}
	h, fault, reason := parseHead(b, false)
	if fault != headOK {
		return frame{}, bad(reason)
	}
	f := frame{off: off, end: off + int64(h.size) + int64(h.length), number: h.number}
	if f.end > size {
		return frame{}, bad("the file ends inside a frame")
	}
	if cap(buf) < int(h.length) {
		buf = make([]byte, h.length)
	}
	f.body = buf[:h.length]
	if err := readFull(r, f.body, off+int64(h.size)); err != nil {
		return frame{}, err
	}
	if digest.CRC32C(f.body) != h.bodyCRC {
		return frame{}, bad("the checksum of a body differs")
	}
	if err := f.readKind(); err != nil {
		return frame{}, bad(err.Error())
	}
	return f, nil
}
