package gclog

import (
	"fmt"
	"io"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/internal/digest"
)

// Form says what the content of a blob is.
type Form uint8

// The forms: the raw octets of a bytes value, or the canonical text of a term.
const (
	FormBytes Form = iota
	FormTerm
)

// String returns "bytes" or "term".
func (f Form) String() string {
	if f == FormTerm {
		return "term"
	}
	return "bytes"
}

// Ref names content by what it is: its form, the plain BLAKE3-256 of its bytes
// and their number. (spec LOG-BLOB-1)
type Ref struct {
	Form   Form
	Digest digest.Digest
	Size   int64
}

// Datum is a term as a log keeps it: inline, in a blob, or withheld. The zero
// Datum is nil, inline. A Datum is immutable and safe for concurrent use if the
// log's file is.
type Datum struct {
	value  coreform.Value
	where  datumPlace
	ref    Ref
	blobOf blobSource
}

type datumPlace uint8

const (
	placeValue  datumPlace = iota // value is it
	placeBlob                     // ref, in blobOf
	placeHidden                   // ref, nowhere
	placeHide                     // value is it, and it is to be withheld
)

// blobSource gives the blobs of a log by digest, checked against their name.
type blobSource interface {
	blob(d digest.Digest) (coreform.Blob, error)
}

// DatumOf returns the Datum of a term. Where it is kept is decided when it is
// written.
func DatumOf(v coreform.Value) Datum { return Datum{value: v} }

// WithheldDatum returns the Datum of a term of which only digest and length are
// to enter the log.
func WithheldDatum(v coreform.Value) Datum { return Datum{value: v, where: placeHide} }

// Value returns the term. One in a blob is read: raw octets lazily, canonical
// text at once and whole. The error is ErrWithheld, a *FormatError for a blob
// that is not what its name says, or that of the file.
func (d Datum) Value() (coreform.Value, error) {
	switch d.where {
	case placeHidden:
		return coreform.Value{}, ErrWithheld
	case placeBlob:
		b, err := d.blobOf.blob(d.ref.Digest)
		if err != nil {
			return coreform.Value{}, err
		}
		if b.Size() != d.ref.Size {
			return coreform.Value{}, &FormatError{Err: ErrDamaged,
				Reason: fmt.Sprintf("blob %v has %d bytes where a reference says %d", d.ref.Digest, b.Size(), d.ref.Size)}
		}
		if d.ref.Form == FormBytes {
			return coreform.BlobBytes(b), nil
		}
		return decodeText(b)
	}
	return d.value, nil
}

// Inline returns the term if it is held in memory already.
func (d Datum) Inline() (coreform.Value, bool) {
	return d.value, d.where == placeValue || d.where == placeHide
}

// Ref returns the name of the content if it is in a blob or withheld.
func (d Datum) Ref() (Ref, bool) { return d.ref, d.where == placeBlob || d.where == placeHidden }

// Withheld reports whether the log has, or will have, only digest and length.
func (d Datum) Withheld() bool { return d.where == placeHidden || d.where == placeHide }

// decodeText reads a term from its canonical text, which the limits of its
// writer bound.
func decodeText(b coreform.Blob) (coreform.Value, error) {
	if b.Size() > maxText {
		return coreform.Value{}, &FormatError{Err: ErrDamaged,
			Reason: fmt.Sprintf("blob %v has %d bytes, more than a term may", b.Digest(), b.Size())}
	}
	text := make([]byte, b.Size())
	if _, err := io.ReadFull(io.NewSectionReader(b, 0, b.Size()), text); err != nil {
		return coreform.Value{}, err
	}
	v, err := coreform.DecodeCanonical(text, textLimits(b.Size()))
	if err != nil {
		return v, &FormatError{Err: ErrDamaged,
			Reason: fmt.Sprintf("blob %v is no canonical term: %v", b.Digest(), err)}
	}
	return v, nil
}

// maxText is how long the canonical text of a term in a blob may be.
const maxText = 1 << 30

// textLimits are the limits under which canonical text in a log is read: what a
// text of that size can hold, and the depth of terms in a log.
func textLimits(size int64) coreform.Limits {
	return coreform.Limits{MaxDepth: MaxTermDepth, MaxBytes: size, MaxTerms: MaxTextTerms, MaxDigits: int(min(size, 1<<31-1))}
}

// termRef returns the name of v as a blob, reading or printing it once.
func termRef(v coreform.Value) (ref Ref, err error) {
	defer coreform.CatchFault(&err)
	if b, ok := v.AsBytes(); ok {
		return Ref{FormBytes, b.ContentDigest(), b.Len()}, nil
	}
	h := countingHash{h: digest.NewHash()}
	if err := coreform.WriteTerm(&h, v); err != nil {
		return ref, err
	}
	return Ref{FormTerm, h.h.Digest(), h.n}, nil
}

type countingHash struct {
	h *digest.Hash
	n int64
}

func (c *countingHash) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	return c.h.Write(p)
}

// appendRef appends a reference under its tag.
func appendRef(b []byte, tag uint64, r Ref) []byte {
	b = appendHead(appendHead(b, majTag, tag), majArray, 3)
	b = appendDigest(appendUint(b, uint64(r.Form)), r.Digest)
	return appendUint(b, uint64(r.Size))
}

// datum takes a term, or a reference to one.
func (d *termDecoder) datum(c *cursor, src blobSource) Datum {
	if first, ok := c.peek(); ok && first&0xE0 == majTag {
		before := *c
		if _, tag := c.head(); tag == tagBlob || tag == tagHidden {
			out := Datum{where: placeBlob, blobOf: src}
			if tag == tagHidden {
				out = Datum{where: placeHidden}
			}
			c.array(3)
			out.ref.Form = Form(c.uintMax(uint64(FormTerm), "the form of a blob"))
			out.ref.Digest = c.digest()
			out.ref.Size = int64(c.uintMax(maxFile, "the size of a blob"))
			return out
		}
		*c = before
	}
	return Datum{value: d.term(c)}
}

// maxFile bounds sizes and offsets, so that sums of two do not overflow.
const maxFile = 1 << 56
