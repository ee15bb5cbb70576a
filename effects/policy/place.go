package policy

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// place is where something stands: line and column from 1, the column counted
// in characters. The zero place is unknown.
type place struct{ line, col int }

func (p place) known() bool { return p.line > 0 }

func (p place) after(o place) bool {
	return p.line > o.line || p.line == o.line && p.col > o.col
}

// node is a key or an element of a policy file, with its place. Nodes form a
// tree, so that what is remembered grows with the file and not with the length
// of key paths.
type node struct {
	parent *node
	name   string // of a key
	index  int    // of an element, -1 for a key
	depth  int
	place  place
	keys   map[string]*node
	elems  []*node

	valued bool // a key that was given a value
	header bool // a table that had its own [header]
	tables bool // an array made of [[headers]]
}

// key returns the node of a key below n, which has no place if the file does
// not have that key.
func (n *node) key(name string) *node {
	if k := n.keys[name]; k != nil {
		return k
	}
	return &node{parent: n, name: name, index: -1, depth: n.depth + 1}
}

// elem returns the node of an element of n.
func (n *node) elem(i int) *node {
	if i < len(n.elems) {
		return n.elems[i]
	}
	return &node{parent: n, index: i, depth: n.depth + 1}
}

// addKey is key for a key that the file has.
func (n *node) addKey(name string) *node {
	k := n.key(name)
	if n.keys == nil {
		n.keys = map[string]*node{}
	}
	n.keys[name] = k
	return k
}

// addElem adds the next element.
func (n *node) addElem() *node {
	e := n.elem(len(n.elems))
	n.elems = append(n.elems, e)
	return e
}

// present reports whether the file has the key.
func (n *node) present() bool { return n.valued || n.header || n.tables || len(n.keys) > 0 }

// last is where the next header continues: in the last table of an array.
func (n *node) last() *node {
	if n.tables && len(n.elems) > 0 {
		return n.elems[len(n.elems)-1]
	}
	return n
}

// where is the place of the node, or of the nearest above it that has one.
func (n *node) where() place {
	for ; n != nil; n = n.parent {
		if n.place.known() {
			return n.place
		}
	}
	return place{}
}

// String shows the path to the node as the file would write it.
func (n *node) String() string {
	var up []*node
	for ; n != nil && n.parent != nil; n = n.parent {
		up = append(up, n)
	}
	var b strings.Builder
	for i := len(up) - 1; i >= 0; i-- {
		if n := up[i]; n.index >= 0 {
			b.WriteString("[" + strconv.Itoa(n.index) + "]")
		} else {
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(shownKey(n.name))
		}
	}
	return b.String()
}

// shownKey is a key as TOML writes it.
func shownKey(k string) string {
	bare := k != "" && strings.IndexFunc(k, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-'
	}) < 0
	if bare {
		return k
	}
	return strconv.Quote(k)
}

// shown is a text of the file in a message: as it is when that is plain, else
// quoted, and not long.
func shown(s string) string {
	const most = 100
	if len(s) > most {
		end := most
		for !utf8.RuneStart(s[end]) {
			end--
		}
		return strconv.Quote(s[:end]) + "…"
	}
	if plain := strings.IndexFunc(s, func(r rune) bool { return r <= ' ' || r > '~' || r == '"' }) < 0; plain && s != "" {
		return s
	}
	return strconv.Quote(s)
}

// cursor finds places. It goes forward: offsets that grow cost no more than one
// walk through the file.
type cursor struct {
	src []byte
	off int
	at  place
}

func (c *cursor) place(off int) place {
	if off < c.off || !c.at.known() {
		c.off, c.at = 0, place{1, 1}
	}
	for c.off < min(off, len(c.src)) {
		r, n := utf8.DecodeRune(c.src[c.off:])
		if c.off += n; r == '\n' {
			c.at = place{c.at.line + 1, 1}
		} else {
			c.at.col++
		}
	}
	return c.at
}
