package format

import (
	"bytes"
	"unicode/utf8"

	"github.com/gcrun/gcrun/coreform"
)

// kind is how an item is laid out when it does not fit on one line.
type kind uint8

const (
	atom     kind = iota
	call          // (head argument …)
	primCall      // (prim op argument …)
	begin         // (begin body …)
	branch        // (if condition body …)
	function      // (fn params body …)
	let           // (let bindings body …)
	def           // (def name value)
	column        // elements below each other
	rows          // atoms, in the author's rows
	params        // atoms, as many on a line as fit
	bindings      // of let
	binding       // (name value)
	mapping
)

// role is what a term is for its parent.
type role uint8

const (
	roleCode role = iota
	roleData
	roleParams
	roleBindings
	roleBinding
)

// item is a term with its quote prefixes and the comments before it. The items
// of a form are in preorder, so that the first element of a container follows
// it, and next leads from one element to the other.
type item struct {
	off, end int32 // text, without quote prefixes
	next     int32 // index of the item behind this one and all it holds
	width    int32 // columns on one line, quote prefixes included, or -1
	c0, c1   int32 // comments before it
	d0, d1   int32 // comments before its closing delimiter
	quotes   uint16
	kind     kind
	spacing
}

// tooWide is a width that fits nowhere; sums of it do not overflow.
const tooWide = 1 << 20

type builder struct {
	src      []byte
	items    []item
	comments []comment
	carry    int // the first comment that goes to the next gap, or -1
	looks    int64
}

// forget drops what has been printed. Comments that are carried stay.
func (b *builder) forget() {
	b.items = b.items[:0]
	if b.carry < 0 {
		b.comments = b.comments[:0]
		return
	}
	b.comments = b.comments[:copy(b.comments, b.comments[b.carry:])]
	b.carry = 0
}

// gapStart returns where the comments of the next gap begin.
func (b *builder) gapStart() int {
	start := len(b.comments)
	if b.carry >= 0 {
		start, b.carry = b.carry, -1
	}
	return start
}

// add appends n, and what it holds, and the comments between it and from. It
// recurses as deep as n nests, which the reader bounds. It returns what stands
// before the gap that follows.
func (b *builder) add(n *coreform.Node, from int, prev before, r role) before {
	at := len(b.items)
	b.items = append(b.items, item{})
	b.looks++
	it := item{c0: int32(b.gapStart())}
	it.spacing = b.scan(from, n.Off, prev)
	for b.src[n.Off] == '\'' {
		seen := len(b.comments)
		// What stands behind the prefix goes before it.
		if s := b.scan(n.Off+1, n.Kids[1].Off, prefix); len(b.comments) > seen {
			it.spacing = s
		}
		it.quotes++
		n, r = &n.Kids[1], roleData
	}
	it.c1 = int32(len(b.comments))
	it.off, it.end = int32(n.Off), int32(n.End)
	switch b.src[n.Off] {
	case '(', '[', '{':
		it.kind = b.kindOf(n, r)
		after := b.addKids(n, &it, r)
		it.next = int32(len(b.items))
		it.width = b.width(&it, at)
		b.items[at] = it
		return after
	}
	it.next = int32(at + 1)
	it.width = -1
	if text := b.src[n.Off:n.End]; bytes.IndexByte(text, '\n') < 0 {
		it.width = int32(min(utf8.RuneCount(text)+int(it.quotes), tooWide))
	}
	b.items[at] = it
	return code
}

// addKids appends the elements of n. A comment behind the last one moves behind
// the closing delimiter, where the closing delimiter can stay with the rest.
func (b *builder) addKids(n *coreform.Node, it *item, r role) before {
	from, prev := n.Off+1, code
	for i := range n.Kids {
		kid := &n.Kids[i]
		prev = b.add(kid, from, prev, b.roleOf(n, it.kind, r, i))
		from = kid.End
	}
	start := b.gapStart()
	b.scan(from, n.End-1, prev)
	it.d0, it.d1 = int32(start), int32(len(b.comments))
	if isTrailing(b.comments[start:]) {
		it.d1, b.carry = it.d0, start
		return carried
	}
	return code
}

// text returns the text of a node without quote prefix, to compare it.
func (b *builder) text(n *coreform.Node) string { return string(b.src[n.Off:n.End]) }

// isPlain reports whether a node is an atom, perhaps quoted, or an empty
// container.
func (b *builder) isPlain(n *coreform.Node) bool {
	for b.src[n.Off] == '\'' {
		n = &n.Kids[1]
	}
	return len(n.Kids) == 0
}

func (b *builder) allPlain(nodes []coreform.Node) bool {
	for i := range nodes {
		b.looks++
		if !b.isPlain(&nodes[i]) {
			return false
		}
	}
	return true
}

// kindOf decides how a container is laid out.
func (b *builder) kindOf(n *coreform.Node, r role) kind {
	open := b.src[n.Off]
	switch {
	case open == '{':
		return mapping
	case open == '(' && r == roleParams && b.allPlain(n.Kids):
		return params
	case open == '(' && r == roleBindings:
		return bindings
	case open == '(' && r == roleBinding && len(n.Kids) == 2:
		return binding
	case open == '(' && r <= roleData && len(n.Kids) > 0:
		if k := b.formOf(n); k != atom {
			return k
		}
		if r == roleCode && b.isName(&n.Kids[0]) {
			return call
		}
		if r == roleCode && b.src[n.Kids[0].Off] == '(' {
			return begin // a function that is computed, and its arguments
		}
	}
	if b.allPlain(n.Kids) {
		return rows
	}
	return column
}

// isName reports whether a head is something to be called by name.
func (b *builder) isName(n *coreform.Node) bool {
	c := b.src[n.Off]
	return len(n.Kids) == 0 && c != '(' && c != '[' && c != '{' && c != '"' &&
		n.Term.Kind() != coreform.KindInt && n.Term.Kind() != coreform.KindBytes
}

// formOf returns the kind of a list that has the shape of a special form, which
// also data may have, or atom.
func (b *builder) formOf(n *coreform.Node) kind {
	if !b.isName(&n.Kids[0]) || n.Kids[0].End-n.Kids[0].Off > len("begin") {
		return atom
	}
	parts := len(n.Kids)
	switch head := b.text(&n.Kids[0]); {
	case head == "def" && parts == 3 && b.isName(&n.Kids[1]):
		return def
	case head == "fn" && parts >= 3:
		return function
	case head == "let" && parts >= 3:
		return let
	case head == "if" && parts >= 3:
		return branch
	case head == "begin" && parts >= 2:
		return begin
	case head == "prim" && parts >= 2 && b.isName(&n.Kids[1]):
		return primCall
	}
	return atom
}

// roleOf returns the role of the i-th element of a container.
func (b *builder) roleOf(n *coreform.Node, k kind, r role, i int) role {
	switch k {
	case function:
		if i == 1 {
			return roleParams
		}
	case let:
		if i == 1 {
			return roleBindings
		}
	case bindings:
		return roleBinding
	case mapping:
		if r == roleData || i%2 == 0 {
			return roleData
		}
	case call:
		if b.text(&n.Kids[0]) == "quote" {
			return roleData
		}
	case column, rows, params:
		if r != roleCode || b.src[n.Off] == '[' {
			return roleData
		}
	}
	return roleCode
}

// width returns the width of a container on one line, or -1 if it must not be
// there: it holds a comment or a text of several lines, or the author broke it.
func (b *builder) width(it *item, at int) int32 {
	if it.d0 < it.d1 {
		return -1
	}
	width, flat, broken, n, complexKids := int(it.quotes)+1, true, false, 0, 0
	for k := at + 1; k < int(it.next); k = int(b.items[k].next) {
		kid := &b.items[k]
		b.looks++
		if kid.width < 0 || kid.c0 < kid.c1 {
			flat = false
		}
		if n > 0 && kid.newline {
			broken = true
		}
		if !b.isAtom(k) {
			complexKids++
		}
		width = min(width+int(kid.width)+1, tooWide)
		n++
	}
	if !flat || broken && it.kind.keepsBroken(n, complexKids) {
		return -1
	}
	return int32(max(width, int(it.quotes)+2))
}

// keepsBroken reports whether a container that the author broke stays so though
// it would fit. It must only be true where the broken layout has a line end
// within the container, or else formatting again would give something else.
func (k kind) keepsBroken(elements, complexElements int) bool {
	switch k {
	case call:
		return elements > 2 && complexElements > 0
	case primCall:
		return elements > 3 && complexElements > 0
	case def:
		return complexElements > 0
	case params, binding:
		return false
	case mapping:
		return elements > 2
	}
	return true
}

// isAtom reports whether an item is an atom or an empty container, perhaps
// quoted.
func (b *builder) isAtom(i int) bool {
	it := &b.items[i]
	return it.kind == atom || int(it.next) == i+1 && it.d0 == it.d1
}
