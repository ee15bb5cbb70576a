package fspolicy

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Root is the FS on a directory of the host. It holds the directory open, so a
// rename of it, or of anything above it, changes nothing for the run.
//
// Protected files are added with Protect and ProtectPath before the program
// runs. All methods may be called from several goroutines.
type Root struct {
	*tree
}

var _ FS = (*Root)(nil)

// OpenRoot opens the directory dir, following links in dir, and removes the
// temporary files that earlier runs have left directly in it; those in other
// directories go when a run first writes there. The error is an *Error about
// "." which does not name dir; the caller knows which it asked for.
func OpenRoot(dir string) (*Root, error) {
	// With the dot, a FIFO in place of a directory is refused, not waited for.
	r, err := os.OpenRoot(dir + string(filepath.Separator) + ".")
	if dir == "" {
		err = fs.ErrNotExist
	}
	if err != nil {
		return nil, ioError(hostKind(err), Path{})
	}
	base := &osDir{root: r, base: r, escapes: escapeError(r)}
	t := newTree(base)
	if at, err := base.info(); err == nil && at.allows(2) {
		t.sweepOnce(base, at.key)
	}
	return &Root{tree: t}, nil
}

// escapeError is the error by which os.Root refuses to leave its directory. The
// package os does not export it, but gives it for this.
func escapeError(r *os.Root) error {
	_, err := r.Lstat("..")
	for err != nil {
		next := errors.Unwrap(err)
		if next == nil {
			return err
		}
		err = next
	}
	return fs.ErrInvalid
}

// Protect keeps the opened file or directory f from the program, under every
// name it has or gets. An earlier call with a stricter level stays in force.
// Keep f open, or the file in existence, for the run: hosts use the identity of
// a file that is gone again. Protect does not know the directories above f, so
// a file within the base needs ProtectPath as well. The error is an *Error
// without a path.
func (r *Root) Protect(f *os.File, level Level) error {
	info, err := osFileInfo(f)
	if err != nil {
		return &Error{Kind: kindOf(err), Path: InvalidPath}
	}
	r.guard.addKey(info.key, level)
	return nil
}

// ProtectPath protects what the host path names, now or later: the file if it
// exists, the name in its directory, and the directories above against being
// moved or removed. The directory must exist. The path may lie anywhere; it is
// followed once, now. The error is an *Error without a path.
func (r *Root) ProtectPath(path string, level Level) error {
	if err := r.protectPath(path, level); err != nil {
		return &Error{Kind: hostKind(err), Path: InvalidPath}
	}
	return nil
}

func (r *Root) protectPath(path string, level Level) error {
	abs, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(abs))
	if err != nil {
		return err
	}
	name := filepath.Base(abs)
	if err := r.protectEntry(dir, name, level); err != nil {
		return err
	}
	for up := filepath.Dir(dir); ; dir, up = up, filepath.Dir(up) {
		if err := r.pinDir(dir); err != nil {
			return err
		}
		if up == dir {
			break
		}
	}
	// What the entry leads to when it is a link.
	if target, err := filepath.EvalSymlinks(abs); err == nil {
		return r.protectEntry(filepath.Dir(target), filepath.Base(target), level)
	}
	return nil
}

// protectEntry protects name in the host directory dir, and what it is now.
func (r *Root) protectEntry(dir, name string, level Level) error {
	parent, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer parent.Close()
	d := &osDir{root: parent, base: parent}
	at, err := d.info()
	if err != nil {
		return err
	}
	r.guard.addName(at.key, name, level)
	info, err := d.lstat(name)
	if kindOf(err) == KindNotFound {
		return nil
	}
	r.guard.addKey(info.key, level)
	return err
}

func (r *Root) pinDir(dir string) error {
	parent, err := os.OpenRoot(dir)
	if err != nil {
		// A directory above that may not be opened cannot be moved from here.
		return nil
	}
	defer parent.Close()
	at, err := (&osDir{root: parent, base: parent}).info()
	r.guard.pin(at.key)
	return err
}

// osDir is a dirNode on an *os.Root of its own.
type osDir struct {
	root    *os.Root
	base    *os.Root // for moves between directories
	rel     string   // host path from base, "" for base itself
	escapes error
}

// fault turns a host error into one without host text.
func (d *osDir) fault(err error) error {
	switch {
	case err == nil:
		return nil
	case d.escapes != nil && errors.Is(err, d.escapes):
		return fault(KindEscapes)
	}
	return fault(hostKind(err))
}

func (d *osDir) join(name string) string {
	if d.rel == "" {
		return name
	}
	return d.rel + "/" + name
}

func (d *osDir) info() (nodeInfo, error) {
	info, err := d.root.Stat(".")
	if err != nil {
		return nodeInfo{}, d.fault(err)
	}
	return d.describe(info, "."), nil
}

func (d *osDir) lstat(name string) (nodeInfo, error) {
	info, err := d.root.Lstat(name)
	if err != nil {
		return nodeInfo{}, d.fault(err)
	}
	return d.describe(info, name), nil
}

func (d *osDir) describe(info fs.FileInfo, name string) nodeInfo {
	n := describeInfo(info)
	if n.key == (fileKey{}) {
		n.key = keyByOpening(d.root, name)
	}
	return n
}

func describeInfo(info fs.FileInfo) nodeInfo {
	n := nodeInfo{kind: EntryOther, perm: uint32(info.Mode().Perm()), size: info.Size(), key: osKey(info)}
	switch mode := info.Mode(); {
	case mode.IsRegular():
		n.kind = EntryFile
	case mode.IsDir():
		n.kind = EntryDir
	case mode&fs.ModeSymlink != 0:
		n.kind = EntrySymlink
	}
	return n
}

func (d *osDir) readlink(name string) (string, error) {
	target, err := d.root.Readlink(name)
	if notALink(err) {
		return "", errNoLink
	}
	return filepath.ToSlash(target), d.fault(err)
}

func (d *osDir) openDir(name string) (dirNode, error) {
	// The dot makes the host insist on a directory, so that it never waits for
	// the other end of a FIFO.
	sub, err := d.root.OpenRoot(name + "/.")
	if err != nil {
		return nil, d.fault(err)
	}
	return &osDir{root: sub, base: d.base, rel: d.join(name), escapes: d.escapes}, nil
}

func (d *osDir) open(name string, flag int, perm uint32) (fileNode, error) {
	f, err := d.root.OpenFile(name, flag|openNonblock, fs.FileMode(perm))
	if err != nil {
		return nil, d.fault(err)
	}
	return &osFile{f}, nil
}

func (d *osDir) openRead(name string) (fileNode, error) {
	return d.open(name, os.O_RDONLY, 0)
}

func (d *osDir) openAppend(name string) (fileNode, error) {
	return d.open(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE, newFilePerm)
}

func (d *osDir) create(name string, perm uint32) (fileNode, error) {
	return d.open(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
}

func (d *osDir) names(yield func(string) bool) error {
	f, err := d.root.Open(".")
	if err != nil {
		return d.fault(err)
	}
	defer f.Close()
	for {
		names, err := f.Readdirnames(1024)
		for _, name := range names {
			if !yield(name) {
				return nil
			}
		}
		if err != nil {
			if len(names) == 0 && err == io.EOF {
				return nil
			}
			return d.fault(err)
		}
	}
}

func (d *osDir) mkdir(name string) error { return d.fault(d.root.Mkdir(name, 0o777)) }

func (d *osDir) remove(name string, _ bool) error { return d.fault(d.root.Remove(name)) }

func (d *osDir) link(name string, to dirNode, toName string) error {
	dst := to.(*osDir)
	var err error
	if d.rel == dst.rel {
		err = d.root.Link(name, toName)
	} else {
		err = d.base.Link(d.join(name), dst.join(toName))
	}
	if linksUnsupported(err) {
		return fault(KindOther)
	}
	return d.fault(err)
}

func (d *osDir) rename(name string, to dirNode, toName string) error {
	dst := to.(*osDir)
	if d.rel == dst.rel {
		return d.fault(d.root.Rename(name, toName))
	}
	return d.fault(d.base.Rename(d.join(name), dst.join(toName)))
}

func (d *osDir) sync() error { return d.fault(syncDir(d.root)) }

func (d *osDir) close() { d.root.Close() }

// osFile is a fileNode on an *os.File.
type osFile struct {
	f *os.File
}

func osFault(err error) error {
	if err == nil || err == io.EOF {
		return err
	}
	return fault(hostKind(err))
}

func (f *osFile) Read(b []byte) (int, error) {
	n, err := f.f.Read(b)
	return n, osFault(err)
}

func (f *osFile) ReadAt(b []byte, off int64) (int, error) {
	n, err := f.f.ReadAt(b, off)
	return n, osFault(err)
}

func (f *osFile) Write(b []byte) (int, error) {
	n, err := f.f.Write(b)
	return n, osFault(err)
}

func (f *osFile) Close() error { return osFault(f.f.Close()) }

func (f *osFile) info() (nodeInfo, error) { return osFileInfo(f.f) }

func osFileInfo(f *os.File) (nodeInfo, error) {
	info, err := f.Stat()
	if err != nil {
		return nodeInfo{}, osFault(err)
	}
	n := describeInfo(info)
	if n.key == (fileKey{}) {
		n.key = keyOfFile(f)
	}
	return n, nil
}

func (f *osFile) chmod(perm uint32) error { return osFault(f.f.Chmod(fs.FileMode(perm))) }

func (f *osFile) sync() error { return osFault(f.f.Sync()) }

func (f *osFile) lock(wait bool) (bool, error) {
	free, err := lockFile(f.f, wait)
	return free, osFault(err)
}

func (f *osFile) linked() bool { return hasName(f.f) }
