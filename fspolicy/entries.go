package fspolicy

import (
	"context"
	"path"
	"strings"
)

// Mkdir implements FS.
func (t *tree) Mkdir(ctx context.Context, p Path, parents bool) error {
	leave, err := t.enter(ctx, p)
	if err != nil {
		return err
	}
	defer leave()
	pl, err := t.walk(ctx, p, parents, parents)
	if err != nil {
		return err
	}
	defer pl.close()
	switch {
	case t.level(pl) == Hidden:
		return ioError(KindProtected, p)
	case pl.noParent:
		return ioError(KindNotFound, p)
	case pl.found && parents:
		return nil
	case pl.found:
		return ioError(KindAlreadyExists, p)
	}
	if err := t.mayCreate(pl, p); err != nil {
		return err
	}
	if err := pl.dir.mkdir(pl.name); err != nil {
		return ioError(kindOf(err), p)
	}
	return asError(pl.dir.sync(), p)
}

// Remove implements FS.
func (t *tree) Remove(ctx context.Context, p Path, recursive bool) error {
	leave, err := t.enter(ctx, p)
	if err != nil {
		return err
	}
	defer leave()
	pl, err := t.reach(ctx, p, false)
	if err != nil {
		return err
	}
	defer pl.close()
	if !pl.found {
		return nil
	}
	if err := t.mayChange(pl, p); err != nil {
		return err
	}
	isDir := pl.info.kind == EntryDir
	if isDir && recursive {
		// All of it is looked at before any of it goes.
		if err := t.emptyDir(ctx, pl, p, false); err != nil {
			return err
		}
		if err := t.emptyDir(ctx, pl, p, true); err != nil {
			return err
		}
	}
	err = pl.dir.remove(pl.name, isDir)
	if isDir && kindOf(err) == KindNotEmpty {
		// It may be empty but for what listings do not show.
		if d, openErr := pl.dir.openDir(pl.name); openErr == nil {
			sweep(d)
			d.close()
			err = pl.dir.remove(pl.name, true)
		}
	}
	if err != nil && kindOf(err) != KindNotFound {
		return ioError(kindOf(err), p)
	}
	return asError(pl.dir.sync(), p)
}

// emptyDir walks the directory at pl; with remove it removes what is in it,
// without it only makes sure that all of that may be removed.
func (t *tree) emptyDir(ctx context.Context, pl *place, p Path, remove bool) error {
	d, err := pl.dir.openDir(pl.name)
	if err != nil {
		return ioError(kindOf(err), p)
	}
	defer d.close()
	seen := 0
	return t.emptyOpened(ctx, d, p, remove, 1, &seen)
}

func (t *tree) emptyOpened(ctx context.Context, d dirNode, p Path, remove bool, depth int, seen *int) error {
	at, err := d.info()
	if err != nil {
		return ioError(kindOf(err), p)
	}
	if depth > DefaultListDepth {
		return ioError(KindTooLarge, p)
	}
	if !at.allows(4) || !at.allows(2) || !at.allows(1) {
		return ioError(KindPermissionDenied, p)
	}
	var names []string
	err = d.names(func(name string) bool {
		names = append(names, name)
		*seen++
		return *seen <= DefaultListEntries
	})
	if err != nil {
		return ioError(kindOf(err), p)
	}
	if *seen > DefaultListEntries {
		return ioError(KindTooLarge, p)
	}
	for _, name := range names {
		if err := checkContext(ctx, p); err != nil {
			return err
		}
		if err := t.emptyEntry(ctx, d, at, name, p, remove, depth, seen); err != nil {
			return err
		}
	}
	return nil
}

func (t *tree) emptyEntry(ctx context.Context, d dirNode, at nodeInfo, name string, p Path, remove bool, depth int, seen *int) error {
	info, err := d.lstat(name)
	if kindOf(err) == KindNotFound {
		return nil
	}
	if err != nil {
		return ioError(kindOf(err), p)
	}
	if t.guard.ofEntry(at.key, name, info.key) != 0 || t.guard.isPinned(info.key) {
		return ioError(KindProtected, p)
	}
	if info.kind == EntryDir {
		sub, err := d.openDir(name)
		if err != nil {
			return ioError(kindOf(err), p)
		}
		err = t.emptyOpened(ctx, sub, p, remove, depth+1, seen)
		sub.close()
		if err != nil {
			return err
		}
	}
	if !remove {
		return nil
	}
	if err := d.remove(name, info.kind == EntryDir); err != nil && kindOf(err) != KindNotFound {
		return ioError(kindOf(err), p)
	}
	return nil
}

// Rename implements FS.
func (t *tree) Rename(ctx context.Context, from, to Path, overwrite bool) error {
	leave, err := t.enter(ctx, from)
	if err != nil {
		return err
	}
	defer leave()
	src, err := t.reach(ctx, from, false)
	if err != nil {
		return err
	}
	defer src.close()
	if !src.found {
		return ioError(KindNotFound, from)
	}
	if err := t.mayChange(src, from); err != nil {
		return err
	}
	dst, err := t.reach(ctx, to, false)
	if err != nil {
		return err
	}
	defer dst.close()
	same, err := t.mayLand(src, dst, to, overwrite)
	if err != nil || same {
		return err
	}
	if err := t.linksStayInside(ctx, src, dst, from); err != nil {
		return err
	}
	return t.move(src, dst, to, overwrite)
}

// mayLand says whether src may become dst; same is true when it is there
// already.
func (t *tree) mayLand(src, dst *place, to Path, overwrite bool) (same bool, err error) {
	switch {
	case dst.noParent:
		return false, ioError(KindNotFound, to)
	case dst.name == "":
		return false, ioError(KindRoot, to)
	case !dst.found:
		return false, t.mayCreate(dst, to)
	}
	if err := t.mayChange(dst, to); err != nil {
		return false, err
	}
	srcDir, dstDir := src.info.kind == EntryDir, dst.info.kind == EntryDir
	switch {
	case !overwrite:
		return false, ioError(KindAlreadyExists, to)
	case src.at.key == dst.at.key && src.name == dst.name:
		return true, nil
	case dstDir && !srcDir:
		return false, ioError(KindIsADirectory, to)
	case srcDir && !dstDir:
		return false, ioError(KindNotADirectory, to)
	case dstDir:
		return false, ioError(KindAlreadyExists, to)
	}
	return false, nil
}

// move does the rename that was found to be allowed.
func (t *tree) move(src, dst *place, to Path, overwrite bool) error {
	var err error
	switch {
	case dst.found && dst.info.key == src.info.key && src.info.key != fileKey{}:
		// Two names of one file: hosts leave both when asked to rename.
		err = src.dir.remove(src.name, false)
	case overwrite || src.info.kind == EntryDir:
		err = src.dir.rename(src.name, dst.dir, dst.name)
	default:
		err = src.dir.link(src.name, dst.dir, dst.name)
		if err == nil {
			err = src.dir.remove(src.name, false)
		} else if kindOf(err) == KindOther {
			err = claimAndRename(src.dir, src.name, dst)
		}
	}
	if err == nil {
		err = dst.dir.sync()
	}
	if err == nil {
		err = src.dir.sync()
	}
	return asError(err, to)
}

// linksStayInside refuses a move that would make a relative link lead out of
// the base from its new place: the program could not follow it, but others
// might. It goes by the text of links, taking directories on their way for
// directories. PATH-13.
func (t *tree) linksStayInside(ctx context.Context, src, dst *place, from Path) error {
	if len(dst.names) >= len(src.names) {
		return nil // no link gets closer to the base
	}
	switch src.info.kind {
	case EntrySymlink:
		return checkMovedLink(src.dir, src.name, dst.names, from)
	case EntryDir:
		d, err := src.dir.openDir(src.name)
		if err != nil {
			return ioError(kindOf(err), from)
		}
		defer d.close()
		seen := 0
		return checkMovedDir(ctx, d, append(dst.names[:len(dst.names):len(dst.names)], dst.name), from, 1, &seen)
	}
	return nil
}

func checkMovedLink(d dirNode, name string, at []string, from Path) error {
	target, err := d.readlink(name)
	if err != nil {
		return ioError(kindOf(err), from)
	}
	if target == "" || isAbsoluteTarget(target) {
		return nil // leads out from anywhere, and did before
	}
	if end := path.Join(strings.Join(at, "/"), target); end == ".." || strings.HasPrefix(end, "../") {
		return ioError(KindEscapes, from)
	}
	return nil
}

func checkMovedDir(ctx context.Context, d dirNode, at []string, from Path, depth int, seen *int) error {
	if depth > DefaultListDepth {
		return ioError(KindTooLarge, from)
	}
	var names []string
	err := d.names(func(name string) bool {
		names = append(names, name)
		*seen++
		return *seen <= maxScan
	})
	if err != nil {
		return ioError(kindOf(err), from)
	}
	if *seen > maxScan {
		return ioError(KindTooLarge, from)
	}
	for _, name := range names {
		if err := checkContext(ctx, from); err != nil {
			return err
		}
		info, err := d.lstat(name)
		switch {
		case kindOf(err) == KindNotFound:
		case err != nil:
			return ioError(kindOf(err), from)
		case info.kind == EntrySymlink:
			if err := checkMovedLink(d, name, at, from); err != nil {
				return err
			}
		case info.kind == EntryDir:
			sub, err := d.openDir(name)
			if err != nil {
				return ioError(kindOf(err), from)
			}
			err = checkMovedDir(ctx, sub, append(at[:len(at):len(at)], name), from, depth+1, seen)
			sub.close()
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// Copy implements FS.
func (t *tree) Copy(ctx context.Context, from, to Path, overwrite bool) error {
	src, err := t.Open(ctx, from)
	if err != nil {
		return err
	}
	defer src.Close()
	leave, err := t.enter(ctx, to)
	if err != nil {
		return err
	}
	defer leave()
	info, err := src.node.info()
	if err != nil {
		return ioError(kindOf(err), from)
	}
	mode := WriteNew
	if overwrite {
		mode = WriteAny
	}
	return t.write(ctx, to, src, mode, info.perm)
}
