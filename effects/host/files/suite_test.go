package files

import (
	"os"
	"os/user"
	"slices"
	"strings"
	"testing"

	"github.com/gcrun/gcrun/effects/ops"
	"github.com/gcrun/gcrun/fspolicy"
	"github.com/gcrun/gcrun/internal/testkit"
)

// step is one call and its short answer.
type step struct{ op, payload, want string }

// scenario is a host made ready and calls in order. Every scenario runs on both
// file systems, and both must give the same bytes.
type scenario struct {
	name  string
	setup func(h host)
	grant fakeGrant
	max   int64 // bytes of an answer, 0 for the usual
	steps []step
}

const (
	notFound = `core/io-error :io-kind not-found :path `
	isDir    = `core/io-error :io-kind is-a-directory :path `
	notDir   = `core/io-error :io-kind not-a-directory :path `
	notFile  = `core/io-error :io-kind not-regular :path `
	noAccess = `core/io-error :io-kind permission-denied :path `
	refused  = `core/path-error :path `
)

// all makes the same call of every op.
func all(path, want string) []step {
	p := `{:path ` + path + `}`
	d := `{:data "x" :path ` + path + `}`
	return []step{{"append", d, want}, {"list", p, want}, {"read", p, want}, {"stat", p, want}, {"write", d, want}}
}

func steps(groups ...[]step) []step { return slices.Concat(groups...) }

var scenarios = []scenario{
	// spec: PATH-2, PATH-3
	{name: "refused paths", steps: steps(
		all(`""`, refused+`"<invalid-path>" :reason empty`),
		all(`"a\u0000b"`, refused+`"<invalid-path>" :reason nul`),
		all(`"a\\b"`, refused+`"<invalid-path>" :reason backslash`),
		all(`"/etc/passwd"`, refused+`"<outside-base>" :reason absolute`),
		all(`"a//b"`, refused+`"<invalid-path>" :reason empty-component`),
		all(`"./a"`, refused+`"<invalid-path>" :reason dot-component`),
		all(`"a/../../b"`, refused+`"<outside-base>" :reason dot-dot-component`),
		all(`"c:/a"`, refused+`"<outside-base>" :reason drive-prefix`),
		all(`"`+strings.Repeat("n", 256)+`"`, refused+`"<invalid-path>" :reason component-too-long`),
		all(`"`+strings.Repeat("abcdefg/", 512)+`h"`, refused+`"<invalid-path>" :reason path-too-long`),
		all(`"e`+"\u0301"+`"`, refused+`"<invalid-path>" :reason not-nfc`),
	)},
	{name: "paths not granted",
		setup: func(h host) { h.addDir("in"); h.addFile("in/f", "x", 0o644); h.addFile("g", "x", 0o644) },
		grant: fakeGrant{allow: func(p string) bool { return strings.HasPrefix(p, "in") }},
		steps: steps(
			all(`"g"`, refused+`"g" :reason not-granted`),
			all(`"no/such/thing"`, refused+`"no/such/thing" :reason not-granted`),
			all(`"."`, refused+`"." :reason not-granted`),
			all(`"../in"`, refused+`"<outside-base>" :reason dot-dot-component`),
			[]step{{"read", `{:path "in/f"}`, `ok b"x"`}},
		)},
	{name: "read", setup: func(h host) { h.addFile("f", "0123456789", 0o644); h.addFile("empty", "", 0o644); h.addDir("d") },
		steps: []step{
			{"read", `{:path "f"}`, `ok b"0123456789"`},
			{"read", `{:path "empty"}`, `ok b""`},
			{"read", `{:offset 3 :path "f"}`, `ok b"3456789"`},
			{"read", `{:len 4 :path "f"}`, `ok b"0123"`},
			{"read", `{:len 4 :offset 3 :path "f"}`, `ok b"3456"`},
			{"read", `{:len 4 :offset 8 :path "f"}`, `ok b"89"`},
			{"read", `{:len 0 :path "f"}`, `ok b""`},
			{"read", `{:offset 10 :path "f"}`, `ok b""`},
			{"read", `{:len 9223372036854775807 :offset 9223372036854775807 :path "f"}`, `ok b""`},
			{"read", `{:len 9223372036854775807 :offset 9 :path "f"}`, `ok b"9"`},
			{"read", `{:path "nosuch"}`, notFound + `"nosuch"`},
			{"read", `{:path "nosuch/f"}`, notFound + `"nosuch/f"`},
			{"read", `{:path "f/f"}`, notDir + `"f/f"`},
			{"read", `{:path "d"}`, isDir + `"d"`},
			{"read", `{:path "."}`, isDir + `"."`},
		}},
	{name: "read at its limit", setup: func(h host) { h.addFile("f", "0123456789", 0o644) }, max: 4, steps: []step{
		{"read", `{:path "f"}`, `core/caps/resource-limit :dimension "max_bytes" :limit 4 :performed true`},
		{"read", `{:len 5 :path "f"}`, `core/caps/resource-limit :dimension "max_bytes" :limit 4 :performed true`},
		{"read", `{:len 4 :path "f"}`, `ok b"0123"`},
		{"read", `{:offset 6 :path "f"}`, `ok b"6789"`},
		{"read", `{:offset 5 :path "f"}`, `core/caps/resource-limit :dimension "max_bytes" :limit 4 :performed true`},
		{"read", `{:len 9223372036854775807 :offset 7 :path "f"}`, `ok b"789"`},
	}},
	// spec: PATH-11, PATH-13
	{name: "write", setup: func(h host) { h.addDir("d"); h.addFile("ro", "r", 0o444) }, steps: []step{
		{"write", `{:create "replace" :data "x" :path "f"}`, notFound + `"f"`},
		{"write", `{:data "one é" :path "f"}`, `ok nil`},
		{"read", `{:path "f"}`, `ok b"one \xC3\xA9"`},
		{"write", `{:create "new" :data "x" :path "f"}`, `core/io-error :io-kind already-exists :path "f"`},
		{"write", `{:create "replace" :data b"\xff\x00" :path "f"}`, `ok nil`},
		{"read", `{:path "f"}`, `ok b"\xFF\x00"`},
		{"write", `{:create "any" :data "" :path "f"}`, `ok nil`},
		{"read", `{:path "f"}`, `ok b""`},
		{"write", `{:create "new" :data "n" :path "d/n"}`, `ok nil`},
		{"write", `{:data "x" :path "d"}`, isDir + `"d"`},
		{"write", `{:data "x" :path "."}`, isDir + `"."`},
		{"write", `{:data "x" :path "no/f"}`, notFound + `"no/f"`},
		{"write", `{:data "x" :path "f/f"}`, notDir + `"f/f"`},
		{"write", `{:data "x" :path "ro"}`, noAccess + `"ro"`},
		{"append", `{:data "x" :path "ro"}`, noAccess + `"ro"`},
		{"append", `{:data "1" :path "d/log"}`, `ok nil`},
		{"append", `{:data b"2" :path "d/log"}`, `ok nil`},
		{"read", `{:path "d/log"}`, `ok b"12"`},
		{"append", `{:data "x" :path "d"}`, isDir + `"d"`},
		{"append", `{:data "x" :path "no/f"}`, notFound + `"no/f"`},
	}},
	{name: "create_dirs", grant: fakeGrant{createDirs: true},
		setup: func(h host) { h.addFile("f", "x", 0o644); h.addSymlink("no/where", "l") },
		steps: []step{
			{"write", `{:create "replace" :data "x" :path "a/f"}`, notFound + `"a/f"`},
			{"stat", `{:path "a"}`, `ok {:exists false :kind missing :len-bytes 0 :path "a" :readonly false}`},
			{"write", `{:data "1" :path "a/b/c"}`, `ok nil`},
			{"write", `{:create "new" :data "2" :path "a/b/d"}`, `ok nil`},
			{"append", `{:data "3" :path "x/y/z"}`, `ok nil`},
			{"read", `{:path "x/y/z"}`, `ok b"3"`},
			{"list", `{:path "a/b"}`, `ok [{:kind file :len-bytes 1 :name "c" :path "a/b/c"} {:kind file :len-bytes 1 :name "d" :path "a/b/d"}]`},
			{"write", `{:data "x" :path "f/g"}`, notDir + `"f/g"`},
			{"write", `{:data "x" :path "l"}`, notFound + `"l"`},
			{"write", `{:data "x" :path "."}`, isDir + `"."`},
		}},
	{name: "stat", setup: func(h host) {
		h.addFile("f", "12345", 0o644)
		h.addFile("ro", "", 0o444)
		h.addDir("d")
		h.addFile("d/f", "1", 0o644)
		h.addSymlink("f", "l")
		h.addSymlink("gone", "dangling")
	}, steps: []step{
		{"stat", `{:path "f"}`, `ok {:exists true :kind file :len-bytes 5 :path "f" :readonly false}`},
		{"stat", `{:path "ro"}`, `ok {:exists true :kind file :len-bytes 0 :path "ro" :readonly true}`},
		{"stat", `{:path "d"}`, `ok {:exists true :kind dir :len-bytes 0 :path "d" :readonly false}`},
		{"stat", `{:path "."}`, `ok {:exists true :kind dir :len-bytes 0 :path "." :readonly false}`},
		{"stat", `{:path "l"}`, `ok {:exists true :kind file :len-bytes 5 :path "l" :readonly false}`},
		{"stat", `{:path "dangling"}`, `ok {:exists true :kind symlink :len-bytes 0 :path "dangling" :readonly false}`},
		{"stat", `{:path "no"}`, `ok {:exists false :kind missing :len-bytes 0 :path "no" :readonly false}`},
		{"stat", `{:path "no/such/parent"}`, `ok {:exists false :kind missing :len-bytes 0 :path "no/such/parent" :readonly false}`},
		{"stat", `{:path "f/x"}`, notDir + `"f/x"`},
	}},
	// spec: PATH-14
	{name: "list", setup: func(h host) {
		h.addDir("d")
		h.addFile("d/b", "12", 0o644)
		h.addDir("d/a")
		h.addFile("d/a/x", "", 0o644)
		h.addFile("d/a.x", "", 0o644)
		h.addSymlink("a", "d/l")
		h.addDir("none")
		h.addFile("f", "", 0o644)
	}, steps: []step{
		{"list", `{:path "none"}`, `ok []`},
		{"list", `{:path "d"}`, `ok [{:kind dir :len-bytes 0 :name "a" :path "d/a"} {:kind file :len-bytes 0 :name "a.x" :path "d/a.x"} ` +
			`{:kind file :len-bytes 2 :name "b" :path "d/b"} {:kind symlink :len-bytes 0 :name "l" :path "d/l"}]`},
		{"list", `{:path "d" :recursive true}`, `ok [{:kind dir :len-bytes 0 :name "a" :path "d/a"} {:kind file :len-bytes 0 :name "a.x" :path "d/a.x"} ` +
			`{:kind file :len-bytes 0 :name "x" :path "d/a/x"} {:kind file :len-bytes 2 :name "b" :path "d/b"} ` +
			`{:kind symlink :len-bytes 0 :name "l" :path "d/l"}]`},
		{"list", `{:path "d/a" :recursive false}`, `ok [{:kind file :len-bytes 0 :name "x" :path "d/a/x"}]`},
		{"list", `{:path "f"}`, notDir + `"f"`},
		{"list", `{:path "no"}`, notFound + `"no"`},
	}},
	{name: "list in a granted part", setup: func(h host) {
		h.addDir("in/sub/deep")
		h.addFile("in/sub/f", "", 0o644)
		h.addFile("in/sub/deep/g", "", 0o644)
	}, grant: fakeGrant{allow: func(p string) bool { return p == "in" || p == "in/sub/deep" }}, steps: []step{
		{"list", `{:path "in"}`, `ok [{:kind dir :len-bytes 0 :name "sub" :path "in/sub"}]`},
		{"list", `{:path "in" :recursive true}`, `ok [{:kind dir :len-bytes 0 :name "sub" :path "in/sub"} {:kind file :len-bytes 0 :name "g" :path "in/sub/deep/g"}]`},
		{"list", `{:path "in/sub"}`, refused + `"in/sub" :reason not-granted`},
	}},
	// spec: PATH-7
	{name: "links", setup: func(h host) {
		h.addFile("f", "x", 0o644)
		h.addSymlink("/etc/passwd", "abs")
		h.addSymlink("../..", "up")
		h.addSymlink("loop", "loop")
		h.addSymlink("f", "in")
	}, steps: steps(
		all(`"abs"`, refused+`"abs" :reason escapes`),
		all(`"up/x"`, refused+`"up/x" :reason escapes`),
		all(`"loop"`, `core/io-error :io-kind too-many-links :path "loop"`),
		[]step{{"write", `{:data "y" :path "in"}`, `ok nil`}, {"read", `{:path "f"}`, `ok b"y"`}},
	)},
	// Case PS-14.
	// spec: PATH-8
	{name: "FIFO", setup: func(h host) { h.addFIFO("p") }, steps: []step{
		{"read", `{:path "p"}`, notFile + `"p"`},
		{"write", `{:data "x" :path "p"}`, notFile + `"p"`},
		{"append", `{:data "x" :path "p"}`, notFile + `"p"`},
		{"stat", `{:path "p"}`, `ok {:exists true :kind other :len-bytes 0 :path "p" :readonly false}`},
		{"list", `{:path "."}`, `ok [{:kind other :len-bytes 0 :name "p" :path "p"}]`},
		{"list", `{:path "p"}`, notDir + `"p"`},
	}},
	// spec: PATH-12
	{name: "protected", setup: func(h host) {
		h.addFile("run.gclog", "log", 0o644)
		h.protect("run.gclog", fspolicy.Hidden)
		h.addFile("caps.toml", "policy", 0o644)
		h.protect("caps.toml", fspolicy.ReadOnly)
	}, steps: steps(
		all(`"run.gclog"`, refused+`"run.gclog" :reason protected`),
		all(`".gcrun-0123456789abcdef"`, refused+`".gcrun-0123456789abcdef" :reason protected`),
		[]step{
			{"read", `{:path "caps.toml"}`, `ok b"policy"`},
			{"write", `{:data "x" :path "caps.toml"}`, refused + `"caps.toml" :reason protected`},
			{"append", `{:data "x" :path "caps.toml"}`, refused + `"caps.toml" :reason protected`},
			{"list", `{:path "."}`, `ok [{:kind file :len-bytes 6 :name "caps.toml" :path "caps.toml"}]`},
		},
	)},
	// Case UN-05.
	// spec: PATH-9
	{name: "decomposed name", setup: func(h host) { h.addFile("e\u0301.txt", "x", 0o644) }, steps: []step{
		{"list", `{:path "."}`, "ok [{:kind file :len-bytes 1 :name \"\u00e9.txt\" :path \"\u00e9.txt\"}]"},
		{"read", "{:path \"\u00e9.txt\"}", `ok b"x"`},
		{"append", "{:data \"y\" :path \"\u00e9.txt\"}", `ok nil`},
		{"read", "{:path \"\u00e9.txt\"}", `ok b"xy"`},
	}},
}

// unportable are scenarios for hosts that keep names as bytes.
var unportable = []scenario{
	// Case UN-09.
	// spec: PATH-14
	{name: "name that is not UTF-8", setup: func(h host) { h.addFile("ok", "x", 0o644); h.addFile("bad\xff", "", 0o644) },
		steps: []step{
			{"list", `{:path "."}`, `core/path-encoding-error :count 1 :path "."`},
			{"list", `{:path "." :skip-unencodable true}`, `ok [{:kind file :len-bytes 1 :name "ok" :path "ok"}]`},
			{"read", `{:path "ok"}`, `ok b"x"`},
		}},
	// spec: PATH-9, PATH-14
	{name: "two names of one form", setup: func(h host) {
		h.addDir("d")
		h.addFile("d/A\u030a", "1", 0o644)
		h.addFile("d/\u212b", "2", 0o644)
	}, steps: []step{
		{"list", `{:path "d"}`, "core/path-collision-error :path \"d/\u00c5\""},
		{"read", "{:path \"d/\u00c5\"}", "core/path-collision-error :path \"d/\u00c5\""},
	}},
}

func (s scenario) run(t *testing.T, h host) string {
	if s.setup != nil {
		s.setup(h)
	}
	b := newBench(t, h.fs())
	b.grant = s.grant
	if s.max > 0 {
		b.maxBytes = s.max
	}
	for _, st := range s.steps {
		b.want(st.op, st.payload, st.want)
	}
	return b.transcript.String()
}

// The answers are those of the table, the same bytes on both file systems, and
// hold nothing of the host.
func TestScenarios(t *testing.T) {
	testkit.RequireUnix(t)
	kinds := map[string]bool{}
	for _, s := range slices.Concat(scenarios, unportable) {
		t.Run(s.name, func(t *testing.T) {
			r, m := newRootHost(t), newMemoryHost(t)
			onRoot := s.run(t, r)
			onMemory := s.run(t, m)
			if d := testkit.Difference([]byte(onMemory), []byte(onRoot)); d != "" {
				t.Errorf("the file systems answer differently:\n%s", d)
			}
			if after := r.names("."); !slices.Equal(after, m.names(".")) {
				t.Errorf("the file systems end with %q and %q", after, m.names("."))
			}
			searchHost(t, r, onRoot, onMemory)
		})
		for _, st := range s.steps {
			if code, _, failed := strings.Cut(st.want, " "); failed {
				kinds[st.op+" "+code] = true
			}
		}
	}
	for _, name := range Ops() {
		op, _ := ops.Lookup(name)
		short := strings.TrimPrefix(name, "io/fs::")
		for _, code := range []string{ops.CodePath, ops.CodeIO} {
			if !slices.Contains(op.Errors, code) || !kinds[short+" "+code] {
				t.Errorf("no scenario has %s fail with %s", short, code)
			}
		}
	}
}

// searchHost looks for what only this host can have brought into a text. The
// names of user and host may be words of the answers; then a memory file
// system, which has no host, gives them too.
func searchHost(t *testing.T, r *rootHost, onRoot, onMemory string) {
	t.Helper()
	words := []string{r.base, marker, os.TempDir()}
	if home, err := os.UserHomeDir(); err == nil {
		words = append(words, home)
	}
	if u, err := user.Current(); err == nil {
		words = append(words, u.Username)
	}
	if name, err := os.Hostname(); err == nil {
		words = append(words, name)
	}
	for _, w := range words {
		if len(w) > 1 && strings.Contains(onRoot, w) && !strings.Contains(onMemory, w) {
			t.Errorf("an answer holds %q of the host", w)
		}
	}
	if strings.Contains(onRoot, marker) {
		t.Error("an answer holds the base directory")
	}
}

// A decomposed name on the disk stays as it is.
func TestDecomposedNameIsNotRenamed(t *testing.T) {
	testkit.RequireUnix(t)
	onBoth(t, func(t *testing.T, h host) {
		h.addFile("e\u0301.txt", "x", 0o644)
		b := newBench(t, h.fs())
		b.want("write", "{:data \"y\" :path \"\u00e9.txt\"}", `ok nil`)
		b.want("append", "{:data \"z\" :path \"\u00e9.txt\"}", `ok nil`)
		b.want("read", "{:path \"\u00e9.txt\"}", `ok b"yz"`)
		if got := h.names("."); !slices.Equal(got, []string{"e\u0301.txt"}) {
			t.Errorf("the directory holds %q", got)
		}
	})
}
