package gclog

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// Whatever a file holds: no panic, an error with one of the four states or
// none, and the same answer twice.
// spec: LOG-STATE-1 LOG-READ-1
func FuzzOpen(f *testing.F) {
	seeds, err := filepath.Glob("testdata/logs/small*.gclog")
	if err != nil || len(seeds) == 0 {
		f.Fatal("no seeds", err)
	}
	for _, s := range seeds {
		data, err := os.ReadFile(s)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
		f.Add(data[:len(data)/2])
	}
	f.Fuzz(func(t *testing.T, data []byte) { openAnything(t, data) })
}

func openAnything(t *testing.T, data []byte) {
	l, err := Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		mustBeState(t, err)
		return
	}
	_, err = l.Check(context.Background())
	if err != nil {
		mustBeState(t, err)
	}
	_, _ = l.Sources()
	_, _ = l.Policy()
	if o, err := l.Outcome(); err == nil {
		_, _ = o.Context.Value()
	}
	for i := range uint64(5) {
		if e, err := l.Entry(i); err == nil {
			_, _ = e.Payload.Value()
			_, _ = e.Resp.Value()
		}
	}
}

func mustBeState(t *testing.T, err error) {
	t.Helper()
	var fe *FormatError
	if !errors.As(err, &fe) {
		t.Fatalf("not a state: %v", err)
	}
	for _, s := range []error{ErrIncomplete, ErrDamaged, ErrVersion, ErrNotLog} {
		if errors.Is(err, s) {
			return
		}
	}
	t.Fatalf("an unknown state: %v", err)
}

// Frames with right heads around any bodies: what the checksums would hide from
// the fuzzer above.
// spec: LOG-ORDER-1 LOG-ORDER-2
func FuzzBodies(f *testing.F) {
	frames := framesOf(f, small().bytes(f))
	root, err := small().write(f, newMemFile())
	if err != nil {
		f.Fatal(err)
	}
	for i, fr := range frames {
		f.Add(uint(i), fr.body)
	}
	f.Fuzz(func(t *testing.T, at uint, body []byte) {
		if len(body) == 0 || len(body) > maxBody {
			return
		}
		bs := bodies(frames)
		at %= uint(len(bs))
		same := bytes.Equal(bs[at], body)
		bs[at] = body
		data := reframe(bs...)
		openAnything(t, data)
		// What is not of the identity (intents, spans, names) may be replaced by
		// something valid; nothing else.
		rep, err := check(data)
		if err == nil && rep.Root != root.Root || err != nil && same {
			t.Fatalf("frame %d replaced by %x: %v", at, body, err)
		}
	})
}

// An entry that is accepted is written back byte for byte.
// spec: LOG-ORDER-2
func FuzzEntryBody(f *testing.F) {
	for _, fr := range framesOf(f, small().bytes(f)) {
		f.Add(fr.body)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		fr := frame{body: body}
		if fr.readKind() != nil {
			return
		}
		var again []byte
		var enc termEncoder
		datum := func(d Datum) []byte {
			if ref, ok := d.Ref(); ok {
				tag := uint64(tagBlob)
				if d.Withheld() {
					tag = tagHidden
				}
				return appendRef(nil, tag, ref)
			}
			b, err := enc.append(nil, d.value, noLimit)
			if err != nil {
				t.Fatal(err)
			}
			return b
		}
		switch fr.kind {
		case kindEntry:
			var dec entryDecoder
			var e Entry
			if _, err := dec.entry(&fr, nil, &e); err != nil {
				return
			}
			grant, err := enc.append(nil, e.Cap, maxCap)
			if err != nil {
				t.Fatal(err)
			}
			again = e.append(nil, datum(e.Payload), grant, datum(e.Resp))
		case kindIntent:
			var dec entryDecoder
			in, err := dec.intent(&fr)
			if err != nil {
				return
			}
			again = in.append(nil)
		case kindEnd:
			o, err := takeOutcome(&fr, new(termDecoder), nil)
			if err != nil {
				return
			}
			again = o.append(nil, datum(o.Context))
		case kindHeader:
			h, program, policy, err := takeHeader(body)
			if err != nil {
				return
			}
			again = h.append(nil, program, policy)
		default:
			return
		}
		if !bytes.Equal(again, body) {
			t.Fatalf("%x is written back as %x", body, again)
		}
	})
}
