package fspolicy

import (
	"strings"
	"sync"

	"github.com/gcrun/gcrun/internal/unicode17"
)

// Level says how far a file of the run itself is kept from the program.
// PATH-12.
type Level uint8

const (
	// ReadOnly: may be read and listed, not changed, replaced, moved or
	// removed. For the policy file and the program's sources.
	ReadOnly Level = iota + 1
	// Hidden: every use is refused with KindProtected, and listings leave it
	// out. For the log, its side files, the store, keys and secrets. A hidden
	// directory hides all in it.
	Hidden
)

// guard is the set of protected files. Files are recognised by the identity of
// what was opened, so another name or a hard link changes nothing; names that
// may not exist yet are recognised by the identity of their directory.
type guard struct {
	mu     sync.RWMutex
	byKey  map[fileKey]Level
	byName map[nameKey]Level
	// folded holds byName under folded names: on a host that folds case,
	// creating another spelling would create the protected name.
	folded map[nameKey]Level
	// pinned are the directories above protected files. Moving one would move
	// them.
	pinned map[fileKey]bool
}

type nameKey struct {
	dir  fileKey
	name string
}

func newGuard() *guard {
	return &guard{
		byKey: map[fileKey]Level{}, byName: map[nameKey]Level{},
		folded: map[nameKey]Level{}, pinned: map[fileKey]bool{},
	}
}

func (g *guard) addKey(k fileKey, l Level) {
	if k == (fileKey{}) {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.byKey[k] = max(g.byKey[k], l)
}

func (g *guard) addName(dir fileKey, name string, l Level) {
	if dir == (fileKey{}) {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	exact := nameKey{dir, unicode17.NFC(name)}
	g.byName[exact] = max(g.byName[exact], l)
	folded := nameKey{dir, foldName(name)}
	g.folded[folded] = max(g.folded[folded], l)
}

func (g *guard) pin(k fileKey) {
	if k == (fileKey{}) {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.pinned[k] = true
}

// ofKey returns the level of an opened or described file.
func (g *guard) ofKey(k fileKey) Level {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return g.byKey[k]
}

// ofEntry returns the level of an entry by what it is and where it is.
func (g *guard) ofEntry(dir fileKey, name string, k fileKey) Level {
	g.mu.RLock()
	defer g.mu.RUnlock()
	l := g.byKey[k]
	if len(g.byName) == 0 {
		return l
	}
	return max(l, g.byName[nameKey{dir, unicode17.NFC(name)}])
}

// keepsName reports whether the name may not be created in dir.
func (g *guard) keepsName(dir fileKey, name string) bool {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return len(g.folded) != 0 && g.folded[nameKey{dir, foldName(name)}] != 0
}

func (g *guard) isPinned(k fileKey) bool {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return g.pinned[k]
}

// tempPrefix begins the name of every temporary file; sixteen lower-case hex
// digits follow. PATH-11.
const tempPrefix = ".gcrun-"

// isTempName reports whether name is one of gcrun's temporary names.
func isTempName(name string) bool {
	hex, ok := strings.CutPrefix(name, tempPrefix)
	if !ok || len(hex) != 16 {
		return false
	}
	return strings.Trim(hex, "0123456789abcdef") == ""
}
