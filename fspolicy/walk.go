package fspolicy

import (
	"context"
	"slices"
	"strings"
	"sync"
)

// Bounds of one walk. PATH-7.
const (
	maxLinks     = 40
	maxWalkSteps = 10_000
)

// tree is an FS over a backend. Its methods are in the files named for the
// operations.
type tree struct {
	guard *guard

	mu     sync.Mutex
	root   dirNode // nil when closed
	inUse  int     // calls that hold root
	closed bool
	swept  map[fileKey]bool // directories cleaned of stale temporaries
}

func newTree(root dirNode) *tree {
	return &tree{guard: newGuard(), root: root, swept: map[fileKey]bool{}}
}

// enter begins a call; the returned function ends it.
func (t *tree) enter(ctx context.Context, p Path) (func(), error) {
	if err := checkContext(ctx, p); err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil, ioError(KindOther, p)
	}
	t.inUse++
	return t.leave, nil
}

func (t *tree) leave() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.inUse--
	t.release()
}

// release closes the base directory once nobody needs it.
func (t *tree) release() {
	if t.closed && t.inUse == 0 && t.root != nil {
		t.root.close()
		t.root = nil
	}
}

// Close implements FS. It waits for nothing: calls under way end normally.
func (t *tree) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	t.release()
	return nil
}

// place is where a walk ended: an entry of an opened directory, or, when name
// is "", that directory itself.
type place struct {
	dir   dirNode
	at    nodeInfo // of dir
	names []string // host names from the base to dir
	name  string   // host name; of the entry to be, when not found
	found bool
	info  nodeInfo // when found

	frozen   bool // some directory on the way is protected as ReadOnly
	viaLink  bool // the last component asked for was a link that was followed
	noParent bool // a directory on the way is missing; name is meaningless
	folded   bool // a host that folds case has another spelling there
	keep     bool // dir is the base directory, which the tree owns
}

func (pl *place) close() {
	if !pl.keep && pl.dir != nil {
		pl.dir.close()
	}
	pl.dir = nil
}

// step is a component still to be walked. Components from links are host names
// and must be spelled as on disk, as the host itself would demand.
type step struct {
	name  string
	exact bool
}

// walker holds the state of one walk.
type walker struct {
	t       *tree
	path    Path
	pl      *place
	pending []step // in reverse: the next one is last
	links   int
	steps   int
	follow  bool // resolve a link in the last place too
	mkdirs  bool // create what is missing on the way, the last place included
	needDir bool // a link asked for a directory by a trailing slash or dot
}

// walk finds p. The caller closes the place it gets. A missing entry, or a
// missing directory on the way, is a place with found false.
func (t *tree) walk(ctx context.Context, p Path, follow, mkdirs bool) (*place, error) {
	w := &walker{t: t, path: p, follow: follow, mkdirs: mkdirs}
	for _, c := range p.Components() {
		w.pending = append(w.pending, step{name: c})
	}
	slices.Reverse(w.pending)
	if err := w.restart(); err != nil {
		return nil, err
	}
	for {
		if err := checkContext(ctx, p); err != nil {
			w.pl.close()
			return nil, err
		}
		done, err := w.step()
		if err != nil {
			w.pl.close()
			return nil, w.fail(err)
		}
		if done {
			return w.pl, nil
		}
	}
}

// fail gives a backend's error the path that was asked for.
func (w *walker) fail(err error) error {
	if f, ok := err.(fault); ok {
		return ioError(Kind(f), w.path)
	}
	return err
}

// restart puts the walk back at the base directory.
func (w *walker) restart() error {
	if w.pl != nil {
		w.pl.close()
	}
	w.pl = &place{dir: w.t.root, keep: true, viaLink: w.pl != nil && w.pl.viaLink}
	at, err := w.pl.dir.info()
	if err != nil {
		return w.fail(err)
	}
	w.pl.at = at
	if err := w.checkDir(); err != nil {
		return w.fail(err)
	}
	return nil
}

// step walks one component and reports whether the walk is over.
func (w *walker) step() (bool, error) {
	if w.steps++; w.steps > maxWalkSteps {
		return false, fault(KindTooManyLinks)
	}
	if len(w.pending) == 0 {
		w.pl.name, w.pl.found, w.pl.info = "", true, w.pl.at
		return true, nil
	}
	s := w.pending[len(w.pending)-1]
	w.pending = w.pending[:len(w.pending)-1]
	if s.name == ".." {
		return false, w.up()
	}
	last := len(w.pending) == 0
	info, found, err := w.find(&s)
	if err != nil {
		return false, err
	}
	w.pl.name, w.pl.found, w.pl.info = s.name, found, info
	if w.t.guard.ofEntry(w.pl.at.key, s.name, info.key) == Hidden {
		return false, w.refuse(KindProtected)
	}
	switch {
	case !found && w.mkdirs:
		return false, w.makeDir(s.name)
	case !found:
		w.pl.noParent = !last
		return true, nil
	case info.kind == EntrySymlink && (!last || w.follow):
		w.pl.viaLink = w.pl.viaLink || last
		return false, w.link(s.name)
	case last && !w.mkdirs:
		if w.needDir && info.kind != EntryDir {
			return false, fault(KindNotADirectory)
		}
		return true, nil
	case last && info.kind != EntryDir:
		return false, fault(KindAlreadyExists)
	case info.kind != EntryDir:
		return false, fault(KindNotADirectory)
	}
	return false, w.down(s.name)
}

// down opens the directory name and moves into it.
func (w *walker) down(name string) error {
	next, err := w.pl.dir.openDir(name)
	if err != nil {
		return err
	}
	at, err := next.info()
	if err != nil {
		next.close()
		return err
	}
	if w.t.guard.ofEntry(w.pl.at.key, name, at.key) == Hidden {
		next.close()
		return w.refuse(KindProtected)
	}
	names := append(w.pl.names, name)
	w.pl.close()
	*w.pl = place{dir: next, at: at, names: names, frozen: w.pl.frozen, viaLink: w.pl.viaLink}
	return w.checkDir()
}

// checkDir looks at the protection and mode of the directory just opened.
// Holding a directory open takes the right to read it, also to pass through.
func (w *walker) checkDir() error {
	if !w.pl.at.allows(4) {
		return fault(KindPermissionDenied)
	}
	switch w.t.guard.ofKey(w.pl.at.key) {
	case Hidden:
		return w.refuse(KindProtected)
	case ReadOnly:
		w.pl.frozen = true
	}
	return nil
}

func (w *walker) refuse(k Kind) error { return &Error{Kind: k, Path: w.path.String()} }

// up goes to the parent directory for the `..` of a link, and for those that
// follow it directly. The walk starts again from the base: the directory it is
// in may have been moved since it was opened, and its parent with it.
func (w *walker) up() error {
	n := 1
	for len(w.pending) > 0 && w.pending[len(w.pending)-1].name == ".." {
		w.pending = w.pending[:len(w.pending)-1]
		n++
	}
	if n > len(w.pl.names) {
		return w.refuse(KindEscapes)
	}
	for _, name := range slices.Backward(w.pl.names[:len(w.pl.names)-n]) {
		w.pending = append(w.pending, step{name: name, exact: true})
	}
	return w.restart()
}

// link replaces a link by the components of its target.
func (w *walker) link(name string) error {
	if w.links++; w.links > maxLinks {
		return fault(KindTooManyLinks)
	}
	target, err := w.pl.dir.readlink(name)
	switch {
	case err == errNoLink:
		w.pending = append(w.pending, step{name: name, exact: true})
		return nil // look again; the bound on steps ends it
	case err != nil:
		return err
	case target == "":
		return fault(KindNotFound)
	case isAbsoluteTarget(target):
		return w.refuse(KindEscapes)
	}
	last := len(w.pending) == 0
	parts := strings.Split(target, "/")
	if end := parts[len(parts)-1]; last && (end == "" || end == ".") {
		w.needDir = true
	}
	for _, c := range slices.Backward(parts) {
		if c != "" && c != "." {
			w.pending = append(w.pending, step{name: c, exact: true})
		}
	}
	return nil
}

// isAbsoluteTarget reports whether some host takes a link's target as absolute;
// the answer does not depend on where the run is.
func isAbsoluteTarget(target string) bool {
	return target[0] == '/' || target[0] == '\\' || componentRefusal(target) == KindDrivePrefix
}

// makeDir creates a missing directory on the way; the walk then looks again.
func (w *walker) makeDir(name string) error {
	if err := w.t.mayCreate(w.pl, w.path); err != nil {
		return err
	}
	err := w.pl.dir.mkdir(name)
	if err != nil && kindOf(err) != KindAlreadyExists {
		return err
	}
	if err == nil {
		if err := w.pl.dir.sync(); err != nil {
			return err
		}
	}
	w.pending = append(w.pending, step{name: name, exact: true})
	return nil
}
