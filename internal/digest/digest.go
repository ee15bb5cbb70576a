// Package digest is the one place where gcrun hashes: every other package
// asks here, so that a reader can see all domains of all digests in one list.
//
// There are three families:
//
//   - plain BLAKE3-256 ([Sum], [NewHash]): what GenesisCode's published formats
//     use (term, module and artifact hashes, blob names);
//   - BLAKE3 in derive-key mode, one [Domain] per purpose: everything that is
//     gcrun's own (state hash, log chain, transcript tree, policy digest), so
//     that the same bytes never have the same digest in two roles (case CF-07);
//   - CRC-32C ([CRC32C]): to notice damage early, never as identity.
package digest

import (
	"encoding/hex"
	"errors"
	"hash"
	"hash/crc32"
	"sync"

	"github.com/zeebo/blake3"
)

// Size is the length of a Digest in bytes.
const Size = 32

// Digest is a 256-bit digest. The zero value means "none": no input hashes to
// it in practice. Digests are compared with ==.
type Digest [Size]byte

// ErrSyntax is returned by Parse for text that is not exactly 64 lower-case
// hexadecimal digits.
var ErrSyntax = errors.New("not a digest: want exactly 64 lower-case hexadecimal digits")

// String returns the 64 lower-case hexadecimal digits.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// IsZero reports whether d is the zero digest ("none").
func (d Digest) IsZero() bool { return d == Digest{} }

// Parse reads the form String writes and nothing else: upper case, prefixes,
// white space and other lengths are ErrSyntax (case MF-07).
func Parse(s string) (Digest, error) {
	var d Digest
	if len(s) != 2*Size {
		return d, ErrSyntax
	}
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return d, ErrSyntax
		}
	}
	if _, err := hex.Decode(d[:], []byte(s)); err != nil {
		return Digest{}, ErrSyntax
	}
	return d, nil
}

// Sum is the plain BLAKE3-256 of the parts, one after another, with nothing
// between them.
func Sum(parts ...[]byte) Digest {
	if len(parts) == 1 {
		return blake3.Sum256(parts[0])
	}
	h := plain.Get().(*blake3.Hasher)
	defer plain.Put(h)
	h.Reset()
	for _, p := range parts {
		_, _ = h.Write(p)
	}
	return finish(h)
}

var plain = sync.Pool{New: func() any { return blake3.New() }}

// Hash is a running digest. It implements io.Writer and io.StringWriter (whose
// errors are always nil); it is owned by one goroutine.
type Hash struct{ h *blake3.Hasher }

var _ hash.Hash = (*blake3.Hasher)(nil)

// NewHash starts a plain BLAKE3-256. A hash has ten kilobytes of state: where
// many are made, give each back with Release.
func NewHash() *Hash {
	h := plain.Get().(*blake3.Hasher)
	h.Reset()
	return &Hash{h}
}

// Release gives a hash made by NewHash back. It must not be used afterwards.
// Calling it is a matter of speed alone.
func (h *Hash) Release() {
	plain.Put(h.h)
	h.h = nil
}

// Write adds p. It never fails.
func (h *Hash) Write(p []byte) (int, error) { return h.h.Write(p) }

// WriteString adds s without copying it. It never fails.
func (h *Hash) WriteString(s string) (int, error) { return h.h.WriteString(s) }

// Reset forgets what was written, keeping the domain.
func (h *Hash) Reset() { h.h.Reset() }

// Digest returns the digest of what was written so far; more may be written.
func (h *Hash) Digest() Digest { return finish(h.h) }

func finish(h *blake3.Hasher) Digest {
	var d Digest
	h.Sum(d[:0])
	return d
}

// Domain is BLAKE3 in derive-key mode under one context string. Make one per
// purpose as a package variable; it is safe for concurrent use.
type Domain struct {
	context string
	pool    sync.Pool
}

// NewDomain returns the domain of a context string, which must be unique in
// the project and is part of the format it serves. It does no work until used.
func NewDomain(context string) *Domain {
	d := &Domain{context: context}
	d.pool.New = func() any { return blake3.NewDeriveKey(context) }
	return d
}

// Context returns the context string.
func (d *Domain) Context() string { return d.context }

// Sum is the digest of the parts, one after another, in this domain. Callers
// frame parts themselves where lengths vary.
func (d *Domain) Sum(parts ...[]byte) Digest {
	h := d.pool.Get().(*blake3.Hasher)
	defer d.pool.Put(h)
	h.Reset()
	for _, p := range parts {
		_, _ = h.Write(p)
	}
	return finish(h)
}

// New starts a running digest in this domain.
func (d *Domain) New() *Hash { return &Hash{blake3.NewDeriveKey(d.context)} }

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// CRC32C is the Castagnoli checksum of p.
func CRC32C(p []byte) uint32 { return crc32.Checksum(p, castagnoli) }
