package fspolicy

import (
	"context"
	"io"
)

// FS is a file system confined to one base directory. Root and Memory
// implement it, with the same results and errors.
//
// Every method returns nil or an *Error, except that an error of a reader the
// caller passed in is returned unchanged. A done context ends a call with
// KindInterrupted, which unwraps to the context's error. Methods may be called
// from several goroutines. After Close every method fails with KindOther.
//
// Unless a method says otherwise, links are followed while they are relative
// and stay inside the base (else KindEscapes), and these kinds can come from
// any method: KindNotFound, KindNotADirectory, KindPermissionDenied,
// KindTooManyLinks, KindProtected, KindCollision, KindInterrupted, KindOther.
// Clauses: spec/paths.md PATH-6 to PATH-14.
type FS interface {
	// Open opens a regular file for reading. The caller closes it. A directory
	// gives KindIsADirectory, anything else KindNotRegular, at once: a FIFO or
	// device is never waited for. ctx also bounds later reads of the file.
	Open(ctx context.Context, p Path) (*File, error)

	// Write makes p a regular file that holds what data gives, all or nothing:
	// a temporary file beside it is written, synced, and put in place, and the
	// directory is synced. With WriteNew it never replaces anything, not even
	// a link that leads nowhere (KindAlreadyExists); with the other modes a
	// link is resolved and its target replaced. The parent must exist. A
	// replaced file keeps its permission bits; one without any write bit gives
	// KindPermissionDenied.
	Write(ctx context.Context, p Path, data io.Reader, mode WriteMode) error

	// Append adds what data gives to the end of p, creating it when missing,
	// and syncs it. It is not atomic: after an error some of data may be there.
	Append(ctx context.Context, p Path, data io.Reader) error

	// Stat describes what p leads to. A missing entry or parent is an answer,
	// KindMissing, and so is a link whose inside target is missing, as
	// EntrySymlink.
	Stat(ctx context.Context, p Path) (Info, error)

	// List returns the entries of directory p sorted by path in byte order,
	// links not followed. The run's own hidden files are left out. Names no
	// Path can stand for give KindUnencodable unless they are skipped; several
	// names with one form C give KindCollision. More entries or levels than
	// the options allow give KindTooLarge.
	List(ctx context.Context, p Path, opts ListOptions) ([]Entry, error)

	// Mkdir makes a directory. With parents, missing parents are made too and
	// an existing directory is fine; without, anything existing gives
	// KindAlreadyExists.
	Mkdir(ctx context.Context, p Path, parents bool) error

	// Remove removes a file, a link itself, or an empty directory; with
	// recursive, a directory and all in it, links not followed. A missing
	// entry or parent is fine. The base directory gives KindRoot.
	Remove(ctx context.Context, p Path, recursive bool) error

	// Rename moves a file, directory, or link itself. An existing to gives
	// KindAlreadyExists unless overwrite is set and neither is a directory; a
	// directory is never replaced. Without overwrite it is atomic for files;
	// for directories, existence is checked first. A link that would lead out
	// of the base from its new place gives KindEscapes.
	Rename(ctx context.Context, from, to Path, overwrite bool) error

	// Copy writes the content and permission bits of the regular file from to
	// the path to, as Write does with WriteNew, or WriteAny when overwrite is
	// set.
	Copy(ctx context.Context, from, to Path, overwrite bool) error

	// Close releases the base directory. Files that are open stay usable.
	Close() error
}

// WriteMode says what Write may find at its path.
type WriteMode uint8

// Modes of Write.
const (
	WriteAny     WriteMode = iota // create or replace
	WriteNew                      // the path must be free
	WriteReplace                  // a regular file must be there
)

// EntryKind is what a directory entry is, in the words a program sees.
type EntryKind string

// Kinds of entries. EntryMissing comes from Stat only.
const (
	EntryFile    EntryKind = "file"
	EntryDir     EntryKind = "dir"
	EntrySymlink EntryKind = "symlink"
	EntryOther   EntryKind = "other"
	EntryMissing EntryKind = "missing"
)

// Info is the answer of Stat.
type Info struct {
	Path Path // the path asked for
	Kind EntryKind
	Size int64 // bytes of a regular file, else 0
	// ReadOnly is true when the entry's mode has no write bit at all.
	ReadOnly bool
}

// Entry is one row of a listing.
type Entry struct {
	Name string // last component of Path
	Path Path
	Kind EntryKind
	Size int64 // bytes of a regular file, else 0
}

// Bounds of List when its options leave them 0.
const (
	DefaultListDepth   = 256
	DefaultListEntries = 1_000_000
)

// maxScan bounds the names looked through for one with the same form C.
const maxScan = 100_000

// ListOptions are the choices of List. The zero value lists one directory and
// fails on a name that cannot be told.
type ListOptions struct {
	Recursive       bool
	SkipUnencodable bool
	MaxDepth        int // levels of directories, 0 means DefaultListDepth
	MaxEntries      int // rows, 0 means DefaultListEntries
}

func (o ListOptions) withDefaults() ListOptions {
	if o.MaxDepth <= 0 {
		o.MaxDepth = DefaultListDepth
	}
	if o.MaxEntries <= 0 {
		o.MaxEntries = DefaultListEntries
	}
	return o
}
