package gclog

import (
	"errors"
	"fmt"
	"strings"
)

// The states of a file that is not a complete log. A [*FormatError] wraps one
// of them. (spec LOG-STATE-1)
var (
	// ErrIncomplete: the file ends before its locator; what is there is whole,
	// but for torn bytes at its end.
	ErrIncomplete = errors.New("log incomplete")

	// ErrDamaged: bytes differ from what was written, or contradict others.
	ErrDamaged = errors.New("log damaged")

	// ErrVersion: an intact log that asks for a newer reader: another version, a
	// required feature, or a kind of frame this version does not have.
	ErrVersion = errors.New("log version not supported")

	// ErrNotLog: the file does not begin like a native log.
	ErrNotLog = errors.New("not a native log")
)

var (
	// ErrLogFull is returned, before anything is written, when a frame would not
	// leave room for closing the log within [Options.MaxBytes]. The writer can
	// still be closed.
	ErrLogFull = errors.New("log full: the size limit of the log is reached")

	// ErrClosed is returned by a Writer after Close.
	ErrClosed = errors.New("log writer is closed")

	// ErrWithheld is returned by [Datum.Value] for a value of which the log keeps
	// only the digest.
	ErrWithheld = errors.New("value withheld: the log holds only its digest and length")

	// ErrNoEntry is returned by [Log.Entry] for a position beyond the log.
	ErrNoEntry = errors.New("no such entry")

	// ErrNotKept is returned when a blob that the log does not hold is asked for.
	ErrNotKept = errors.New("no such blob in this log")

	// ErrUnrecordable is wrapped by errors about a value or field the format
	// cannot hold: not a term, nested too deeply, an op name that is too long.
	// Nothing was written.
	ErrUnrecordable = errors.New("cannot be recorded")
)

// FormatError says what is wrong with a log and where. It wraps one of
// [ErrIncomplete], [ErrDamaged], [ErrVersion] and [ErrNotLog].
type FormatError struct {
	Err     error  // one of the sentinels
	Off     int64  // byte offset of the frame, or of the first torn byte
	Frame   uint32 // number of the frame at Off
	Entries uint64 // entries that are whole before it
	Reason  string // what is wrong there, in a few words
	Hint    string // next step for a person, may be empty
}

// Error returns state, place, reason and hint in one line.
func (e *FormatError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v at byte %d (frame %d, after %d whole entries): %s", e.Err, e.Off, e.Frame, e.Entries, e.Reason)
	if e.Hint != "" {
		b.WriteString("; " + e.Hint)
	}
	return b.String()
}

// Unwrap returns the sentinel.
func (e *FormatError) Unwrap() error { return e.Err }

// unrecordable makes an error that wraps ErrUnrecordable.
func unrecordable(format string, args ...any) error {
	return fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), ErrUnrecordable)
}
