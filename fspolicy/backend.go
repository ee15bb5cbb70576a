package fspolicy

import "io"

// A backend is what differs between hosts: single steps in one opened
// directory, on host names, which are raw bytes. The steps know nothing of
// links that lead elsewhere, protection or form C; walk.go does. Errors of a
// backend are of type fault.

// fault is a host failure inside this package, already without host text.
type fault Kind

func (f fault) Error() string { return string(f) }

// errNoLink is a backend's answer when an entry described as a link is not one
// when it is read, because someone replaced it in between.
const errNoLink = fault(KindBusy)

// kindOf returns the kind of a backend's error.
func kindOf(err error) Kind {
	if f, ok := err.(fault); ok {
		return Kind(f)
	}
	return KindOf(err)
}

// fileKey identifies a file or directory while it exists, whatever it is
// called. The zero key identifies nothing.
type fileKey struct{ dev, ino uint64 }

// nodeInfo describes one directory entry or opened file.
type nodeInfo struct {
	kind EntryKind
	perm uint32 // the nine permission bits
	size int64
	key  fileKey
}

// allows reports whether some class of user has one of the bits r, w, x (4, 2,
// 1). It is asked besides the host, so that a run by the superuser is answered
// like any other. PATH-8.
func (n nodeInfo) allows(bit uint32) bool { return n.perm&(bit*0o111) != 0 }

func (n nodeInfo) reportedSize() int64 {
	if n.kind == EntryFile {
		return n.size
	}
	return 0
}

// dirNode is an opened directory. Names are single components.
type dirNode interface {
	// info describes the directory that is open.
	info() (nodeInfo, error)
	// lstat describes an entry, a link as itself.
	lstat(name string) (nodeInfo, error)
	// readlink returns a link's target, and errNoLink when it is none any more.
	readlink(name string) (string, error)
	// openDir opens a directory and never waits, whatever name is.
	openDir(name string) (dirNode, error)
	// openRead opens for reading and never waits; the caller checks what it got.
	openRead(name string) (fileNode, error)
	// openAppend opens for appending, creating a missing file, likewise.
	openAppend(name string) (fileNode, error)
	// create makes a new file, never following a link.
	create(name string, perm uint32) (fileNode, error)
	// names yields the names in the directory until yield returns false.
	names(yield func(string) bool) error
	mkdir(name string) error
	// remove removes an entry, which is a directory when dir is set.
	remove(name string, dir bool) error
	// link gives the file a second name; KindAlreadyExists when it is taken,
	// KindOther where the host has no hard links.
	link(name string, to dirNode, toName string) error
	// rename moves the entry, replacing a file.
	rename(name string, to dirNode, toName string) error
	// sync makes changes to the directory durable, where hosts can.
	sync() error
	close()
}

// fileNode is an opened file.
type fileNode interface {
	io.Reader
	io.ReaderAt
	io.Writer
	io.Closer
	info() (nodeInfo, error)
	chmod(perm uint32) error
	sync() error
	// lock marks a temporary file as in use while it is open. wait is how its
	// writer takes it; without wait it reports whether nobody else holds it.
	lock(wait bool) (bool, error)
	// linked reports whether the file still has a name.
	linked() bool
}
