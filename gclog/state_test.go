package gclog

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/internal/digest"
)

// rawFrame is a frame of a finished log, taken apart.
type rawFrame struct {
	off, end int
	kind     frameKind
	body     []byte
	raw      []byte
}

// framesOf takes a whole log apart.
func framesOf(t testing.TB, data []byte) []rawFrame {
	t.Helper()
	fr := frameReader{window: window{r: bytes.NewReader(data), size: int64(len(data))}}
	var out []rawFrame
	for fr.next.off < fr.size {
		f, err := fr.read()
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, rawFrame{int(f.off), int(f.end), f.kind, slices.Clone(f.body), data[f.off:f.end]})
	}
	if len(out) == 0 {
		t.Fatal("no frames")
	}
	return out
}

// reframe builds a log with right heads and links from bodies.
func reframe(bodies ...[]byte) []byte {
	var at place
	var out []byte
	for _, b := range bodies {
		out = at.append(out, b)
	}
	return out
}

// bodies returns the bodies of frames.
func bodies(fs []rawFrame) [][]byte {
	out := make([][]byte, len(fs))
	for i, f := range fs {
		out[i] = f.body
	}
	return out
}

// samePrefix checks that got are the first entries of the script.
func samePrefix(t *testing.T, got []Entry, want []*Entry) {
	t.Helper()
	if len(got) > len(want) {
		t.Fatalf("%d entries of %d", len(got), len(want))
	}
	for i := range got {
		if got[i].I != uint64(i) || got[i].ReqHash() != want[i].ReqHash() || got[i].RespDigest != want[i].RespDigest {
			t.Fatalf("entry %d is another", i)
		}
	}
}

// LG-01, LG-14: a log cut at any byte is incomplete, never an empty surprise
// and never a panic, and exactly the whole entries before the cut are read.
// spec: LOG-STATE-1 LOG-STATE-2 LOG-READ-1
func TestTruncationAtEveryByte(t *testing.T) {
	s := small()
	data := s.bytes(t)
	frames := framesOf(t, data)
	want := s.entries(t)
	for k := range data {
		whole := 0
		for _, f := range frames {
			if f.kind == kindEntry && f.end <= k {
				whole++
			}
		}
		cut := data[:k]
		got, _, err := readAll(cut)
		var fe *FormatError
		if !errors.Is(err, ErrIncomplete) || !errors.As(err, &fe) {
			t.Fatalf("cut at %d of %d: %v", k, len(data), err)
		}
		if len(got) != whole || fe.Entries != uint64(whole) {
			t.Fatalf("cut at %d: %d entries (error says %d), want %d", k, len(got), fe.Entries, whole)
		}
		samePrefix(t, got, want)
		rep, err := check(cut)
		if !errors.Is(err, ErrIncomplete) {
			t.Fatalf("cut at %d: check says %v", k, err)
		}
		if rep != nil && (rep.Whole+rep.Torn != int64(k) || rep.Entries != uint64(whole)) {
			t.Fatalf("cut at %d: %d whole + %d torn bytes, %d entries", k, rep.Whole, rep.Torn, rep.Entries)
		}
	}
	if _, err := check(data); err != nil {
		t.Fatal(err)
	}
}

// Every bit of a log is pinned: flipping any one is seen, the entries that are
// still given are the true ones, and random access gives the true entry or an
// error.
// spec: LOG-FRAME-5 LOG-STATE-1 LOG-INDEX-3
func TestEveryBitIsPinned(t *testing.T) {
	s := small()
	data := s.bytes(t)
	want := s.entries(t)
	step := 1
	if testing.Short() {
		step = 7
	}
	states := map[string]int{}
	for bit := 0; bit < 8*len(data); bit += step {
		data[bit/8] ^= 1 << (bit % 8)
		_, err := check(data)
		var fe *FormatError
		if !errors.As(err, &fe) || errors.Is(err, ErrVersion) {
			t.Fatalf("bit %d of byte %d flipped: %v", bit%8, bit/8, err)
		}
		states[fe.Err.Error()]++
		got, _, err := readAll(data)
		if err == nil {
			t.Fatalf("bit %d of byte %d flipped: scanned without error", bit%8, bit/8)
		}
		samePrefix(t, got, want)
		randomAccess(t, data, want)
		data[bit/8] ^= 1 << (bit % 8)
	}
	if states[ErrDamaged.Error()] == 0 || states[ErrNotLog.Error()] == 0 || states[ErrIncomplete.Error()] == 0 {
		t.Errorf("states met: %v", states)
	}
}

func randomAccess(t *testing.T, data []byte, want []*Entry) {
	t.Helper()
	l, err := Open(bytes.NewReader(data), int64(len(data)))
	if err != nil || !l.Complete() {
		return
	}
	for i, w := range want {
		e, err := l.Entry(uint64(i))
		if err != nil {
			continue
		}
		if e.ReqHash() != w.ReqHash() || e.RespDigest != w.RespDigest {
			t.Fatalf("entry %d by index is another", i)
		}
	}
}

// LG-11: entries cannot be deleted or exchanged, neither as raw bytes nor with
// heads and links made right again.
// spec: LOG-FRAME-4 LOG-ORDER-2
func TestDeletedAndSwapped(t *testing.T) {
	frames := framesOf(t, many(5).bytes(t))
	var at []int
	for i, f := range frames {
		if f.kind == kindEntry {
			at = append(at, i)
		}
	}
	deleted := slices.Delete(slices.Clone(frames), at[3], at[3]+1)
	swapped := slices.Clone(frames)
	swapped[at[1]], swapped[at[2]] = swapped[at[2]], swapped[at[1]]
	for name, fs := range map[string][]rawFrame{"deleted": deleted, "swapped": swapped} {
		first := 1
		if name == "deleted" {
			first = 3
		}
		var raw []byte
		for _, f := range fs {
			raw = append(raw, f.raw...)
		}
		for how, data := range map[string][]byte{"raw": raw, "reframed": reframe(bodies(fs)...)} {
			got, _, err := readAll(data)
			var fe *FormatError
			if !errors.As(err, &fe) || !errors.Is(err, ErrDamaged) || len(got) != first || fe.Off != int64(frames[at[first]].off) {
				t.Errorf("%s, %s: %d entries, %v", name, how, len(got), err)
			}
		}
	}
}

// LG-04: 17 random bytes behind a log. Behind one without locator they are
// torn, behind a complete one they are damage, and in no case are entries lost.
// spec: LOG-STATE-2 LOG-STATE-4
func TestBytesAtTheEnd(t *testing.T) {
	s := many(5)
	data := s.bytes(t)
	frames := framesOf(t, data)
	end := slices.IndexFunc(frames, func(f rawFrame) bool { return f.kind == kindCommit })
	open := data[:frames[end].off]
	for _, tc := range []struct {
		name string
		data []byte
		tail []byte
		want error
	}{
		{"random behind an open log", open, bytesOf(17, 9), ErrIncomplete},
		{"zeros behind an open log", open, make([]byte, 4096), ErrIncomplete},
		{"a torn frame and zeros", open, append(slices.Clone(frames[end].raw[:30]), make([]byte, 600)...), ErrIncomplete},
		{"a later frame", open, frames[end+1].raw, ErrDamaged},
		{"garbage, then a later frame", open, append(bytesOf(17, 9), frames[end+1].raw...), ErrDamaged},
		{"random behind a complete log", data, bytesOf(17, 9), ErrDamaged},
		{"one byte behind a complete log", data, []byte{0xD9}, ErrDamaged},
		{"the log twice", data, data, ErrDamaged},
	} {
		got, _, err := readAll(append(slices.Clone(tc.data), tc.tail...))
		var fe *FormatError
		if !errors.Is(err, tc.want) || !errors.As(err, &fe) || fe.Off != int64(len(tc.data)) || len(got) != 5 {
			t.Errorf("%s: %d entries, %v", tc.name, len(got), err)
		}
	}
}

// A payload that looks like frames does not turn a torn tail into damage.
// spec: LOG-STATE-3
func TestTornFrameThatHoldsAFrame(t *testing.T) {
	inner := place{number: 40}
	fake := inner.append(nil, []byte{0x82, byte(kindCommit), 0})
	s := script{out: okOutcome(), entries: func(t testing.TB) []*Entry {
		return []*Entry{entryOf(t, 0, coreform.BytesOf(append(fake, bytesOf(400, 1)...)), coreform.Int(1))}
	}}
	data := s.bytes(t)
	frames := framesOf(t, data)
	at := slices.IndexFunc(frames, func(f rawFrame) bool { return f.kind == kindEntry })
	cut := data[:frames[at].end-10]
	if !bytes.Contains(cut[frames[at].off:], fake) {
		t.Fatal("the test lost its frame")
	}
	if _, err := check(cut); !errors.Is(err, ErrIncomplete) {
		t.Errorf("cut: %v", err)
	}
}

// spec: LOG-STATE-1 LOG-HEADER-2 LOG-ORDER-3
// Case LG-12: a newer version or an unknown record is refused by name, never
// skipped.
func TestOtherVersionsAndKinds(t *testing.T) {
	frames := framesOf(t, many(2).bytes(t))
	header := frames[0].body
	newer := bytes.Replace(header, []byte("\x654-dev"), []byte("\x615"), 1)
	feature := bytes.Replace(header, []byte("\x654-dev\x00"), []byte("\x654-dev\x04"), 1)
	longer := append([]byte{header[0]&^0x1F | 20}, header[1:]...)
	for _, tc := range []struct {
		name string
		data []byte
		want error
		text string
	}{
		{"version 5", reframe(newer), ErrVersion, `"5"`},
		{"version 5 with another body", reframe([]byte{0x85, 0, 0x61, '5', 0, 0xA0, 0x80}), ErrVersion, `"5"`},
		{"a required feature", reframe(feature), ErrVersion, "0x4"},
		{"a field more", reframe(append(longer, 0)), ErrDamaged, "items"},
		{"another first frame", reframe(frames[1].body), ErrDamaged, "first frame"},
		{"text", []byte("{:entries [] :version 3}\n"), ErrNotLog, ""},
		{"other CBOR", []byte{0xD9, 0xD9, 0xF7, 0x82, 0x41, 0}, ErrDamaged, ""},
		{"zeros", make([]byte, 100), ErrNotLog, ""},
		{"a byte of it", []byte{0xD9}, ErrIncomplete, ""},
		{"nothing", nil, ErrIncomplete, "empty"},
	} {
		_, err := check(tc.data)
		if !errors.Is(err, tc.want) || !strings.Contains(fmt.Sprint(err), tc.text) {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
	for _, kind := range []frameKind{kindNote, kindRecovered, kindReopened, kindPolicyChange, 13, 200} {
		at := slices.IndexFunc(frames, func(f rawFrame) bool { return f.kind == kindEntry })
		bs := slices.Insert(bodies(frames), at+1, appendUint([]byte{0x81}, uint64(kind)))
		got, _, err := readAll(reframe(bs...))
		if !errors.Is(err, ErrVersion) || !strings.Contains(err.Error(), "unsupported kind") || len(got) != 1 {
			t.Errorf("kind %d: %d entries, %v", kind, len(got), err)
		}
	}
	whole := append(bodies(frames), []byte{0x81, byte(kindReopened)})
	if _, err := check(reframe(whole...)); !errors.Is(err, ErrVersion) {
		t.Errorf("reopened behind the locator: %v", err)
	}
}

// Logs with right heads and links whose content no writer would have written.
// spec: LOG-ORDER-1 LOG-ORDER-2 LOG-BLOB-3 LOG-BLOB-4 LOG-INDEX-3 LOG-INTENT-2 LOG-COMMIT-1 LOG-END-1
func TestForged(t *testing.T) {
	frames := framesOf(t, small().bytes(t))
	all := bodies(frames)
	find := func(k frameKind, n int) int {
		for i, f := range frames {
			if f.kind == k {
				if n--; n < 0 {
					return i
				}
			}
		}
		t.Fatalf("no frame %v", k)
		return 0
	}
	with := func(i int, body []byte) [][]byte { return slices.Replace(slices.Clone(all), i, i+1, body) }
	patch := func(i int, old, repl []byte) [][]byte {
		if !bytes.Contains(all[i], old) {
			t.Fatalf("frame %d does not hold %x", i, old)
		}
		return with(i, bytes.Replace(all[i], old, repl, 1))
	}
	without := func(i int) [][]byte { return slices.Delete(slices.Clone(all), i, i+1) }
	insert := func(i int, body ...[]byte) [][]byte { return slices.Insert(slices.Clone(all), i, body...) }
	var (
		entry, intent, end   = find(kindEntry, 0), find(kindIntent, 0), find(kindEnd, 0)
		commit, part, blob   = find(kindCommit, 0), find(kindPart, 0), find(kindBlob, 0)
		entryIndex, locatorI = find(kindIndex, 0), find(kindLocator, 0)
		payload, _           = coreform.TermHash(pathPayload(0))
		commitOf             = func(n uint64) []byte {
			return appendDigest(appendUint([]byte{0x83, byte(kindCommit)}, n), digest.Sum())
		}
	)
	bitIn := func(i int) [][]byte {
		b := slices.Clone(all[i])
		b[len(b)-1] ^= 1
		return with(i, b)
	}
	for _, tc := range []struct {
		name string
		bs   [][]byte
		text string
	}{
		{"payload hash", patch(entry, payload[:], make([]byte, 32)), "not the entry that was intended"},
		{"op", patch(entry, []byte("io/fs::read"), []byte("io/fs::reaD")), "not the entry that was intended"},
		{"response", patch(entry, []byte("\x45hello"), []byte("\x45hellO")), "response"},
		{"payload", patch(entry, []byte("file-0"), []byte("file-9")), "payload"},
		{"trailing byte", with(entry, append(slices.Clone(all[entry]), 0)), "after the item"},
		{"no commit", without(commit), "not due"},
		{"no intent's entry", without(entry), "not due|before the entry"},
		{"no intent", without(intent), "part|index"},
		{"a commit too early", insert(entry+1, commitOf(1)), "root"},
		{"a commit of another count", insert(entry+1, commitOf(2)), "commit of 2"},
		{"a second end", insert(end+1, all[end]), "not due"},
		{"a second header", insert(entry, all[0]), "second header"},
		{"no end", without(end), "not due"},
		{"end root", bitIn(end), "root"},
		{"an entry behind the end", insert(end+1, all[entry]), "not due"},
		{"index", bitIn(entryIndex), "index"},
		{"no index", without(entryIndex), "index"},
		{"an index twice", insert(entryIndex, all[entryIndex]), "index"},
		{"locator", bitIn(locatorI), "locator"},
		{"program", bitIn(part), "content of a blob"},
		{"no program", without(blob), "out of order|names a part|not the program"},
		{"a blob twice", insert(entry, all[part], all[blob]), "names a part|kept twice"},
		{"an intent twice", insert(intent+1, all[intent]), "before the entry"},
		{"an empty part", insert(entry, []byte{0x82, byte(kindPart), 0x40}), "part of 0"},
	} {
		_, err := check(reframe(tc.bs...))
		ok := slices.ContainsFunc(strings.Split(tc.text, "|"), func(s string) bool { return strings.Contains(fmt.Sprint(err), s) })
		if !errors.Is(err, ErrDamaged) || !ok {
			t.Errorf("%s: %v, want %q", tc.name, err, tc.text)
		}
	}
	if _, err := check(reframe(all...)); err != nil {
		t.Errorf("reframed without change: %v", err)
	}
}

// A frame head may claim 4 GiB, an array 2^64 items: nothing is reserved for
// what is not there. (CB-01)
// spec: LOG-FRAME-6
func TestClaimsAreNotBelieved(t *testing.T) {
	head := binary.BigEndian.AppendUint32(nil, 1<<32-1)
	head = binary.BigEndian.AppendUint32(head, 0)
	head = binary.BigEndian.AppendUint32(head, digest.CRC32C(head))
	head = append(head, make([]byte, 8)...)
	data := append(append(slices.Clone(selfDescribed), frameStart...), head...)
	data = append(data, 0x5A, 0xFF, 0xFF, 0xFF, 0xFF, 1, 2, 3)
	allocs := testing.AllocsPerRun(5, func() {
		if _, err := check(data); !errors.Is(err, ErrDamaged) {
			t.Error(err)
		}
	})
	if allocs > 50 {
		t.Errorf("%v allocations", allocs)
	}
}
