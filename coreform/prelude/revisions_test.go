package prelude_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gcrun/gcrun/coreform/prelude"
	"github.com/gcrun/gcrun/internal/digest"
	"github.com/gcrun/gcrun/internal/testkit"
)

var sameMeaning = flag.String("same-meaning", "", "names of library definitions that read differently and mean the same, with commas; -update writes them")

// The semantic revisions of the library are those of testdata/revisions.txt: one
// line a definition, with its revision and a digest of what it and all it uses
// says. When a digest changes, somebody must decide. If for some arguments the
// result, the steps or the units are other than before, the definition gets the
// next revision (in the table revisions, or in its Native). If not, say so:
//
//	go test ./coreform/prelude -run Revisions -update -same-meaning=name,name
//
// spec: SH-LIB-1, SH-LIB-2
func TestRevisions(t *testing.T) {
	rows, err := prelude.Library().Revisions()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", "revisions.txt")
	type row struct {
		revision uint32
		meaning  string
	}
	old := map[string]row{}
	data, err := os.ReadFile(path)
	if err != nil && !testkit.Updating() {
		t.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSuffix(string(data), "\n"), "\n") {
		var name string
		var r row
		if n, _ := fmt.Sscan(line, &name, &r.revision, &r.meaning); n == 3 {
			old[name] = r
		}
	}
	var out strings.Builder
	for _, r := range rows {
		meaning := "native"
		if r.Meaning != (digest.Digest{}) {
			meaning = r.Meaning.String()
		}
		fmt.Fprintf(&out, "%s %d %s\n", r.Name, r.Revision, meaning)
		was, known := old[r.Name]
		switch {
		case !known: // a new name, or the file says too little, which Golden finds
		case r.Revision < was.revision:
			t.Errorf("%s: revision %d after %d", r.Name, r.Revision, was.revision)
		case r.Revision > was.revision, meaning == was.meaning, slices.Contains(strings.Split(*sameMeaning, ","), r.Name):
		default:
			t.Errorf("%s reads differently: give it revision %d, or name it in -same-meaning", r.Name, was.revision+1)
		}
	}
	if t.Failed() {
		t.FailNow()
	}
	testkit.Golden(t, path, []byte(out.String()))
}
