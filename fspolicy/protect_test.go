package fspolicy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// guarded is a base directory with the files of a run in it.
func guarded(r rig) {
	r.addFile("run.gclog", "log", 0o600)
	r.addFile("caps.toml", "policy", 0o644)
	r.addFile("spare", "spare", 0o644)
	r.addDir("store", 0o700)
	r.addFile("store/blob", "blob", 0o600)
	r.addDir("sub", 0o755)
	r.addDir("sub/logs", 0o755)
	r.addFile("sub/logs/2.gclog", "log2", 0o600)
	r.addFile("sub/other", "", 0o644)
	r.protect("run.gclog", Hidden)
	r.protect("run.gclog.side", Hidden)
	r.protect("store", Hidden)
	r.protect("sub/logs/2.gclog", Hidden)
	r.protect("caps.toml", ReadOnly)
}

// spec: PATH-12
func TestHiddenFiles(t *testing.T) {
	for _, path := range []string{"run.gclog", "run.gclog.side", "store", "store/blob", "store/new", "sub/logs/2.gclog", "to-log", "hard", "to-store/blob"} {
		for _, c := range calls {
			t.Run(strings.ReplaceAll(path, "/", "_")+"/"+c.name, func(t *testing.T) {
				onBoth(t, func(t *testing.T, r rig) {
					guarded(r)
					r.addSymlink("run.gclog", "to-log")
					r.addSymlink("store", "to-store")
					r.addLink("run.gclog", "hard")
					before := strings.Join(r.hostNames("."), " ")
					err := c.do(t, r.fs(), path)
					switch {
					case path == "to-log" && actsOnLinks(c.name):
						// The link itself belongs to the program.
					case KindOf(err) != KindProtected:
						t.Errorf("%v, want it refused as protected", err)
					default:
						checkErrorText(t, err)
						if after := strings.Join(r.hostNames("."), " "); after != before {
							t.Errorf("names were %s, are %s", before, after)
						}
					}
					if r.content("run.gclog") != "log" || r.content("store/blob") != "blob" || r.content("sub/logs/2.gclog") != "log2" {
						t.Error("a protected file was changed")
					}
				})
			})
		}
	}
}

// actsOnLinks is true of calls that do not follow a link in the last place.
func actsOnLinks(name string) bool {
	switch name {
	case "remove", "remove-all", "rename-from", "rename-to", "mkdir", "write-new":
		return true
	}
	return false
}

// spec: PATH-12
func TestHiddenFilesAreNotListed(t *testing.T) {
	onBoth(t, func(t *testing.T, r rig) {
		guarded(r)
		r.addLink("run.gclog", "hard")
		r.addFile("run.gclog.side", "", 0o600)
		r.addFile(".gcrun-0123456789abcdef", "", 0o600)
		wantList(t, r.fs(), ".", ListOptions{Recursive: true},
			"caps.toml:file spare:file sub:dir sub/logs:dir sub/other:file")
	})
}

// spec: PATH-12
func TestReadOnlyFiles(t *testing.T) {
	onBoth(t, func(t *testing.T, r rig) {
		guarded(r)
		r.addLink("caps.toml", "again")
		r.addSymlink("caps.toml", "l")
		f := r.fs()
		for _, s := range []string{"caps.toml", "again", "l"} {
			wantRead(t, f, s, "policy")
			if info, err := f.Stat(bg, p(t, s)); err != nil || info.Size != 6 {
				t.Errorf("stat %s: %v %v", s, info, err)
			}
			for _, c := range calls {
				switch c.name {
				case "read", "stat", "list", "mkdir", "mkdir-parents", "copy-from":
					continue
				}
				if s == "l" && actsOnLinks(c.name) {
					continue
				}
				wantErr(t, c.name+" "+s, c.do(t, f, s), KindProtected, s)
			}
		}
		wantErr(t, "copy", f.Copy(bg, p(t, "caps.toml"), p(t, "mine"), false), "", "")
		wantErr(t, "writing the copy", write(t, f, "mine", "x", WriteAny), "", "")
		if r.content("caps.toml") != "policy" {
			t.Error("the policy was changed")
		}
	})
}

// A directory above a protected file can be used, but not moved or removed.
// spec: PATH-12
func TestDirectoriesAboveProtectedFiles(t *testing.T) {
	onBoth(t, func(t *testing.T, r rig) {
		guarded(r)
		f := r.fs()
		for _, s := range []string{"sub", "sub/logs"} {
			wantErr(t, "remove", f.Remove(bg, p(t, s), true), KindProtected, s)
			wantErr(t, "rename", f.Rename(bg, p(t, s), p(t, "moved"), false), KindProtected, s)
		}
		wantErr(t, "a file beside", write(t, f, "sub/logs/mine", "x", WriteAny), "", "")
		wantErr(t, "removing it", f.Remove(bg, p(t, "sub/logs/mine"), false), "", "")
		r.addDir("tree", 0o755)
		r.addDir("tree/a", 0o755)
		r.addFile("tree/a/keep", "keep", 0o644)
		r.addLink("run.gclog", "tree/a/z")
		wantErr(t, "remove a tree with the log in it", f.Remove(bg, p(t, "tree"), true), KindProtected, "tree")
		wantRead(t, f, "tree/a/keep", "keep")
	})
}

// A rename by someone else does not uncover the log, and a new file under its
// name is not the program's either.
// spec: PATH-12
func TestProtectedFileIsRecognisedAfterRename(t *testing.T) {
	onBoth(t, func(t *testing.T, r rig) {
		guarded(r)
		r.rename("run.gclog", "elsewhere")
		_, err := read(t, r.fs(), "elsewhere")
		wantErr(t, "read", err, KindProtected, "elsewhere")
		wantErr(t, "append", appendTo(t, r.fs(), "elsewhere", "x"), KindProtected, "elsewhere")
		wantErr(t, "write", write(t, r.fs(), "run.gclog", "forged", WriteNew), KindProtected, "run.gclog")
		wantErr(t, "mkdir", r.fs().Mkdir(bg, p(t, "run.gclog"), true), KindProtected, "run.gclog")
		wantList(t, r.fs(), ".", ListOptions{}, "caps.toml:file spare:file sub:dir")
	})
}

// spec: PATH-12
func TestReadOnlyDirectory(t *testing.T) {
	onBoth(t, func(t *testing.T, r rig) {
		r.addDir("src", 0o755)
		r.addFile("src/main.gc", "code", 0o644)
		r.addFile("spare", "", 0o644)
		r.protect("src", ReadOnly)
		f := r.fs()
		wantRead(t, f, "src/main.gc", "code")
		wantList(t, f, "src", ListOptions{}, "src/main.gc:file")
		for _, s := range []string{"src/main.gc", "src/new"} {
			for _, c := range calls {
				err := c.do(t, f, s)
				switch c.name {
				case "read", "stat", "list", "copy-from":
					continue
				}
				if s == "src/main.gc" && strings.HasPrefix(c.name, "mkdir") {
					wantErr(t, c.name, err, KindAlreadyExists, s)
					continue
				}
				if s == "src/new" && (c.name == "write-replace" || c.name == "rename-from") {
					wantErr(t, c.name, err, KindNotFound, s)
					continue
				}
				if s == "src/new" && strings.HasPrefix(c.name, "remove") {
					wantErr(t, c.name, err, "", "")
					continue
				}
				wantErr(t, c.name+" "+s, err, KindProtected, s)
			}
		}
		if got := strings.Join(r.hostNames("src"), " "); got != "main.gc" {
			t.Errorf("src holds %s", got)
		}
	})
}

// spec: PATH-12
func TestProtectByDescriptor(t *testing.T) {
	r := newRootRig(t)
	r.addFile("log", "log", 0o600)
	f, err := os.Open(r.host("log"))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.root.Protect(f, Hidden); err != nil {
		t.Fatal(err)
	}
	if err := r.root.Protect(f, ReadOnly); err != nil {
		t.Fatal(err)
	}
	f.Close()
	r.rename("log", "other")
	_, err = read(t, r.root, "other")
	wantErr(t, "read", err, KindProtected, "other")
	if err := r.root.Protect(f, Hidden); err == nil {
		t.Error("protecting a closed file works")
	}
}

// A protected file may lie anywhere and be named by any path to it.
// spec: PATH-12
func TestProtectPathFollowsTheHost(t *testing.T) {
	r := newRootRig(t)
	outside := filepath.Dir(r.base)
	r.addFile("log", "log", 0o600)
	r.addFile("other", "", 0o644)
	if err := os.Symlink("base", outside+"/alias"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("base/log", outside+"/current"); err != nil {
		t.Fatal(err)
	}
	if err := r.root.ProtectPath(outside+"/current", Hidden); err != nil {
		t.Fatal(err)
	}
	if err := r.root.ProtectPath(outside+"/alias/later", Hidden); err != nil {
		t.Fatal(err)
	}
	_, err := read(t, r.root, "log")
	wantErr(t, "read", err, KindProtected, "log")
	wantErr(t, "write", write(t, r.root, "later", "x", WriteAny), KindProtected, "later")
	wantList(t, r.root, ".", ListOptions{}, "other:file")
	err = r.root.ProtectPath(outside+"/no/such/file", Hidden)
	wantErr(t, "missing directory", err, KindNotFound, InvalidPath)
	checkErrorText(t, err)
}
