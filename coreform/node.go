package coreform

import (
	"bytes"
	"unicode/utf8"
)

// Node is a term with the place in a source it was read from. Positions live
// here, beside the term, so that they never touch equality or hashes. Nodes
// are not changed after they are made and may be shared between goroutines.
type Node struct {
	// Term is the term itself.
	Term Value
	// Off and End are the byte range [Off, End) of the term's text in the
	// source, or -1 when it has none.
	Off, End int
	// Kids are the parts of Term. A list or vector has its elements in order,
	// a map key, value, key, value, … For 't they are the symbol quote (the
	// range of the prefix) and t. Atoms, the empty list included, have none.
	//
	// In a node that was read the entries of a map are in source order with
	// duplicates. In a canonical node they are those of the term, in key order,
	// wherever code can be; only inside data (operands of quote, elements of
	// vectors, keys of maps) they stay as read.
	Kids []Node
}

// Terms returns the terms of nodes.
func Terms(nodes []Node) []Value {
	out := make([]Value, len(nodes))
	for i := range nodes {
		out[i] = nodes[i].Term
	}
	return out
}

// Position returns the line and column of a byte offset in a source, both
// counted from 1; columns count Unicode scalars, and bytes that are not UTF-8
// one each. Lines end at LF. An offset outside the source is moved to its
// nearer end.
func Position(src []byte, off int) (line, col int) {
	off = min(max(off, 0), len(src))
	before := src[:off]
	start := bytes.LastIndexByte(before, '\n') + 1
	return bytes.Count(before, []byte{'\n'}) + 1, utf8.RuneCount(before[start:]) + 1
}

// SourceLine returns the line of a source that holds a byte offset, without
// its line end. It is part of src, not a copy, and not made safe for a
// terminal.
func SourceLine(src []byte, off int) []byte {
	off = min(max(off, 0), len(src))
	start := bytes.LastIndexByte(src[:off], '\n') + 1
	line := src[start:]
	if n := bytes.IndexByte(line, '\n'); n >= 0 {
		line = line[:n]
	}
	return bytes.TrimSuffix(line, []byte{'\r'})
}
