package format_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/coreform/format"
	"github.com/gcrun/gcrun/internal/testkit"
)

// The cases of testdata/format: a source, and how it is laid out. With -update
// the layouts are written.
//
// spec: FMT-TEXT-3, FMT-TEXT-4, FMT-LINE-1, FMT-LINE-2, FMT-LINE-3, FMT-LINE-4, FMT-CALL-1, FMT-CALL-2, FMT-CALL-3,
// FMT-FORM-1, FMT-FORM-2, FMT-FORM-3, FMT-FORM-4, FMT-DATA-1, FMT-DATA-2, FMT-DATA-3, FMT-NOTE-1, FMT-NOTE-2, FMT-NOTE-3, FMT-NOTE-4
func TestCases(t *testing.T) {
	for _, path := range testkit.Files(t, filepath.Join(testkit.Root(t), "testdata", "format", "*.txtar")) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			a, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if len(a.Files) != 2 || a.Files[0].Name != "in.gc" || a.Files[1].Name != "out.gc" {
				t.Fatal("not in.gc and out.gc")
			}
			out, err := format.Source(a.Files[0].Data, coreform.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			again, err := format.Source(out, coreform.Limits{})
			if err != nil || !bytes.Equal(out, again) {
				t.Errorf("formatting again: %v\n%s", err, again)
			}
			a.Files[1].Data = out
			testkit.Golden(t, path, txtar.Format(a))
		})
	}
}

// The sources that are shipped can be formatted, mean the same afterwards, and
// keep within the line.
//
// spec: FMT-LAW-1 FMT-LAW-2 FMT-LINE-1
func TestShippedSources(t *testing.T) {
	root := testkit.Root(t)
	files := append(testkit.Files(t, filepath.Join(root, "examples", "*", "*.gc")),
		testkit.Files(t, filepath.Join(root, "coreform", "prelude", "*.gc"))...)
	for _, path := range files {
		src, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		out, err := format.Source(src, coreform.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if again, err := format.Source(out, coreform.Limits{}); err != nil || !bytes.Equal(out, again) {
			t.Errorf("%s: formatting again: %v", filepath.Base(path), err)
		}
		if moduleHash(t, src) != moduleHash(t, out) {
			t.Errorf("%s: another module hash", filepath.Base(path))
		}
		for i, line := range bytes.Split(out, []byte("\n")) {
			code, _, _ := bytes.Cut(line, []byte(" ;"))
			wide := utf8.RuneCount(code) > 80 && code[0] != ';'
			if wide && !bytes.ContainsRune(code, '"') { // a text may be longer than a line
				t.Errorf("%s:%d: %q", filepath.Base(path), i+1, line)
			}
		}
	}
}

func moduleHash(t *testing.T, src []byte) string {
	t.Helper()
	nodes, err := coreform.ReadModule(src, coreform.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if nodes, err = coreform.CanonicalizeModule(nodes, coreform.Limits{}); err != nil {
		t.Fatal(err)
	}
	h, err := coreform.ModuleHash(coreform.Terms(nodes))
	if err != nil {
		t.Fatal(err)
	}
	return h.String()
}
