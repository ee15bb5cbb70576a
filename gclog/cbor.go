package gclog

import (
	"encoding/binary"
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/gcrun/gcrun/internal/digest"
)

// The part of CBOR (RFC 8949) that frames and terms are written in: integers,
// byte and text strings, arrays, tags, false, true and null, always with the
// shortest head. No floats, no indefinite lengths, no CBOR maps but in leaves.
const (
	majUint  byte = 0 << 5
	majNeg   byte = 1 << 5
	majBytes byte = 2 << 5
	majText  byte = 3 << 5
	majArray byte = 4 << 5
	majMap   byte = 5 << 5
	majTag   byte = 6 << 5

	cborFalse byte = 0xF4
	cborTrue  byte = 0xF5
	cborNull  byte = 0xF6
)

// appendHead appends the shortest head of a major type with argument n.
func appendHead(b []byte, major byte, n uint64) []byte {
	switch {
	case n < 24:
		return append(b, major|byte(n))
	case n <= math.MaxUint8:
		return append(b, major|24, byte(n))
	case n <= math.MaxUint16:
		return binary.BigEndian.AppendUint16(append(b, major|25), uint16(n))
	case n <= math.MaxUint32:
		return binary.BigEndian.AppendUint32(append(b, major|26), uint32(n))
	}
	return binary.BigEndian.AppendUint64(append(b, major|27), n)
}

// headLen is the length of the head with argument n.
func headLen(n uint64) int {
	switch {
	case n < 24:
		return 1
	case n <= math.MaxUint8:
		return 2
	case n <= math.MaxUint16:
		return 3
	case n <= math.MaxUint32:
		return 5
	}
	return 9
}

func appendUint(b []byte, n uint64) []byte { return appendHead(b, majUint, n) }

func appendInt(b []byte, n int64) []byte {
	if n < 0 {
		return appendHead(b, majNeg, uint64(^n))
	}
	return appendHead(b, majUint, uint64(n))
}

func appendText(b []byte, s string) []byte {
	return append(appendHead(b, majText, uint64(len(s))), s...)
}

// appendOptText writes "" as null.
func appendOptText(b []byte, s string) []byte {
	if s == "" {
		return append(b, cborNull)
	}
	return appendText(b, s)
}

func appendBytes(b, p []byte) []byte {
	return append(appendHead(b, majBytes, uint64(len(p))), p...)
}

func appendDigest(b []byte, d digest.Digest) []byte { return appendBytes(b, d[:]) }

// appendOptDigest writes nil as null.
func appendOptDigest(b []byte, d *digest.Digest) []byte {
	if d == nil {
		return append(b, cborNull)
	}
	return appendDigest(b, *d)
}

// cursor reads one deterministic CBOR item by item. The first failure sticks:
// everything after it returns zero values, so callers check err once.
type cursor struct {
	b   []byte
	pos int
	err error
}

func (c *cursor) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf("%s (at byte %d of the body)", fmt.Sprintf(format, args...), c.pos)
	}
}

func (c *cursor) rest() int { return len(c.b) - c.pos }

// peek returns the next byte without taking it.
func (c *cursor) peek() (byte, bool) {
	if c.err != nil {
		return 0, false
	}
	if c.pos >= len(c.b) {
		c.fail("ends inside an item")
		return 0, false
	}
	return c.b[c.pos], true
}

// head takes a head of major types 0 to 6 and refuses longer spellings than
// necessary.
func (c *cursor) head() (major byte, n uint64) {
	first, ok := c.peek()
	if !ok {
		return 0xFF, 0
	}
	major = first & 0xE0
	info := first & 0x1F
	if major == 0xE0 || info > 27 {
		c.fail("unexpected initial byte 0x%02x", first)
		return 0xFF, 0
	}
	if info < 24 {
		c.pos++
		return major, uint64(info)
	}
	size := 1 << (info - 24)
	if c.rest() < 1+size {
		c.fail("ends inside a head")
		return 0xFF, 0
	}
	var wide [8]byte
	copy(wide[8-size:], c.b[c.pos+1:c.pos+1+size])
	n = binary.BigEndian.Uint64(wide[:])
	if headLen(n) != 1+size {
		c.fail("a head is not in its shortest form")
		return 0xFF, 0
	}
	c.pos += 1 + size
	return major, n
}

// want takes a head that must have the given major type.
func (c *cursor) want(major byte, what string) uint64 {
	got, n := c.head()
	if c.err == nil && got != major {
		c.fail("%s expected", what)
		return 0
	}
	return n
}

func (c *cursor) uint() uint64 { return c.want(majUint, "an unsigned integer") }

// uintMax takes an unsigned integer of at most limit.
func (c *cursor) uintMax(limit uint64, what string) uint64 {
	n := c.uint()
	if n > limit {
		c.fail("%s is %d, at most %d is allowed", what, n, limit)
		return 0
	}
	return n
}

// int64 takes an integer of 64 bits.
func (c *cursor) int64() int64 {
	major, n := c.head()
	if c.err != nil {
		return 0
	}
	if n > math.MaxInt64 || (major != majUint && major != majNeg) {
		c.fail("an integer of 64 bits expected")
		return 0
	}
	if major == majNeg {
		return ^int64(n)
	}
	return int64(n)
}

// raw takes n bytes, which alias the input.
func (c *cursor) raw(n uint64) []byte {
	if c.err != nil {
		return nil
	}
	if n > uint64(c.rest()) {
		c.fail("a string of %d bytes runs past the end", n)
		return nil
	}
	p := c.b[c.pos : c.pos+int(n)]
	c.pos += int(n)
	return p
}

// bytes takes a byte string, which aliases the input.
func (c *cursor) bytes() []byte { return c.raw(c.want(majBytes, "a byte string")) }

// textBytes takes a text string, which aliases the input.
func (c *cursor) textBytes() []byte {
	p := c.raw(c.want(majText, "a text string"))
	if !utf8.Valid(p) {
		c.fail("a text string is not valid UTF-8")
		return nil
	}
	return p
}

func (c *cursor) text() string { return string(c.textBytes()) }

// optText takes null as "" and refuses an empty text.
func (c *cursor) optText() string {
	if c.null() {
		return ""
	}
	s := c.text()
	if s == "" {
		c.fail("an empty text where null stands for absent")
	}
	return s
}

func (c *cursor) digest() digest.Digest {
	var d digest.Digest
	p := c.bytes()
	if c.err == nil && len(p) != len(d) {
		c.fail("a digest of %d bytes", len(p))
		return d
	}
	copy(d[:], p)
	return d
}

func (c *cursor) optDigest() *digest.Digest {
	if c.null() {
		return nil
	}
	d := c.digest()
	return &d
}

// null takes a null if one is next.
func (c *cursor) null() bool {
	if b, ok := c.peek(); ok && b == cborNull {
		c.pos++
		return true
	}
	return false
}

// array takes the head of an array of exactly n items.
func (c *cursor) array(n uint64) {
	if got := c.want(majArray, "an array"); c.err == nil && got != n {
		c.fail("an array of %d items where %d are due", got, n)
	}
}

// done returns the first failure, or one for bytes that are left over.
func (c *cursor) done() error {
	if c.err == nil && c.rest() > 0 {
		c.fail("%d bytes after the item", c.rest())
	}
	return c.err
}
