package gclog

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

// The development format may change, but never unnoticed: a change of these
// bytes needs -update and a look at spec/gclog.md.
// spec: LOG-FRAME-1 LOG-FRAME-2 LOG-FRAME-3
func TestGoldenLogs(t *testing.T) {
	for name, s := range map[string]script{"small": small(), "many": many(70)} {
		path := filepath.Join("testdata", "logs", name+".gclog")
		data := s.bytes(t)
		if *update {
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		golden, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(golden, data) {
			t.Errorf("%s: the log of the same run has other bytes now", name)
		}
		rep, err := check(golden)
		if err != nil || rep.Entries != uint64(len(s.entries(t))) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
