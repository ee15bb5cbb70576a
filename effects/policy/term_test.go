package policy

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/internal/digest"
	"github.com/gcrun/gcrun/internal/testkit"
)

// The terms and digests of whole files. They are part of the log's format: a
// change here is a change of the format.
// spec: POL-DIGEST-1, POL-DIGEST-2, POL-DIGEST-3
func TestTerms(t *testing.T) {
	for _, file := range testkit.Files(t, "testdata/terms/*.toml") {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		p := New(loaded(t, string(src)))
		golden := text(t, p) + "\n; " + p.Digest().String() + "\n"
		testkit.Golden(t, strings.TrimSuffix(file, ".toml")+".gc", []byte(golden))
		if want := digest.NewDomain("gcrun 2026-11 policy").Sum([]byte(text(t, p))); p.Digest() != want {
			t.Errorf("%s: digest %s, want %s", file, p.Digest(), want)
		}
		for _, hidden := range []string{"/srv", "/etc", "/bin", "/usr", "API_TOKEN", "secret/nil", "inline", "store\""} {
			if strings.Contains(text(t, p), hidden) {
				t.Errorf("%s: the term has %s", file, hidden)
			}
		}
	}
}

// spec: POL-DIGEST-2
func TestTermOfNothing(t *testing.T) {
	for name, p := range map[string]*Policy{"nil": nil, "empty": New(nil), "file": New(loaded(t, "version = 1\nallow = []\n")),
		"no keys": New(loaded(t, "op = {}\nfamily = { \"io/fs\" = {} }\n[runtime]\n[task]\n[secrets]\n"))} {
		if got := text(t, p); got != "{\n  :allow []\n  :version 1}" && got != "{:allow [] :version 1}" {
			t.Errorf("%s: %s", name, got)
		}
		if p.Digest() != (*Policy)(nil).Digest() {
			t.Errorf("%s: digest %s", name, p.Digest())
		}
	}
}

// One policy, written differently. spec: POL-DIGEST-2, POL-KEY-1
func TestEqualPolicies(t *testing.T) {
	for name, group := range map[string][]string{
		"order and form": {
			"allow = [\"io/fs::read\", \"sys/time::*\"]\n[family.\"io/fs\"]\nbase_dir = \"data\"\nmax_bytes = 8388608\n[op.\"io/fs::read\"]\ntimeout_ms = 30000\n",
			"# a note\nversion = 1\nallow = ['sys/time::*',\n  'io/fs::read',\n]\nop.'io/fs::read'.timeout_ms = '30s'\nfamily.'io/fs' = { max_bytes = \"8MiB\", base_dir = 'data' }\n",
			"family = { \"io/fs\" = { base_dir = \"da\\u0074a\", max_bytes = \"8192KiB\" } }\nop = { \"io/fs::read\" = { timeout_ms = 0x7530 } }\nallow = [\"io/fs::read\", \"sys/time::*\"]\n",
		},
		"order in lists": {
			"allow = [\"io/net::http-request\"]\n[op.\"io/net::http-request\"]\nhosts = [\"a\", \"b\"]\nmethods = [\"GET\", \"PUT\"]\n",
			"allow = [\"io/net::http-request\"]\n[op.\"io/net::http-request\"]\nmethods = [\"PUT\", \"GET\"]\nhosts = [\"b\", \"a\"]\n",
		},
		"what does not count": {
			"allow = [\"sys/time::now\"]\n",
			"allow = [\"sys/time::now\"]\n[log]\nmax_bytes = 5\nsync = \"none\"\n[store]\ndir = \"x\"\n[refs]\na = 1\n",
			"allow = [\"sys/time::now\"]\n[runtime]\n[task]\n[secrets]\n[family.\"sys/time\"]\n[op.\"sys/time::now\"]\n",
		},
		"where a secret is": {
			"[secrets.a]\nenv = \"A\"\nops = [\"sys/process::exec\"]\n",
			"[secrets.a]\nenv = \"B\"\nops = [\"sys/process::exec\"]\n",
			"[secrets.a]\nfile = \"c\"\nops = [\"sys/process::exec\"]\n",
		},
		"where a program is": {
			"[op.\"sys/process::exec\"]\nallow = true\nprograms.sh.path = \"/bin/sh\"\n",
			"[op.\"sys/process::exec\"]\nallow = true\nprograms.sh.path = \"/usr/bin/sh\"\n",
		},
		"where an outside directory is": {
			"[family.\"io/fs\"]\nbase_dir = \"/srv/a\"\nlabel = \"x\"\n",
			"[family.\"io/fs\"]\nbase_dir = \"../a\"\nlabel = \"x\"\n",
		},
	} {
		first := New(loaded(t, group[0]))
		for _, src := range group[1:] {
			if p := New(loaded(t, src)); p.Digest() != first.Digest() {
				t.Errorf("%s:\n%s\n%s", name, text(t, first), text(t, p))
			}
		}
	}
}

// Each setting counts. spec: POL-DIGEST-1, POL-DIGEST-2
func TestEveryKeyCounts(t *testing.T) {
	src, err := os.ReadFile("testdata/terms/full.toml")
	if err != nil {
		t.Fatal(err)
	}
	full := string(src)
	base := New(loaded(t, full))
	changed := 0
	seen := map[digest.Digest]string{base.Digest(): "the file itself"}
	for _, c := range [][2]string{
		{`"sys/time::*", `, ``}, {`"sys/time::*"`, `"sys/time::now"`}, {`label = "data"`, `label = "dato"`}, {`paths = ["in/**", `, `paths = [`},
		{`create_dirs = true`, `create_dirs = false`}, {"create_dirs = true\n", ``}, {`timeout_ms = "1m"`, `timeout_ms = "2m"`},
		{`base_dir = "out"`, `base_dir = "uot"`}, {`label = "results"`, `label = "result"`}, {`max_bytes = "8MiB"`, `max_bytes = "9MiB"`},
		{`log = "hash"`, `log = "full"`}, {"log = \"hash\"\n", ``}, {"allow = false\n\n[op.\"sys/args", "\n[op.\"sys/args"}, {`hosts = ["api.example", "*.`, `hosts = ["api.exampel", "*.`},
		{`methods = ["POST", "GET"]`, `methods = ["POST"]`}, {`allow_http = false`, `allow_http = true`}, {`allow_private = true`, `allow_private = false`},
		{`redirects = 3`, `redirects = 4`}, {`ca_file = "/etc/ssl/own.pem"`, `ca_file = "own.pem"`}, {"ca_file = \"/etc/ssl/own.pem\"\n", ``},
		{`ca_file = "/etc/ssl/own.pem"`, `ca_file = "outside"`},
		{`redact_headers = ["x-token"]`, `redact_headers = []`}, {`keep_headers = ["set-cookie"]`, `keep_headers = []`}, {`programs.sh]`, `programs.bash]`},
		{`sha256 = "01`, `sha256 = "02`}, {`exact = "-c"`, `exact = "-d"`}, {`enum = ["a", "b"]`, `enum = ["a"]`}, {`{ exact = "-c" }, { enum = ["a", "b"] }`, `{ enum = ["a", "b"] }, { exact = "-c" }`}, {`re = "[0-9]+"`, `re = "[0-9]*"`},
		{`, { rest = ".*" }`, ``}, {`env = ["LANG"]`, `env = []`}, {`unsafe_env = ["PATH"]`, `unsafe_env = []`}, {`cwd = "work"`, `cwd = "home"`},
		{"cwd = \"/srv\"\n", ``}, {`cwd = "/srv"`, `cwd = "srv"`}, {`dir = "kv"`, `dir = "vk"`}, {`algorithms = ["ed25519"]`, `algorithms = []`}, {`keys = []`, `keys = ["a"]`},
		{`names = ["LANG"]`, `names = ["LANGUAGE"]`}, {`[secrets.token]`, `[secrets.tokens]`}, {`hosts = ["api.example"]`, `hosts = ["api.exampel"]`},
		{`headers = ["authorization"]`, `headers = ["x-key"]`}, {`vars = ["KEY"]`, `vars = []`}, {`max_effect_ops = 1000`, `max_effect_ops = 1001`},
		{`per_op = "1MiB"`, `per_op = "2MiB"`}, {`max_payload_bytes_per_run = "1GiB"`, `max_payload_bytes_per_run = "2GiB"`},
		{`per_op = 4096`, `per_op = 4097`}, {`per_run = "4TiB"`, `per_run = "5TiB"`}, {`max_wall_ms = "2h"`, `max_wall_ms = "3h"`},
		{`max_workers = 4`, `max_workers = 5`}, {`max_tasks = 100`, `max_tasks = 101`}, {"[task]\nmax_workers = 4\nmax_tasks = 100\n", ``},
		{"ops = [\"io/net::http-request\"]\nhosts", "ops = [\"io/net::http-request\", \"sys/process::exec\"]\nhosts"},
	} {
		if strings.Count(full, c[0]) != 1 {
			t.Errorf("%q is %d times in the file", c[0], strings.Count(full, c[0]))
			continue
		}
		f, ds := Parse("caps.toml", []byte(strings.Replace(full, c[0], c[1], 1)))
		if f == nil {
			t.Errorf("%q: %v", c[1], ds)
			continue
		}
		d := New(f).Digest()
		if other, twice := seen[d]; twice {
			t.Errorf("%q for %q gives the digest of %s", c[1], c[0], other)
		}
		seen[d] = fmt.Sprintf("%q for %q", c[1], c[0])
		changed++
	}
	if changed < 50 {
		t.Errorf("only %d changes", changed)
	}
	for _, c := range [][2]string{{`inline_max_bytes = 1024`, `inline_max_bytes = 1`}, {`sync = "always"`, `sync = "none"`}, {`dir = "store"`, `dir = "s"`},
		{`env = "API_TOKEN"`, `env = "OTHER"`}, {`file = "secret/nil"`, `file = "x"`}, {`path = "/bin/sh"`, `path = "/usr/bin/sh"`},
		{`base_dir = "/srv/data"`, `base_dir = "/srv/elsewhere"`}, {`anything = `, `something = `}} {
		if strings.Count(full, c[0]) != 1 {
			t.Errorf("%q is %d times in the file", c[0], strings.Count(full, c[0]))
		}
		if p := New(loaded(t, strings.Replace(full, c[0], c[1], 1))); p.Digest() != base.Digest() {
			t.Errorf("%q for %q changes the digest", c[1], c[0])
		}
	}
}

// A flag is what a file would say. spec: POL-DIGEST-4
func TestTermsOfFlags(t *testing.T) {
	for _, c := range []struct {
		file  string
		words []string
		same  string
	}{
		{"", []string{"sys/time::now"}, "allow = [\"sys/time::now\"]\n"},
		{"", []string{"sys/time::*"}, "allow = [\"sys/time::*\"]\n"},
		{"", []string{"sys/time::now", "sys/time::now"}, "allow = [\"sys/time::now\"]\n"},
		{"", []string{"io/fs::read=data"}, "allow = [\"io/fs::read\"]\n[op.\"io/fs::read\"]\nbase_dir = \"data\"\n"},
		{"", []string{"io/fs::read=/abs/data"}, "allow = [\"io/fs::read\"]\n[op.\"io/fs::read\"]\nbase_dir = \"../x\"\nlabel = \"data\"\n"},
		{"", []string{"io/fs::read=a", "io/fs::read=/abs/data", "io/fs::read=b"}, "allow = [\"io/fs::read\"]\n[op.\"io/fs::read\"]\nbase_dir = \"b\"\n"},
		{"", []string{"io/kv::get=/kv"}, "allow = [\"io/kv::get\"]\n[op.\"io/kv::get\"]\ndir = \"/x\"\nlabel = \"kv\"\n"},
		{"allow = [\"sys/time::now\"]\n[op.\"io/fs::read\"]\nallow = true\nbase_dir = \"/x\"\nlabel = \"x\"\nmax_bytes = 1\n", []string{"io/fs::read=b", "sys/args::list"},
			"allow = [\"sys/args::list\", \"io/fs::read\", \"sys/time::now\"]\n[op.\"io/fs::read\"]\nallow = true\nbase_dir = \"b\"\nmax_bytes = 1\n"},
		{"[op.\"sys/time::now\"]\nallow = false\n", []string{"sys/time::now"}, "[op.\"sys/time::now\"]\nallow = false\n"},
	} {
		var f *File
		if c.file != "" {
			f = loaded(t, c.file)
		}
		p, want := New(f, flags(t, c.words...)...), New(loaded(t, c.same))
		if p.Digest() != want.Digest() {
			t.Errorf("%v:\n%s\n%s", c.words, text(t, p), text(t, want))
		}
		if !p.Term().IsTerm() || !coreform.Equal(p.Term(), want.Term()) {
			t.Errorf("%v: terms differ", c.words)
		}
	}
	family := text(t, New(nil, flags(t, "io/kv=kv")...))
	for _, op := range []string{"io/kv::delete", "io/kv::get", "io/kv::put", "io/kv::scan"} {
		if strings.Count(family, op) != 2 {
			t.Errorf("%s", family)
		}
	}
}
