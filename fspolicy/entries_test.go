package fspolicy

import (
	"fmt"
	"strings"
	"testing"
)

// spec: PATH-13
func TestMkdir(t *testing.T) {
	onBoth(t, func(t *testing.T, r rig) {
		picture(r)
		f := r.fs()
		wantErr(t, "parents", f.Mkdir(bg, p(t, "a/b/c"), true), "", "")
		wantErr(t, "again", f.Mkdir(bg, p(t, "a/b/c"), true), "", "")
		wantErr(t, "alone", f.Mkdir(bg, p(t, "a/b/d"), false), "", "")
		wantErr(t, "through links", f.Mkdir(bg, p(t, "to-dir/x/y"), true), "", "")
		wantErr(t, "at the end of a dangling link", f.Mkdir(bg, p(t, "dangling/z"), true), "", "")
		wantErr(t, "in a file", f.Mkdir(bg, p(t, "file/x"), true), KindNotADirectory, "file/x")
		wantErr(t, "out", f.Mkdir(bg, p(t, "out/x/y"), true), KindEscapes, "out/x/y")
		wantList(t, f, "a", ListOptions{Recursive: true}, "a/b:dir a/b/c:dir a/b/d:dir")
		wantList(t, f, "dir", ListOptions{Recursive: true}, "dir/in:file dir/x:dir dir/x/y:dir")
		wantList(t, f, "nothing", ListOptions{}, "nothing/z:dir")
	})
}

// spec: PATH-13
func TestRemove(t *testing.T) {
	onBoth(t, func(t *testing.T, r rig) {
		picture(r)
		f := r.fs()
		r.addDir("tree", 0o755)
		r.addDir("tree/a", 0o755)
		r.addFile("tree/a/f", "", 0o000)
		r.addSymlink("../dir", "tree/l")
		r.addSymlink("/etc", "tree/a/e")
		wantErr(t, "not empty", f.Remove(bg, p(t, "tree"), false), KindNotEmpty, "tree")
		wantErr(t, "all", f.Remove(bg, p(t, "tree"), true), "", "")
		wantErr(t, "again", f.Remove(bg, p(t, "tree"), true), "", "")
		wantErr(t, "below it", f.Remove(bg, p(t, "tree/a/f"), false), "", "")
		wantRead(t, f, "dir/in", "in")
		wantErr(t, "link", f.Remove(bg, p(t, "to-dir"), true), "", "")
		wantRead(t, f, "dir/in", "in")
		wantErr(t, "through a link", f.Remove(bg, p(t, "to-file"), false), "", "")
		wantRead(t, f, "file", "old")
		wantErr(t, "root", f.Remove(bg, p(t, "."), true), KindRoot, ".")
	})
}

// spec: PATH-13
func TestRename(t *testing.T) {
	onBoth(t, func(t *testing.T, r rig) {
		picture(r)
		f := r.fs()
		ren := func(from, to string, over bool) error { return f.Rename(bg, p(t, from), p(t, to), over) }
		wantErr(t, "file", ren("file", "dir/file", false), "", "")
		wantRead(t, f, "dir/file", "old")
		wantErr(t, "taken", ren("spare", "dir/in", false), KindAlreadyExists, "dir/in")
		wantErr(t, "taken by a link", ren("spare", "dangling", false), KindAlreadyExists, "dangling")
		wantErr(t, "over", ren("spare", "dir/in", true), "", "")
		wantRead(t, f, "dir/in", "spare")
		wantErr(t, "directory", ren("dir", "empty/dir", false), "", "")
		wantRead(t, f, "empty/dir/in", "spare")
		wantErr(t, "into itself", ren("empty", "empty/dir/x", false), KindOther, "empty/dir/x")
		wantErr(t, "onto its parent", ren("empty/dir", "empty", true), KindAlreadyExists, "empty")
		wantErr(t, "link", ren("to-dir", "link", false), "", "")
		wantErr(t, "itself", ren("locked", "locked", true), "", "")
		wantErr(t, "itself, not over", ren("locked", "locked", false), KindAlreadyExists, "locked")
		wantErr(t, "root", ren(".", "x", false), KindRoot, ".")
		wantErr(t, "onto the root", ren("locked", ".", true), KindRoot, ".")
		wantErr(t, "missing", ren("gone", "x", false), KindNotFound, "gone")
		wantErr(t, "to a missing directory", ren("locked", "gone/x", false), KindNotFound, "gone/x")
		r.addLink("locked", "same")
		wantErr(t, "two names of one file", ren("locked", "same", true), "", "")
		names := strings.Join(r.hostNames("."), " ")
		if strings.Contains(names, "locked") || r.content("same") != "old" {
			t.Errorf("after renaming one name of a file to the other: %s", names)
		}
	})
}

// spec: PATH-13
func TestCopy(t *testing.T) {
	onBoth(t, func(t *testing.T, r rig) {
		picture(r)
		f := r.fs()
		cp := func(from, to string, over bool) error { return f.Copy(bg, p(t, from), p(t, to), over) }
		wantErr(t, "file", cp("to-file", "dir/copy", false), "", "")
		if r.content("dir/copy") != "old" || r.perm("dir/copy") != 0o640 {
			t.Errorf("copy is %q %o", r.content("dir/copy"), r.perm("dir/copy"))
		}
		wantErr(t, "taken", cp("spare", "dir/copy", false), KindAlreadyExists, "dir/copy")
		wantErr(t, "over", cp("spare", "dir/copy", true), "", "")
		if r.content("dir/copy") != "spare" || r.perm("dir/copy") != 0o640 {
			t.Errorf("copy is %q %o", r.content("dir/copy"), r.perm("dir/copy"))
		}
		wantErr(t, "itself", cp("spare", "spare", true), "", "")
		wantRead(t, f, "spare", "spare")
		wantErr(t, "directory", cp("dir", "x", false), KindIsADirectory, "dir")
	})
}

// A directory's own mode bits count, for any user.
// spec: PATH-8
func TestDirectoryModes(t *testing.T) {
	onBoth(t, func(t *testing.T, r rig) {
		r.addDir("unlisted", 0o755)
		r.addFile("unlisted/f", "f", 0o644)
		r.addDir("frozen", 0o755)
		r.addFile("frozen/f", "f", 0o644)
		r.addDir("shut", 0o755)
		r.addFile("shut/f", "f", 0o644)
		r.addFile("spare", "", 0o644)
		chmod(t, r, "unlisted", 0o311)
		chmod(t, r, "frozen", 0o555)
		chmod(t, r, "shut", 0o600)
		f := r.fs()
		_, err := read(t, f, "unlisted/f")
		wantErr(t, "read", err, KindPermissionDenied, "unlisted/f")
		_, err = list(t, f, "unlisted", ListOptions{})
		wantErr(t, "list", err, KindPermissionDenied, "unlisted")
		_, err = list(t, f, ".", ListOptions{Recursive: true})
		wantErr(t, "list all", err, KindPermissionDenied, "shut")
		if info, err := f.Stat(bg, p(t, "unlisted")); err != nil || info.Kind != EntryDir || info.ReadOnly {
			t.Errorf("stat of a directory that cannot be read: %v %v", info, err)
		}
		wantRead(t, f, "frozen/f", "f")
		wantErr(t, "append", appendTo(t, f, "frozen/f", "x"), "", "")
		for _, c := range calls {
			switch c.name {
			case "write", "write-replace", "write-new", "remove", "remove-all", "rename-from", "rename-to", "copy-to":
				wantErr(t, c.name, c.do(t, f, "frozen/f"), KindPermissionDenied, "frozen/f")
			}
			wantErr(t, c.name, c.do(t, f, "shut/f"), KindPermissionDenied, "shut/f")
		}
		wantErr(t, "mkdir", f.Mkdir(bg, p(t, "frozen/d/e"), true), KindPermissionDenied, "frozen/d/e")
		wantErr(t, "remove all", f.Remove(bg, p(t, "frozen"), true), KindPermissionDenied, "frozen")
	})
}

func TestDeepAndLinkedPaths(t *testing.T) {
	onBoth(t, func(t *testing.T, r rig) {
		f := r.fs()
		deep := strings.TrimSuffix(strings.Repeat("d/", 200), "/")
		wantErr(t, "mkdir", f.Mkdir(bg, p(t, deep), true), "", "")
		wantErr(t, "write", write(t, f, deep+"/f", "deep", WriteNew), "", "")
		wantRead(t, f, deep+"/f", "deep")
		// Forty links may follow each other, not one more.
		r.addFile("end", "end", 0o644)
		prev := "end"
		for i := range maxLinks + 1 {
			name := fmt.Sprintf("l%02d", i)
			r.addSymlink(prev, name)
			prev = name
		}
		wantRead(t, f, fmt.Sprintf("l%02d", maxLinks-1), "end")
		_, err := read(t, f, prev)
		wantErr(t, "one link more", err, KindTooManyLinks, prev)
		// Links that multiply the steps end soon.
		r.addSymlink(strings.Repeat("d/../", 400)+"bomb", "bomb")
		_, err = read(t, f, "bomb")
		wantErr(t, "many steps", err, KindTooManyLinks, "bomb")
		wantErr(t, "remove", f.Remove(bg, p(t, "d"), true), "", "")
	})
}
