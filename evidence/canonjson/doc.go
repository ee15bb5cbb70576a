// Package canonjson gives a JSON text its one canonical form: the bytes that are
// hashed, signed and compared, and the form of every --json output.
//
// Two profiles share the structure rules (RFC 8785: no space, names ordered by
// UTF-16 code units, ECMAScript numbers, the shortest string escapes):
//
//   - [JCS] keeps strings as they are and prints a number as the nearest double;
//   - [Evidence] also brings every string and name to Unicode NFC, before names
//     are ordered and compared, and refuses a number the double does not hold
//     exactly.
//
// The way through: [Canonicalize] checks size, byte order mark and UTF-8, reads
// the text with encoding/json/jsontext as a grammar only (its own Canonicalize
// turns 1e400 into the largest double and 1e-400 into 0), writes the canonical
// text in source order, and puts the members of unordered objects in place at
// the end. [Marshal] does the same to a Go value.
//
// Refused, each with a code and a byte offset in [Error]: duplicate names, lone
// surrogates, invalid UTF-8, a byte order mark, anything after the value, more
// open containers or bytes than [Limits] allow, numbers that overflow or that
// round to zero without being zero. Nothing is substituted silently.
//
// Time is O(n log n) and memory O(n) in the source, with no recursion beyond the
// nesting limit of 512. All functions are safe for several goroutines. The rules
// are spec/canonical-json.md, clauses CJ-TEXT-1 to CJ-GO-2.
package canonjson
