package policy

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gcrun/gcrun/internal/testkit"
)

// listed are diagnostics as the golden files show them.
func listed(ds Diagnostics) string {
	var b strings.Builder
	for _, d := range ds {
		fmt.Fprintf(&b, "%d:%d %s %s %s\n    %s\n    %s\n", d.Line, d.Col, d.Severity, d.Code, d.Key, d.Message, d.Hint)
	}
	return b.String()
}

// Every file of testdata/problems has all its problems in a golden file, and
// every code has a file that begins with its name.
// spec: POL-FILE-3, POL-FILE-4, POL-FILE-5, POL-FILE-6, POL-ALLOW-5, POL-SECRET-2, POL-SECRET-3, ERR-POL-1
func TestProblems(t *testing.T) {
	met := map[string]bool{}
	for _, file := range testkit.Files(t, "testdata/problems/*.toml") {
		name := strings.TrimSuffix(filepath.Base(file), ".toml")
		t.Run(name, func(t *testing.T) {
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			f, ds := Parse("caps.toml", src)
			if (f == nil) != ds.Failed() {
				t.Errorf("file %v, failed %v", f != nil, ds.Failed())
			}
			own := false
			for _, d := range ds {
				met[d.Code] = true
				own = own || strings.HasPrefix(name, strings.TrimPrefix(d.Code, "policy/"))
				if d.File != "caps.toml" || d.Message == "" || d.Hint == "" || d.Line < 1 || d.Col < 1 {
					t.Errorf("incomplete: %+v", d)
				}
				if (d.Severity == Warning) != (d.Code == CodeNotGranted) {
					t.Errorf("%s is a %s", d.Code, d.Severity)
				}
				if strings.ContainsFunc(d.Error(), func(r rune) bool { return r < ' ' }) {
					t.Errorf("%q is not one line", d.Error())
				}
			}
			if !own {
				t.Errorf("the file has no problem of its name")
			}
			testkit.Golden(t, strings.TrimSuffix(file, ".toml")+".txt", []byte(listed(ds)))
		})
	}
	for _, c := range Codes() {
		if !met[c] {
			t.Errorf("no file of testdata/problems gives %s", c)
		}
	}
}

// The order of problems does not depend on anything but the file.
func TestProblemsAreOrdered(t *testing.T) {
	for _, file := range testkit.Files(t, "testdata/problems/*.toml") {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, first := Parse("x", src)
		if !slices.IsSortedFunc(first, func(a, b Diagnostic) int {
			return slices.Compare([]int{a.Line, a.Col}, []int{b.Line, b.Col})
		}) {
			t.Errorf("%s: not in order of places", file)
		}
		for range 20 {
			if _, again := Parse("x", src); listed(again) != listed(first) {
				t.Fatalf("%s: another order:\n%s\n%s", file, listed(first), listed(again))
			}
		}
	}
}

// refused parses what must fail and returns its first error.
func refused(t *testing.T, src string) Diagnostic {
	t.Helper()
	f, ds := Parse("caps.toml", []byte(src))
	if f != nil {
		t.Fatalf("%q loads", src)
	}
	for _, d := range ds {
		if d.Severity == Error {
			return d
		}
	}
	t.Fatalf("%q: no error", src)
	return Diagnostic{}
}

func loaded(t testing.TB, src string) *File {
	t.Helper()
	f, ds := Parse("caps.toml", []byte(src))
	if f == nil || len(ds) > 0 {
		t.Fatalf("%q: %v", src, ds)
	}
	return f
}

// An empty list, an absent table and no policy at all grant nothing.
// spec: POL-ALLOW-1, POL-ALLOW-6
func TestCP01EmptyGrantsNothing(t *testing.T) {
	for name, p := range map[string]*Policy{
		"no policy":     nil,
		"nothing given": New(nil),
		"empty file":    New(loaded(t, "")),
		"empty allow":   New(loaded(t, "allow = []\n")),
		"tables alone":  New(loaded(t, "[family.\"io/fs\"]\nbase_dir = \".\"\n[runtime]\n")),
		"forbidden":     New(loaded(t, "[op.\"io/fs::read\"]\nallow = false\n")),
	} {
		want := map[string]string{"no policy": ReasonNoPolicy, "nothing given": ReasonNoPolicy, "forbidden": ReasonForbidden}[name]
		if want == "" {
			want = ReasonNotGranted
		}
		if d := p.Decide("io/fs::read"); d.Allow || d.Grant != nil || d.Reason != want {
			t.Errorf("%s: %+v, want %s", name, d, want)
		}
		if g := p.Grants(); len(g) != 0 {
			t.Errorf("%s: %d grants", name, len(g))
		}
	}

	p := New(loaded(t, "allow = [\"io/net::http-request\", \"io/fs::read\", \"sys/env::get\"]\n[op.\"io/net::http-request\"]\nhosts = []\n"+
		"[op.\"io/fs::read\"]\nbase_dir = \".\"\npaths = []\n[op.\"sys/env::get\"]\nnames = []\n"))
	g := p.Decide("io/fs::read").Grant
	for _, path := range []string{".", "a", "a/b"} {
		if g.AllowsPath(path) {
			t.Errorf("paths = [] covers %s", path)
		}
	}
	for op, key := range map[string]string{"io/net::http-request": "hosts", "sys/env::get": "names"} {
		if l := p.Decide(op).Grant.Strings(key); l == nil || len(l) != 0 {
			t.Errorf("%s = [] gives %#v", key, l)
		}
	}
	// The absent key is an error, not everything.
	if d := refused(t, "allow = [\"io/net::http-request\"]\n"); d.Code != CodeMissingKey || d.Line != 1 || d.Col != 10 {
		t.Errorf("%+v", d)
	}
}

// A misspelt key never drops a rule silently. spec: POL-FILE-5
func TestCP03MisspeltKeys(t *testing.T) {
	for _, c := range []struct{ src, code, key, hint string }{
		{"[fs]\nraed = [\"a\"]\n", CodeUnknownKey, "fs", ""},
		{"[famly.\"io/fs\"]\nbase_dir = \".\"\n", CodeUnknownKey, "famly", "did you mean family?"},
		{"[family.\"io/fs\"]\nbase_dri = \".\"\n", CodeUnknownKey, `family."io/fs".base_dri`, "did you mean base_dir?"},
		{"[family.\"io/sf\"]\n", CodeUnknownOp, `family."io/sf"`, "did you mean io/fs?"},
		{"[op.\"io/fs::raed\"]\n", CodeUnknownOp, `op."io/fs::raed"`, "did you mean io/fs::read?"},
		{"[op.\"io/fs::read\"]\npath = [\"a\"]\n", CodeUnknownKey, `op."io/fs::read".path`, "did you mean paths?"},
		{"allow = [\"io/fs::raed\"]\n", CodeUnknownOp, "allow[0]", "did you mean io/fs::read?"},
		{"[runtime]\n\nmax_efect_ops = 1\n", CodeUnknownKey, "runtime.max_efect_ops", "did you mean max_effect_ops?"},
		{"log.snyc = \"none\"\n", CodeUnknownKey, "log.snyc", "did you mean sync?"},
		{"log = { sync = \"commt\" }\n", CodeValue, "log.sync", "did you mean commit?"},
		{"[htpp]\n", CodeUnknownKey, "htpp", ""},
	} {
		d := refused(t, c.src)
		if d.Code != c.code || d.Key != c.key || c.hint != "" && d.Hint != c.hint || d.Line < 1 {
			t.Errorf("%q: %+v", c.src, d)
		}
	}
}

// Of equal keys none wins. spec: POL-FILE-5
func TestCP05Duplicates(t *testing.T) {
	for _, c := range []struct {
		src       string
		line, col int
		key       string
	}{
		{"log = { max_bytes = 1, max_bytes = 2 }\n", 1, 24, "log.max_bytes"},
		{"log = {}\nlog = {}\n", 2, 1, "log"},
		{"allow = []\nallow = []\n", 2, 1, "allow"},
		{"[log]\n[log]\n", 2, 2, "log"},
		{"[log]\nmax_bytes = 1\n\"max_bytes\" = 2\n", 3, 1, "log.max_bytes"},
		{"log.sync = \"none\"\nlog.sync = \"none\"\n", 2, 5, "log.sync"},
		{"[op.\"io/fs::read\"]\n[op.'io/fs::read']\n", 2, 5, `op."io/fs::read"`},
	} {
		if d := refused(t, c.src); d.Code != CodeDuplicate || d.Line != c.line || d.Col != c.col || d.Key != c.key {
			t.Errorf("%q: %+v", c.src, d)
		}
	}
	for _, src := range []string{ // told by the library
		"log = {}\nlog.sync = \"none\"\n", "log = {}\n[log]\n", "log.sync = \"none\"\n[log]\nmax_bytes = 1\n", "[log]\n[[log]]\n",
		"allow = []\n[[allow]]\n", "[log]\nsync = \"none\"\n[log.sync]\n", "allow = []\n[allow]\n",
	} {
		if d := refused(t, src); d.Code != CodeTOML || d.Line < 1 || d.Key == "" {
			t.Errorf("%q: %+v", src, d)
		}
	}
	if d := refused(t, "allow = [\"sys/time::now\", \"sys/time::now\"]\n"); d.Code != CodeDuplicate || d.Key != "allow[1]" || d.Col != 27 {
		t.Errorf("%+v", d)
	}
	// Two tables of an array are not a duplicate of each other's keys.
	if d := refused(t, "[[log]]\nsync = \"none\"\n[[log]]\nsync = \"none\"\n"); d.Code != CodeType || d.Key != "log" {
		t.Errorf("%+v", d)
	}
}

// CRLF is a line end, a lone CR hides text. spec: POL-FILE-1
func TestCP07LineEnds(t *testing.T) {
	lf := "# note\nallow = [\n  \"sys/time::now\",\n]\n\n[runtime]\nmax_wall_ms = 1\n"
	unix, dos := loaded(t, lf), loaded(t, strings.ReplaceAll(lf, "\n", "\r\n"))
	if New(unix).Digest() != New(dos).Digest() {
		t.Error("CRLF changes the policy")
	}
	for _, c := range []struct {
		src       string
		line, col int
	}{
		{"# note\rallow = [\"sys/time::now\"]\n", 1, 7},
		{"allow = [] # x\r\n# y\rz\r\n", 2, 4},
		{"allow = ['sys/time::\rnow']\n", 1, 21},
		{"allow = ['''sys/time::\rnow''']\n", 1, 23},
		{"allow = [\"é\", \"\r\"]\n", 1, 16},
		{"allow = []\r", 1, 11},
		{"\r\r\n", 1, 1},
	} {
		if d := refused(t, c.src); d.Code != CodeTOML || d.Line != c.line || d.Col != c.col || !strings.Contains(d.Message, "carriage return") {
			t.Errorf("%q: %+v", c.src, d)
		}
	}
	d := refused(t, strings.ReplaceAll("# note\n\n[runtime]\nmax_wall_ms = \"é\"\n", "\n", "\r\n"))
	if d.Line != 4 || d.Col != 1 {
		t.Errorf("%+v", d)
	}
}

// Numbers that other parsers take for others, or that do not fit. spec: POL-FILE-5, POL-KEY-1
func TestCP09Numbers(t *testing.T) {
	for _, n := range []string{
		"0_9", "00_1", "-_3", "007", "_1", "1_", "1__0", "+-1", "0X10", "0x", "0b2", "0o8", "1.", ".5", "1e", "01.5", "9223372036854775808",
		"-9223372036854775809", "99999999999999999999999999", "0xffffffffffffffff", "--1", "1 0",
	} {
		d := refused(t, "[runtime]\n  max_effect_ops = "+n+"\n")
		if d.Code != CodeTOML || d.Line != 2 || d.Col < 3 || d.Key != "runtime.max_effect_ops" {
			t.Errorf("%s: %+v", n, d)
		}
	}
	for _, n := range []string{"1.0", "inf", "nan", "true", "\"1\"", "1979-05-27", "[1]", "{}"} {
		if d := refused(t, "[runtime]\nmax_effect_ops = "+n+"\n"); d.Code != CodeType || d.Line != 2 || d.Key != "runtime.max_effect_ops" {
			t.Errorf("%s: %+v", n, d)
		}
	}
	for _, n := range []string{"-1", "-9223372036854775808"} {
		if d := refused(t, "[runtime]\nmax_effect_ops = "+n+"\n"); d.Code != CodeValue {
			t.Errorf("%s: %+v", n, d)
		}
	}
	for n, want := range map[string]int64{"0": 0, "+7": 7, "1_000": 1000, "0x10": 16, "0b11": 3, "0o17": 15, "9223372036854775807": math.MaxInt64} {
		if got := New(loaded(t, "[runtime]\nmax_effect_ops = "+n+"\n")).Runtime()["max_effect_ops"]; got != want {
			t.Errorf("%s is %d", n, got)
		}
	}
}

// The largest limit is a limit like others, and one more does not wrap.
// spec: POL-KEY-1, POL-LIMIT-2
func TestCP12LargestLimits(t *testing.T) {
	file := func(key, value string) string {
		return "allow = [\"io/fs::read\"]\n[op.\"io/fs::read\"]\nbase_dir = \".\"\n" + key + " = " + value + "\n"
	}
	for value, want := range map[string]int64{
		"1": 1, "9223372036854775807": math.MaxInt64, `"9223372036854775807B"`: math.MaxInt64, `"8388607TiB"`: 8388607 << 40,
		`"1KiB"`: 1 << 10, `"1MiB"`: 1 << 20, `"1GiB"`: 1 << 30,
	} {
		if got := New(loaded(t, file("max_bytes", value))).Decide("io/fs::read").Grant.MaxBytes(); got != want {
			t.Errorf("max_bytes = %s is %d, want %d", value, got, want)
		}
	}
	for value, want := range map[string]int64{
		"9223372036854": maxDurationMs, `"9223372036854ms"`: maxDurationMs, `"9223372036s"`: 9223372036_000, `"1m"`: 60_000, `"2562047h"`: 2562047 * 3_600_000,
	} {
		got := New(loaded(t, file("timeout_ms", value))).Decide("io/fs::read").Grant.TimeoutMs()
		if got != want {
			t.Errorf("timeout_ms = %s is %d, want %d", value, got, want)
		}
		if d := time.Duration(got) * time.Millisecond; d <= 0 || d.Milliseconds() != got {
			t.Errorf("timeout_ms = %s wraps to %s", value, d)
		}
	}
	for key, values := range map[string][]string{
		"max_bytes": {"0", "-1", `"0B"`, `"-1B"`, `"+1B"`, `"1"`, `"B"`, `"1.5MiB"`, `"1 MiB"`, `"1MB"`, `"1mib"`, `"01KiB"`, `"8388608TiB"`,
			`"9223372036854775808B"`, `"99999999999999999999999999B"`, `"1KiB\n"`, `"１KiB"`, `""`},
		"timeout_ms": {"0", "-1", `"0s"`, "9223372036855", `"9223372036855ms"`, `"9223372037s"`, `"2562048h"`, `"1d"`, `"1S"`, `"9223372036854775807h"`},
	} {
		for _, v := range values {
			if d := refused(t, file(key, v)); d.Code != CodeValue || d.Line != 4 || d.Col != 1 {
				t.Errorf("%s = %s: %+v", key, v, d)
			}
		}
	}
}

// A file is bounded before anything is made of it. spec: POL-FILE-2
func TestBounds(t *testing.T) {
	inside := func(open, end string, n int) string {
		return "refs = { a = " + strings.Repeat(open, n) + strings.Repeat(end, n) + " }\n"
	}
	for name, c := range map[string]struct {
		src  string
		ok   bool
		text string
	}{
		"size at":          {"#" + strings.Repeat("x", MaxFile-2) + "\n", true, ""},
		"size over":        {"#" + strings.Repeat("x", MaxFile-1) + "\n", false, "bytes"},
		"key at":           {"[refs]\n" + strings.Repeat("k", maxKey) + " = 1\n", true, ""},
		"key over":         {"[refs]\n" + strings.Repeat("k", maxKey+1) + " = 1\n", false, "bytes"},
		"keys at":          {"[refs]\n" + numbered("k%d = 1\n", maxKeys-1), true, ""},
		"keys over":        {"[refs]\n" + numbered("k%d = 1\n", maxKeys), false, "keys"},
		"arrays at":        {inside("[", "]", maxDepth-1), true, ""},
		"arrays over":      {inside("[", "]", maxDepth), false, "deep"},
		"tables at":        {"refs" + strings.Repeat(".a", maxDepth-1) + " = 1\n", true, ""},
		"tables over":      {"refs" + strings.Repeat(".a", maxDepth) + " = 1\n", false, "deep"},
		"headers over":     {"[refs" + strings.Repeat(".a", maxDepth) + "]\n", false, "deep"},
		"very deep":        {inside("[", "]", 400_000), false, ""},
		"very deep, open":  {"refs = " + strings.Repeat("[", MaxFile-20), false, ""},
		"deep tables":      {"refs = " + strings.Repeat("{a=", 200_000), false, ""},
		"brackets in text": {"# " + strings.Repeat("[", 5000) + "\nrefs = { a = '" + strings.Repeat("[{", 5000) + "' }\n", true, ""},
	} {
		f, ds := Parse("caps.toml", []byte(c.src))
		if (f != nil) != c.ok {
			t.Errorf("%s: loads %v: %.200s", name, f != nil, ds.Error())
		}
		if !c.ok && (len(ds) != 1 || !strings.Contains(ds[0].Message, c.text) || ds[0].Code != CodeTOML) {
			t.Errorf("%s: %.300s", name, ds.Error())
		}
	}
}

func numbered(format string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// What is wrong a hundred thousand times is told a thousand times, soon.
// spec: POL-FILE-2
func TestManyProblems(t *testing.T) {
	for name, src := range map[string]string{
		"entries":    "allow = [" + numbered("\"x%d\",\n", 60_000) + "]\n",
		"blank":      "allow = [" + strings.Repeat("\"\",", 200_000) + "]\n",
		"duplicates": "refs = {}\n" + strings.Repeat("refs = {}\n", 100_000),
		"keys":       numbered("key%d = 1\n", maxKeys),
		"ops":        numbered("op.x%d = 1\n", maxKeys/2),
		"secrets":    numbered("[secrets.s%d]\n", maxKeys/2),
		"rules":      "op.'sys/process::exec'.programs.x.args = [" + strings.Repeat("{},\n", 100_000) + "]\n",
		"programs":   numbered("op.'sys/process::exec'.programs.x%d = {}\n", maxKeys/4),
	} {
		start := time.Now()
		f, ds := Parse("caps.toml", []byte(src))
		if f != nil || len(ds) != maxDiagnostics {
			t.Errorf("%s: %d problems", name, len(ds))
		}
		if took := time.Since(start); took > 20*time.Second {
			t.Errorf("%s: took %s", name, took)
		}
	}
}

// What scripts read of a problem has the names every refusal has.
// spec: ERR-CLI-2
func TestDiagnosticJSON(t *testing.T) {
	_, ds := Parse("a/caps.toml", []byte("allow = []\nrefs = 'é\tx'\n"))
	got, err := json.Marshal(ds)
	want := `[{"code":"policy/type","severity":"error","file":"a/caps.toml","line":2,"col":1,"key":"refs","message":"refs must be a table","hint":"leave it out, it has no use"}]`
	if err != nil || string(got) != want {
		t.Errorf("%s, %v", got, err)
	}
	if got := ds.Error(); got != "a/caps.toml:2:1: refs must be a table (policy/type)" {
		t.Errorf("%s", got)
	}
	if got := (Diagnostic{File: "f", Message: "m", Code: "c"}).Error(); got != "f: m (c)" {
		t.Errorf("%s", got)
	}
}
