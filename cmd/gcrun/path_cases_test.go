//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Paths that have led other tools astray, from program to log and back: what the
// program is told, and that the log tells it again with the directory gone.
// (cases PS-03, PS-05, PS-06, PS-10, PS-14, UN-05, UN-07, UN-09)
func TestPathCases(t *testing.T) {
	const data = "what is inside"
	for _, c := range []struct {
		name  string
		setup func(base string) error // base exists, and beside it is base-old/x
		asks  []string
		want  []string // code, or io-kind, or ok
	}{
		{"PS-03 absolute link to the inside", func(b string) error {
			return os.Symlink(filepath.Join(b, "sub"), filepath.Join(b, "absin"))
		}, []string{read1("absin/f"), `(core/fs::list "absin")`}, []string{"core/path-error", "core/path-error"}},
		{"PS-05 link to the outside", func(b string) error {
			return os.Symlink("/etc", filepath.Join(b, "l"))
		}, []string{read1("l/hostname"), `(core/fs::write "l/x" "x")`, `(core/fs::append "l/x" "x")`, `(core/fs::stat "l/hostname")`, `(core/fs::list "l")`},
			[]string{"core/path-error", "core/path-error", "core/path-error", "core/path-error", "core/path-error"}},
		{"PS-05 relative link to the outside", func(b string) error {
			return os.Symlink("../base-old", filepath.Join(b, "l"))
		}, []string{read1("l/x"), `(core/fs::write "l/x" "x")`}, []string{"core/path-error", "core/path-error"}},
		{"PS-06 sibling with the same beginning", nil,
			[]string{read1("../base-old/x"), read1("sub/../../base-old/x")}, []string{"core/path-error", "core/path-error"}},
		{"PS-10 drive paths", nil,
			[]string{read1("m/../d:/n"), read1("./d:"), read1("D:x"), read1(`..\\x`)}, []string{"core/path-error", "core/path-error", "core/path-error", "core/path-error"}},
		{"PS-14 fifo", func(b string) error { return syscall.Mkfifo(filepath.Join(b, "p"), 0o600) },
			[]string{read1("p"), `(core/fs::append "p" "x")`}, []string{"not-regular", "not-regular"}},
		{"UN-05 decomposed file", func(b string) error {
			return os.WriteFile(filepath.Join(b, "e\u0301.txt"), []byte(data), 0o600)
		}, []string{`(core/effect::bind (core/fs::list ".") (fn (rows) (core/fs::read (core/map::get (core/vec::get rows 1) :path))))`, read1("\u00e9.txt"), read1("e\u0301.txt")},
			[]string{"ok", "ok", "core/path-error"}},
		{"UN-07 no folding", func(b string) error {
			return os.WriteFile(filepath.Join(b, "stra\u00dfe"), []byte(data), 0o600)
		}, []string{read1("strasse"), read1("STRASSE"), read1("stra\u00dfe")}, []string{"not-found", "not-found", "ok"}},
		{"UN-07 the Kelvin sign is K", func(b string) error {
			if err := os.WriteFile(filepath.Join(b, "\u212a.txt"), nil, 0o600); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(b, "K.txt"), []byte(data), 0o600)
		}, []string{`(core/fs::list ".")`, read1("K.txt")}, []string{"core/path-collision-error", "ok"}},
		{"UN-09 a name that is no text", func(b string) error {
			return os.WriteFile(filepath.Join(b, "bad\xff"), nil, 0o600)
		}, []string{`(core/fs::list ".")`, `(core/effect::perform 'io/fs::list {:path "." :skip-unencodable true} core/effect::pure)`, read1("sub/f")},
			[]string{"core/path-encoding-error", "ok", "ok"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, elsewhere := t.TempDir(), t.TempDir()
			base := filepath.Join(dir, "base")
			write(t, dir, "base/sub/f", data, "base-old/x", "beyond the base", "p.gc", kindsOf(c.asks...))
			if c.setup != nil {
				if err := c.setup(base); err != nil {
					t.Skipf("this file system does not allow it: %v", err)
				}
			}
			before := names(t, base)
			rec := gcrunIn(t, dir, nil, "record", "p.gc", "--allow", "io/fs=base", "-o", filepath.Join(elsewhere, "p.gclog")).want(t, 0)
			if got := strings.Fields(strings.NewReplacer("[", "", "]", "", `"`, "").Replace(rec.stdout)); strings.Join(got, " ") != strings.Join(c.want, " ") {
				t.Errorf("the program got %q, want %q", got, c.want)
			}
			if after := names(t, base); after != before {
				t.Errorf("the directory had %q, has %q", before, after)
			}
			log := read(t, filepath.Join(elsewhere, "p.gclog"))
			for _, secret := range []string{dir, "beyond the base", "/etc"} {
				if strings.Contains(log, secret) {
					t.Errorf("the log holds %q", secret)
				}
			}
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
			if rep := gcrunIn(t, elsewhere, nil, "replay", "p.gclog").want(t, 0); rep.stdout != rec.stdout {
				t.Errorf("recorded %q, replayed %q", rec.stdout, rep.stdout)
			}
		})
	}
}

// read1 is a request to read a file.
func read1(path string) string { return `(core/fs::read "` + path + `")` }

// kindsOf is codesOf, but that an io error is told by its kind.
func kindsOf(asks ...string) string {
	return strings.Replace(codesOf(append([]string{"(core/effect::pure nil)"}, asks...)...),
		`(core/map::get (core/error::payload r) ':error/code)`,
		`(let ((p (core/error::payload r)))
		   (if (core/eq? (core/map::get p ':error/code) "core/io-error")
		     (core/sym::to-str (core/map::get (core/map::get p ':error/context) :io-kind))
		     (core/map::get p ':error/code)))`, 1)
}

// names lists what a directory holds, as its host has it.
func names(t testing.TB, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return strings.Join(all, "\n")
}
