package policy

import (
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/internal/testkit"
)

// Nothing panics; an accepted file gives a policy whose term has canonical text
// that reads back, and the same file gives the same digest; problems have a
// place in the file.
// spec: POL-FILE-3, POL-FILE-4, POL-DIGEST-1, POL-DIGEST-5
func FuzzParse(f *testing.F) {
	for _, pattern := range []string{"testdata/problems/*.toml", "testdata/terms/*.toml"} {
		for _, file := range testkit.Files(f, pattern) {
			src, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(src)
		}
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		given := slices.Clone(src)
		file, ds := Parse("caps.toml", src)
		if !slices.Equal(given, src) {
			t.Fatal("the source was changed")
		}
		if (file == nil) != ds.Failed() {
			t.Fatalf("file %v, failed %v", file != nil, ds.Failed())
		}
		lines := strings.Split(string(src), "\n")
		for _, d := range ds {
			if d.Line < 1 || d.Line > len(lines) || d.Col < 1 || d.Col > utf8.RuneCountInString(lines[d.Line-1])+1 {
				t.Errorf("no such place: %+v", d)
			}
			if d.Message == "" || d.Hint == "" || !slices.Contains(Codes(), d.Code) {
				t.Errorf("incomplete: %+v", d)
			}
		}
		again, ds2 := Parse("caps.toml", src)
		if listed(ds) != listed(ds2) {
			t.Fatal("other problems the second time")
		}
		if file == nil {
			return
		}
		p := New(file, Allow{Name: "sys/time::now", Ops: []string{"sys/time::now"}})
		if p.Digest() != New(again, Allow{Name: "sys/time::now", Ops: []string{"sys/time::now"}}).Digest() {
			t.Fatal("another digest the second time")
		}
		checkTerm(t, p)
		for _, g := range p.Grants() {
			g.AllowsPath("a/b")
			if !g.Cap().IsTerm() {
				t.Errorf("%s: cap is no term", g.Op())
			}
		}
	})
}

func checkTerm(t *testing.T, p *Policy) {
	t.Helper()
	text, err := coreform.PrintTerm(p.Term(), coreform.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	back, err := coreform.DecodeCanonical(text, coreform.Limits{})
	if err != nil || !coreform.Equal(back, p.Term()) {
		t.Fatalf("%v: the term does not read back:\n%s", err, text)
	}
	sameFromTerm(t, p)
}

// spec: POL-FLAG-1, POL-FLAG-3, POL-FLAG-4
func FuzzFlags(f *testing.F) {
	for _, s := range []string{"io/fs::read=.", "io/fs=/a/b", "sys/time::*", "io/kv=../x", "io/fs::read=\xff", "sys/env::get", "=", "io/fs::read=C:\\x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		a, err := ParseAllow(s)
		if err != nil {
			return
		}
		p := New(nil, a)
		checkTerm(t, p)
		if strings.Contains(a.Dir, "/") && !insideDir(a.Dir) && strings.Contains(text(t, p), "base-dir") {
			t.Errorf("%q: %s", s, text(t, p))
		}
		if l := labelOf(a.Dir); a.Dir != "" && !labelRE().MatchString(l) {
			t.Errorf("%q: label %q", a.Dir, l)
		}
		var names []string
		for _, g := range p.Grants() {
			names = append(names, g.Op())
		}
		src := FileFor(append(names, s))
		if file, ds := Parse("caps.toml", []byte(src)); file == nil || len(ds) > 0 {
			t.Errorf("%q: %v", src, ds)
		}
	})
}
