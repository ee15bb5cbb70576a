package coreform

import "fmt"

// ReadErrorKind is the kind of a [ReadError].
type ReadErrorKind uint8

// The kinds of read errors. The first four are those of GenesisCode; the
// offsets they come with are fixed by spec CF-READ-6.
const (
	// ReadEOF: a term is required but the source ends. Offset is its length.
	ReadEOF ReadErrorKind = iota + 1
	// ReadUnexpected: a token that cannot stand here, something that is never
	// closed, or a character no symbol may hold.
	ReadUnexpected
	// ReadEscape: a bad escape in a string or bytes literal. Offset is that of
	// the backslash.
	ReadEscape
	// ReadInt: an integer with more digits than Limits.MaxDigits.
	ReadInt
	// ReadUTF8: the source is not UTF-8. Offset is that of the first bad byte.
	ReadUTF8
	// ReadDepth: more containers open than Limits.MaxDepth. Offset is that of
	// the opening delimiter or quote prefix that is one too many.
	ReadDepth
	// ReadSize: the source is longer than Limits.MaxBytes (Offset is the
	// limit) or holds more terms than Limits.MaxTerms (Offset is that of the
	// first one too many).
	ReadSize
	// ReadNotCanonical: the source can be read, but is not the text the printer
	// writes. Offset is that of the first difference. Only DecodeCanonical and
	// DecodeCanonicalModule report it.
	ReadNotCanonical
)

// String returns the kind's name, the last part of its code.
func (k ReadErrorKind) String() string {
	names := [...]string{"", "eof", "unexpected", "escape", "int", "utf8", "depth", "size", "not-canonical"}
	if int(k) >= len(names) {
		return fmt.Sprintf("kind(%d)", k)
	}
	return names[k]
}

// ReadError says why and where a source cannot be read.
type ReadError struct {
	Kind ReadErrorKind
	// Offset is a zero-based byte offset in the source; see [Position].
	Offset int
	// Message says what is wrong, Hint what to do about it.
	Message, Hint string
}

// Code returns "core/parse/" and the kind.
func (e *ReadError) Code() string { return "core/parse/" + e.Kind.String() }

func (e *ReadError) Error() string { return fmt.Sprintf("byte %d: %s", e.Offset, e.Message) }
