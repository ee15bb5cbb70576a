package fspolicy

import (
	"context"
	"io"
)

// reach walks to p and refuses what is hidden.
func (t *tree) reach(ctx context.Context, p Path, follow bool) (*place, error) {
	pl, err := t.walk(ctx, p, follow, false)
	if err != nil {
		return nil, err
	}
	if t.level(pl) == Hidden {
		pl.close()
		return nil, ioError(KindProtected, p)
	}
	return pl, nil
}

// level is the protection of the entry a walk ended at.
func (t *tree) level(pl *place) Level {
	switch {
	case pl.noParent:
		return 0
	case pl.name == "":
		return t.guard.ofKey(pl.at.key)
	}
	var key fileKey
	if pl.found {
		key = pl.info.key
	}
	return t.guard.ofEntry(pl.at.key, pl.name, key)
}

// File is a regular file opened for reading. It is used by one goroutine at a
// time, but for ReadAt and Size. Close it.
type File struct {
	ctx  context.Context
	node fileNode
	path Path
	size int64
}

// Open implements FS.
func (t *tree) Open(ctx context.Context, p Path) (*File, error) {
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
	if !pl.found {
		return nil, ioError(KindNotFound, p)
	}
	if kind := readRefusal(pl.info); kind != "" {
		return nil, ioError(kind, p)
	}
	node, err := pl.dir.openRead(pl.name)
	if err != nil {
		return nil, ioError(kindOf(err), p)
	}
	// The entry may be another one by now. What counts is what is open.
	info, err := node.info()
	kind := kindOf(err)
	switch {
	case err != nil:
	case t.guard.ofKey(info.key) == Hidden:
		kind = KindProtected
	default:
		kind = readRefusal(info)
	}
	if kind != "" {
		node.Close()
		return nil, ioError(kind, p)
	}
	return &File{ctx: ctx, node: node, path: p, size: info.size}, nil
}

// readRefusal says why an entry cannot be read, or "".
func readRefusal(info nodeInfo) Kind {
	switch {
	case info.kind == EntryDir:
		return KindIsADirectory
	case info.kind != EntryFile:
		return KindNotRegular
	case !info.allows(4):
		return KindPermissionDenied
	}
	return ""
}

// Path returns the path the file was opened by.
func (f *File) Path() Path { return f.path }

// Size returns the size in bytes when the file was opened. Reading may give
// more or less if someone else writes meanwhile; bound what you read.
func (f *File) Size() int64 { return f.size }

// Read implements io.Reader. It fails with KindInterrupted once the context
// given to Open is done.
func (f *File) Read(b []byte) (int, error) {
	if err := checkContext(f.ctx, f.path); err != nil {
		return 0, err
	}
	n, err := f.node.Read(b)
	return n, f.failed(err)
}

// ReadAt implements io.ReaderAt, with the errors of Read.
func (f *File) ReadAt(b []byte, off int64) (int, error) {
	if err := checkContext(f.ctx, f.path); err != nil {
		return 0, err
	}
	n, err := f.node.ReadAt(b, off)
	return n, f.failed(err)
}

func (f *File) failed(err error) error {
	if err == nil || err == io.EOF {
		return err
	}
	return ioError(kindOf(err), f.path)
}

// Close releases the file. Reading it afterwards is an error.
func (f *File) Close() error {
	if err := f.node.Close(); err != nil {
		return ioError(kindOf(err), f.path)
	}
	return nil
}

// maxOffset is past the end of any file; sums with it do not overflow.
const maxOffset = 1 << 61

// ReadRange reads up to n bytes from offset off: fewer at the end of the file,
// none past it. A negative n means to the end. When the answer would have more
// than limit bytes, ReadRange gives KindTooLarge; no more than limit+1 bytes are
// held, whatever n is. A negative off or limit gives KindOther.
func (f *File) ReadRange(off, n, limit int64) ([]byte, error) {
	if off < 0 || limit < 0 {
		return nil, ioError(KindOther, f.path)
	}
	if off > maxOffset {
		return []byte{}, nil
	}
	limit = min(limit, maxOffset)
	want := max(0, f.size-off)
	if n >= 0 {
		want = min(want, n)
	}
	if want > limit {
		return nil, ioError(KindTooLarge, f.path)
	}
	if n < 0 || n > limit {
		n = limit + 1 // the byte too much tells a file that grew past the limit
	}
	// Room for one byte more lets the end be seen without growing.
	buf := make([]byte, 0, min(want+1, n))
	for int64(len(buf)) < n {
		if len(buf) == cap(buf) {
			buf = append(buf, 0)[:len(buf)]
		}
		room := min(int64(cap(buf)), n, int64(len(buf)+ioChunk))
		m, err := f.ReadAt(buf[len(buf):room], off+int64(len(buf)))
		buf = buf[:len(buf)+m]
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	if int64(len(buf)) > limit {
		return nil, ioError(KindTooLarge, f.path)
	}
	return buf, nil
}

// Stat implements FS.
func (t *tree) Stat(ctx context.Context, p Path) (Info, error) {
	leave, err := t.enter(ctx, p)
	if err != nil {
		return Info{}, err
	}
	defer leave()
	pl, err := t.reach(ctx, p, true)
	if err != nil {
		return Info{}, err
	}
	defer pl.close()
	switch {
	case pl.found:
		return Info{Path: p, Kind: pl.info.kind, Size: pl.info.reportedSize(), ReadOnly: !pl.info.allows(2)}, nil
	case pl.viaLink:
		return Info{Path: p, Kind: EntrySymlink}, nil
	}
	return Info{Path: p, Kind: EntryMissing}, nil
}
