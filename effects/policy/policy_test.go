package policy

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/effects/ops"
)

func flags(t testing.TB, words ...string) []Allow {
	t.Helper()
	var out []Allow
	for _, w := range words {
		a, err := ParseAllow(w)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, a)
	}
	return out
}

func grantNames(p *Policy) string {
	var names []string
	for _, g := range p.Grants() {
		names = append(names, g.Op())
	}
	return strings.Join(names, " ")
}

// What grants, and what only gives settings. spec: POL-ALLOW-1, POL-ALLOW-2, POL-ALLOW-3, POL-ALLOW-4
func TestGranting(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"allow = [\"sys/time::now\"]\n", "sys/time::now"},
		{"allow = [\"sys/time::*\"]\n", "sys/time::monotonic sys/time::now sys/time::sleep"},
		{"allow = [\"sys/time::*\", \"sys/time::now\"]\n", "sys/time::monotonic sys/time::now sys/time::sleep"},
		{"allow = [\"io/fs::*\"]\nfamily.\"io/fs\".base_dir = \".\"\n",
			"io/fs::append io/fs::copy io/fs::list io/fs::mkdir io/fs::read io/fs::remove io/fs::rename io/fs::stat io/fs::write"},
		{"[op.\"sys/time::now\"]\nallow = true\n", "sys/time::now"},
		{"allow = [\"sys/time::now\"]\n[op.\"sys/time::now\"]\nallow = true\n", "sys/time::now"},
		{"allow = [\"sys/time::now\"]\n[op.\"sys/time::sleep\"]\nallow = false\n", "sys/time::now"},
		{"[family.\"sys/time\"]\ntimeout_ms = 1\n", ""},
	} {
		if got := grantNames(New(loaded(t, c.src))); got != c.want {
			t.Errorf("%q grants %q, want %q", c.src, got, c.want)
		}
	}
	f, ds := Parse("caps.toml", []byte("[op.\"sys/time::now\"]\ntimeout_ms = 1\n"))
	if f == nil || len(ds) != 1 || ds[0].Code != CodeNotGranted || ds[0].Line != 1 || !strings.Contains(ds[0].Hint, `"sys/time::now"`) {
		t.Errorf("%v", ds)
	}
	if New(f).Decide("sys/time::now").Allow {
		t.Error("a table grants")
	}
	for _, granted := range []string{"io/fs::remove", "io/fs::*"} {
		d := refused(t, "allow = [\""+granted+"\"]\nfamily.\"io/fs\".base_dir = \".\"\n[op.\"io/fs::remove\"]\nallow = false\n")
		if d.Code != CodeContradiction || d.Line != 4 {
			t.Errorf("%s: %+v", granted, d)
		}
	}
}

// Settings of the family, overridden key by key. spec: POL-ALLOW-2, POL-OPS-3, POL-KEY-2, POL-KEY-3, POL-KEY-4
func TestSettings(t *testing.T) {
	p := New(loaded(t, `allow = ["io/fs::read", "io/fs::write", "io/net::http-request"]
[family."io/fs"]
base_dir = "data"
timeout_ms = "2s"
max_bytes = "1KiB"
paths = ["in/**"]
[op."io/fs::write"]
base_dir = "out"
create_dirs = true
log = "hash"
max_bytes = 7
[op."io/net::http-request"]
hosts = ["a", "b"]
`))
	read, write := p.Decide("io/fs::read").Grant, p.Decide("io/fs::write").Grant
	dir, fromFile := read.Dir()
	if dir != "data" || !fromFile || read.TimeoutMs() != 2000 || read.MaxBytes() != 1024 || read.CreateDirs() || read.Log() != "full" {
		t.Errorf("read: %+v", read)
	}
	dir, fromFile = write.Dir()
	if dir != "out" || !fromFile || write.TimeoutMs() != 2000 || write.MaxBytes() != 7 || !write.CreateDirs() || write.Log() != "hash" {
		t.Errorf("write: %+v", write)
	}
	if !write.AllowsPath("in/a") || write.AllowsPath("out/a") {
		t.Error("the paths of the family do not hold")
	}
	http := p.Decide("io/net::http-request").Grant
	hosts := http.Strings("hosts")
	if fmt.Sprint(hosts) != "[a b]" || http.Strings("methods") != nil {
		t.Errorf("http: %+v", http)
	}
	hosts[0] = "evil"
	if http.Strings("hosts")[0] != "a" {
		t.Error("a grant can be changed")
	}
	if dir, _ := http.Dir(); dir != "" || http.MaxBytes() != 0 || http.TimeoutMs() != 0 {
		t.Errorf("http: %+v", http)
	}
	text, err := coreform.PrintTerm(write.Cap(), coreform.Limits{})
	if want := "{\n  :create-dirs true\n  :max-bytes 7\n  :op io/fs::write\n  :timeout-ms 2000}"; err != nil || string(text) != want {
		t.Errorf("cap %s, want %s", text, want)
	}
	if text, _ := coreform.PrintTerm(http.Cap(), coreform.Limits{}); string(text) != "{:op io/net::http-request}" {
		t.Errorf("cap %s", text)
	}
}

// spec: POL-LIMIT-1, POL-LIMIT-2, POL-LIMIT-3
func TestLimits(t *testing.T) {
	for name, p := range map[string]*Policy{"nil": nil, "empty": New(nil), "file": New(loaded(t, "[runtime]\n"))} {
		want := map[string]int64{"max_effect_ops": 1_000_000, "max_payload_bytes_per_op": 8 << 20, "max_payload_bytes_per_run": 1 << 30,
			"max_response_bytes_per_op": 64 << 20, "max_response_bytes_per_run": 1 << 30}
		if got := p.Runtime(); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %v", name, got)
		}
		p.Runtime()["max_effect_ops"] = 0 // a new map each time
		if p.Runtime()["max_effect_ops"] != 1_000_000 {
			t.Errorf("%s: the defaults can be changed", name)
		}
		if p.LogMaxBytes() != 4<<30 || p.LogInlineMax() != 0 || p.LogSync() != "" {
			t.Errorf("%s: log %d %d %q", name, p.LogMaxBytes(), p.LogInlineMax(), p.LogSync())
		}
	}
	p := New(loaded(t, "runtime = { max_wall_ms = \"1h\", max_effect_ops = 0 }\nlog = { max_bytes = \"1MiB\", inline_max_bytes = 9, sync = \"always\" }\n"+
		"store = { dir = \"s\", max_run_bytes = 1 }\ntask = { max_workers = 1, max_tasks = 0 }\n"))
	if r := p.Runtime(); r["max_wall_ms"] != 3_600_000 || r["max_effect_ops"] != 0 || r["max_payload_bytes_per_op"] != 8<<20 {
		t.Errorf("%v", r)
	}
	if p.LogMaxBytes() != 1<<20 || p.LogInlineMax() != 9 || p.LogSync() != "always" {
		t.Errorf("log %d %d %q", p.LogMaxBytes(), p.LogInlineMax(), p.LogSync())
	}
	if got := New(loaded(t, "log.inline_max_bytes = \"256KiB\"\n")).LogInlineMax(); got != maxInline {
		t.Errorf("inline limit %d", got)
	}
	for _, over := range []string{"262145", "\"257KiB\"", "\"1TiB\""} {
		if d := refused(t, "log.inline_max_bytes = "+over+"\n"); d.Code != CodeValue || d.Key != "log.inline_max_bytes" {
			t.Errorf("%s: %+v", over, d)
		}
	}
	for _, c := range []struct {
		run, op string
		want    int64
	}{
		{"", "", 0}, {"", "max_bytes = 5", 5}, {"", "max_bytes = \"1GiB\"", 1 << 30}, {"max_response_bytes_per_op = 10", "", 0},
		{"max_response_bytes_per_op = 10", "max_bytes = 5", 5}, {"max_response_bytes_per_op = 10", "max_bytes = 10", 10},
		{"max_response_bytes_per_op = 10", "max_bytes = 11", 10}, {"max_payload_bytes_per_op = 10", "max_bytes = 11", 11},
	} {
		p := New(loaded(t, "allow = [\"sys/time::now\"]\n[runtime]\n"+c.run+"\n[op.\"sys/time::now\"]\n"+c.op+"\n"))
		if got := p.Decide("sys/time::now").Grant.MaxBytes(); got != c.want {
			t.Errorf("%s and %s: %d, want %d", c.run, c.op, got, c.want)
		}
	}
}

// spec: POL-FLAG-1
func TestParseAllow(t *testing.T) {
	for word, want := range map[string]Allow{
		"sys/time::now":      {Name: "sys/time::now", Ops: []string{"sys/time::now"}},
		"sys/random::*":      {Name: "sys/random::*", Ops: []string{"sys/random::bytes"}},
		"io/fs::read=.":      {Name: "io/fs::read", Ops: []string{"io/fs::read"}, Dir: "."},
		"io/fs::read=a=b, c": {Name: "io/fs::read", Ops: []string{"io/fs::read"}, Dir: "a=b, c"},
		"io/fs::read=../x":   {Name: "io/fs::read", Ops: []string{"io/fs::read"}, Dir: "../x"},
		"io/fs=data":         {Name: "io/fs", Ops: ops.FamilyOps("io/fs", 1), Dir: "data"},
		"io/fs::*=data":      {Name: "io/fs::*", Ops: ops.FamilyOps("io/fs", 1), Dir: "data"},
		"io/kv=/var/kv":      {Name: "io/kv", Ops: ops.FamilyOps("io/kv", 1), Dir: "/var/kv"},
		"core/task::*":       {Name: "core/task::*", Ops: ops.FamilyOps("core/task", 1)},
	} {
		got, err := ParseAllow(word)
		if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %v, %v", word, got, err)
		}
	}
	for word, hint := range map[string]string{
		"":                     "",
		"=":                    "",
		"=x":                   "",
		"io/fs":                "write --allow io/fs=DIR, with . for this directory",
		"io/fs::*":             "write --allow io/fs::*=DIR, with . for this directory",
		"io/fs::read":          "write --allow io/fs::read=DIR, with . for this directory",
		"io/fs::read=":         "write --allow io/fs::read=DIR, with . for this directory",
		"io/fs::read= \t":      "write --allow io/fs::read=DIR, with . for this directory",
		"io/fs::raed=.":        "did you mean io/fs::read?",
		"io/sf=.":              "did you mean io/fs?",
		"io/fs::read=\xff":     "give it a name in UTF-8",
		"io/fs::read=a\x00b":   "give it a name in UTF-8",
		"sys/time":             "write --allow sys/time::* to grant all of it",
		"sys/time::now=.":      "write --allow sys/time::now",
		"sys/time=.":           "write --allow sys/time::monotonic",
		"sys/env::get":         "grant it in a policy file and use --caps",
		"sys/process::exec=.":  "grant it in a policy file and use --caps",
		"io/net::http-request": "grant it in a policy file and use --caps",
		"core/crypto::*":       "grant it in a policy file and use --caps",
		"*":                    "", "::*": "", "::*=.": "", "IO/FS::READ=.": "", " io/fs::read=.": "did you mean io/fs::read?",
	} {
		got, err := ParseAllow(word)
		var fe *FlagError
		if !errors.As(err, &fe) || got.Ops != nil || fe.Flag != word || fe.Message == "" || fe.Hint == "" || hint != "" && fe.Hint != hint {
			t.Errorf("%q: %v, %#v", word, got, err)
		}
	}
}

// spec: POL-FLAG-2, POL-ALLOW-4
func TestFlagsAndFile(t *testing.T) {
	f := loaded(t, `allow = ["io/fs::read", "io/fs::list"]
[family."io/fs"]
base_dir = "data"
max_bytes = 9
[op."io/fs::list"]
base_dir = "/srv"
label = "srv"
[op."io/fs::remove"]
allow = false
`)
	p := New(f, flags(t, "io/fs=work", "sys/time::now", "io/fs::list=a", "io/fs::list=b/c")...)
	for op, want := range map[string]string{"io/fs::read": "work false 9", "io/fs::list": "b/c false 9", "io/fs::write": "work false 9", "sys/time::now": " true 0"} {
		g := p.Decide(op).Grant
		if g == nil {
			t.Errorf("%s is not granted", op)
			continue
		}
		dir, fromFile := g.Dir()
		if got := fmt.Sprint(dir, " ", fromFile, " ", g.MaxBytes()); got != want {
			t.Errorf("%s: %q, want %q", op, got, want)
		}
	}
	if d := p.Decide("io/fs::remove"); d.Allow || d.Reason != ReasonForbidden {
		t.Errorf("a flag grants what the file forbids: %+v", d)
	}
	if strings.Contains(text(t, p)[:strings.Index(text(t, p), ":family")], "io/fs::remove") {
		t.Error("what is forbidden stands in :allow")
	}
	if before := New(f); grantNames(before) != "io/fs::list io/fs::read" || before.Digest() == p.Digest() {
		t.Errorf("the file has changed: %s", grantNames(before))
	}
	if d := p.Decide("io/fs::nothing"); d.Allow || d.Reason != ReasonNotGranted {
		t.Errorf("%+v", d)
	}
	if d := New(nil, flags(t, "sys/time::now")...).Decide("io/fs::read"); d.Reason != ReasonNotGranted {
		t.Errorf("%+v", d)
	}
}

// spec: POL-FLAG-3
func TestFlagLabels(t *testing.T) {
	for dir, want := range map[string]string{
		"/abs/data": "data", "/abs/data/": "data", "/abs/data//": "data", "../data": "data", "/": "dir", "..": "dir", "../..": "dir",
		"/home/someone/..": "dir", "/home/someone/.": "dir", "/srv/my data": "my_data", "/srv/.config": "config", "/srv/-x": "x", "/srv/été": "t_",
		"/srv/\u65e5\u672c": "dir", `C:\Users\me\data`: "data", `a\..\..`: "dir", "/srv/" + strings.Repeat("n", 100): strings.Repeat("n", 64),
		"C:data": "C_data", "//": "dir", "/srv/a\nb": "a_b",
	} {
		got := labelOf(dir)
		if got != want || !labelRE().MatchString(got) {
			t.Errorf("%q: %q, want %q", dir, got, want)
		}
		if insideDir(dir) {
			t.Errorf("%q is taken for inside", dir)
		}
		p := New(nil, flags(t, "io/fs::read="+dir)...)
		if got, _ := p.Decide("io/fs::read").Grant.Dir(); got != dir {
			t.Errorf("the grant has %q", got)
		}
		if term := text(t, p); strings.Contains(term, "base-dir") || strings.Contains(term, "someone") || strings.Contains(term, "abs") ||
			!strings.Contains(term, fmt.Sprintf(":label %q", want)) {
			t.Errorf("%q: %s", dir, term)
		}
	}
	for _, dir := range []string{".", "data", "./data", "data/", "a/../b", "a/b/../..", "...", "a..", "~", "é"} {
		if p := New(nil, flags(t, "io/fs::read="+dir)...); !insideDir(dir) || !strings.Contains(text(t, p), fmt.Sprintf(":base-dir %q", dir)) {
			t.Errorf("%q: %s", dir, text(t, p))
		}
	}
}

func text(t testing.TB, p *Policy) string {
	t.Helper()
	b, err := coreform.PrintTerm(p.Term(), coreform.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Whole components, never prefixes of text. spec: POL-PATHS-1
func TestPS06WholeComponents(t *testing.T) {
	for _, c := range []struct {
		patterns, covered, not string
	}{
		{"data", "data", "data-old data-old/x data/x dat data2 x/data . Data"},
		{"data/**", "data data/x data/x/y", "data-old data-old/x data-old/x/y x/data/y . datax/y"},
		{"**", ". a a/b a/b/c", ""},
		{".", ".", "a a/b ..x"},
		{"**/x", "x a/x a/b/x", ". a x/a xx a/xx"},
		{"a/**/z", "a/z a/b/z a/b/c/z", "a z a/zz a/b aa/z a/z/y"},
		{"**/m/**", "m a/m m/a a/b/m/c/d", ". a a/mm/b"},
		{"a/**/b/**/c", "a/b/c a/x/b/y/z/c a/b/b/c", "a/c a/b a/c/b"},
		{"*.txt", "a.txt .txt", "a.txt.bak a/b.txt txt a.TXT"},
		{"a*b*c", "abc aXbYc aabbcc abcbc", "ab acb abcd"},
		{"*", "a .hidden", ". a/b"},
		{"*/*", "a/b", "a a/b/c"},
		{"in/** out/x", "in in/a out/x", "out out/y"},
		{"a?[b]", "a?[b]", "ab a?b axb"},
	} {
		var quoted []string
		for p := range strings.FieldsSeq(c.patterns) {
			quoted = append(quoted, `"`+p+`"`)
		}
		g := New(loaded(t, "allow = [\"io/fs::read\"]\n[op.\"io/fs::read\"]\nbase_dir = \".\"\npaths = ["+strings.Join(quoted, ", ")+"]\n")).Decide("io/fs::read").Grant
		for p := range strings.FieldsSeq(c.covered) {
			if !g.AllowsPath(p) {
				t.Errorf("%s does not cover %s", c.patterns, p)
			}
		}
		for p := range strings.FieldsSeq(c.not) {
			if g.AllowsPath(p) {
				t.Errorf("%s covers %s", c.patterns, p)
			}
		}
	}
	g := New(nil, flags(t, "io/fs::read=.")...).Decide("io/fs::read").Grant
	if !g.AllowsPath(".") || !g.AllowsPath("a/b") {
		t.Error("no patterns do not cover everything")
	}
}

// spec: POL-SECRET-3
func TestSecretFiles(t *testing.T) {
	for _, c := range []struct {
		file, dir string
		in        bool
	}{
		{"token", ".", true}, {"token", "data", false}, {"data/token", "data", true}, {"data/a/../token", "./data/", true},
		{"data-old/token", "data", false}, {"../token", ".", false}, {"../token", "..", true}, {"token", "..", true}, {"../../token", "..", false},
		{"../x/token", "../y", false}, {"/srv/token", "/srv", true}, {"/srv/token", "/", true}, {"/srv2/token", "/srv", false},
		{"/srv/token", ".", false}, {"token", "/srv", false}, {"data", "data", true}, {"a/..", ".", true},
	} {
		if got := liesIn(c.file, c.dir); got != c.in {
			t.Errorf("%s in %s: %v", c.file, c.dir, got)
		}
		src := fmt.Sprintf("allow = [\"io/fs::read\"]\n[op.\"io/fs::read\"]\nbase_dir = %q\nlabel = \"l\"\n[secrets.s]\nfile = %q\nops = [\"sys/process::exec\"]\n", c.dir, c.file)
		if f, ds := Parse("caps.toml", []byte(src)); (f == nil) != c.in {
			t.Errorf("%s in %s: %v", c.file, c.dir, ds)
		}
	}
}

// What the file says of programs. spec: POL-KEY-5
func TestPrograms(t *testing.T) {
	file := func(program string) string {
		return "allow = [\"sys/process::exec\"]\n[op.\"sys/process::exec\".programs.p]\n" + program + "\n"
	}
	for _, ok := range []string{
		"path = \"/bin/sh\"", "path = \"/bin/sh\"\nargs = []", "path = \"/bin/sh\"\nargs = [{ exact = \"\" }, { enum = [] }, { re = 'a|b' }, { rest = '' }]",
		"path = \"/bin/sh\"\nsha256 = \"" + strings.Repeat("0a", 32) + "\"\nenv = [\"A\"]\nunsafe_env = [\"B\"]\ncwd = \"x\"",
	} {
		loaded(t, file(ok))
	}
	for _, bad := range []string{
		"", "path = \"bin/sh\"", "path = \"/bin/sh\"\nsha256 = \"" + strings.Repeat("0A", 32) + "\"", "path = \"/bin/sh\"\nsha256 = \"" + strings.Repeat("0", 63) + "\"",
		"path = \"/bin/sh\"\nargs = [{ rest = '' }, { exact = 'a' }]", "path = \"/bin/sh\"\nargs = [{ re = 'a)|(?:b' }]", "path = \"/bin/sh\"\nargs = [{ re = '(?<=a)b' }]",
		"path = \"/bin/sh\"\nargs = [{}]", "path = \"/bin/sh\"\nargs = [{ exact = \"a\\u0000\" }]", "path = \"/bin/sh\"\nargs = [{ re = '((a{100}){100}){100}' }]",
	} {
		if d := refused(t, file(bad)); d.Line < 2 {
			t.Errorf("%q: %+v", bad, d)
		}
	}
}

// Every key has a form and every form a key, so that none is accepted without
// being checked or known without being usable.
// spec: POL-OPS-3
func TestKeysHaveForms(t *testing.T) {
	used := map[string]bool{}
	for _, op := range ops.All() {
		for _, k := range append(ops.CommonKeys(), op.Keys...) {
			used[k] = true
			if keyForms[k] == nil {
				t.Errorf("%s: key %s has no form", op.Name, k)
			}
			if k != "allow" && familyForms(op.Family)[k] == nil {
				t.Errorf("%s: the family does not take %s", op.Name, k)
			}
		}
		for _, k := range op.Requires {
			if !slices.Contains(op.Keys, k) {
				t.Errorf("%s: requires %s, which it does not take", op.Name, k)
			}
		}
		if familyForms(op.Family)["allow"] != nil {
			t.Errorf("family %s grants", op.Family)
		}
	}
	for k := range keyForms {
		if !used[k] {
			t.Errorf("no op takes %s", k)
		}
	}
}
