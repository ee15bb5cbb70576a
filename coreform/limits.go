package coreform

import "fmt"

// Limits bounds what reading, canonicalizing and printing may take. The zero
// value means the defaults. All limits are inclusive: a text of exactly
// MaxBytes bytes is read. Printing and reading have the same limits, so what
// was printed under some limits can be read back under the same. (spec
// CF-LIMIT-1)
type Limits struct {
	// MaxDepth is how deep a term may nest (see [Value.Depth]) and how many
	// containers and quote prefixes may be open at once in a source. Values
	// below 1 mean DefaultDepth, values above MaximumDepth mean that.
	MaxDepth int
	// MaxBytes is the length of a source or of a printed text in bytes. Values
	// below 1 mean DefaultBytes.
	MaxBytes int64
	// MaxTerms is the number of terms in a source or printed text, counting
	// atoms, containers and quote prefixes. It bounds memory: a term takes two
	// bytes of source and about a hundred of memory. Values below 1 mean
	// DefaultTerms.
	MaxTerms int64
	// MaxDigits is the number of digits of one integer. Values below 1 mean
	// DefaultDigits.
	MaxDigits int
}

// The defaults of [Limits], and the depth that cannot be exceeded on request.
const (
	DefaultDepth  = 1_000
	MaximumDepth  = 10_000
	DefaultBytes  = 64 << 20
	DefaultTerms  = 8 << 20
	DefaultDigits = 1_000_000
)

// withDefaults returns l with every field set.
func (l Limits) withDefaults() Limits {
	if l.MaxDepth < 1 {
		l.MaxDepth = DefaultDepth
	}
	l.MaxDepth = min(l.MaxDepth, MaximumDepth)
	if l.MaxBytes < 1 {
		l.MaxBytes = DefaultBytes
	}
	if l.MaxTerms < 1 {
		l.MaxTerms = DefaultTerms
	}
	if l.MaxDigits < 1 {
		l.MaxDigits = DefaultDigits
	}
	return l
}

// The dimensions of a [LimitError].
const (
	DimDepth  = "depth"
	DimBytes  = "text-bytes"
	DimTerms  = "terms"
	DimDigits = "int-digits"
)

// LimitError says that a term or its text is larger than a limit allows.
type LimitError struct {
	// Dimension is one of the Dim constants.
	Dimension string
	// Observed is the least amount known to be needed when work stopped; what
	// is really needed may be more.
	Observed int64
	// Limit is the largest amount allowed.
	Limit int64
}

// Code returns "core/resource-exhausted".
func (e *LimitError) Code() string { return "core/resource-exhausted" }

func (e *LimitError) Error() string {
	return fmt.Sprintf("%s limit exceeded: at least %d needed, %d allowed", e.Dimension, e.Observed, e.Limit)
}
