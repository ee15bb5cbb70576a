package coreform

import (
	"errors"
	"fmt"
)

// DecodeCanonical reads one term and accepts only the exact bytes that the
// printer writes for it, so that a value has one spelling. Errors are a
// *[ReadError]: those of [ReadTerm], and ReadNotCanonical with the offset of
// the first difference. (spec CF-READ-10)
func DecodeCanonical(src []byte, lim Limits) (Value, error) {
	v, err := ReadTerm(src, lim)
	if err != nil {
		return Value{}, err
	}
	if err := spelled(src, []Value{v}, lim, false); err != nil {
		return Value{}, err
	}
	return v, nil
}

// DecodeCanonicalModule is [DecodeCanonical] for the text of a module. It
// checks the spelling, not whether the forms are canonical code; see
// [CanonicalizeModule].
func DecodeCanonicalModule(src []byte, lim Limits) ([]Value, error) {
	vs, err := ReadTerms(src, lim)
	if err != nil {
		return nil, err
	}
	if err := spelled(src, vs, lim, true); err != nil {
		return nil, err
	}
	return vs, nil
}

// spelled checks that src is the canonical text of vs.
func spelled(src []byte, vs []Value, lim Limits, module bool) error {
	m := matcher{want: src}
	err := writeTerms(&m, vs, lim.withDefaults(), module)
	// A canonical text that exceeds a limit is longer than src, which does not.
	var limit *LimitError
	if err != nil && !errors.Is(err, errDiffers) && !errors.As(err, &limit) {
		return err
	}
	if err == nil && m.n == len(src) {
		return nil
	}
	e := &ReadError{Kind: ReadNotCanonical, Offset: m.n, Message: "not in canonical form from here on",
		Hint: "print it with gcrun fmt --canonical"}
	if err == nil {
		e.Message = fmt.Sprintf("%d bytes after the canonical text", len(src)-m.n)
	}
	return e
}

var errDiffers = errors.New("differs")

// matcher is a writer that compares what is written with want, and counts the
// bytes that agree.
type matcher struct {
	want []byte
	n    int
}

func (m *matcher) Write(p []byte) (int, error) {
	for i, c := range p {
		if m.n >= len(m.want) || m.want[m.n] != c {
			return i, errDiffers
		}
		m.n++
	}
	return len(p), nil
}
