package fspolicy

import (
	"context"
	"errors"
	"strconv"
	"strings"
)

// Kind says what went wrong, as a word from a closed list that is the same on
// every host. spec/paths.md PATH-3.
type Kind string

// Kinds of host failures, the io-kind of core/io-error.
const (
	KindNotFound         Kind = "not-found"
	KindPermissionDenied Kind = "permission-denied"
	KindAlreadyExists    Kind = "already-exists"
	KindIsADirectory     Kind = "is-a-directory"
	KindNotADirectory    Kind = "not-a-directory"
	KindNotEmpty         Kind = "not-empty"
	KindNotRegular       Kind = "not-regular"
	KindReadOnly         Kind = "read-only"
	KindNoSpace          Kind = "no-space"
	KindTooLarge         Kind = "too-large"
	KindTooManyLinks     Kind = "too-many-links"
	KindCrossDevice      Kind = "cross-device"
	KindBusy             Kind = "busy"
	KindInterrupted      Kind = "interrupted"
	KindOther            Kind = "other"
)

// Kinds of refused paths, the reason of core/path-error. The first eleven and
// KindNotUTF8 come from ParsePath, the rest from what the path leads to.
const (
	KindEmpty            Kind = "empty"
	KindNUL              Kind = "nul"
	KindBackslash        Kind = "backslash"
	KindAbsolute         Kind = "absolute"
	KindEmptyComponent   Kind = "empty-component"
	KindDotComponent     Kind = "dot-component"
	KindDotDotComponent  Kind = "dot-dot-component"
	KindDrivePrefix      Kind = "drive-prefix"
	KindComponentTooLong Kind = "component-too-long"
	KindPathTooLong      Kind = "path-too-long"
	KindNotNFC           Kind = "not-nfc"
	KindNotUTF8          Kind = "not-utf8"

	// KindEscapes: a link on the way is absolute or leads out of the base.
	KindEscapes Kind = "escapes"
	// KindProtected: the run's own log, store, keys, temporaries, or a change
	// to its policy or sources.
	KindProtected Kind = "protected"
	// KindRoot: the base directory itself cannot be removed, renamed or
	// replaced.
	KindRoot Kind = "root"
)

// Kinds of names that do not travel, from CheckPortable.
const (
	KindControlCharacter   Kind = "control-character"
	KindReservedCharacter  Kind = "reserved-character"
	KindDeviceName         Kind = "device-name"
	KindTrailingSpaceOrDot Kind = "trailing-space-or-dot"
)

// Kinds of core/path-encoding-error and core/path-collision-error.
const (
	// KindUnencodable: a directory holds Count names no Path can stand for.
	KindUnencodable Kind = "unencodable"
	// KindCollision: several host names stand for one Path.
	KindCollision Kind = "collision"
)

// Paths that stand for ones an error may not repeat.
const (
	OutsideBase = "<outside-base>"
	InvalidPath = "<invalid-path>"
)

// Class groups kinds by the error code a program sees.
type Class uint8

// Classes in the order of their codes: core/io-error, core/path-error,
// core/path-encoding-error, core/path-collision-error.
const (
	ClassIO Class = iota
	ClassPath
	ClassEncoding
	ClassCollision
)

// Class returns the class of k. A word outside the lists is ClassIO.
func (k Kind) Class() Class {
	switch k {
	case KindUnencodable:
		return ClassEncoding
	case KindCollision:
		return ClassCollision
	case KindEmpty, KindNUL, KindBackslash, KindAbsolute, KindEmptyComponent, KindDotComponent,
		KindDotDotComponent, KindDrivePrefix, KindComponentTooLong, KindPathTooLong, KindNotNFC,
		KindNotUTF8, KindEscapes, KindProtected, KindRoot, KindControlCharacter,
		KindReservedCharacter, KindDeviceName, KindTrailingSpaceOrDot:
		return ClassPath
	}
	return ClassIO
}

// Error is the only error type this package returns. It holds nothing of the
// host: no system text, number or absolute path, so that equal causes give
// equal errors everywhere. Errors are values; do not change one.
type Error struct {
	Kind Kind
	// Path is base-relative in form C, or OutsideBase or InvalidPath. For
	// KindUnencodable it is the directory, for KindCollision the shared name.
	Path string
	// Count is the number of names for KindUnencodable and KindCollision,
	// else 0.
	Count int

	cause error // a context error or nil; nothing of the host
}

// Error returns one line with the kind and the path, made of characters that
// are safe on a terminal.
func (e *Error) Error() string {
	msg := strings.ReplaceAll(string(e.Kind), "-", " ") + ": " + strconv.QuoteToASCII(e.Path)
	if e.Count != 0 {
		msg += " (" + strconv.Itoa(e.Count) + " names)"
	}
	return msg
}

// Unwrap returns the context error behind KindInterrupted, so that errors.Is
// tells a cancelled call from one past its deadline; otherwise nil.
func (e *Error) Unwrap() error { return e.cause }

// KindOf returns the Kind of err, "" for nil, and KindOther for an error this
// package did not make.
func KindOf(err error) Kind {
	var e *Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &e):
		return e.Kind
	}
	return KindOther
}

func ioError(k Kind, p Path) error { return &Error{Kind: k, Path: p.String()} }

// checkContext returns the error for a call on p whose context is done.
func checkContext(ctx context.Context, p Path) error {
	if err := ctx.Err(); err != nil {
		return &Error{Kind: KindInterrupted, Path: p.String(), cause: err}
	}
	return nil
}
