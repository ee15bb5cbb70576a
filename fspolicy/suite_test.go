package fspolicy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"
)

// The suite of FS: every test here runs on Root and on Memory.

// call runs one operation on one path and returns its error.
type call struct {
	name string
	do   func(t testing.TB, f FS, path string) error
}

var calls = []call{
	{"read", func(t testing.TB, f FS, s string) error { _, err := read(t, f, s); return err }},
	{"write", func(t testing.TB, f FS, s string) error { return write(t, f, s, "new", WriteAny) }},
	{"write-new", func(t testing.TB, f FS, s string) error { return write(t, f, s, "new", WriteNew) }},
	{"write-replace", func(t testing.TB, f FS, s string) error { return write(t, f, s, "new", WriteReplace) }},
	{"append", func(t testing.TB, f FS, s string) error { return appendTo(t, f, s, "new") }},
	{"stat", func(t testing.TB, f FS, s string) error { _, err := f.Stat(bg, p(t, s)); return err }},
	{"list", func(t testing.TB, f FS, s string) error { _, err := list(t, f, s, ListOptions{}); return err }},
	{"mkdir", func(t testing.TB, f FS, s string) error { return f.Mkdir(bg, p(t, s), false) }},
	{"mkdir-parents", func(t testing.TB, f FS, s string) error { return f.Mkdir(bg, p(t, s), true) }},
	{"remove", func(t testing.TB, f FS, s string) error { return f.Remove(bg, p(t, s), false) }},
	{"remove-all", func(t testing.TB, f FS, s string) error { return f.Remove(bg, p(t, s), true) }},
	{"rename-from", func(t testing.TB, f FS, s string) error { return f.Rename(bg, p(t, s), p(t, "free"), false) }},
	{"rename-to", func(t testing.TB, f FS, s string) error { return f.Rename(bg, p(t, "spare"), p(t, s), true) }},
	{"copy-from", func(t testing.TB, f FS, s string) error { return f.Copy(bg, p(t, s), p(t, "free"), false) }},
	{"copy-to", func(t testing.TB, f FS, s string) error { return f.Copy(bg, p(t, "spare"), p(t, s), true) }},
}

// picture fills an empty file system with one of everything.
func picture(r rig) {
	r.addFile("spare", "spare", 0o644)
	r.addFile("file", "old", 0o640)
	r.addFile("locked", "old", 0o444)
	r.addFile("secret", "old", 0o000)
	r.addDir("dir", 0o755)
	r.addFile("dir/in", "in", 0o644)
	r.addDir("empty", 0o755)
	r.addFIFO("fifo")
	r.addSymlink("file", "to-file")
	r.addSymlink("dir", "to-dir")
	r.addSymlink("nothing", "dangling")
	r.addSymlink("/etc", "absolute")
	r.addSymlink("../base", "back")
	r.addSymlink("../../etc", "out")
	r.addSymlink("loop", "loop")
	r.addSymlink("fifo", "to-fifo")
	r.addSymlink("file/", "slash")
}

// table is what every operation answers on every entry of the picture, on both
// implementations. "" is success.
var table = []struct {
	path string
	want string // kinds by call, in the order of calls, "-" for success
}{
	//                read write new replace append stat list mkdir mkdir-p remove remove-all rename-from rename-to copy-from copy-to
	{"file", "- - already-exists - - - not-a-directory already-exists already-exists - - - - - -"},
	{"locked", "- permission-denied already-exists permission-denied permission-denied - not-a-directory already-exists already-exists - - - - - permission-denied"},
	{"secret", "permission-denied permission-denied already-exists permission-denied permission-denied - not-a-directory already-exists already-exists - - - - permission-denied permission-denied"},
	{"dir", "is-a-directory is-a-directory already-exists is-a-directory is-a-directory - - already-exists - not-empty - - is-a-directory is-a-directory is-a-directory"},
	{"empty", "is-a-directory is-a-directory already-exists is-a-directory is-a-directory - - already-exists - - - - is-a-directory is-a-directory is-a-directory"},
	{"fifo", "not-regular not-regular already-exists not-regular not-regular - not-a-directory already-exists already-exists - - - - not-regular not-regular"},
	{"to-file", "- - already-exists - - - not-a-directory already-exists already-exists - - - - - -"},
	{"to-dir", "is-a-directory is-a-directory already-exists is-a-directory is-a-directory - - already-exists - - - - - is-a-directory is-a-directory"},
	{"to-fifo", "not-regular not-regular already-exists not-regular not-regular - not-a-directory already-exists already-exists - - - - not-regular not-regular"},
	{"dangling", "not-found - already-exists not-found - - not-found already-exists - - - - - not-found -"},
	{"absolute", "escapes escapes already-exists escapes escapes escapes escapes already-exists escapes - - - - escapes escapes"},
	{"back", "escapes escapes already-exists escapes escapes escapes escapes already-exists escapes - - - - escapes escapes"},
	{"out", "escapes escapes already-exists escapes escapes escapes escapes already-exists escapes - - - - escapes escapes"},
	{"loop", "too-many-links too-many-links already-exists too-many-links too-many-links too-many-links too-many-links already-exists too-many-links - - - - too-many-links too-many-links"},
	{"slash", "not-a-directory not-a-directory already-exists not-a-directory not-a-directory not-a-directory not-a-directory already-exists already-exists - - - - not-a-directory not-a-directory"},
	{"missing", "not-found - - not-found - - not-found - - - - not-found - not-found -"},
	{"missing/x", "not-found not-found not-found not-found not-found - not-found not-found - - - not-found not-found not-found not-found"},
	{"file/x", "not-a-directory not-a-directory not-a-directory not-a-directory not-a-directory not-a-directory not-a-directory not-a-directory not-a-directory not-a-directory not-a-directory not-a-directory not-a-directory not-a-directory not-a-directory"},
	{"fifo/x", "not-a-directory not-a-directory not-a-directory not-a-directory not-a-directory not-a-directory not-a-directory not-a-directory not-a-directory not-a-directory not-a-directory not-a-directory not-a-directory not-a-directory not-a-directory"},
	{"to-dir/in", "- - already-exists - - - not-a-directory already-exists already-exists - - - - - -"},
	{"to-dir/new", "not-found - - not-found - - not-found - - - - not-found - not-found -"},
	{"absolute/x", "escapes escapes escapes escapes escapes escapes escapes escapes escapes escapes escapes escapes escapes escapes escapes"},
	{"back/file", "escapes escapes escapes escapes escapes escapes escapes escapes escapes escapes escapes escapes escapes escapes escapes"},
	{"out/passwd", "escapes escapes escapes escapes escapes escapes escapes escapes escapes escapes escapes escapes escapes escapes escapes"},
	{".", "is-a-directory is-a-directory is-a-directory is-a-directory is-a-directory - - already-exists - root root root root is-a-directory is-a-directory"},
	{".gcrun-0123456789abcdef", "protected protected protected protected protected protected protected protected protected protected protected protected protected protected protected"},
}

// spec: PATH-6 PATH-7 PATH-8 PATH-11 PATH-13
func TestEveryOperationOnEveryEntry(t *testing.T) {
	for _, row := range table {
		wants := strings.Fields(row.want)
		if len(wants) != len(calls) {
			t.Fatalf("%s has %d kinds for %d calls", row.path, len(wants), len(calls))
		}
		for i, c := range calls {
			t.Run(strings.ReplaceAll(row.path, "/", "_")+"/"+c.name, func(t *testing.T) {
				onBoth(t, func(t *testing.T, r rig) {
					picture(r)
					err := c.do(t, r.fs(), row.path)
					want := Kind(wants[i])
					if want == "-" {
						want = ""
					}
					if KindOf(err) != want {
						t.Errorf("%v, want %q", err, want)
					}
					if err != nil {
						checkErrorText(t, err)
					}
					for _, name := range r.hostNames(".") {
						if isTempName(name) {
							t.Errorf("left %s behind", name)
						}
					}
				})
			})
		}
	}
}

// checkErrorText makes sure that nothing of the host is in an error.
func checkErrorText(t testing.TB, err error) {
	t.Helper()
	e, ok := err.(*Error)
	if !ok {
		t.Fatalf("%T is not an *Error: %v", err, err)
	}
	for _, s := range []string{e.Path, e.Error(), fmt.Sprintf("%+v %#v", e, e)} {
		if strings.HasPrefix(s, "/") || strings.Contains(s, os.TempDir()) || strings.Contains(s, "base") || strings.Contains(s, "errno") {
			t.Errorf("the error tells of the host: %s", s)
		}
	}
	if errors.Unwrap(err) != nil && e.Kind != KindInterrupted {
		t.Errorf("the error wraps %v", errors.Unwrap(err))
	}
}

// spec: PATH-11 PATH-13
func TestWriteEffects(t *testing.T) {
	onBoth(t, func(t *testing.T, r rig) {
		picture(r)
		f := r.fs()
		wantErr(t, "replace", write(t, f, "file", "one", WriteAny), "", "")
		if r.content("file") != "one" || r.perm("file") != 0o640 {
			t.Errorf("file is %q %o", r.content("file"), r.perm("file"))
		}
		wantErr(t, "through a link", write(t, f, "to-file", "two", WriteReplace), "", "")
		if got, err := f.List(bg, Path{}, ListOptions{}); err != nil || kindIn(got, "to-file") != EntrySymlink {
			t.Errorf("the link was replaced: %v", err)
		}
		wantRead(t, f, "file", "two")
		wantErr(t, "through a dangling link", write(t, f, "dangling", "three", WriteAny), "", "")
		wantRead(t, f, "nothing", "three")
		wantErr(t, "new", write(t, f, "dir/new", "four", WriteNew), "", "")
		wantErr(t, "new again", write(t, f, "dir/new", "five", WriteNew), KindAlreadyExists, "dir/new")
		wantRead(t, f, "to-dir/new", "four")
		wantErr(t, "append", appendTo(t, f, "dir/new", "+"), "", "")
		wantErr(t, "append creates", appendTo(t, f, "dir/added", "x"), "", "")
		wantRead(t, f, "dir/new", "four+")
		wantRead(t, f, "dir/added", "x")
		if got := strings.Join(r.hostNames("dir"), " "); got != "added in new" {
			t.Errorf("names in dir: %s", got)
		}
	})
}

func kindIn(rows []Entry, name string) EntryKind {
	for _, e := range rows {
		if e.Name == name {
			return e.Kind
		}
	}
	return ""
}

// spec: PATH-8
func TestStat(t *testing.T) {
	onBoth(t, func(t *testing.T, r rig) {
		picture(r)
		for _, c := range []struct {
			path string
			want Info
		}{
			{"file", Info{Kind: EntryFile, Size: 3}},
			{"locked", Info{Kind: EntryFile, Size: 3, ReadOnly: true}},
			{"to-file", Info{Kind: EntryFile, Size: 3}},
			{"dir", Info{Kind: EntryDir}},
			{"to-dir", Info{Kind: EntryDir}},
			{".", Info{Kind: EntryDir}},
			{"fifo", Info{Kind: EntryOther}},
			{"dangling", Info{Kind: EntrySymlink}},
			{"missing", Info{Kind: EntryMissing}},
			{"missing/on/the/way", Info{Kind: EntryMissing}},
			{"to-dir/missing", Info{Kind: EntryMissing}},
		} {
			c.want.Path = p(t, c.path)
			if got, err := r.fs().Stat(bg, c.want.Path); err != nil || got != c.want {
				t.Errorf("stat %s: %+v, %v, want %+v", c.path, got, err, c.want)
			}
		}
	})
}

// spec: PATH-8 PATH-14
func TestList(t *testing.T) {
	onBoth(t, func(t *testing.T, r rig) {
		picture(r)
		f := r.fs()
		wantList(t, f, "dir", ListOptions{}, "dir/in:file")
		wantList(t, f, "to-dir", ListOptions{}, "to-dir/in:file")
		wantList(t, f, "empty", ListOptions{}, "")
		r.addDir("dir/sub", 0o755)
		r.addFile("dir/sub/x", "12345", 0o600)
		r.addFile("dir/sub.a", "", 0o600)
		r.addSymlink("..", "dir/sub/up")
		wantList(t, f, "dir", ListOptions{Recursive: true},
			"dir/in:file dir/sub:dir dir/sub.a:file dir/sub/up:symlink dir/sub/x:file")
		rows, err := f.List(bg, p(t, "dir/sub"), ListOptions{})
		if err != nil || len(rows) != 2 || rows[0].Size != 0 || rows[1].Size != 5 {
			t.Errorf("sizes in dir/sub: %v %v", rows, err)
		}
		got, err := list(t, f, ".", ListOptions{})
		want := "absolute:symlink back:symlink dangling:symlink dir:dir empty:dir fifo:other file:file locked:file " +
			"loop:symlink out:symlink secret:file slash:symlink spare:file to-dir:symlink to-fifo:symlink to-file:symlink"
		if err != nil || got != want {
			t.Errorf("list: %s, %v", got, err)
		}
	})
}

// spec: PATH-14
func TestListBounds(t *testing.T) {
	onBoth(t, func(t *testing.T, r rig) {
		r.addDir("a", 0o755)
		r.addDir("a/b", 0o755)
		r.addDir("a/b/c", 0o755)
		r.addFile("a/b/c/x", "", 0o644)
		all := ListOptions{Recursive: true}
		for _, c := range []struct {
			opts ListOptions
			kind Kind
			path string
		}{
			{ListOptions{Recursive: true, MaxDepth: 4}, "", ""},
			{ListOptions{Recursive: true, MaxDepth: 3}, KindTooLarge, "a/b/c"},
			{ListOptions{Recursive: true, MaxEntries: 4}, "", ""},
			{ListOptions{Recursive: true, MaxEntries: 3}, KindTooLarge, "a/b/c"},
			{ListOptions{MaxDepth: 1, MaxEntries: 1}, "", ""},
			{all, "", ""},
		} {
			_, err := list(t, r.fs(), ".", c.opts)
			wantErr(t, fmt.Sprintf("%+v", c.opts), err, c.kind, c.path)
		}
	})
}

// UN-05: the program sees form C, reads what it was given, and nothing on disk
// is renamed.
// spec: PATH-9
func TestUN05DecomposedHostName(t *testing.T) {
	onBoth(t, func(t *testing.T, r rig) {
		r.addFile("e\u0301.txt", "bytes", 0o644)
		r.addDir("o\u0308", 0o755)
		f := r.fs()
		wantList(t, f, ".", ListOptions{}, "\u00e9.txt:file \u00f6:dir")
		wantRead(t, f, "\u00e9.txt", "bytes")
		wantErr(t, "write", write(t, f, "\u00e9.txt", "more", WriteReplace), "", "")
		wantErr(t, "append", appendTo(t, f, "\u00e9.txt", "!"), "", "")
		wantErr(t, "write below", write(t, f, "\u00f6/x", "x", WriteNew), "", "")
		wantErr(t, "new", write(t, f, "\u00e9.txt", "", WriteNew), KindAlreadyExists, "\u00e9.txt")
		if got := strings.Join(r.hostNames("."), " "); got != "e\u0301.txt o\u0308" {
			t.Errorf("host names are now %+q", got)
		}
		if r.content("e\u0301.txt") != "more!" || r.content("o\u0308/x") != "x" {
			t.Error("the real entries were not used")
		}
	})
}

// UN-07: form C is neither folding nor compatibility.
// spec: PATH-9 PATH-10
func TestUN07NoFolding(t *testing.T) {
	onBoth(t, func(t *testing.T, r rig) {
		r.addFile("stra\u00dfe", "s", 0o644)
		r.addFile("\ufb01n", "f", 0o644)
		f := r.fs()
		for _, s := range []string{"strasse", "STRASSE", "Stra\u00dfe", "fin"} {
			_, err := read(t, f, s)
			wantErr(t, s, err, KindNotFound, s)
		}
		r.addFile("\u212a.txt", "kelvin", 0o644)
		wantRead(t, f, "K.txt", "kelvin")
		r.addFile("K.txt", "letter", 0o644)
		wantRead(t, f, "K.txt", "letter")
		_, err := list(t, f, ".", ListOptions{})
		wantErr(t, "list", err, KindCollision, "K.txt")
		if err.(*Error).Count != 2 {
			t.Errorf("count %d", err.(*Error).Count)
		}
		_, err = list(t, f, ".", ListOptions{SkipUnencodable: true})
		wantErr(t, "list, skipping", err, KindCollision, "K.txt")
		r.addFile("a\u0323\u0302", "1", 0o644)
		r.addFile("a\u0302\u0323", "2", 0o644)
		_, err = read(t, f, "\u1ead")
		wantErr(t, "two twins", err, KindCollision, "\u1ead")
	})
}

// UN-09: one name that is not UTF-8 does not take the rest with it.
// spec: PATH-14
func TestUN09UnencodableNames(t *testing.T) {
	onBoth(t, func(t *testing.T, r rig) {
		r.addDir("d", 0o755)
		r.addFile("d/ok", "ok", 0o644)
		r.addFile("d/bad\xff", "", 0o644)
		r.addFile("d/a\\b", "", 0o644)
		r.addFile("d/c:x", "", 0o644)
		r.addDir("d/e\xff", 0o755)
		r.addFile("d/e\xff/inner", "", 0o644)
		f := r.fs()
		_, err := list(t, f, "d", ListOptions{})
		wantErr(t, "list", err, KindUnencodable, "d")
		if e := err.(*Error); e.Count != 4 || e.Kind.Class() != ClassEncoding {
			t.Errorf("count %d", e.Count)
		}
		_, err = list(t, f, ".", ListOptions{Recursive: true})
		wantErr(t, "recursive list", err, KindUnencodable, "d")
		wantList(t, f, "d", ListOptions{SkipUnencodable: true}, "d/ok:file")
		wantList(t, f, ".", ListOptions{SkipUnencodable: true, Recursive: true}, "d:dir d/ok:file")
		wantRead(t, f, "d/ok", "ok")
	})
}

// PS-03: an absolute link is refused even when it points back inside, and the
// error has no absolute path.
// spec: PATH-7 PATH-3
func TestPS03AbsoluteLinkInside(t *testing.T) {
	onBoth(t, func(t *testing.T, r rig) {
		r.addDir("sub", 0o755)
		r.addFile("sub/f", "f", 0o644)
		target := "/base/sub"
		if root, ok := r.(*rootRig); ok {
			target = root.base + "/sub"
		}
		r.addSymlink(target, "absin")
		for _, c := range calls[:7] {
			err := c.do(t, r.fs(), "absin/f")
			wantErr(t, c.name, err, KindEscapes, "absin/f")
			checkErrorText(t, err)
		}
		_, err := list(t, r.fs(), "absin", ListOptions{})
		wantErr(t, "list", err, KindEscapes, "absin")
	})
}

// PS-05: a link inside that leads out is refused for every operation through
// it, and so is a chain of links that are harmless one by one.
// spec: PATH-7
func TestPS05EscapingLink(t *testing.T) {
	onBoth(t, func(t *testing.T, r rig) {
		r.addFile("spare", "", 0o644)
		r.addSymlink("/etc", "l")
		r.addDir("d", 0o755)
		r.addSymlink("..", "d/up")
		r.addSymlink("d/up/..", "chain")
		r.addSymlink("d/../../base/d", "around")
		for _, s := range []string{"l/hostname", "chain/x", "around/x", "d/up/chain/y"} {
			for _, c := range calls {
				wantErr(t, c.name, c.do(t, r.fs(), s), KindEscapes, s)
			}
		}
		// The same links are fine where they stay inside.
		r.addFile("f", "inside", 0o644)
		r.addSymlink("up/f", "d/fine")
		r.addSymlink("./d//../d/./fine", "longer")
		wantRead(t, r.fs(), "d/up/f", "inside")
		wantRead(t, r.fs(), "d/fine", "inside")
		wantRead(t, r.fs(), "longer", "inside")
	})
}

// PS-14: a FIFO is refused at once, also with a link in front and for writing.
// spec: PATH-8
func TestPS14FIFO(t *testing.T) {
	onBoth(t, func(t *testing.T, r rig) {
		r.addFIFO("p")
		r.addSymlink("p", "l")
		done := make(chan struct{})
		go func() {
			defer close(done)
			for _, s := range []string{"p", "l"} {
				_, err := read(t, r.fs(), s)
				wantErr(t, "read", err, KindNotRegular, s)
				wantErr(t, "append", appendTo(t, r.fs(), s, "x"), KindNotRegular, s)
				wantErr(t, "write", write(t, r.fs(), s, "x", WriteAny), KindNotRegular, s)
				_, err = list(t, r.fs(), s, ListOptions{})
				wantErr(t, "list", err, KindNotADirectory, s)
				_, err = read(t, r.fs(), s+"/x")
				wantErr(t, "read below", err, KindNotADirectory, s+"/x")
			}
		}()
		select {
		case <-done:
		case <-time.After(10 * time.Second):
			t.Fatal("an operation on a FIFO waits")
		}
	})
}

// PS-16: nothing a program can call makes a link that leads out. There is no
// operation that makes links; renaming one may not change where it leads to.
// spec: PATH-13
func TestPS16NoOutwardLinks(t *testing.T) {
	onBoth(t, func(t *testing.T, r rig) {
		r.addDir("d", 0o755)
		r.addDir("d/e", 0o755)
		r.addFile("x", "x", 0o644)
		r.addSymlink("../x", "d/l")
		r.addSymlink("../../x", "d/e/l")
		f := r.fs()
		wantRead(t, f, "d/e/l", "x")
		wantErr(t, "link", f.Rename(bg, p(t, "d/l"), p(t, "mk"), false), KindEscapes, "d/l")
		wantErr(t, "link in a directory", f.Rename(bg, p(t, "d/e"), p(t, "e"), false), KindEscapes, "d/e")
		r.addDir("h", 0o755)
		r.addDir("h/a", 0o755)
		r.addDir("h/a/b", 0o755)
		r.addSymlink("../../x", "h/a/b/fine")
		r.addSymlink("/etc", "h/a/b/abs")
		wantErr(t, "a directory whose links stay", f.Rename(bg, p(t, "h/a"), p(t, "up"), false), "", "")
		r.addSymlink("../../../x", "up/b/deep")
		r.addDir("k", 0o755)
		r.addDir("k/m", 0o755)
		wantErr(t, "down", f.Rename(bg, p(t, "up"), p(t, "k/m/up"), false), "", "")
		wantErr(t, "and up again", f.Rename(bg, p(t, "k/m/up"), p(t, "up"), false), KindEscapes, "k/m/up")
		r.addDir("g", 0o755)
		wantErr(t, "same depth", f.Rename(bg, p(t, "d/l"), p(t, "g/l"), false), "", "")
		wantRead(t, f, "g/l", "x")
		wantErr(t, "copy", f.Copy(bg, p(t, "g/l"), p(t, "mk2"), false), "", "")
		if rows, err := f.List(bg, Path{}, ListOptions{}); err != nil || kindIn(rows, "mk2") != EntryFile {
			t.Errorf("a copied link is %s, %v", kindIn(rows, "mk2"), err)
		}
		if _, ok := f.(interface{ Symlink(string, string) error }); ok {
			t.Error("programs can make links")
		}
	})
}

func TestReadRange(t *testing.T) {
	onBoth(t, func(t *testing.T, r rig) {
		r.addFile("f", "0123456789", 0o644)
		r.addFile("none", "", 0o644)
		for _, c := range []struct {
			file          string
			off, n, limit int64
			want          string
			kind          Kind
		}{
			{"f", 0, -1, 10, "0123456789", ""}, {"f", 3, 4, 100, "3456", ""}, {"f", 8, 5, 5, "89", ""},
			{"f", 10, 1, 1, "", ""}, {"f", 99, -1, 0, "", ""}, {"f", 0, -1, 9, "", KindTooLarge},
			{"f", 0, 1 << 62, 9, "", KindTooLarge}, {"f", 9, 1 << 62, 9, "9", ""}, {"f", 0, 0, 0, "", ""},
			{"f", -1, 1, 1, "", KindOther}, {"f", 1<<63 - 1, 1<<63 - 1, 1<<63 - 1, "", ""},
			{"f", 0, 1<<63 - 1, 1<<63 - 1, "0123456789", ""}, {"none", 0, -1, 0, "", ""}, {"f", 0, 4, 4, "0123", ""},
		} {
			h, err := r.fs().Open(bg, p(t, c.file))
			if err != nil {
				t.Fatal(err)
			}
			got, err := h.ReadRange(c.off, c.n, c.limit)
			if string(got) != c.want || KindOf(err) != c.kind {
				t.Errorf("ReadRange(%d, %d, %d) = %q, %v, want %q, %q", c.off, c.n, c.limit, got, err, c.want, c.kind)
			}
			h.Close()
			if _, err := h.Read(make([]byte, 1)); err == nil {
				t.Error("reading a closed file works")
			}
		}
	})
}

func TestLargeContent(t *testing.T) {
	onBoth(t, func(t *testing.T, r rig) {
		data := bytes.Repeat([]byte("0123456789abcdef"), 3*ioChunk/16+7)
		if err := r.fs().Write(bg, p(t, "big"), bytes.NewReader(data), WriteAny); err != nil {
			t.Fatal(err)
		}
		wantErr(t, "copy", r.fs().Copy(bg, p(t, "big"), p(t, "copy"), false), "", "")
		h, err := r.fs().Open(bg, p(t, "copy"))
		if err != nil {
			t.Fatal(err)
		}
		defer h.Close()
		got, err := h.ReadRange(0, -1, int64(len(data)))
		if err != nil || !bytes.Equal(got, data) || h.Size() != int64(len(data)) {
			t.Errorf("%d bytes back, %v", len(got), err)
		}
	})
}

// spec: PATH-3
func TestContext(t *testing.T) {
	onBoth(t, func(t *testing.T, r rig) {
		r.addFile("f", "data", 0o644)
		ctx, cancel := context.WithCancel(bg)
		h, err := r.fs().Open(ctx, p(t, "f"))
		if err != nil {
			t.Fatal(err)
		}
		defer h.Close()
		cancel()
		_, readErr := h.Read(make([]byte, 1))
		_, openErr := r.fs().Open(ctx, p(t, "f"))
		_, listErr := r.fs().List(ctx, Path{}, ListOptions{})
		writeErr := r.fs().Write(ctx, p(t, "g"), strings.NewReader("x"), WriteAny)
		for _, err := range []error{readErr, openErr, listErr, writeErr} {
			if KindOf(err) != KindInterrupted || !errors.Is(err, context.Canceled) {
				t.Errorf("%v, want an interruption that unwraps to the context's error", err)
			}
		}
		// In the middle of a write nothing is left.
		ctx, cancel = context.WithCancel(bg)
		err = r.fs().Write(ctx, p(t, "g"), io.MultiReader(strings.NewReader("x"), readerFunc(func([]byte) (int, error) {
			cancel()
			return 0, nil
		})), WriteAny)
		wantErr(t, "write", err, KindInterrupted, "g")
		wantList(t, r.fs(), ".", ListOptions{}, "f:file")
		if len(r.hostNames(".")) != 1 {
			t.Errorf("left behind: %q", r.hostNames("."))
		}
	})
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

func TestSourceErrorIsReturnedAsItIs(t *testing.T) {
	onBoth(t, func(t *testing.T, r rig) {
		broken := errors.New("the source broke")
		src := readerFunc(func([]byte) (int, error) { return 0, broken })
		if err := r.fs().Write(bg, p(t, "f"), src, WriteAny); err != broken {
			t.Errorf("write: %v", err)
		}
		if len(r.hostNames(".")) != 0 {
			t.Errorf("left behind: %q", r.hostNames("."))
		}
	})
}

func TestClosed(t *testing.T) {
	onBoth(t, func(t *testing.T, r rig) {
		picture(r)
		h, err := r.fs().Open(bg, p(t, "file"))
		if err != nil {
			t.Fatal(err)
		}
		defer h.Close()
		wantErr(t, "close", r.fs().Close(), "", "")
		wantErr(t, "close again", r.fs().Close(), "", "")
		for _, c := range calls {
			if err := c.do(t, r.fs(), "file"); KindOf(err) != KindOther {
				t.Errorf("%s after Close: %v", c.name, err)
			}
		}
		if b, err := io.ReadAll(h); err != nil || string(b) != "old" {
			t.Errorf("an open file after Close: %q %v", b, err)
		}
	})
}
