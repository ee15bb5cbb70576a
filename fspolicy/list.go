package fspolicy

import (
	"context"
	"slices"
)

// maxRowless is how many names more than there may be rows are read from one
// directory, for those that turn out to be hidden, gone, or without a path.
const maxRowless = 10_000

// lister collects one listing. Directories are read depth first, holding those
// above open, which the bound on depth keeps to a number hosts allow.
type lister struct {
	t    *tree
	ctx  context.Context
	opts ListOptions
	rows []Entry
	// lost counts the names no Path can stand for, by directory.
	lost map[Path]int
}

// List implements FS.
func (t *tree) List(ctx context.Context, p Path, opts ListOptions) ([]Entry, error) {
	leave, err := t.enter(ctx, p)
	if err != nil {
		return nil, err
	}
	defer leave()
	pl, err := t.reach(ctx, p, true)
	if err != nil {
		return nil, err
	}
	defer pl.close()
	dir, err := t.openFound(pl, p)
	if err != nil {
		return nil, err
	}
	if dir != pl.dir {
		defer dir.close()
	}
	l := &lister{t: t, ctx: ctx, opts: opts.withDefaults(), lost: map[Path]int{}}
	if err := l.read(dir, p, 1); err != nil {
		return nil, err
	}
	return l.finish()
}

// openFound opens the directory a walk ended at.
func (t *tree) openFound(pl *place, p Path) (dirNode, error) {
	switch {
	case !pl.found:
		return nil, ioError(KindNotFound, p)
	case pl.info.kind != EntryDir:
		return nil, ioError(KindNotADirectory, p)
	case pl.name == "":
		return pl.dir, nil
	}
	dir, err := pl.dir.openDir(pl.name)
	if err != nil {
		return nil, ioError(kindOf(err), p)
	}
	at, err := dir.info()
	if err == nil && t.guard.ofKey(at.key) == Hidden {
		err = fault(KindProtected)
	}
	if err != nil {
		dir.close()
		return nil, ioError(kindOf(err), p)
	}
	return dir, nil
}

// child is an entry to go on with.
type child struct {
	host string
	path Path
	info nodeInfo
}

// read adds the entries of dir, whose path is p, at the given depth.
func (l *lister) read(dir dirNode, p Path, depth int) error {
	at, err := dir.info()
	if err != nil {
		return ioError(kindOf(err), p)
	}
	if !at.allows(4) || !at.allows(1) {
		return ioError(KindPermissionDenied, p)
	}
	if depth > l.opts.MaxDepth {
		return ioError(KindTooLarge, p)
	}
	children, err := l.entries(dir, at, p)
	if err != nil || !l.opts.Recursive {
		return err
	}
	for _, c := range children {
		if c.info.kind != EntryDir {
			continue
		}
		if err := l.enterChild(dir, c, depth); err != nil {
			return err
		}
	}
	return nil
}

func (l *lister) enterChild(dir dirNode, c child, depth int) error {
	sub, err := dir.openDir(c.host)
	switch kindOf(err) {
	case "":
	case KindNotFound, KindNotADirectory:
		return nil // replaced since it was described
	default:
		return ioError(kindOf(err), c.path)
	}
	defer sub.close()
	if at, err := sub.info(); err == nil && l.t.guard.ofKey(at.key) == Hidden {
		return nil
	}
	return l.read(sub, c.path, depth+1)
}

// entries describes the entries of one directory and adds their rows.
func (l *lister) entries(dir dirNode, at nodeInfo, p Path) ([]child, error) {
	var names []string
	room := l.opts.MaxEntries - len(l.rows) + maxRowless
	err := dir.names(func(name string) bool {
		if !isTempName(name) {
			names = append(names, name)
		}
		return len(names) <= room && l.ctx.Err() == nil
	})
	switch {
	case err != nil:
		return nil, ioError(kindOf(err), p)
	case l.ctx.Err() != nil:
		return nil, checkContext(l.ctx, p)
	case len(names) > room:
		return nil, ioError(KindTooLarge, p)
	}
	slices.Sort(names)
	var out []child
	for _, name := range names {
		if err := checkContext(l.ctx, p); err != nil {
			return nil, err
		}
		c, ok, err := l.describe(dir, at, p, name)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		if len(l.rows) == l.opts.MaxEntries {
			return nil, ioError(KindTooLarge, p)
		}
		l.rows = append(l.rows, Entry{Name: c.path.Base(), Path: c.path, Kind: c.info.kind, Size: c.info.reportedSize()})
		out = append(out, c)
	}
	return out, nil
}

// describe tells what the entry name is; ok is false when it has no row.
func (l *lister) describe(dir dirNode, at nodeInfo, p Path, name string) (c child, ok bool, err error) {
	info, err := dir.lstat(name)
	if kindOf(err) == KindNotFound {
		return child{}, false, nil // removed since it was read
	}
	if err != nil {
		return child{}, false, ioError(kindOf(err), p)
	}
	if l.t.guard.ofEntry(at.key, name, info.key) == Hidden {
		return child{}, false, nil
	}
	path, named := p.child(name)
	if !named {
		l.lost[p]++
		return child{}, false, nil
	}
	return child{host: name, path: path, info: info}, true, nil
}

// finish sorts the rows and reports what stands in the way of them, the first
// in path order: names without a path, then names that share one.
func (l *lister) finish() ([]Entry, error) {
	if len(l.lost) > 0 && !l.opts.SkipUnencodable {
		dirs := make([]Path, 0, len(l.lost))
		for p := range l.lost {
			dirs = append(dirs, p)
		}
		first := slices.MinFunc(dirs, comparePaths)
		return nil, &Error{Kind: KindUnencodable, Path: first.String(), Count: l.lost[first]}
	}
	slices.SortStableFunc(l.rows, func(a, b Entry) int { return comparePaths(a.Path, b.Path) })
	for i := 1; i < len(l.rows); i++ {
		if l.rows[i].Path != l.rows[i-1].Path {
			continue
		}
		n := 2
		for i+n-1 < len(l.rows) && l.rows[i+n-1].Path == l.rows[i].Path {
			n++
		}
		return nil, &Error{Kind: KindCollision, Path: l.rows[i].Path.String(), Count: n}
	}
	return l.rows, nil
}
