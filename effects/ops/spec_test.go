package ops

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gcrun/gcrun/internal/testkit"
)

func spec(t *testing.T, file string) string {
	t.Helper()
	src, err := os.ReadFile(filepath.Join(testkit.Root(t), "spec", file))
	if err != nil {
		t.Fatal(err)
	}
	return string(src)
}

// rows returns the lines of the first table after a clause, without its head.
func rows(t *testing.T, text, clause string) []string {
	t.Helper()
	_, after, ok := strings.Cut(text, "\n**"+clause+"**")
	if !ok {
		t.Fatalf("there is no %s", clause)
	}
	_, after, ok = strings.Cut(after, "\n|---")
	if end := strings.Index(after, "\n\n"); end >= 0 {
		after = after[:end]
	}
	lines := strings.Split(strings.TrimSpace(after), "\n")[1:]
	if !ok || len(lines) == 0 {
		t.Fatalf("%s has no table", clause)
	}
	return lines
}

func compareRows(t *testing.T, clause string, got, want []string) {
	t.Helper()
	if d := testkit.Difference([]byte(strings.Join(got, "\n")), []byte(strings.Join(want, "\n"))); d != "" {
		t.Errorf("%s: the specification (-) is not what the code has (+):\n%s", clause, d)
	}
}

// The table of codes is that of the package. spec: ERR-4
func TestSpecOfErrors(t *testing.T) {
	var want []string
	for _, c := range Codes() {
		want = append(want, fmt.Sprintf("| `%s` | %s | %s | `%s` |", c.Name, c.Message, c.Meaning, c.Context))
	}
	compareRows(t, "ERR-4", rows(t, spec(t, "errors.md"), "ERR-4"), want)
	for _, r := range []FaultReason{FaultNotAMap, FaultUnknownKey, FaultMissingKey, FaultType, FaultValue} {
		if !strings.Contains(spec(t, "errors.md"), "`"+string(r)+"`") {
			t.Errorf("ERR-5 does not list %s", r)
		}
	}
}

// The table of operations is that of the package. spec: POL-OPS-1
func TestSpecOfOps(t *testing.T) {
	var want []string
	for _, op := range All() {
		var payload, keys []string
		for _, f := range op.Fields {
			if !f.Required {
				f.Key += "?"
			}
			payload = append(payload, f.Key)
		}
		for _, k := range op.Keys {
			if slices.Contains(op.Requires, k) {
				k += "!"
			}
			keys = append(keys, k)
		}
		shown := "nil or `{}`"
		if payload != nil {
			shown = "`" + strings.Join(payload, " ") + "`"
		}
		want = append(want, fmt.Sprintf("| `%s` | %s | %s | %s |", op.Name, op.Class, shown, strings.Join(keys, " ")))
	}
	compareRows(t, "POL-OPS-1", rows(t, spec(t, "policy.md"), "POL-OPS-1"), want)
}

// code is the form of the codes that specification lists. Names of functions
// have it too, which is why the first words are these.
var code = regexp.MustCompile(`^(core/(caps|parse|fatal|limit|run|effect|task|store|db|net|process|cli)/[a-z-]+|core/([a-z-]+-(error|exhausted)|bad-form)|(log|replay|policy|file)/[a-z-]+)$`)

// Every code that stands in the sources is in the specification, which makes a
// new one without a line there impossible.
// spec: ERR-6, ERR-FATAL-1, ERR-FATAL-3, ERR-POL-2, ERR-LOG-1, ERR-CLI-1
func TestEveryCodeIsSpecified(t *testing.T) {
	text := spec(t, "errors.md")
	found := map[string]string{}
	for file, literals := range literalsOf(t) {
		for _, s := range literals {
			if code.MatchString(s) {
				found[s] = file
			}
		}
	}
	if len(found) < 50 {
		t.Fatalf("only %d codes in the sources", len(found))
	}
	for c, file := range found {
		short := c
		if d, ok := strings.CutPrefix(c, "core/limit/"); ok {
			short = d
		} else if f, ok := strings.CutPrefix(c, "replay/"); ok {
			short = strings.TrimSuffix(f, "-mismatch")
		}
		if !strings.Contains(text, "| `"+short+"` |") && !strings.Contains(text, "`"+c+"`") {
			t.Errorf("%s: spec/errors.md does not list %s", file, c)
		}
	}
	// And the other way: what the tables list is somewhere, whole or in parts.
	all := map[string]bool{}
	for _, literals := range literalsOf(t) {
		for _, s := range literals {
			all[s] = true
		}
	}
	for clause, prefix := range map[string]string{"ERR-6": "core/parse/", "ERR-FATAL-1": "", "ERR-FATAL-2": "", "ERR-REPLAY-1": "", "ERR-LOG-1": "", "ERR-CLI-1": "",
		"ERR-POL-1": ""} {
		for _, line := range rows(t, text, clause) {
			name := strings.Split(line, "`")[1]
			short := strings.TrimPrefix(name, prefix)
			if !all[name] && !all[short] && !all["replay/"+name+"-mismatch"] && !all["core/limit/"+name] {
				t.Errorf("%s: nothing in the sources gives %s", clause, name)
			}
		}
	}
}

// literalsOf returns the texts in the sources of the module, tests left out, by
// file.
func literalsOf(t *testing.T) map[string][]string {
	t.Helper()
	root := testkit.Root(t)
	out := map[string][]string{}
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		name := e.Name()
		if err != nil || e.IsDir() && (name == "testdata" || strings.HasPrefix(name, ".") && path != root) {
			if err == nil {
				err = filepath.SkipDir
			}
			return err
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, path)
		ast.Inspect(f, func(n ast.Node) bool {
			if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
				if s, err := strconv.Unquote(l.Value); err == nil {
					out[rel] = append(out[rel], s)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// The exit codes of the command are those of the table. spec: ERR-EXIT-1
func TestSpecOfExitCodes(t *testing.T) {
	var listed []string
	for _, line := range rows(t, spec(t, "errors.md"), "ERR-EXIT-1") {
		listed = append(listed, strings.TrimSpace(strings.Split(line, "|")[1]))
	}
	if got := strings.Join(listed, " "); got != "0 1 2 10 11 20 30 40 41 42 50 60 70 130" {
		t.Errorf("listed: %s", got)
	}
	src, err := os.ReadFile(filepath.Join(testkit.Root(t), "cmd", "gcrun", "exit.go"))
	if err != nil {
		t.Fatal(err)
	}
	consts := regexp.MustCompile(`(?m)^\s*exit[A-Z]\w*\s*=\s*([0-9]+)`).FindAllStringSubmatch(string(src), -1)
	if len(consts) < 8 {
		t.Fatalf("only %d exit codes in exit.go", len(consts))
	}
	for _, m := range consts {
		if !slices.Contains(listed, m[1]) {
			t.Errorf("exit %s is not listed", m[1])
		}
	}
	for _, clause := range []string{"ERR-LOG-1", "ERR-CLI-1"} {
		for _, line := range rows(t, spec(t, "errors.md"), clause) {
			if exit := strings.TrimSpace(strings.Split(line, "|")[2]); !slices.Contains(listed, exit) {
				t.Errorf("%s: exit %s", clause, exit)
			}
		}
	}
}
