package policy

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/internal/testkit"
)

// sameFromTerm reads a policy's term back and compares what the term tells.
func sameFromTerm(t testing.TB, p *Policy) {
	t.Helper()
	back, err := FromTerm(p.Term())
	if err != nil {
		t.Fatalf("%v:\n%s", err, text(t, p))
	}
	if !coreform.Equal(back.Term(), p.Term()) || back.Digest() != p.Digest() {
		t.Fatalf("another term:\n%s\n%s", text(t, p), text(t, back))
	}
	if grantNames(back) != grantNames(p) {
		t.Errorf("grants %s, want %s", grantNames(back), grantNames(p))
	}
	if fmt.Sprint(back.Runtime()) != fmt.Sprint(p.Runtime()) {
		t.Errorf("limits %v, want %v", back.Runtime(), p.Runtime())
	}
	for _, g := range p.Grants() {
		b := back.Decide(g.Op()).Grant
		if b == nil {
			continue
		}
		if !coreform.Equal(b.Cap(), g.Cap()) || b.MaxBytes() != g.MaxBytes() || b.Log() != g.Log() || b.AllowsPath("in/a") != g.AllowsPath("in/a") {
			t.Errorf("%s: another grant", g.Op())
		}
		dir, _ := g.Dir()
		if !insideDir(dir) {
			dir = ""
		}
		if got, _ := b.Dir(); got != dir {
			t.Errorf("%s: directory %q, want %q", g.Op(), got, dir)
		}
	}
}

// spec: POL-DIGEST-5
func TestFromTerm(t *testing.T) {
	for _, file := range testkit.Files(t, "testdata/terms/*.toml") {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		sameFromTerm(t, New(loaded(t, string(src))))
	}
	sameFromTerm(t, nil)
	forbidding := loaded(t, "allow = [\"io/fs::read\"]\n[family.\"io/fs\"]\nbase_dir = \"/srv/x\"\nlabel = \"x\"\n[op.\"io/fs::remove\"]\nallow = false\n")
	for _, words := range [][]string{{"io/fs=data"}, {"io/fs::*=/etc"}, {"io/fs::read=..", "sys/time::*", "io/kv=kv"}, {"io/fs::list=a", "io/fs::list=/b"}} {
		sameFromTerm(t, New(nil, flags(t, words...)...))
		sameFromTerm(t, New(forbidding, flags(t, words...)...))
	}
}

// Only what Term makes is accepted. spec: POL-DIGEST-5
func TestFromTermRefuses(t *testing.T) {
	const op = `{:allow [io/fs::read] :op {io/fs::read {:base-dir "data"}} :version 1}`
	for name, c := range map[string]struct{ src, key string }{
		"nothing":             {"nil", ""},
		"no map":              {"[1]", ""},
		"empty":               {"{}", ""},
		"no version":          {"{:allow []}", ""},
		"no allow":            {"{:version 1}", ""},
		"other version":       {"{:allow [] :version 2}", "version"},
		"version as text":     {`{:allow [] :version "1"}`, "version"},
		"large version":       {"{:allow [] :version 99999999999999999999}", ""},
		"key no keyword":      {"{:allow [] version 1}", ""},
		"key a string":        {`{:allow [] "version" 1}`, ""},
		"key a number":        {"{1 2}", ""},
		"unknown key":         {"{:allow [] :extra {} :version 1}", "extra"},
		"log":                 {"{:allow [] :log {:max-bytes 1} :version 1}", "log"},
		"store":               {`{:allow [] :store {:dir "x"} :version 1}`, "store"},
		"refs":                {"{:allow [] :refs {} :version 1}", "refs"},
		"empty table":         {"{:allow [] :runtime {} :version 1}", ""},
		"empty op":            {"{:allow [] :op {io/fs::read {}} :version 1}", ""},
		"unsorted":            {"{:allow [sys/time::now sys/args::list] :version 1}", ""},
		"twice":               {"{:allow [sys/time::now sys/time::now] :version 1}", "allow[1]"},
		"strings in allow":    {`{:allow ["sys/time::now"] :version 1}`, ""},
		"unknown op":          {"{:allow [sys/time::noon] :version 1}", "allow[0]"},
		"op as a string":      {strings.Replace(op, "{io/fs::read", `{"io/fs::read"`, 1), ""},
		"underscore":          {strings.Replace(op, ":base-dir", ":base_dir", 1), ""},
		"directory a symbol":  {strings.Replace(op, `"data"`, "data", 1), ""},
		"directory outside":   {strings.Replace(op, `"data"`, `"/data"`, 1), ""},
		"directory missing":   {"{:allow [io/fs::read] :version 1}", "allow[0]"},
		"size as text":        {strings.Replace(op, `"data"`, `"data" :max-bytes "1KiB"`, 1), ""},
		"size zero":           {strings.Replace(op, `"data"`, `"data" :max-bytes 0`, 1), `op."io/fs::read".max_bytes`},
		"unknown setting":     {strings.Replace(op, `"data"`, `"data" :max-byte 1`, 1), `op."io/fs::read".max_byte`},
		"list unsorted":       {strings.Replace(op, `"data"`, `"data" :paths ["b" "a"]`, 1), ""},
		"bytes":               {strings.Replace(op, `"data"`, `b"data"`, 1), ""},
		"nil":                 {strings.Replace(op, `"data"`, `nil`, 1), ""},
		"list for a vector":   {"{:allow (sys/time::now) :version 1}", ""},
		"too deep":            {"{:allow " + strings.Repeat("[", 40) + strings.Repeat("]", 40) + " :version 1}", ""},
		"program path":        {`{:allow [] :op {sys/process::exec {:programs {"p" {:path "/bin/p" :sha256 "unpinned"}}}} :version 1}`, ""},
		"program no digest":   {`{:allow [] :op {sys/process::exec {:programs {"p" {}}}} :version 1}`, ""},
		"secret with its env": {`{:allow [] :secrets {"s" {:env "A" :ops ["sys/process::exec"]}} :version 1}`, "secrets.s"},
		"secret with file":    {`{:allow [] :secrets {"s" {:file "a" :ops ["sys/process::exec"]}} :version 1}`, ""},
		"secret for nothing":  {`{:allow [] :secrets {"s" {}} :version 1}`, "secrets.s"},
		"outside as text":     {`{:allow [] :op {io/net::http-request {:ca-file "/x" :hosts []}} :version 1}`, ""},
		"outside elsewhere":   {strings.Replace(op, `"data"`, `outside`, 1), ""},
	} {
		term, err := coreform.ReadTerm([]byte(c.src), coreform.Limits{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		p, err := FromTerm(term)
		var te *TermError
		if p != nil || !errors.As(err, &te) || te.Key != c.key || te.Message == "" || !strings.HasPrefix(err.Error(), "not the term of a policy: ") {
			t.Errorf("%s: %v, %#v", name, p != nil, err)
		}
	}
	if p, err := FromTerm(coreform.Cons(coreform.Int(1), coreform.Int(2))); p != nil || err == nil {
		t.Error("an improper pair is accepted")
	}
	term, err := coreform.ReadTerm([]byte(op), coreform.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := FromTerm(term); err != nil {
		t.Errorf("what the cases are made from: %v", err)
	}
}

// What is accepted is exactly the term of the policy it gives, whatever it was.
// spec: POL-DIGEST-5
func FuzzFromTerm(f *testing.F) {
	for _, file := range testkit.Files(f, "testdata/terms/*.gc") {
		src, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(src)
	}
	f.Add([]byte(`{:allow [io/fs::*] :family {io/fs {:label "x"}} :op {io/fs::read {:allow false}} :version 1}`))
	f.Fuzz(func(t *testing.T, src []byte) {
		term, err := coreform.ReadTerm(src, coreform.Limits{MaxDepth: 100, MaxBytes: 1 << 16})
		if err != nil {
			return
		}
		p, err := FromTerm(term)
		if (p == nil) == (err == nil) {
			t.Fatalf("%v and %v", p, err)
		}
		if err != nil {
			return
		}
		if !coreform.Equal(p.Term(), term) {
			t.Fatal("another term")
		}
		sameFromTerm(t, p)
	})
}
