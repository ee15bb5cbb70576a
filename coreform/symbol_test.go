package coreform_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/gcrun/gcrun/coreform"
)

// Case CF-03: a symbol that would not read back as itself is not valid.
//
// spec: CF-TERM-2
func TestCF03Symbols(t *testing.T) {
	for _, s := range []string{";z", "m n", "", "1", "nil", "true", "false", "-3", "12a", "a'b", `b"`, `b"x"`, "a(", "]", "{", "a\tb", "a\n", "a\x00",
		"a\u0085", "\x7f", "\uFEFFa", "\uFEFF", "a\xff", "\xc2", "'q", `"`} {
		if coreform.ValidSymbol(s) {
			t.Errorf("%q is valid", s)
		}
	}
	for _, s := range []string{"`q", ".", "-", "--1", "+5", ":a", "-x", "nil2", "True", "b", "bb", "a\uFEFF", "é", "\u00a0", "\u2028", `a\b`, "#", "😀"} {
		if !coreform.ValidSymbol(s) {
			t.Errorf("%q is not valid", s)
		} else if got := mustRead(t, mustPrint(t, coreform.Sym(s))); !got.IsSym(s) {
			t.Errorf("%q reads back as another term", s)
		}
	}
}

// spec: CF-TERM-2 CF-PRINT-9
func TestValidSymbolIsWhatTheReaderReads(t *testing.T) {
	gen := rapid.OneOf(rapid.String(),
		rapid.StringOf(rapid.RuneFrom([]rune("ab-019:;'\"()[]{} \t\n\u0085\u00a0\uFEFFnilé"))),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 4), func(b []byte) string { return string(b) }))
	rapid.Check(t, func(t *rapid.T) {
		s := gen.Draw(t, "text")
		v, err := coreform.ReadTerm([]byte(s), coreform.Limits{})
		if reads := err == nil && v.IsSym(s); reads != coreform.ValidSymbol(s) {
			t.Fatalf("%q: valid %v, reads back %v", s, coreform.ValidSymbol(s), reads)
		}
		list, err := coreform.ReadTerm([]byte("(x "+s+")"), coreform.Limits{})
		if parts, _ := coreform.ListElems(list); coreform.ValidSymbol(s) && (err != nil || len(parts) != 2 || !parts[1].IsSym(s)) {
			t.Fatalf("%q in a list: %v", s, err)
		}
	})
}
