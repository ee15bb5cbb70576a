package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/gcrun/gcrun/evidence/canonjson"
	"github.com/gcrun/gcrun/internal/testkit"
)

// TestMain makes the test binary the command gcrun, in scripts and for every
// test that starts a process.
func TestMain(m *testing.M) {
	if err := os.Setenv("GORACE", exitAtOnce); err != nil {
		panic(err)
	}
	testscript.Main(m, map[string]func(){"gcrun": main})
}

// exitAtOnce keeps processes with the race detector in them from sleeping for a
// second each before they exit.
const exitAtOnce = "atexit_sleep_ms=0"

// TestScripts runs the sessions in testdata/script, one file for each command
// and topic. Besides the commands of testscript they have:
//
//	code N CMD…           run CMD; its exit code must be N exactly
//	json PATH [VALUE]     stdout is one canonical JSON object and a newline, and
//	                      has VALUE (JSON, else a string) at the dotted PATH
//	! json PATH           the same, and has nothing there
//	errors FILE           stderr is FILE, byte for byte, with HASH for every hash
//	cut FILE N OUT        the first N bytes of FILE (N < 0: all but the last -N)
//	flip FILE BIT OUT     FILE with one bit flipped (BIT < 0: from the end)
//	other IN SOURCE OUT   the log IN with another program in it, everything else
//	                      as it was, and every checksum right
func TestScripts(t *testing.T) {
	dir := filepath.Join(testkit.Root(t), "testdata", "script")
	testkit.Files(t, filepath.Join(dir, "*.txtar"))
	testscript.Run(t, testscript.Params{
		Dir:                 dir,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("GORACE", exitAtOnce)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"code": scriptCode, "json": scriptJSON, "errors": scriptErrors,
			"cut": scriptCut, "flip": scriptFlip, "other": scriptOther,
		},
	})
}

func scriptCode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N CMD…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

func scriptJSON(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 && (neg || len(args) != 2) {
		ts.Fatalf("usage: json PATH [VALUE]")
	}
	doc, err := oneObject([]byte(ts.ReadFile("stdout")))
	ts.Check(err)
	got, found := lookup(doc, args[0])
	switch {
	case neg && found:
		ts.Fatalf("%s is there: %v", args[0], got)
	case !neg && !found:
		ts.Fatalf("there is no %s", args[0])
	case len(args) == 2:
		var want any = args[1]
		var parsed any
		if json.Unmarshal([]byte(args[1]), &parsed) == nil {
			want = parsed
		}
		if !reflect.DeepEqual(got, want) && got != args[1] {
			ts.Fatalf("%s is %#v, want %#v", args[0], got, want)
		}
	}
}

// oneObject parses output that must be one canonical JSON object in one line.
func oneObject(out []byte) (map[string]any, error) {
	text, ok := bytes.CutSuffix(out, []byte("\n"))
	if !ok {
		return nil, errors.New("the JSON does not end with a newline: " + strconv.Quote(string(out)))
	}
	again, err := canonjson.Canonicalize(canonjson.JCS, text, canonjson.Limits{})
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(again, text) {
		return nil, errors.New("the JSON is not canonical: " + string(text))
	}
	doc := map[string]any{}
	return doc, json.Unmarshal(text, &doc)
}

// lookup finds what stands at a dotted path; numbers index lists.
func lookup(doc any, path string) (any, bool) {
	for _, step := range strings.Split(path, ".") {
		switch at := doc.(type) {
		case map[string]any:
			v, ok := at[step]
			if !ok {
				return nil, false
			}
			doc = v
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(at) {
				return nil, false
			}
			doc = at[i]
		default:
			return nil, false
		}
	}
	return doc, true
}

var hashes = regexp.MustCompile(`\b[0-9a-f]{64}\b`)

func scriptErrors(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: errors FILE")
	}
	got := hashes.ReplaceAll([]byte(ts.ReadFile("stderr")), []byte("HASH"))
	if d := testkit.Difference([]byte(ts.ReadFile(args[0])), got); d != "" {
		ts.Fatalf("stderr is not %s: %s", args[0], d)
	}
}

func scriptCut(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: cut FILE N OUT")
	}
	data, n := []byte(ts.ReadFile(args[0])), number(ts, args[1])
	if n < 0 {
		n += len(data)
	}
	if n < 0 || n >= len(data) {
		ts.Fatalf("%s has %d bytes", args[0], len(data))
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), data[:n], 0o600))
}

func scriptFlip(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: flip FILE BIT OUT")
	}
	data, bit := []byte(ts.ReadFile(args[0])), number(ts, args[1])
	if bit < 0 {
		bit += 8 * len(data)
	}
	data[bit/8] ^= 1 << (bit % 8)
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), data, 0o600))
}

func number(ts *testscript.TestScript, s string) int {
	n, err := strconv.Atoi(s)
	ts.Check(err)
	return n
}

func scriptOther(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: other IN SOURCE OUT")
	}
	ts.Check(replaceProgram(ts.MkAbs(args[0]), ts.MkAbs(args[1]), ts.MkAbs(args[2])))
}
