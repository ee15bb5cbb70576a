package coreform_test

import (
	"bytes"
	"testing"

	"github.com/gcrun/gcrun/coreform"
)

func seed(f *testing.F) {
	v := loadVectors(f)
	for _, c := range v.Cases {
		f.Add([]byte(c.Source))
	}
	for _, c := range v.Malformed {
		f.Add([]byte(c.Source))
	}
	for _, c := range v.Rejects {
		f.Add([]byte(c))
	}
	for _, c := range v.Generated[:20] {
		f.Add([]byte(c.Text))
	}
	f.Add([]byte("{(f {b 1 a 2}) (f {:b (g 1 2) :b 3}) 'x [{b 1 a 2}]}"))
}

// FuzzDecodeCanonical: accepted means re-encodes to the same bytes.
//
// spec: CF-READ-10
func FuzzDecodeCanonical(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, src []byte) {
		v, err := coreform.DecodeCanonical(src, coreform.Limits{})
		if err != nil {
			return
		}
		if b, err := coreform.PrintTerm(v, coreform.Limits{}); err != nil || !bytes.Equal(b, src) {
			t.Fatalf("%v\n%q\n%q", err, src, b)
		}
	})
}

// FuzzModule: what is read prints and reads back, in every reading mode, and
// canonicalizing twice changes nothing.
//
// spec: CF-CANON-8 CF-CANON-9 CF-PRINT-9 CF-READ-9
func FuzzModule(f *testing.F) {
	seed(f)
	lim := coreform.Limits{MaxDepth: 200, MaxTerms: 100_000, MaxDigits: 500, MaxBytes: 1 << 20}
	f.Fuzz(func(t *testing.T, src []byte) {
		nodes, err := coreform.ReadModule(src, lim)
		vs, err2 := coreform.ReadTerms(src, lim)
		if (err == nil) != (err2 == nil) {
			t.Fatalf("with nodes %v, without %v", err, err2)
		}
		if err != nil {
			if err.Error() != err2.Error() {
				t.Fatalf("with nodes %v, without %v", err, err2)
			}
			return
		}
		checkText(t, vs, lim)
		for i, v := range vs {
			if got := coreform.FormatLossy(v, i+len(src)/2); len(got) > i+len(src)/2 {
				t.Fatalf("%d bytes within %d", len(got), i+len(src)/2)
			}
		}
		canon, err := coreform.CanonicalizeModule(nodes, lim)
		if err != nil {
			return
		}
		again, err := coreform.CanonicalizeModule(canon, lim)
		if err != nil || !sameNodes(canon, again) {
			t.Fatalf("canonicalizing again: %v", err)
		}
		for i, n := range canon {
			checkParallel(t, src, n, true)
			v, err := coreform.CanonicalizeTerm(vs[i], lim)
			if err != nil || !coreform.Equal(v, n.Term) {
				t.Fatalf("form %d as a term: %v", i, err)
			}
		}
		checkText(t, coreform.Terms(canon), lim)
	})
}

// checkText prints a module and reads it back.
func checkText(t *testing.T, vs []coreform.Value, lim coreform.Limits) {
	t.Helper()
	lim.MaxBytes = 64 << 20
	b, err := coreform.PrintModule(vs, lim)
	if err != nil {
		// 'x is two terms in a source and three in a text.
		return
	}
	back, err := coreform.DecodeCanonicalModule(b, lim)
	if err != nil || len(back) != len(vs) {
		t.Fatalf("reading the text back: %v\n%q", err, b)
	}
	for i := range vs {
		if !coreform.Equal(vs[i], back[i]) || coreform.StateHash(vs[i]) != coreform.StateHash(back[i]) {
			t.Fatalf("form %d reads back as another term: %q", i, b)
		}
	}
}
