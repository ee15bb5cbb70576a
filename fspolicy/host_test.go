package fspolicy

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/gcrun/gcrun/internal/unicode17"
)

func chmod(t *testing.T, r rig, path string, perm os.FileMode) {
	t.Helper()
	switch r := r.(type) {
	case *rootRig:
		r.must(os.Chmod(r.host(path), perm))
	case *memoryRig:
		r.mem.Chmod(path, uint32(perm))
	}
}

// PS-08: while someone swaps an entry between a file and a link that leads out,
// only the file's content or a refusal comes back.
// spec: PATH-6
func TestPS08SwapDuringRead(t *testing.T) {
	rounds := 10_000
	if testing.Short() {
		rounds = 1_000
	}
	r := newRootRig(t)
	secret := filepath.Join(filepath.Dir(r.base), "secret")
	if err := os.WriteFile(secret, []byte("secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(filepath.Dir(r.base), "outside"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(r.base), "outside", "f"), []byte("secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	r.addFile("file", "mine", 0o644)
	r.addSymlink("../secret", "link")
	r.addDir("dir", 0o755)
	r.addFile("dir/f", "mine", 0o644)
	r.addSymlink("../outside", "dirlink")
	stop := make(chan struct{})
	var wg sync.WaitGroup
	swap := func(x, a, b string) {
		for {
			select {
			case <-stop:
				return
			default:
			}
			os.Rename(r.host(a), r.host(x))
			os.Rename(r.host(x), r.host(a))
			os.Rename(r.host(b), r.host(x))
			os.Rename(r.host(x), r.host(b))
		}
	}
	wg.Go(func() { swap("x", "file", "link") })
	wg.Go(func() { swap("d", "dir", "dirlink") })
	defer wg.Wait()
	defer close(stop)
	ok := 0
	for i := range rounds {
		path := "x"
		if i%2 == 1 {
			path = "d/f"
		}
		got, err := read(t, r.root, path)
		switch kind := KindOf(err); {
		case err == nil && got == "mine":
			ok++
		case kind == KindEscapes || kind == KindNotFound || kind == KindNotADirectory || kind == KindTooManyLinks:
		default:
			t.Fatalf("read gave %q, %v", got, err)
		}
	}
	if ok == 0 {
		t.Error("not one read found the file: the race did not take place")
	}
}

// The error by which os.Root refuses to leave its directory is recognised.
func TestRootEscapeIsRecognised(t *testing.T) {
	r := newRootRig(t)
	r.addSymlink("../x", "l")
	d := r.root.tree.root.(*osDir)
	if _, err := d.openRead("l"); kindOf(err) != KindEscapes {
		t.Errorf("os.Root's refusal has the kind %q", kindOf(err))
	}
	if _, err := d.openDir("l"); kindOf(err) != KindEscapes {
		t.Errorf("os.Root's refusal of a directory has the kind %q", kindOf(err))
	}
}

// spec: PATH-3 PATH-6
func TestOpenRoot(t *testing.T) {
	r := newRootRig(t)
	r.addFile("file", "", 0o644)
	r.addFIFO("fifo")
	for name, kind := range map[string]Kind{"missing": KindNotFound, "file": KindNotADirectory, "fifo": KindNotADirectory} {
		_, err := OpenRoot(r.host(name))
		wantErr(t, name, err, kind, ".")
		checkErrorText(t, err)
	}
	_, err := OpenRoot("")
	wantErr(t, "empty", err, KindNotFound, ".")
	// The directory is held: moving it changes nothing.
	moved := r.base + "-moved"
	if err := os.Rename(r.base, moved); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(r.base, 0o755); err != nil {
		t.Fatal(err)
	}
	wantErr(t, "write", write(t, r.root, "x", "x", WriteAny), "", "")
	if _, err := os.Stat(moved + "/x"); err != nil {
		t.Errorf("the write did not follow the directory: %v", err)
	}
}

// Temporaries of a run that died are removed, those in use are not.
// spec: PATH-11
func TestStaleTemporaries(t *testing.T) {
	r := newRootRig(t)
	stale, live := ".gcrun-00000000000000aa", ".gcrun-00000000000000bb"
	r.addDir("sub", 0o755)
	for _, dir := range []string{"", "sub/"} {
		r.addFile(dir+stale, "x", 0o600)
		r.addFile(dir+live, "x", 0o600)
		r.addFile(dir+".gcrun-short", "", 0o644)
		r.addFile(dir+".gcrun-00000000000000AA", "", 0o644)
		f, err := os.Open(r.host(dir + live))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if free, err := lockFile(f, false); err != nil || !free {
			t.Skip("no file locks here")
		}
	}
	wantList(t, r.root, ".", ListOptions{}, ".gcrun-00000000000000AA:file .gcrun-short:file sub:dir")
	again, err := OpenRoot(r.base)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if got := strings.Join(r.hostNames("."), " "); got != ".gcrun-00000000000000AA "+live+" .gcrun-short sub" {
		t.Errorf("after open: %s", got)
	}
	wantErr(t, "write", write(t, again, "sub/x", "", WriteAny), "", "")
	if got := strings.Join(r.hostNames("sub"), " "); got != ".gcrun-00000000000000AA "+live+" .gcrun-short x" {
		t.Errorf("after the first write: %s", got)
	}
	// A directory that holds nothing else counts as empty.
	r.addDir("gone", 0o755)
	r.addFile("gone/"+stale, "", 0o600)
	wantErr(t, "remove", again.Remove(bg, p(t, "gone"), false), "", "")
}

// A host that folds case must not show: another spelling is not the entry.
// spec: PATH-10
func TestFoldingHost(t *testing.T) {
	m := NewMemory()
	m.AddFile("Read.Me", []byte("text"), 0o644)
	m.AddFile("stra\u00dfe", nil, 0o644)
	m.AddFile("e\u0301", []byte("e"), 0o644)
	m.AddDir("Dir", 0o755)
	m.SetFoldCase(true)
	wantRead(t, m, "Read.Me", "text")
	wantRead(t, m, "\u00e9", "e")
	for _, s := range []string{"read.me", "READ.ME", "strasse", "STRASSE", "\u00c9", "dir/x"} {
		_, err := read(t, m, s)
		wantErr(t, "read "+s, err, KindNotFound, s)
		if info, err := m.Stat(bg, p(t, s)); err != nil || info.Kind != EntryMissing {
			t.Errorf("stat %s: %v %v", s, info, err)
		}
		wantErr(t, "remove "+s, m.Remove(bg, p(t, s), true), "", "")
	}
	for _, s := range []string{"read.me", "STRASSE", "dir"} {
		wantErr(t, "write "+s, write(t, m, s, "x", WriteAny), KindCollision, s)
		wantErr(t, "append "+s, appendTo(t, m, s, "x"), KindCollision, s)
		wantErr(t, "mkdir "+s, m.Mkdir(bg, p(t, s), true), KindCollision, s)
		wantErr(t, "rename "+s, m.Rename(bg, p(t, "\u00e9"), p(t, s), true), KindCollision, s)
	}
	wantErr(t, "mkdir below", m.Mkdir(bg, p(t, "dir/x"), true), KindCollision, "dir/x")
	if got := strings.Join(m.HostNames("."), " "); got != "Dir Read.Me e\u0301 stra\u00dfe" {
		t.Errorf("names are %q", got)
	}
	m.Protect("Run.gclog", Hidden)
	wantErr(t, "another spelling of a protected name", write(t, m, "RUN.GCLOG", "", WriteNew), KindProtected, "RUN.GCLOG")
}

// Each step that the host fails becomes the kind of the failure, and a failed
// write leaves the old content and no temporary.
// spec: PATH-3 PATH-11
func TestInjectedFailures(t *testing.T) {
	for _, step := range []string{"lstat", "opendir", "open", "append", "create", "mkdir", "remove", "link", "rename", "sync", "read", "write", "names", "readlink"} {
		met := false
		for _, c := range calls {
			for _, path := range []string{"dir/in", "to-dir/in", "dir/new", "dir"} {
				m := NewMemory()
				picture(&memoryRig{t: t, mem: m})
				hit := false
				m.Inject(func(s, at string) Kind {
					if s == step && !hit {
						hit = true
						return KindNoSpace
					}
					return ""
				})
				err := c.do(t, m, path)
				m.Inject(nil)
				met = met || hit
				switch {
				case !hit:
				case KindOf(err) == KindNoSpace:
					checkErrorText(t, err)
				case step == "remove" && err == nil && (c.name == "write-new" || c.name == "copy-from"):
					// The file is in place; its temporary name is hidden.
					continue
				case step == "opendir" && c.name == "remove" && KindOf(err) == KindNotEmpty:
					// Only the look for hidden temporaries failed.
				case step == "names" || c.name == "read" && step == "read":
					// Sweeping may fail unseen.
				default:
					t.Errorf("%s of %s with %s failing: %v", c.name, path, step, err)
				}
				if step != "remove" {
					left := m.HostNames(".")
					if info, err := m.Stat(bg, p(t, "dir")); err == nil && info.Kind == EntryDir {
						left = append(left, m.HostNames("dir")...)
					}
					if strings.Contains(strings.Join(left, " "), tempPrefix) {
						t.Errorf("%s of %s with %s failing: left %q", c.name, path, step, left)
					}
				}
				if strings.HasPrefix(c.name, "write") && hit && err != nil && step != "sync" {
					wantRead(t, m, "dir/in", "in")
				}
			}
		}
		if !met {
			t.Errorf("no call comes to the step %s", step)
		}
	}
}

// Where the host has no hard links, what needs one still works and still takes
// nothing that is there.
// spec: PATH-13
func TestHostWithoutHardLinks(t *testing.T) {
	m := NewMemory()
	picture(&memoryRig{t: t, mem: m})
	m.Inject(func(step, _ string) Kind {
		if step == "link" {
			return KindOther
		}
		return ""
	})
	wantErr(t, "new", write(t, m, "fresh", "fresh", WriteNew), "", "")
	wantRead(t, m, "fresh", "fresh")
	wantErr(t, "new, taken", write(t, m, "file", "x", WriteNew), KindAlreadyExists, "file")
	wantErr(t, "rename", m.Rename(bg, p(t, "fresh"), p(t, "moved"), false), "", "")
	wantRead(t, m, "moved", "fresh")
	// Taken between the look and the step.
	m.Inject(func(step, path string) Kind {
		switch step {
		case "link":
			return KindOther
		case "create":
			if !isTempName(path) {
				return KindAlreadyExists
			}
		}
		return ""
	})
	wantErr(t, "new, taken meanwhile", write(t, m, "late", "x", WriteNew), KindAlreadyExists, "late")
	wantErr(t, "rename, taken meanwhile", m.Rename(bg, p(t, "moved"), p(t, "late"), false), KindAlreadyExists, "late")
	m.Inject(func(step, path string) Kind {
		if step == "link" || step == "rename" {
			return KindOther
		}
		return ""
	})
	wantErr(t, "new, failing late", write(t, m, "late", "x", WriteNew), KindOther, "late")
	wantErr(t, "rename, failing late", m.Rename(bg, p(t, "moved"), p(t, "late"), false), KindOther, "late")
	m.Inject(nil)
	wantRead(t, m, "moved", "fresh")
	for _, name := range m.HostNames(".") {
		if isTempName(name) || name == "late" {
			t.Errorf("left %s behind", name)
		}
	}
}

// Every kind has its class, and a message safe for a terminal.
// spec: PATH-3
func TestKindsAndMessages(t *testing.T) {
	classes := map[Class]string{
		ClassIO: "not-found permission-denied already-exists is-a-directory not-a-directory not-empty not-regular " +
			"read-only no-space too-large too-many-links cross-device busy interrupted other",
		ClassPath: "empty nul backslash absolute empty-component dot-component dot-dot-component drive-prefix " +
			"component-too-long path-too-long not-nfc not-utf8 escapes protected root control-character " +
			"reserved-character device-name trailing-space-or-dot",
		ClassEncoding:  "unencodable",
		ClassCollision: "collision",
	}
	for class, kinds := range classes {
		for _, k := range strings.Fields(kinds) {
			if Kind(k).Class() != class {
				t.Errorf("%s has the class %d, want %d", k, Kind(k).Class(), class)
			}
		}
	}
	e := &Error{Kind: KindUnencodable, Path: "a\u202eb\x1b", Count: 3}
	if got := e.Error(); got != `unencodable: "a\u202eb\x1b" (3 names)` {
		t.Errorf("message %s", got)
	}
}

// What happens to entries between two steps of a listing ends in a shorter
// listing, not in an error.
// spec: PATH-14
func TestEntriesThatVanishWhileListed(t *testing.T) {
	for _, step := range []string{"lstat", "opendir"} {
		m := NewMemory()
		picture(&memoryRig{t: t, mem: m})
		m.Inject(func(s, path string) Kind {
			if s == step && path == "dir" {
				return KindNotFound
			}
			return ""
		})
		rows, err := m.List(bg, Path{}, ListOptions{Recursive: true})
		if err != nil || kindIn(rows, "in") != "" || kindIn(rows, "file") == "" {
			t.Errorf("%s: %v %v", step, rows, err)
		}
	}
}

// Only three ASCII characters are the form C of something else.
// spec: PATH-9
func TestMayHaveTwin(t *testing.T) {
	for r := rune(0x80); r <= utf8.MaxRune; r++ {
		s := string(r)
		if c := unicode17.NFC(s); utf8.ValidRune(r) && c != "" && c[0] < 0x80 && !mayHaveTwin(c) {
			t.Errorf("U+%04X has the form C %q", r, c)
		}
	}
	if mayHaveTwin("plain-name.txt") {
		t.Error("a plain name costs a scan")
	}
}

func TestConcurrentUse(t *testing.T) {
	onBoth(t, func(t *testing.T, r rig) {
		r.addDir("d", 0o755)
		var wg sync.WaitGroup
		for i := range 8 {
			name := "d/" + string(rune('a'+i))
			wg.Go(func() {
				for range 10 {
					wantErr(t, "write", write(t, r.fs(), name, name, WriteAny), "", "")
					wantErr(t, "shared", write(t, r.fs(), "d/shared", "all", WriteAny), "", "")
					wantRead(t, r.fs(), name, name)
					wantRead(t, r.fs(), "d/shared", "all")
					if _, err := list(t, r.fs(), ".", ListOptions{Recursive: true}); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		if n := len(r.hostNames("d")); n != 9 {
			t.Errorf("%d names in d", n)
		}
	})
}

// Only one of many writers that want a new file gets it.
// spec: PATH-13
func TestWriteNewIsExclusive(t *testing.T) {
	onBoth(t, func(t *testing.T, r rig) {
		var wg sync.WaitGroup
		var mu sync.Mutex
		won := 0
		for range 8 {
			wg.Go(func() {
				err := write(t, r.fs(), "one", "x", WriteNew)
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					won++
				} else if KindOf(err) != KindAlreadyExists {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if won != 1 {
			t.Errorf("%d writers won", won)
		}
	})
}

func TestErrorOfAnotherPackage(t *testing.T) {
	if KindOf(nil) != "" || KindOf(fs.ErrNotExist) != KindOther || KindOf(errors.Join(&Error{Kind: KindBusy})) != KindBusy {
		t.Error("KindOf is wrong")
	}
	if k := hostKind(&fs.PathError{Op: "open", Path: "/x", Err: errors.New("strange")}); k != KindOther {
		t.Errorf("an unknown error has the kind %q", k)
	}
}

func TestLargeDirectoryIsListedQuickly(t *testing.T) {
	if testing.Short() {
		t.Skip("makes many files")
	}
	m := NewMemory()
	m.AddDir("d", 0o755)
	for i := range 20_000 {
		m.AddFile("d/"+strings.Repeat("f", 1+i%9)+string(rune(0x4e00+i)), nil, 0o644)
	}
	begin := time.Now()
	rows, err := m.List(bg, p(t, "d"), ListOptions{})
	if err != nil || len(rows) != 20_000 || time.Since(begin) > 10*time.Second {
		t.Errorf("%d rows, %v, in %v", len(rows), err, time.Since(begin))
	}
}
