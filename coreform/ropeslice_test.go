package coreform

import (
	"math/rand"
	"strings"
	"testing"
)

// Every part of a string is the same whether it was joined of pieces or not, and
// before and after it was put in one piece.
func TestStrPart(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	for range 200 {
		whole, v := "", Str("")
		for len(whole) < 5000 {
			piece := strings.Repeat(string(rune('a'+rng.Intn(26))), 1+rng.Intn(900))
			if rng.Intn(2) == 0 {
				whole, v = whole+piece, ConcatStr(v, Str(piece))
			} else {
				whole, v = piece+whole, ConcatStr(Str(piece), v)
			}
		}
		for range 50 {
			from := rng.Intn(len(whole) + 1)
			to := from + rng.Intn(len(whole)-from+1)
			if got := v.StrPart(from, to); got != whole[from:to] {
				t.Fatalf("part %d to %d of %d bytes differs", from, to, len(whole))
			}
		}
		if j, ok := v.ref.(*joined); !ok || j.root == nil {
			t.Fatal("looking at parts has joined the string")
		}
		if s, _ := v.AsStr(); s != whole || v.StrPart(1, len(whole)) != whole[1:] {
			t.Fatal("the string differs once it is joined")
		}
	}
	if Str("abc").StrPart(1, 2) != "b" || Str("").StrPart(0, 0) != "" {
		t.Error("parts of a string in one piece")
	}
}

// Looking at parts does not go through all pieces.
func BenchmarkStrPart(b *testing.B) {
	v := Str(strings.Repeat("x", 600))
	for range 16 {
		v = ConcatStr(v, v)
	}
	for b.Loop() {
		v.StrPart(v.StrLen()/3, v.StrLen()/3+10)
	}
}
