// Package unicode17 gives the two Unicode operations the language and the path
// rules depend on: normalization form C and extended grapheme clusters.
//
// Normalization is that of golang.org/x/text/unicode/norm for all text where
// its stream-safe rule cannot fire. That rule inserts U+034F after thirty
// combining marks, which is not NFC; text with longer runs takes a path written
// here on the same character properties (decompose, order, compose), so the
// result is NFC for every string and U+034F appears only where the text has it.
// Both paths take time linear in the text, whatever the text is.
//
// Clusters are those of github.com/clipperhouse/uax29/v2 (UAX #29, extended).
//
// The tables are Unicode 17 or newer; newer ones agree on every character that
// version 17 assigns, which is what the Unicode stability policy promises for
// normalization. Strings are expected to be valid UTF-8. For others nothing
// panics: NFC passes the invalid bytes through unchanged, each as a barrier no
// mark combines across.
//
// spec/paths.md PATH-4.
package unicode17
