package fspolicy

import (
	"io"
	"unicode/utf8"
)

// memDir is an opened directory.
type memDir struct {
	disk *memDisk
	node *memNode
	path string // host path when opened, for Inject
}

// begin takes the lock for a step on name, unless the step is made to fail.
func (k *memDisk) begin(step, dir, name string) error {
	k.mu.Lock()
	inject := k.inject
	if inject == nil {
		return nil
	}
	k.mu.Unlock()
	if kind := inject(step, joinHost(dir, name)); kind != "" {
		return fault(kind)
	}
	k.mu.Lock()
	return nil
}

func joinHost(dir, name string) string {
	switch {
	case dir == "":
		return name
	case name == "":
		return dir
	}
	return dir + "/" + name
}

// get finds an entry, by folded name on a disk that folds. Under disk.mu.
func (d *memDir) get(name string) (string, *memNode) {
	if n := d.node.children[name]; n != nil || !d.disk.foldCase {
		return name, n
	}
	want := foldName(name)
	for _, own := range sortedNames(d.node) {
		if utf8.ValidString(own) && foldName(own) == want {
			return own, d.node.children[own]
		}
	}
	return name, nil
}

func (d *memDir) info() (nodeInfo, error) {
	d.disk.mu.Lock()
	defer d.disk.mu.Unlock()
	return d.node.info(), nil
}

// entry runs a step on an existing entry. The caller unlocks when err is nil.
func (d *memDir) entry(step, name string) (*memNode, error) {
	if err := d.disk.begin(step, d.path, name); err != nil {
		return nil, err
	}
	_, n := d.get(name)
	if n == nil {
		d.disk.mu.Unlock()
		return nil, fault(KindNotFound)
	}
	return n, nil
}

func (d *memDir) lstat(name string) (nodeInfo, error) {
	n, err := d.entry("lstat", name)
	if err != nil {
		return nodeInfo{}, err
	}
	defer d.disk.mu.Unlock()
	return n.info(), nil
}

func (d *memDir) readlink(name string) (string, error) {
	n, err := d.entry("readlink", name)
	if err != nil {
		return "", err
	}
	defer d.disk.mu.Unlock()
	if n.kind != EntrySymlink {
		return "", errNoLink
	}
	return n.target, nil
}

func (d *memDir) openDir(name string) (dirNode, error) {
	n, err := d.entry("opendir", name)
	if err != nil {
		return nil, err
	}
	defer d.disk.mu.Unlock()
	if n.kind != EntryDir {
		return nil, fault(KindNotADirectory)
	}
	return &memDir{disk: d.disk, node: n, path: joinHost(d.path, name)}, nil
}

func (d *memDir) open(name string, n *memNode) *memFile {
	return &memFile{disk: d.disk, node: n, path: joinHost(d.path, name)}
}

func (d *memDir) openRead(name string) (fileNode, error) {
	n, err := d.entry("open", name)
	if err != nil {
		return nil, err
	}
	defer d.disk.mu.Unlock()
	return d.open(name, n), nil
}

func (d *memDir) openAppend(name string) (fileNode, error) {
	if err := d.disk.begin("append", d.path, name); err != nil {
		return nil, err
	}
	defer d.disk.mu.Unlock()
	_, n := d.get(name)
	if n == nil {
		n = d.put(name, EntryFile, newFilePerm&^memUmask)
	}
	return d.open(name, n), nil
}

// memUmask is the mask a host would commonly have.
const memUmask = 0o022

// put adds an entry. Under disk.mu.
func (d *memDir) put(name string, kind EntryKind, perm uint32) *memNode {
	n := d.disk.newNode(kind, perm)
	n.parent = d.node
	d.node.children[name] = n
	return n
}

// alive is false once the directory has been removed; nothing can be made in
// it then. Under disk.mu.
func (d *memDir) alive() bool { return d.node.nlink > 0 }

func (d *memDir) create(name string, perm uint32) (fileNode, error) {
	if err := d.disk.begin("create", d.path, name); err != nil {
		return nil, err
	}
	defer d.disk.mu.Unlock()
	if _, n := d.get(name); n != nil {
		return nil, fault(KindAlreadyExists)
	}
	if !d.alive() {
		return nil, fault(KindNotFound)
	}
	return d.open(name, d.put(name, EntryFile, perm&^memUmask)), nil
}

func (d *memDir) names(yield func(string) bool) error {
	if err := d.disk.begin("names", d.path, ""); err != nil {
		return err
	}
	names := sortedNames(d.node)
	d.disk.mu.Unlock()
	for _, name := range names {
		if !yield(name) {
			break
		}
	}
	return nil
}

func (d *memDir) mkdir(name string) error {
	if err := d.disk.begin("mkdir", d.path, name); err != nil {
		return err
	}
	defer d.disk.mu.Unlock()
	if _, n := d.get(name); n != nil {
		return fault(KindAlreadyExists)
	}
	if !d.alive() {
		return fault(KindNotFound)
	}
	d.put(name, EntryDir, 0o777&^memUmask)
	return nil
}

func (d *memDir) remove(name string, dir bool) error {
	n, err := d.entry("remove", name)
	if err != nil {
		return err
	}
	defer d.disk.mu.Unlock()
	switch {
	case dir && n.kind != EntryDir:
		return fault(KindNotADirectory)
	case len(n.children) > 0:
		return fault(KindNotEmpty)
	}
	own, _ := d.get(name)
	delete(d.node.children, own)
	n.nlink--
	return nil
}

func (d *memDir) link(name string, to dirNode, toName string) error {
	n, err := d.entry("link", name)
	if err != nil {
		return err
	}
	defer d.disk.mu.Unlock()
	dst := to.(*memDir)
	switch _, taken := dst.get(toName); {
	case taken != nil:
		return fault(KindAlreadyExists)
	case n.kind == EntryDir:
		return fault(KindPermissionDenied)
	case !dst.alive():
		return fault(KindNotFound)
	}
	dst.node.children[toName] = n
	n.nlink++
	return nil
}

func (d *memDir) rename(name string, to dirNode, toName string) error {
	n, err := d.entry("rename", name)
	if err != nil {
		return err
	}
	defer d.disk.mu.Unlock()
	dst := to.(*memDir)
	own, old := dst.get(toName)
	switch {
	case old == n:
		return nil
	case old != nil && old.kind == EntryDir:
		return fault(KindAlreadyExists)
	case old != nil && n.kind == EntryDir:
		return fault(KindNotADirectory)
	case !dst.alive():
		return fault(KindNotFound)
	}
	for up := dst.node; n.kind == EntryDir; up = up.parent {
		if up == n {
			return fault(KindOther) // into itself
		}
		if up == up.parent {
			break
		}
	}
	if old != nil {
		delete(dst.node.children, own)
		old.nlink--
	}
	from, _ := d.get(name)
	delete(d.node.children, from)
	dst.node.children[toName] = n
	n.parent = dst.node
	return nil
}

func (d *memDir) sync() error {
	if err := d.disk.begin("sync", d.path, ""); err != nil {
		return err
	}
	d.disk.mu.Unlock()
	return nil
}

func (d *memDir) close() {}

// memFile is an opened file.
type memFile struct {
	disk   *memDisk
	node   *memNode
	path   string
	off    int64
	holder bool // has locked node
	closed bool
}

func (f *memFile) step(name string) error {
	if err := f.disk.begin(name, f.path, ""); err != nil {
		return err
	}
	if f.closed {
		f.disk.mu.Unlock()
		return fault(KindOther)
	}
	return nil
}

func (f *memFile) Read(b []byte) (int, error) {
	n, err := f.ReadAt(b, f.off)
	f.off += int64(n)
	if n > 0 && err == io.EOF {
		err = nil
	}
	return n, err
}

func (f *memFile) ReadAt(b []byte, off int64) (int, error) {
	if err := f.step("read"); err != nil {
		return 0, err
	}
	defer f.disk.mu.Unlock()
	if off >= int64(len(f.node.data)) {
		if len(b) == 0 {
			return 0, nil
		}
		return 0, io.EOF
	}
	n := copy(b, f.node.data[off:])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

func (f *memFile) Write(b []byte) (int, error) {
	if err := f.step("write"); err != nil {
		return 0, err
	}
	defer f.disk.mu.Unlock()
	f.node.data = append(f.node.data, b...)
	return len(b), nil
}

func (f *memFile) Close() error {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if f.closed {
		return fault(KindOther)
	}
	if f.holder {
		f.node.locked = false
	}
	f.closed = true
	return nil
}

func (f *memFile) info() (nodeInfo, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	return f.node.info(), nil
}

func (f *memFile) chmod(perm uint32) error {
	if err := f.step("chmod"); err != nil {
		return err
	}
	defer f.disk.mu.Unlock()
	f.node.perm = perm
	return nil
}

func (f *memFile) sync() error {
	if err := f.step("sync"); err != nil {
		return err
	}
	f.disk.mu.Unlock()
	return nil
}

func (f *memFile) lock(wait bool) (bool, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if f.node.locked && !wait {
		return false, nil
	}
	f.node.locked, f.holder = true, true
	return true, nil
}

func (f *memFile) linked() bool {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	return f.node.nlink > 0
}
