package canonjson

import (
	"bytes"
	"slices"
	"sort"

	"github.com/gcrun/gcrun/internal/escape"
)

// objects puts members in order. Moving them each time an object ends would copy
// the innermost one once for each level around it, so out stays in source order
// and objects whose members are unordered are noted. One pass at the end copies
// every byte to its place. Objects that come in order, as all do in a text that
// is canonical already, leave nothing behind.
//
// Offsets fit 32 bits: a source has at most 256 MiB, and no token is printed
// more than six times as long as it was.
type objects struct {
	members []member // of the objects that are open, innermost last
	names   []byte   // their names, as they are compared
	noted   []noted
	spans   []span // members of the noted objects, in canonical order
}

type member struct {
	name, nameEnd uint32 // in names
	out, outEnd   uint32 // name and value, in out
	src           uint32 // the name's literal, in the source
}

type span struct{ start, end uint32 }

type noted struct {
	start, end  uint32 // brackets included, in out
	first, last uint32 // in spans
}

// beginMember is called with a name, before it is written.
func (w *writer) beginMember(c *container, name []byte, at int) {
	if c.count > 0 {
		w.out = append(w.out, ',')
		last := &w.members[len(w.members)-1]
		if compareUTF16(w.names[last.name:last.nameEnd], name) >= 0 {
			c.unordered = true
		}
	}
	c.count++
	c.wantName = false
	start := len(w.names)
	w.names = append(w.names, name...)
	w.members = append(w.members, member{
		name: uint32(start), nameEnd: uint32(len(w.names)),
		out: uint32(len(w.out)), src: uint32(at),
	})
}

// endMember is called before the comma or bracket after a member.
func (w *writer) endMember(c *container) {
	if c.count > 0 {
		w.members[len(w.members)-1].outEnd = uint32(len(w.out))
	}
}

// close ends an object: it orders the members and refuses a name used twice
// (spec: CJ-ORD-1, CJ-ORD-2).
func (w *writer) close(c *container) error {
	members := w.members[c.members:]
	if c.unordered {
		slices.SortFunc(members, func(a, b member) int {
			if d := compareUTF16(w.names[a.name:a.nameEnd], w.names[b.name:b.nameEnd]); d != 0 {
				return d
			}
			return int(a.src) - int(b.src)
		})
		if err := w.twice(members); err != nil {
			return err
		}
		first := uint32(len(w.spans))
		for _, m := range members {
			w.spans = append(w.spans, span{m.out, m.outEnd})
		}
		w.noted = append(w.noted, noted{uint32(c.start), uint32(len(w.out)), first, uint32(len(w.spans))})
	}
	w.members = w.members[:c.members]
	w.names = w.names[:c.names]
	return nil
}

// twice looks for equal names in ordered members and reports the one that is
// first in the source.
func (w *writer) twice(members []member) error {
	found := -1
	for i := 1; i < len(members); i++ {
		a, b := members[i-1], members[i]
		if bytes.Equal(w.names[a.name:a.nameEnd], w.names[b.name:b.nameEnd]) &&
			(found < 0 || b.src < members[found].src) {
			found = i
		}
	}
	if found < 0 {
		return nil
	}
	a, b := members[found-1], members[found]
	shown := escape.LineMax(string(w.names[b.name:b.nameEnd]), 64)
	if !bytes.Equal(w.sourceName(a), w.sourceName(b)) {
		return fail(CodeNameCollision, int(b.src), "the name \"%s\" equals the one at byte %d after normalization", shown, a.src)
	}
	return fail(CodeDuplicateName, int(b.src), "the name \"%s\" was used at byte %d", shown, a.src)
}

// sourceName reads a name again as it was before normalization.
func (w *writer) sourceName(m member) []byte {
	rest := w.src[m.src:]
	end := 1
	for rest[end] != '"' {
		if rest[end] == '\\' {
			end++
		}
		end++
	}
	name, _, _ := unescape(nil, rest[:end+1])
	return name
}

// finish returns the canonical text.
func (w *writer) finish() []byte {
	if len(w.noted) == 0 {
		return w.out
	}
	slices.SortFunc(w.noted, func(a, b noted) int { return int(a.start) - int(b.start) })
	return w.place(make([]byte, 0, len(w.out)), 0, uint32(len(w.out)))
}

// place appends out[from:to] with every noted object in it put in order. It
// calls itself once for each open object at most, so 512 deep (spec: CJ-LIM-2).
func (w *writer) place(dst []byte, from, to uint32) []byte {
	for {
		i := sort.Search(len(w.noted), func(i int) bool { return w.noted[i].start >= from })
		if i == len(w.noted) || w.noted[i].start >= to {
			return append(dst, w.out[from:to]...)
		}
		object := w.noted[i]
		dst = append(dst, w.out[from:object.start+1]...)
		for j, s := range w.spans[object.first:object.last] {
			if j > 0 {
				dst = append(dst, ',')
			}
			dst = w.place(dst, s.start, s.end)
		}
		from = object.end - 1
	}
}
