package prelude_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/coreform/kernel"
	"github.com/gcrun/gcrun/effects/guest"
	"github.com/gcrun/gcrun/internal/testkit"
)

// hashVectors are candidate vectors of the state hash: what any implementation
// has to give. Programs are answered with 1, 2, 3, …
type hashVectors struct {
	Note   string
	Values []struct {
		Term string `json:"term"`
		Hash string `json:"hash"`
	}
	Programs []struct {
		Source       string            `json:"source"`
		Continuation []string          `json:"continuation_hashes"` // of the requests in turn
		Final        string            `json:"final_hash"`          // of the final value
		Definitions  map[string]string `json:"definition_hashes"`
	}
}

// spec: SH-VAL-1, SH-FN-1, SH-DEF-1, SH-SEAL-1
func TestStateHashVectors(t *testing.T) {
	path := filepath.Join("testdata", "vectors", "state-hash.json")
	var file hashVectors
	testkit.Vectors(t, path, &file)
	for i := range file.Values {
		v := &file.Values[i]
		term, err := coreform.ReadTerm([]byte(v.Term), coreform.Limits{})
		if err != nil {
			t.Fatalf("%s: %v", v.Term, err)
		}
		checkHash(t, v.Term, &v.Hash, coreform.StateHash(term).String())
	}
	for i := range file.Programs {
		v := &file.Programs[i]
		p, err := kernel.Load("t.gc", []byte(v.Source), newLibraryForVectors(t), kernel.Limits{})
		if err != nil {
			t.Fatalf("%s: %v", v.Source, err)
		}
		var answer *guest.Response
		for n := 0; ; n++ {
			s, err := p.Step(context.Background(), 0, answer)
			if err != nil {
				t.Fatalf("%s: %v", v.Source, err)
			}
			if s.Done != nil {
				checkHash(t, v.Source, &v.Final, s.Done.Digest.String())
				if len(v.Continuation) != n {
					t.Errorf("%s: %d requests, the vector has %d", v.Source, n, len(v.Continuation))
				}
				break
			}
			if n == len(v.Continuation) && testkit.Updating() {
				v.Continuation = append(v.Continuation, "")
			}
			if n < len(v.Continuation) {
				checkHash(t, v.Source, &v.Continuation[n], s.Request.ContHash.String())
			}
			answer = &guest.Response{Value: coreform.Int(int64(n + 1))}
		}
		for _, d := range p.Definitions() {
			h := v.Definitions[d.Name]
			checkHash(t, v.Source+" "+d.Name, &h, d.Hash.String())
			if testkit.Updating() {
				if v.Definitions == nil {
					v.Definitions = map[string]string{}
				}
				v.Definitions[d.Name] = h
			}
		}
		if n := len(p.Definitions()); n != len(v.Definitions) {
			t.Errorf("%s: %d definitions, the vector has %d", v.Source, n, len(v.Definitions))
		}
	}
	if testkit.Updating() {
		out, err := json.MarshalIndent(&file, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, append(out, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func checkHash(t *testing.T, what string, want *string, got string) {
	t.Helper()
	if testkit.Updating() {
		*want = got
	}
	if *want != got {
		t.Errorf("%s: %s, want %s", what, got, *want)
	}
}

// newLibraryForVectors is a library that will not change, so that the vectors do
// not depend on the revisions of the real one.
func newLibraryForVectors(t *testing.T) *kernel.Library {
	t.Helper()
	lib, err := kernel.NewLibrary(kernel.CoreNatives(), nil, map[string]uint32{"lib/inc": 3},
		"(def lib/inc (fn (x) (prim int/add x 1))) (def lib/twice (fn (f) (fn (x) (f (f x)))))")
	if err != nil {
		t.Fatal(err)
	}
	return lib
}
