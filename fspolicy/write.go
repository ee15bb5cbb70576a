package fspolicy

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"io"
)

// ioChunk is how much is moved between looks at the context.
const ioChunk = 256 << 10

// newFilePerm is what a new file may have, before the host's mask.
const newFilePerm = 0o666

// mayCreate says whether an entry may come to be at pl.
func (t *tree) mayCreate(pl *place, p Path) error {
	switch {
	case pl.frozen || t.guard.keepsName(pl.at.key, pl.name) || t.level(pl) != 0:
		return ioError(KindProtected, p)
	case pl.folded:
		// Another spelling is there, and the host would take this one for it.
		return &Error{Kind: KindCollision, Path: p.String(), Count: 2}
	case !pl.at.allows(2):
		return ioError(KindPermissionDenied, p)
	}
	return nil
}

// mayChange says whether the entry at pl may be replaced, moved or removed.
func (t *tree) mayChange(pl *place, p Path) error {
	switch {
	case pl.name == "":
		return ioError(KindRoot, p)
	case pl.frozen || t.level(pl) != 0 || t.guard.keepsName(pl.at.key, pl.name) || t.guard.isPinned(pl.info.key):
		return ioError(KindProtected, p)
	case !pl.at.allows(2):
		return ioError(KindPermissionDenied, p)
	}
	return nil
}

// writeRefusal says why the content of an existing entry cannot be written.
func writeRefusal(info nodeInfo) Kind {
	switch {
	case info.kind == EntryDir:
		return KindIsADirectory
	case info.kind != EntryFile:
		return KindNotRegular
	case !info.allows(2):
		return KindPermissionDenied
	}
	return ""
}

// Write implements FS.
func (t *tree) Write(ctx context.Context, p Path, data io.Reader, mode WriteMode) error {
	leave, err := t.enter(ctx, p)
	if err != nil {
		return err
	}
	defer leave()
	return t.write(ctx, p, data, mode, 0)
}

// write does the work of Write; perm, when not 0, is the mode of a new file.
func (t *tree) write(ctx context.Context, p Path, data io.Reader, mode WriteMode, perm uint32) error {
	pl, err := t.reach(ctx, p, mode != WriteNew)
	if err != nil {
		return err
	}
	defer pl.close()
	if err := t.mayWrite(pl, p, mode); err != nil {
		return err
	}
	if pl.found {
		perm = pl.info.perm
	}
	tmp, err := t.writeTemp(ctx, pl, p, data, perm)
	if err != nil {
		return err
	}
	err = pl.publish(tmp, mode)
	if err == nil {
		err = pl.dir.sync()
	}
	if err != nil {
		return ioError(kindOf(err), p)
	}
	return nil
}

func (t *tree) mayWrite(pl *place, p Path, mode WriteMode) error {
	switch {
	case pl.noParent:
		return ioError(KindNotFound, p)
	case pl.name == "":
		return ioError(KindIsADirectory, p)
	case !pl.found && mode == WriteReplace:
		return ioError(KindNotFound, p)
	case !pl.found:
		return t.mayCreate(pl, p)
	}
	if pl.info.kind != EntryDir {
		if err := t.mayChange(pl, p); err != nil {
			return err
		}
	}
	if mode == WriteNew {
		return ioError(KindAlreadyExists, p)
	}
	if kind := writeRefusal(pl.info); kind != "" {
		return ioError(kind, p)
	}
	return nil
}

// temp is a complete temporary file, not yet in place. It stays open, and so
// marked as in use, until it is.
type temp struct {
	name string
	file fileNode
}

// writeTemp writes data to a new temporary file in pl's directory.
func (t *tree) writeTemp(ctx context.Context, pl *place, p Path, data io.Reader, perm uint32) (temp, error) {
	t.sweepOnce(pl.dir, pl.at.key)
	tmp, err := newTemp(pl.dir, perm)
	if err != nil {
		return temp{}, ioError(kindOf(err), p)
	}
	err = copyData(ctx, p, tmp.file, data)
	if err == nil {
		err = asError(tmp.file.sync(), p)
	}
	if err != nil {
		tmp.discard(pl.dir)
		return temp{}, err
	}
	return tmp, nil
}

func asError(err error, p Path) error {
	if err == nil {
		return nil
	}
	return ioError(kindOf(err), p)
}

// newTemp creates and marks a temporary file. Between the two another run may
// take it for a stale one and remove it; then the next name is tried.
func newTemp(d dirNode, perm uint32) (temp, error) {
	for try := 0; ; try++ {
		var random [8]byte
		rand.Read(random[:])
		name := tempPrefix + hex.EncodeToString(random[:])
		start := uint32(newFilePerm)
		if perm != 0 {
			start = 0o600
		}
		f, err := d.create(name, start)
		if err != nil {
			return temp{}, err
		}
		tmp := temp{name: name, file: f}
		_, err = f.lock(true)
		if err == nil && perm != 0 {
			err = f.chmod(perm)
		}
		if err != nil {
			tmp.discard(d)
			return temp{}, err
		}
		if f.linked() {
			return tmp, nil
		}
		f.Close()
		if try == 3 {
			return temp{}, fault(KindBusy)
		}
	}
}

func (tmp temp) discard(d dirNode) {
	d.remove(tmp.name, false)
	tmp.file.Close()
}

// publish puts a temporary file in place and closes it.
func (pl *place) publish(tmp temp, mode WriteMode) error {
	var err error
	if mode != WriteNew {
		err = pl.dir.rename(tmp.name, pl.dir, pl.name)
	} else if err = pl.dir.link(tmp.name, pl.dir, pl.name); err == nil {
		// The file is there. A second name that stays is hidden and swept.
		_ = pl.dir.remove(tmp.name, false)
	} else if kindOf(err) == KindOther {
		err = claimAndRename(pl.dir, tmp.name, pl)
	}
	if err != nil {
		tmp.discard(pl.dir)
		return err
	}
	return tmp.file.Close()
}

// claimAndRename moves an entry of d to a free name where the host does not
// make the hard link that would do it: the name is taken with an empty file,
// which is then replaced. A crash between the two leaves it empty.
func claimAndRename(d dirNode, name string, to *place) error {
	f, err := to.dir.create(to.name, newFilePerm)
	if err != nil {
		return err
	}
	f.Close()
	err = d.rename(name, to.dir, to.name)
	if err != nil {
		_ = to.dir.remove(to.name, false)
	}
	return err
}

// copyData moves data to f. Errors of data come back as they are.
func copyData(ctx context.Context, p Path, f fileNode, data io.Reader) error {
	buf := make([]byte, ioChunk)
	for {
		if err := checkContext(ctx, p); err != nil {
			return err
		}
		n, readErr := data.Read(buf)
		if n > 0 {
			if _, err := f.Write(buf[:n]); err != nil {
				return ioError(kindOf(err), p)
			}
		}
		if readErr == io.EOF {
			return nil
		}
		if readErr != nil {
			return readErr
		}
	}
}

// Append implements FS.
func (t *tree) Append(ctx context.Context, p Path, data io.Reader) error {
	leave, err := t.enter(ctx, p)
	if err != nil {
		return err
	}
	defer leave()
	pl, err := t.reach(ctx, p, true)
	if err != nil {
		return err
	}
	defer pl.close()
	if err := t.mayAppend(pl, p); err != nil {
		return err
	}
	f, err := pl.dir.openAppend(pl.name)
	if err != nil {
		return ioError(kindOf(err), p)
	}
	err = t.appendTo(ctx, f, p, data)
	if closeErr := f.Close(); err == nil {
		err = asError(closeErr, p)
	}
	if err == nil && !pl.found {
		err = asError(pl.dir.sync(), p)
	}
	return err
}

func (t *tree) mayAppend(pl *place, p Path) error {
	switch {
	case pl.noParent:
		return ioError(KindNotFound, p)
	case pl.name == "":
		return ioError(KindIsADirectory, p)
	case !pl.found:
		return t.mayCreate(pl, p)
	case pl.frozen || t.level(pl) != 0:
		return ioError(KindProtected, p)
	}
	if kind := writeRefusal(pl.info); kind != "" {
		return ioError(kind, p)
	}
	return nil
}

// appendTo checks what was opened and writes to it.
func (t *tree) appendTo(ctx context.Context, f fileNode, p Path, data io.Reader) error {
	info, err := f.info()
	if err != nil {
		return ioError(kindOf(err), p)
	}
	if t.guard.ofKey(info.key) != 0 {
		return ioError(KindProtected, p)
	}
	if kind := writeRefusal(info); kind != "" {
		return ioError(kind, p)
	}
	if err := copyData(ctx, p, f, data); err != nil {
		return err
	}
	return asError(f.sync(), p)
}

// sweepOnce removes stale temporaries from a directory the first time this
// tree writes in it. Failing to is no reason not to write.
func (t *tree) sweepOnce(d dirNode, key fileKey) {
	t.mu.Lock()
	done := t.swept[key]
	t.swept[key] = true
	t.mu.Unlock()
	if !done {
		sweep(d)
	}
}

// sweep removes the temporary files in d that no running writer holds. PATH-11.
func sweep(d dirNode) {
	var stale []string
	_ = scanNames(d, func(name string) bool {
		if isTempName(name) {
			stale = append(stale, name)
		}
		return true
	})
	for _, name := range stale {
		f, err := d.openRead(name)
		if err != nil {
			continue
		}
		if info, err := f.info(); err == nil && info.kind == EntryFile {
			if free, err := f.lock(false); err == nil && free {
				d.remove(name, false)
			}
		}
		f.Close()
	}
}
