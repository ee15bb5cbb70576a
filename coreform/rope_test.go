package coreform_test

import (
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/gcrun/gcrun/coreform"
)

// Strings that were joined are as strings that were written: the same text,
// length, hash and order, whoever looks first and however they were joined.
//
// spec: LANG-VAL-2, SH-VAL-2
func TestJoinedStrings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values, texts := []coreform.Value{coreform.Str("")}, []string{""}
		for range rapid.IntRange(1, 60).Draw(t, "joins") {
			var v coreform.Value
			var s string
			if rapid.IntRange(0, 2).Draw(t, "new") == 0 {
				s = strings.Repeat(rapid.StringN(0, 3, -1).Draw(t, "text"), rapid.SampledFrom([]int{1, 1, 7, 200, 600}).Draw(t, "times"))
				v = coreform.Str(s)
			} else {
				i, j := rapid.IntRange(0, len(values)-1).Draw(t, "i"), rapid.IntRange(0, len(values)-1).Draw(t, "j")
				if len(texts[i])+len(texts[j]) > 1<<20 {
					continue
				}
				v, s = coreform.ConcatStr(values[i], values[j]), texts[i]+texts[j]
			}
			values, texts = append(values, v), append(texts, s)
			if v.StrLen() != len(s) {
				t.Fatalf("length %d, want %d", v.StrLen(), len(s))
			}
			if rapid.Bool().Draw(t, "look") {
				if got, _ := v.AsStr(); got != s {
					t.Fatal("other text")
				}
			}
		}
		for i, v := range values {
			w := coreform.Str(texts[i])
			if v.Kind() != coreform.KindStr || !v.IsTerm() || !coreform.Equal(v, w) || coreform.StateHash(v) != coreform.StateHash(w) || coreform.StateHash(v) != coreform.StateHash(w) {
				t.Fatal("differs from what was written")
			}
			a, errA := coreform.PrintTerm(v, coreform.Limits{})
			b, errB := coreform.PrintTerm(w, coreform.Limits{})
			if string(a) != string(b) || (errA == nil) != (errB == nil) {
				t.Fatal("prints differently")
			}
		}
	})
}

// Joining copies a bounded piece, at either end and in any mixture, and long
// chains do not recurse or degenerate.
func TestJoiningIsCheap(t *testing.T) {
	for name, join := range map[string]func(v, x coreform.Value) coreform.Value{
		"at the end":   coreform.ConcatStr,
		"at the front": func(v, x coreform.Value) coreform.Value { return coreform.ConcatStr(x, v) },
		"both":         func(v, x coreform.Value) coreform.Value { return coreform.ConcatStr(coreform.ConcatStr(x, v), x) },
		"pieces": func(v, x coreform.Value) coreform.Value {
			return coreform.ConcatStr(v, coreform.ConcatStr(coreform.Str(strings.Repeat("y", 600)), x))
		},
	} {
		v, x := coreform.Str(""), coreform.Str("x")
		for range 20_000 {
			v = join(v, x)
		}
		n := testing.AllocsPerRun(1, func() { join(v, x) })
		if n > 60 {
			t.Errorf("%s: %v allocations for one more", name, n)
		}
		if s, _ := v.AsStr(); len(s) != v.StrLen() {
			t.Errorf("%s: text of %d bytes, length %d", name, len(s), v.StrLen())
		}
	}
}

// Whoever looks, at the same time as others, sees one text.
func TestJoinedStringsAreShared(t *testing.T) {
	v := coreform.ConcatStr(coreform.Str(strings.Repeat("a", 600)), coreform.Str("b"))
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			w := coreform.ConcatStr(v, v)
			if s, _ := v.AsStr(); len(s) != 601 || w.StrLen() != 1202 || coreform.StateHash(v) != coreform.StateHash(coreform.Str(s)) {
				t.Error("differs")
			}
		})
	}
	wg.Wait()
}
