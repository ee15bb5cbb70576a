package gclog

import (
	"fmt"

	"github.com/gcrun/gcrun/effects/guest"
)

// closing is at least what commit, end, index and locator will take.
func (w *Writer) closing() int64 {
	entries, blobs := int64(len(w.offs)+1), int64(len(w.blobs)+len(w.stage.blobs))
	frames := 2 + entries/entriesPerIndex + blobs/blobsPerIndex
	return entries*entryRecord + blobs*blobRecord + frames*64 + int64(w.opt.InlineMax) + 2*maxName + 2<<10
}

func (w *Writer) stageCommit() {
	b := appendUint(appendHead(w.body[:0], majArray, 3), uint64(kindCommit))
	w.body = appendDigest(appendUint(b, uint64(len(w.offs))), w.tree.root())
	w.add(w.body)
	w.lastCommit, w.committed = uint64(len(w.offs)), true
}

// Close writes commit, end, index and locator, makes the log durable unless the
// grade is none, and returns the outcome with the transcript root. The file
// stays open. A second Close returns ErrClosed. (spec LOG-END-2)
func (w *Writer) Close(out guest.Outcome) (*Outcome, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.usable(); err != nil {
		return nil, err
	}
	o, err := outcomeOf(out, uint64(len(w.offs)))
	if err != nil {
		return nil, err
	}
	w.begin()
	w.scratch = w.scratch[:0]
	if err := w.stageDatum(&o.Context, true); err != nil {
		return nil, fmt.Errorf("context: %w", err)
	}
	w.closed = true
	if !w.committed || w.lastCommit != uint64(len(w.offs)) {
		w.stageCommit()
	}
	w.leaf = o.leaf(w.leaf[:0])
	w.tree.add(w.leaf)
	o.Root = w.tree.root()
	loc := locator{end: w.stage.at.off, entries: uint64(len(w.offs)), blobs: uint64(len(w.blobs))}
	w.body = o.append(w.body[:0], w.scratch)
	w.add(w.body)
	loc.index = w.stage.at.off
	if err := w.writeIndex(loc); err != nil {
		return nil, err
	}
	return &o, w.sync()
}

func (w *Writer) writeIndex(loc locator) error {
	err := eachIndexBody(entryRecords(w.offs), blobRecords(w.blobs), func(id int, records []byte) error {
		w.body = append(indexBodyHead(w.body[:0], id, len(records)), records...)
		w.add(w.body)
		if len(w.stage.buf) < partSize {
			return nil
		}
		return w.flush()
	})
	if err != nil {
		return err
	}
	w.body = loc.append(w.body[:0])
	w.add(w.body)
	return w.flush()
}
