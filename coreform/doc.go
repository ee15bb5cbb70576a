// Package coreform is CoreForm as data: values, their text, their order and
// their hashes. It knows nothing of evaluation; package kernel adds that.
//
// The main types are [Value] (immutable, one representation of data however it
// was made), [Pair], [Vector], [Map] and [Bytes] (its containers, persistent
// and with remembered digests), and [Node] (a term with its place in a source).
//
// The way through:
//
//	ReadModule  source bytes → nodes (terms and positions)
//	Canonicalize  nodes → canonical nodes (n-ary calls, fn and let reduced)
//	PrintTerm, PrintModule  terms → canonical text
//	TermHash, ModuleHash  canonical text → BLAKE3
//	DecodeCanonical  canonical text → term, refusing all other spellings
//	Compare, Equal, StateHash  order, equality and identity of values
//
// Everything here is pure, bounded (see [Limits]) and safe for concurrent use.
// Nothing recurses on the depth of its input beyond the depth limit, because
// Go cannot recover from a stack overflow. The normative text is
// spec/coreform.md.
package coreform
