package files

import (
	"context"
	"io"
	"math"

	"github.com/gcrun/gcrun/coreform"
)

// pieceBytes is how much content is moved between looks at the context.
const pieceBytes = 64 << 10

// smallPiece is how much is read at a time of a file that says it is empty.
const smallPiece = 4 << 10

// farOffset is past the end of any file; sums with it do not overflow.
const farOffset = 1 << 61

// read answers io/fs::read. A file over the limit is refused by its size alone;
// that size is not believed otherwise, because others may write meanwhile and
// some files of the host do not tell theirs.
func (r *request) read(ctx context.Context) (coreform.Value, error) {
	off, err := r.size(":offset", 0)
	if err != nil {
		return coreform.Value{}, err
	}
	n, err := r.size(":len", math.MaxInt64)
	if err != nil {
		return coreform.Value{}, err
	}
	f, err := r.root.Open(ctx, r.path)
	if err != nil {
		return coreform.Value{}, err
	}
	defer f.Close()
	off = min(off, farOffset)
	expected := min(n, max(0, f.Size()-off))
	if expected > r.MaxBytes {
		return coreform.Value{}, errOverLimit
	}
	c := &collector{sink: r.Blobs, expected: expected}
	if err := c.collect(f, off, n, r.MaxBytes); err != nil {
		return coreform.Value{}, c.abort(err)
	}
	return c.finish()
}

// collect takes up to n bytes from offset off on. More than limit bytes are
// errOverLimit; at most one byte over it is read.
func (c *collector) collect(f io.ReaderAt, off, n, limit int64) error {
	piece := make([]byte, min(pieceBytes, n, max(smallPiece, c.expected+1)))
	var got int64
	for got < n {
		want := min(int64(len(piece)), n-got, max(1, limit-got))
		m, err := f.ReadAt(piece[:want], off+got)
		if int64(m) > limit-got {
			return errOverLimit
		}
		if addErr := c.add(piece[:m]); addErr != nil {
			return addErr
		}
		got += int64(m)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}
