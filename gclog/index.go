package gclog

import (
	"bytes"
	"encoding/binary"
	"io"
	"slices"

	"github.com/gcrun/gcrun/internal/digest"
)

// Behind the end frame come two tables, each cut into index frames, and the
// locator (spec LOG-INDEX-1 … 3). All frames of a table but its last hold the
// same number of records, so the place of any record is computed, not searched:
//
//	table 0  for each entry the offset of its frame, u64
//	table 1  for each blob its digest and the offset of its blob frame, by digest
const (
	tableEntries = 0
	tableBlobs   = 1

	entryRecord     = 8
	blobRecord      = digest.Size + 8
	entriesPerIndex = 1 << 16
	blobsPerIndex   = 1 << 14
)

// table is where one table lies.
type table struct {
	id     int
	record int // bytes of a record
	per    int // records in a full frame
	total  uint64
	off    int64
}

// indexBodyHead is what an index body has before n bytes of records.
func indexBodyHead(b []byte, id, n int) []byte {
	b = appendUint(appendHead(b, majArray, 3), uint64(kindIndex))
	return appendHead(appendUint(b, uint64(id)), majBytes, uint64(n))
}

// before is how many bytes an index frame has before its n bytes of records.
func (t *table) before(n int) int64 {
	head := len(indexBodyHead(nil, t.id, n))
	return int64(envelopeLen(head+n, 1) + head)
}

// end is where the table ends.
func (t *table) end() int64 {
	full := int64(t.per * t.record)
	off := t.off + int64(t.total/uint64(t.per))*(t.before(int(full))+full)
	if rest := int(t.total%uint64(t.per)) * t.record; rest > 0 {
		off += t.before(rest) + int64(rest)
	}
	return off
}

// at is where record i begins.
func (t *table) at(i uint64) int64 {
	full := t.per * t.record
	k := i / uint64(t.per)
	in := min(uint64(t.per), t.total-k*uint64(t.per))
	return t.off + int64(k)*(t.before(full)+int64(full)) + t.before(int(in)*t.record) + int64(i%uint64(t.per))*int64(t.record)
}

// locator is the content of the locator frame, of fixed size: where index and
// end frame are, and how many entries and blobs there are.
type locator struct {
	index, end     int64
	entries, blobs uint64
}

const (
	locatorBody  = 2 + 2 + 32 // array of 2, kind, head of a byte string, string
	locatorFrame = 2 + headSize + 2 + locatorBody
)

func (l *locator) append(b []byte) []byte {
	b = appendUint(appendHead(b, majArray, 2), uint64(kindLocator))
	b = appendHead(b, majBytes, 32)
	b = binary.BigEndian.AppendUint64(b, uint64(l.index))
	b = binary.BigEndian.AppendUint64(b, uint64(l.end))
	b = binary.BigEndian.AppendUint64(b, l.entries)
	return binary.BigEndian.AppendUint64(b, l.blobs)
}

func takeLocator(f *frame) (l locator, err error) {
	c := f.cursor(2)
	p := c.bytes()
	if c.err == nil && len(p) != 32 {
		c.fail("a locator of %d bytes", len(p))
	}
	if err := c.done(); err != nil {
		return l, err
	}
	l = locator{int64(binary.BigEndian.Uint64(p)), int64(binary.BigEndian.Uint64(p[8:])),
		binary.BigEndian.Uint64(p[16:]), binary.BigEndian.Uint64(p[24:])}
	return l, nil
}

// tables returns where the tables lie according to the locator.
func (l *locator) tables() (entries, blobs table) {
	entries = table{tableEntries, entryRecord, entriesPerIndex, l.entries, l.index}
	blobs = table{tableBlobs, blobRecord, blobsPerIndex, l.blobs, entries.end()}
	return entries, blobs
}

// plausible reports whether the locator at off can be right.
func (l *locator) plausible(off int64) bool {
	if l.end <= 0 || l.end >= l.index || l.index > off ||
		l.entries > uint64(off)/entryRecord || l.blobs > uint64(off)/blobRecord {
		return false
	}
	_, blobs := l.tables()
	return blobs.end() == off
}

// readLocator returns the locator if the file ends with one, else nil.
func readLocator(r io.ReaderAt, size int64) (*locator, error) {
	off := size - locatorFrame
	if off <= 0 {
		return nil, nil
	}
	var b [locatorFrame]byte
	if err := readFull(r, b[:], off); err != nil {
		return nil, err
	}
	h, fault, _ := parseHead(b[:], false)
	if fault != headOK || h.length != locatorBody || digest.CRC32C(b[h.size:]) != h.bodyCRC {
		return nil, nil
	}
	f := frame{off: off, end: size, body: b[h.size:]}
	if f.readKind() != nil || f.kind != kindLocator {
		return nil, nil
	}
	l, err := takeLocator(&f)
	if err != nil || !l.plausible(off) {
		return nil, nil
	}
	return &l, nil
}

// entryRecords returns the records of table 0.
func entryRecords(offs []int64) []byte {
	b := make([]byte, 0, len(offs)*entryRecord)
	for _, off := range offs {
		b = binary.BigEndian.AppendUint64(b, uint64(off))
	}
	return b
}

// blobRecords returns the records of table 1.
func blobRecords(at map[digest.Digest]int64) []byte {
	names := make([]digest.Digest, 0, len(at))
	for d := range at {
		names = append(names, d)
	}
	slices.SortFunc(names, func(a, b digest.Digest) int { return bytes.Compare(a[:], b[:]) })
	b := make([]byte, 0, len(names)*blobRecord)
	for _, d := range names {
		b = binary.BigEndian.AppendUint64(append(b, d[:]...), uint64(at[d]))
	}
	return b
}

// eachIndexBody calls f with the table id and the records of each index frame
// in turn.
func eachIndexBody(entries, blobs []byte, f func(id int, records []byte) error) error {
	for id, t := range [...]struct {
		records []byte
		size    int
	}{tableEntries: {entries, entryRecord * entriesPerIndex}, tableBlobs: {blobs, blobRecord * blobsPerIndex}} {
		for rest := t.records; len(rest) > 0; {
			n := min(len(rest), t.size)
			if err := f(id, rest[:n]); err != nil {
				return err
			}
			rest = rest[n:]
		}
	}
	return nil
}
