package fspolicy

import (
	"slices"
	"strings"
	"sync"
)

// Memory is an FS that lives in memory, for tests and simulations. A program
// cannot tell it from a Root. Its other methods are for its owner: they set up
// what a host would have, raw names, links, modes, FIFOs, a host that folds
// case, and faults. Their paths are host paths, of which nothing is checked but
// that the parent exists; misuse of them panics, as in a test that is wrong.
type Memory struct {
	*tree
	disk *memDisk
}

var _ FS = (*Memory)(nil)

// memDisk is the state all directories and files of one Memory share.
type memDisk struct {
	root *memNode

	mu       sync.Mutex
	nextIno  uint64
	foldCase bool
	inject   func(step, hostPath string) Kind
}

// memNode is a file, directory, link or other thing. Under disk.mu.
type memNode struct {
	kind     EntryKind
	perm     uint32
	ino      uint64
	data     []byte
	target   string
	children map[string]*memNode
	parent   *memNode // of a directory that has a name; of the base, itself
	nlink    int
	locked   bool
}

// NewMemory returns an empty file system.
func NewMemory() *Memory {
	disk := &memDisk{}
	disk.root = disk.newNode(EntryDir, 0o755)
	disk.root.parent = disk.root
	return &Memory{tree: newTree(&memDir{disk: disk, node: disk.root}), disk: disk}
}

func (k *memDisk) newNode(kind EntryKind, perm uint32) *memNode {
	k.nextIno++
	n := &memNode{kind: kind, perm: perm, ino: k.nextIno, nlink: 1}
	if kind == EntryDir {
		n.children = map[string]*memNode{}
	}
	return n
}

// Inject makes f decide, before each step at the host, whether it fails: a kind
// other than "" is the failure. Steps are "lstat", "readlink", "opendir",
// "open", "append", "create", "names", "mkdir", "remove", "link", "rename",
// "sync", "read", "write", "chmod"; the path is the host path. f is called with
// no lock held. nil takes an earlier f away.
func (m *Memory) Inject(f func(step, hostPath string) Kind) {
	m.disk.mu.Lock()
	defer m.disk.mu.Unlock()
	m.disk.inject = f
}

// SetFoldCase makes look-ups ignore case, as some hosts do.
func (m *Memory) SetFoldCase(on bool) {
	m.disk.mu.Lock()
	defer m.disk.mu.Unlock()
	m.disk.foldCase = on
}

// AddFile makes a file, or replaces what is there.
func (m *Memory) AddFile(hostPath string, data []byte, perm uint32) {
	n := m.add(hostPath, EntryFile, perm)
	n.data = slices.Clone(data)
}

// AddDir makes a directory.
func (m *Memory) AddDir(hostPath string, perm uint32) { m.add(hostPath, EntryDir, perm) }

// AddSymlink makes a link with any target, also one that leads out.
func (m *Memory) AddSymlink(target, hostPath string) {
	m.add(hostPath, EntrySymlink, 0o777).target = target
}

// AddOther makes something that is no file, directory or link, as a FIFO.
func (m *Memory) AddOther(hostPath string, perm uint32) { m.add(hostPath, EntryOther, perm) }

// AddLink gives an existing file a second name.
func (m *Memory) AddLink(old, hostPath string) {
	m.disk.mu.Lock()
	defer m.disk.mu.Unlock()
	n := m.lookup(old)
	dir, name := m.split(hostPath)
	dir.children[name] = n
	n.nlink++
}

// Chmod sets the permission bits of an entry.
func (m *Memory) Chmod(hostPath string, perm uint32) {
	m.disk.mu.Lock()
	defer m.disk.mu.Unlock()
	m.lookup(hostPath).perm = perm
}

// HostNames returns the raw names in a directory, sorted, hidden ones too.
func (m *Memory) HostNames(hostPath string) []string {
	m.disk.mu.Lock()
	defer m.disk.mu.Unlock()
	return sortedNames(m.lookup(hostPath))
}

// Protect protects what the host path names, now or later, and the directories
// above it, as Root.ProtectPath does. It follows no links.
func (m *Memory) Protect(hostPath string, level Level) {
	m.disk.mu.Lock()
	defer m.disk.mu.Unlock()
	dir, name := m.split(hostPath)
	m.guard.addName(dir.key(), name, level)
	if n := dir.children[name]; n != nil {
		m.guard.addKey(n.key(), level)
	}
	for ; ; dir = dir.parent {
		m.guard.pin(dir.key())
		if dir == dir.parent {
			return
		}
	}
}

func (m *Memory) add(hostPath string, kind EntryKind, perm uint32) *memNode {
	m.disk.mu.Lock()
	defer m.disk.mu.Unlock()
	dir, name := m.split(hostPath)
	n := m.disk.newNode(kind, perm)
	n.parent = dir
	dir.children[name] = n
	return n
}

func (m *Memory) split(hostPath string) (*memNode, string) {
	i := strings.LastIndexByte(hostPath, '/')
	if i < 0 {
		return m.disk.root, hostPath
	}
	return m.lookup(hostPath[:i]), hostPath[i+1:]
}

func (m *Memory) lookup(hostPath string) *memNode {
	n := m.disk.root
	if hostPath == "." {
		return n
	}
	for _, c := range strings.Split(hostPath, "/") {
		if n = n.children[c]; n == nil {
			panic("fspolicy: BUG: Memory has no " + hostPath)
		}
	}
	return n
}

func sortedNames(n *memNode) []string {
	names := make([]string, 0, len(n.children))
	for name := range n.children {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (n *memNode) key() fileKey { return fileKey{ino: n.ino} }

func (n *memNode) info() nodeInfo {
	return nodeInfo{kind: n.kind, perm: n.perm, size: int64(len(n.data)), key: n.key()}
}
