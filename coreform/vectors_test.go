package coreform_test

import (
	"encoding/json"
	"errors"
	"os"
	"testing"

	"github.com/gcrun/gcrun/coreform"
)

type readFailure struct {
	Kind   string `json:"kind"`
	Offset int    `json:"offset"`
}

type coreformVectors struct {
	Cases []struct {
		Source          string   `json:"source"`
		Terms           []string `json:"terms"`
		TermHashes      []string `json:"term_hashes"`
		CanonicalModule *string  `json:"canonical_module"`
		ModuleHash      *string  `json:"module_hash"`
	} `json:"cases"`
	Generated []struct {
		Text string `json:"text"`
		Hash string `json:"hash"`
	} `json:"generated"`
	Malformed []struct {
		Source string       `json:"source"`
		Module *readFailure `json:"module_error"`
		Single *readFailure `json:"single_term_error"`
	} `json:"malformed"`
	Rejects []string `json:"canonicalizer_rejects"`
	Order   []string `json:"order"`
}

func loadJSON(t testing.TB, name string, into any) {
	t.Helper()
	b, err := os.ReadFile("testdata/vectors/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, into); err != nil {
		t.Fatal(err)
	}
}

func loadVectors(t testing.TB) coreformVectors {
	t.Helper()
	var v coreformVectors
	loadJSON(t, "coreform.json", &v)
	if len(v.Cases) != 128 || len(v.Generated) != 220 || len(v.Malformed) != 29 || len(v.Rejects) != 32 || len(v.Order) != 31 {
		t.Fatalf("vectors are missing: %d %d %d %d %d", len(v.Cases), len(v.Generated), len(v.Malformed), len(v.Rejects), len(v.Order))
	}
	return v
}

func mustRead(t testing.TB, src string) coreform.Value {
	t.Helper()
	v, err := coreform.ReadTerm([]byte(src), coreform.Limits{})
	if err != nil {
		t.Fatalf("reading %q: %v", src, err)
	}
	return v
}

func mustPrint(t testing.TB, v coreform.Value) string {
	t.Helper()
	b, err := coreform.PrintTerm(v, coreform.Limits{})
	if err != nil {
		t.Fatalf("printing: %v", err)
	}
	return string(b)
}

// canonicalText reads, canonicalizes and prints a module.
func canonicalText(src string) (string, error) {
	nodes, err := coreform.ReadModule([]byte(src), coreform.Limits{})
	if err != nil {
		return "", err
	}
	nodes, err = coreform.CanonicalizeModule(nodes, coreform.Limits{})
	if err != nil {
		return "", err
	}
	b, err := coreform.PrintModule(coreform.Terms(nodes), coreform.Limits{})
	return string(b), err
}

// spec: CF-READ-1 CF-READ-2 CF-READ-3 CF-READ-4 CF-READ-5 CF-PRINT-1 CF-HASH-1 CF-HASH-2
func TestVectorCases(t *testing.T) {
	for _, c := range loadVectors(t).Cases {
		nodes, err := coreform.ReadModule([]byte(c.Source), coreform.Limits{})
		if err != nil {
			t.Errorf("%q: %v", c.Source, err)
			continue
		}
		if len(nodes) != len(c.Terms) {
			t.Errorf("%q: %d terms, want %d", c.Source, len(nodes), len(c.Terms))
			continue
		}
		for i, n := range nodes {
			if got := mustPrint(t, n.Term); got != c.Terms[i] {
				t.Errorf("%q: term %d prints\n%s\nwant\n%s", c.Source, i, got, c.Terms[i])
			}
			if h, err := coreform.TermHash(n.Term); err != nil || h.String() != c.TermHashes[i] {
				t.Errorf("%q: term hash %d is %s, %v", c.Source, i, h, err)
			}
		}
		if c.CanonicalModule == nil {
			if _, err := canonicalText(c.Source); err == nil {
				t.Errorf("%q canonicalizes, but must not", c.Source)
			}
			continue
		}
		if got, err := canonicalText(c.Source); err != nil || got != *c.CanonicalModule {
			t.Errorf("%q: canonical\n%s\n%v, want\n%s", c.Source, got, err, *c.CanonicalModule)
		}
		canon, err := coreform.CanonicalizeModule(nodes, coreform.Limits{})
		if err != nil {
			t.Errorf("%q: %v", c.Source, err)
			continue
		}
		if h, err := coreform.ModuleHash(coreform.Terms(canon)); err != nil || h.String() != *c.ModuleHash {
			t.Errorf("%q: module hash %s, %v", c.Source, h, err)
		}
	}
}

// spec: CF-PRINT-1 CF-HASH-1
func TestVectorGenerated(t *testing.T) {
	for _, c := range loadVectors(t).Generated {
		v := mustRead(t, c.Text)
		if got := mustPrint(t, v); got != c.Text {
			t.Errorf("prints\n%s\nwant\n%s", got, c.Text)
		}
		if h, err := coreform.TermHash(v); err != nil || h.String() != c.Hash {
			t.Errorf("hash %s, %v, want %s", h, err, c.Hash)
		}
		if _, err := coreform.DecodeCanonical([]byte(c.Text), coreform.Limits{}); err != nil {
			t.Errorf("%v\n%s", err, c.Text)
		}
	}
}

func checkFailure(t *testing.T, src string, err error, want *readFailure) {
	t.Helper()
	var got *coreform.ReadError
	switch {
	case want == nil && err != nil:
		t.Errorf("%q: %v", src, err)
	case want == nil:
	case !errors.As(err, &got):
		t.Errorf("%q: %v, want a read error", src, err)
	case got.Kind.String() != want.Kind || got.Offset != want.Offset || got.Code() != "core/parse/"+want.Kind:
		t.Errorf("%q: %s at %d, want %s at %d", src, got.Code(), got.Offset, want.Kind, want.Offset)
	case got.Message == "" || got.Hint == "":
		t.Errorf("%q: message %q, hint %q", src, got.Message, got.Hint)
	}
}

// spec: CF-READ-6
func TestVectorMalformed(t *testing.T) {
	for _, c := range loadVectors(t).Malformed {
		_, err := coreform.ReadModule([]byte(c.Source), coreform.Limits{})
		checkFailure(t, c.Source, err, c.Module)
		_, err = coreform.ReadTerm([]byte(c.Source), coreform.Limits{})
		checkFailure(t, c.Source, err, c.Single)
		_, err = coreform.ReadTermNode([]byte(c.Source), coreform.Limits{})
		checkFailure(t, c.Source, err, c.Single)
	}
}

// spec: CF-CANON-2 CF-CANON-4
func TestVectorRejects(t *testing.T) {
	for _, src := range loadVectors(t).Rejects {
		v := mustRead(t, src)
		var bad *coreform.CanonError
		if _, err := coreform.CanonicalizeTerm(v, coreform.Limits{}); !errors.As(err, &bad) || bad.Off != -1 || bad.Code() != "core/bad-form" {
			t.Errorf("%s as a term: %v", src, err)
		}
		if _, err := canonicalText(src); !errors.As(err, &bad) || bad.Off < 0 || bad.Off >= len(src) || bad.Hint == "" {
			t.Errorf("%s as a source: %v", src, err)
		}
	}
}

// spec: CF-ORDER-1 CF-ORDER-2 CF-ORDER-3 CF-ORDER-4
func TestVectorOrder(t *testing.T) {
	var vs []coreform.Value
	for _, src := range loadVectors(t).Order {
		vs = append(vs, mustRead(t, src))
	}
	for i := range vs {
		for j := range vs {
			want := 0
			if i < j {
				want = -1
			} else if i > j {
				want = 1
			}
			if got := coreform.Compare(vs[i], vs[j]); got != want || coreform.Equal(vs[i], vs[j]) != (want == 0) {
				t.Errorf("Compare(%s, %s) = %d", mustPrint(t, vs[i]), mustPrint(t, vs[j]), got)
			}
		}
	}
}
