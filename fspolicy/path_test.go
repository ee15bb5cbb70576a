package fspolicy

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/gcrun/gcrun/internal/unicode17"
)

type pathVectors struct {
	Accept []string `json:"accept"`
	Refuse []struct {
		Path   string `json:"path"`
		Reason Kind   `json:"reason"`
	} `json:"refuse"`
	PortableRefuse []string `json:"portable_refuse"`
	PortableAccept []string `json:"portable_accept"`
}

func loadPathVectors(t testing.TB) pathVectors {
	t.Helper()
	data, err := os.ReadFile("testdata/paths.json")
	if err != nil {
		t.Fatal(err)
	}
	var v pathVectors
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	if len(v.Accept) < 20 || len(v.Refuse) < 25 || len(v.PortableRefuse) < 10 || len(v.PortableAccept) < 5 {
		t.Fatal("testdata/paths.json lacks cases")
	}
	return v
}

// spec: PATH-1 PATH-2
func TestPathVectors(t *testing.T) {
	v := loadPathVectors(t)
	for _, s := range v.Accept {
		p, err := ParsePath(s)
		if err != nil || p.String() != s {
			t.Errorf("ParsePath(%q) = %q, %v, want it accepted", s, p, err)
		}
	}
	for _, c := range v.Refuse {
		_, err := ParsePath(c.Path)
		if KindOf(err) != c.Reason || err == nil {
			t.Errorf("ParsePath(%.40q): %v, want %s", c.Path, err, c.Reason)
		}
	}
}

// spec: PATH-5
func TestPortableVectors(t *testing.T) {
	portable := func(s string) error {
		p, err := ParsePath(s)
		if err != nil {
			return err
		}
		return CheckPortable(p)
	}
	v := loadPathVectors(t)
	for _, s := range v.PortableAccept {
		if err := portable(s); err != nil {
			t.Errorf("%q refused: %v", s, err)
		}
	}
	for _, s := range v.PortableRefuse {
		if portable(s) == nil {
			t.Errorf("%q accepted as a portable name", s)
		}
	}
	for s, want := range map[string]Kind{
		"a/com\u00b9.txt": KindDeviceName, "LPT\u00b3": KindDeviceName, "COM0": KindDeviceName,
		"conin$": KindDeviceName, "CONOUT$.x": KindDeviceName, "aux .c": KindDeviceName,
		"com10": "", "com": "", "lpt": "", "nul1": "", "acon": "", "\u00b9": "", ".": "",
		"a\u0085b": KindControlCharacter, "a\x7f": KindControlCharacter, "a/b?": KindReservedCharacter,
		"xy:z": KindReservedCharacter, "... ": KindTrailingSpaceOrDot, "...": KindTrailingSpaceOrDot,
		"com1.": KindDeviceName, "a. b": "", " a": "",
	} {
		if got := KindOf(portable(s)); got != want {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
	}
}

// UN-11: names that differ in case only collide, directories included.
// spec: PATH-5
func TestFoldCollisions(t *testing.T) {
	for _, c := range []struct {
		in   string
		want string
	}{
		{"Data/a.txt data/A.TXT", "Data=data Data/a.txt=data/A.TXT"},
		{"Data/x data/y", "Data=data"},
		{"a b a/c", ""},
		{"a a", ""},
		{"stra\u00dfe STRASSE", "STRASSE=stra\u00dfe"},
		{"\u03a3 \u03c2 \u03c3", "\u03a3=\u03c2 \u03a3=\u03c3"},
		{"x/\u00c9 x/\u00e9 y/\u00e9", "x/\u00c9=x/\u00e9"},
		{"a/B/c a/b/d A/b/e", "A=a A/b=a/B"},
		{"\u0130 i", ""},
		{"\uff21 \uff41", "\uff21=\uff41"},
	} {
		var in []Path
		for _, s := range strings.Fields(c.in) {
			in = append(in, mustPath(t, s))
		}
		var got []string
		for _, col := range FoldCollisions(in) {
			got = append(got, col.A.String()+"="+col.B.String())
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%q: %q, want %q", c.in, strings.Join(got, " "), c.want)
		}
	}
}

func mustPath(t testing.TB, s string) Path {
	t.Helper()
	p, err := ParsePath(s)
	if err != nil {
		t.Fatalf("ParsePath(%q): %v", s, err)
	}
	return p
}

// PS-06: a sibling whose name begins with the base's is not inside it.
// spec: PATH-1 PATH-6
func TestPS06WholeComponents(t *testing.T) {
	if _, err := ParsePath("../app-evil/x"); KindOf(err) != KindDotDotComponent {
		t.Errorf("../app-evil/x: %v", err)
	}
	data := mustPath(t, "data")
	for s, want := range map[string]bool{
		"data": true, "data/x": true, "data/x/y": true, "data-old/x": false, "dat": false, "x/data": false, ".": false,
	} {
		if got := mustPath(t, s).Within(data); got != want {
			t.Errorf("%q within data = %v", s, got)
		}
	}
	if !data.Within(Path{}) || !(Path{}).Within(Path{}) {
		t.Error("the base directory does not hold its own paths")
	}
}

// PS-10: no spelling of a drive gets through, whatever cleaning would make of it.
// spec: PATH-2
func TestPS10DrivePrefixes(t *testing.T) {
	for s, want := range map[string]Kind{
		"m/../d:/n": KindDotDotComponent, "./d:": KindDotComponent, "D:x": KindDrivePrefix,
		"m/d:": KindDrivePrefix, "z:": KindDrivePrefix, "//?/C:/x": KindAbsolute, `\\?\C:\x`: KindBackslash,
	} {
		if _, err := ParsePath(s); KindOf(err) != want {
			t.Errorf("%q: %v, want %s", s, err, want)
		}
	}
}

// spec: PATH-3
func TestRefusedPathsAreNotRepeated(t *testing.T) {
	for s, want := range map[string]string{
		"/home/someone/x": OutsideBase, "../someone": OutsideBase, "c:/someone": OutsideBase,
		`a\someone`: InvalidPath, "": InvalidPath, "a//someone": InvalidPath, "someone\xff": InvalidPath,
		"someone\u0301\u0000": InvalidPath,
	} {
		_, err := ParsePath(s)
		if err == nil {
			t.Errorf("%q accepted", s)
			continue
		}
		if e := err.(*Error); e.Path != want || strings.Contains(e.Error(), "someone") {
			t.Errorf("%q: %v, want path %s", s, err, want)
		}
		if KindOf(err).Class() != ClassPath {
			t.Errorf("%q: kind %s is not of the path class", s, KindOf(err))
		}
	}
}

// spec: PATH-1
func TestPathParts(t *testing.T) {
	p := mustPath(t, "a/b/c")
	if p.Base() != "c" || p.Parent().String() != "a/b" || len(p.Components()) != 3 {
		t.Errorf("parts of %s: %s %s %v", p, p.Base(), p.Parent(), p.Components())
	}
	root := mustPath(t, ".")
	if root != (Path{}) || !root.IsRoot() || root.Base() != "." || root.Parent() != root || root.Components() != nil {
		t.Error("the base directory is not the zero Path")
	}
	if q, err := root.Join(p); err != nil || q != p {
		t.Errorf("join with the root: %v %v", q, err)
	}
	if q, err := p.Parent().Join(mustPath(t, "x/y")); err != nil || q.String() != "a/b/x/y" {
		t.Errorf("join: %v %v", q, err)
	}
	long := mustPath(t, strings.Repeat(strings.Repeat("d", 250)+"/", 10)+"x")
	if _, err := long.Join(long); KindOf(err) != KindPathTooLong {
		t.Errorf("joining two long paths: %v", err)
	}
}

func TestPathLaws(t *testing.T) {
	piece := rapid.SampledFrom([]string{"a", ".", "..", "/", "\\", "\x00", ":", "C", "e\u0301", "\u00e9", " ", "\u1100\u1161", strings.Repeat("n", 128)})
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOfN(piece, 0, 12).Draw(t, "s"), "")
		checkParse(t, s)
	})
}

// checkParse states what holds for every string. spec: PATH-1 PATH-2
func checkParse(t interface {
	Helper()
	Fatalf(string, ...any)
}, s string) {
	t.Helper()
	p, err := ParsePath(s)
	if err != nil {
		if e, ok := err.(*Error); !ok || e.Kind.Class() != ClassPath || p != (Path{}) {
			t.Fatalf("ParsePath(%q): %v", s, err)
		}
		return
	}
	if p.String() != s || !utf8.ValidString(s) || !unicode17.IsNFC(s) || len(s) > MaxPathBytes {
		t.Fatalf("ParsePath(%q) accepted as %q", s, p)
	}
	if s == "." {
		return
	}
	for _, c := range strings.Split(s, "/") {
		if c == "" || c == "." || c == ".." || len(c) > MaxComponentBytes || strings.ContainsAny(c, "\x00\\") {
			t.Fatalf("ParsePath(%q) accepted the component %q", s, c)
		}
	}
	if q, err := p.Parent().Join(Path{s: p.Base()}); err != nil || q != p {
		t.Fatalf("%q is not its parent and its base joined: %v %v", s, q, err)
	}
}

func FuzzParsePath(f *testing.F) {
	v := loadPathVectors(f)
	for _, s := range v.Accept {
		f.Add(s)
	}
	for _, c := range v.Refuse {
		f.Add(c.Path)
	}
	for _, s := range v.PortableRefuse {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		checkParse(t, s)
		if p, err := ParsePath(s); err == nil {
			if err := CheckPortable(p); err != nil && KindOf(err).Class() != ClassPath {
				t.Fatalf("CheckPortable(%q): %v", s, err)
			}
		}
	})
}
