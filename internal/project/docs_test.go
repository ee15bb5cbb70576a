package project

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gcrun/gcrun/internal/testkit"
)

// A document's blocks, all of which are executed, in order:
//
//	```console          a session: lines that begin with "$ " are run by bash, in
//	                    one folder for the document, and what they print has to be
//	                    what stands there (-update rewrites it)
//	```coreform         forms, with values behind "; =>" (checkForms)
//	```WORD NAME        a file of that name, written into the folder; some session
//	                    below it has to mention it
//
// There are no others, so that nothing in a document can be wrong unnoticed.

// TestLanguageTour executes the tour of the language.
func TestLanguageTour(t *testing.T) {
	testkit.RequireUnix(t)
	command := buildCommand(t)
	executed := runDocument(t, command, filepath.Join(testkit.Root(t), "docs", "language.md"), t.TempDir())
	if executed.forms < 50 || executed.sessions < 5 {
		t.Errorf("only %d values and %d sessions were found", executed.forms, executed.sessions)
	}
}

// buildCommand builds gcrun and returns the folder it is in.
func buildCommand(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	build := exec.Command("go", "build", "-o", filepath.Join(dir, "gcrun"), "./cmd/gcrun")
	build.Dir = testkit.Root(t)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir
}

// A block is what stands between two fences.
type block struct {
	word, name string // of the line that opens it
	line       int    // of its first line, from 1
	body       string
	start, end int // of the body in the document
}

// readBlocks returns the blocks of a Markdown document, and what is wrong with
// their form.
func readBlocks(text string) (blocks []block, faults []string) {
	var open *block
	offset, blank := 0, true
	for i, line := range strings.SplitAfter(text, "\n") {
		info, fence := strings.CutPrefix(line, "```")
		switch {
		case fence && open == nil:
			word, name, _ := strings.Cut(strings.TrimSpace(info), " ")
			open = &block{word: word, name: name, line: i + 2, start: offset + len(line)}
		case fence:
			open.end = offset
			open.body = text[open.start:open.end]
			blocks = append(blocks, *open)
			open = nil
		case open == nil && blank && (strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t")),
			open == nil && strings.Contains(line, "~~~"), open == nil && strings.Contains(line, "```"):
			faults = append(faults, fmt.Sprintf("line %d: a block that is not between ``` lines", i+1))
		}
		offset += len(line)
		blank = strings.TrimSpace(line) == ""
	}
	if open != nil {
		faults = append(faults, fmt.Sprintf("line %d: the block is not closed", open.line-1))
	}
	return blocks, faults
}

// executed counts what a document had to execute.
type executed struct{ forms, sessions int }

// runDocument executes the blocks of a document, with dir as the folder of its
// sessions and files.
func runDocument(t *testing.T, command, path, dir string) (n executed) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text, name := string(data), filepath.Base(path)
	blocks, faults := readBlocks(text)
	for _, fault := range faults {
		t.Errorf("%s: %s", name, fault)
	}
	got, copied, chapter := "", 0, forms{t: t, command: command, document: name}
	for i, b := range blocks {
		body := b.body
		if strings.Contains(text[copied:b.start], "\n## ") {
			chapter.definitions = ""
		}
		switch {
		case b.name != "":
			writeFileBlock(t, name, dir, b, blocks[i+1:])
		case b.word == "console":
			body = runConsole(t, command, dir, b.body)
			n.sessions++
		case b.word == "coreform":
			n.forms += chapter.check(b)
		default:
			t.Errorf("%s:%d: a block %q, which nothing executes", name, b.line, b.word)
		}
		got += text[copied:b.start] + body
		copied = b.end
	}
	got += text[copied:]
	rewrite(t, path, text, got)
	return n
}

// rewrite replaces a document whose sessions print something else, when that is
// asked for; else that is an error.
func rewrite(t *testing.T, path, old, now string) {
	t.Helper()
	if old == now {
		return
	}
	if !testkit.Updating() {
		t.Errorf("a session of %s prints something else (-update rewrites it):\n%s", filepath.Base(path), testkit.Difference([]byte(old), []byte(now)))
		return
	}
	if err := os.WriteFile(path, []byte(now), 0o644); err != nil {
		t.Fatal(err)
	}
}

// writeFileBlock writes a block that is a file. A session below has to use it.
func writeFileBlock(t *testing.T, document, dir string, b block, below []block) {
	t.Helper()
	used := false
	for _, other := range below {
		used = used || other.word == "console" && strings.Contains(other.body, b.name)
	}
	if !used {
		t.Errorf("%s:%d: no session below mentions %s", document, b.line, b.name)
	}
	if !filepath.IsLocal(b.name) {
		t.Fatalf("%s:%d: %s is not inside the folder", document, b.line, b.name)
	}
	if err := os.WriteFile(filepath.Join(dir, b.name), []byte(b.body), 0o644); err != nil {
		t.Fatal(err)
	}
}

// runConsole runs the commands of a session in one shell, with gcrun among its
// commands, and returns the session with what they print.
func runConsole(t *testing.T, command, dir, session string) string {
	t.Helper()
	var script strings.Builder
	commands := 0
	for line := range strings.Lines(session) {
		if run, ok := strings.CutPrefix(line, "$ "); ok {
			commands++
			script.WriteString("printf '%s\\n' " + quote(strings.TrimSuffix(line, "\n")) + "\n" + run)
		}
	}
	if commands == 0 {
		t.Fatalf("the session runs no command:\n%s", session)
	}
	sh := exec.Command("bash")
	sh.Dir, sh.Stdin = dir, strings.NewReader(script.String())
	sh.Env = append(os.Environ(), "PATH="+command+string(os.PathListSeparator)+os.Getenv("PATH"), "LC_ALL=C")
	var out bytes.Buffer
	sh.Stdout, sh.Stderr = &out, &out
	var exit *exec.ExitError
	if err := sh.Run(); err != nil && !errors.As(err, &exit) { // a command may be meant to fail
		t.Fatal(err)
	}
	return out.String()
}

// forms checks blocks of CoreForm. The forms of a chapter (a heading ##) see the
// definitions of the blocks above them in it.
type forms struct {
	t           *testing.T
	command     string
	document    string
	definitions string
}

// expectation is a comment with the value of the forms above it, after one on the
// same line or on a line of its own, and on lines that go on with more spaces.
var expectation = regexp.MustCompile(`(?m);[ ]*=> (.*(?:\n; {3,}.*)*)\n`)

// check evaluates the forms of a block and compares their values:
//
//	(core/int::add 1 2)   ; => 3                    the value, as gcrun prints it
//	(core/int::add 1 "")  ; => error CODE           an error with that code
//	(nobody 1)            ; => end CODE             the run ends with that code
//
// How a value is broken into lines does not matter. It returns how many there
// were. What is behind the last one must have a value that is no error.
func (f *forms) check(b block) (n int) {
	f.t.Helper()
	rest, line := b.body, b.line
	for {
		at := expectation.FindStringSubmatchIndex(rest)
		if at == nil {
			break
		}
		source, want := rest[:at[0]]+"\n", strings.ReplaceAll(rest[at[2]:at[3]], "\n;", " ")
		f.compare(line+strings.Count(source, "\n")-1, source, want)
		line += strings.Count(rest[:at[1]], "\n")
		rest = rest[at[1]:]
		n++
	}
	if strings.TrimSpace(rest) != "" {
		if got := f.eval(rest); strings.HasPrefix(got, "error ") || strings.HasPrefix(got, "end ") {
			f.t.Errorf("%s:%d: %s", f.document, line, got)
		}
		f.definitions += rest
	} else if n == 0 {
		f.t.Errorf("%s:%d: an empty block", f.document, b.line)
	}
	return n
}

// compare evaluates forms behind the definitions of the chapter. Those whose
// evaluation does not end the run are visible below.
func (f *forms) compare(line int, source, want string) {
	f.t.Helper()
	if code, _, _ := strings.Cut(source, ";"); strings.TrimSpace(code) == "" {
		f.t.Errorf("%s:%d: a value of nothing", f.document, line)
	}
	got := f.eval(source)
	if got != oneLine(want) {
		f.t.Errorf("%s:%d: the value is\n\t%s\nand not\n\t%s", f.document, line, got, oneLine(want))
	}
	if !strings.HasPrefix(got, "end ") {
		f.definitions += source
	}
}

func (f *forms) eval(source string) string {
	f.t.Helper()
	eval := exec.Command(filepath.Join(f.command, "gcrun"), "eval", "--json", "-")
	eval.Stdin = strings.NewReader(f.definitions + source)
	out, _ := eval.Output() // the exit code says whether there is an error
	var answer struct {
		OK    bool
		Value string
		Error struct{ Code, Message string }
	}
	if err := json.Unmarshal(out, &answer); err != nil {
		f.t.Fatalf("%v\n%s%s", err, f.definitions, source)
	}
	switch {
	case answer.OK:
		return oneLine(answer.Value)
	case answer.Value != "":
		return "error " + answer.Error.Code
	}
	return "end " + answer.Error.Code
}

// oneLine joins the lines of a printed value, or of one written by hand.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	for _, bracket := range []string{"(", "[", "{"} {
		s = strings.ReplaceAll(s, bracket+" ", bracket)
	}
	return s
}

func TestReadBlocks(t *testing.T) {
	blocks, faults := readBlocks("a\n```console\n$ x\n```\n\n```toml f.toml\na = 1\n```\n- x\n    y\n\n    z\n~~~\nx ```y```\n```sh\n")
	var got []string
	for _, b := range blocks {
		got = append(got, fmt.Sprintf("%s|%s|%d|%s", b.word, b.name, b.line, b.body))
	}
	if want := "console||3|$ x\n toml|f.toml|7|a = 1\n"; strings.Join(got, " ") != want {
		t.Errorf("%q, want %q", strings.Join(got, " "), want)
	}
	const notBetween = ": a block that is not between ``` lines"
	if want := fmt.Sprint([]string{"line 12" + notBetween, "line 13" + notBetween, "line 14" + notBetween, "line 15: the block is not closed"}); fmt.Sprint(faults) != want {
		t.Errorf("%v, want %v", faults, want)
	}
}

func TestExpectation(t *testing.T) {
	got := expectation.FindAllStringSubmatch("(a) ; => 1\n(b)\n; => {:a 1\n;    :b 2}\n; no value\n(c) ;=> x\n", -1)
	want := []string{"1", "{:a 1\n;    :b 2}", "x"}
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i][1] != want[i] {
			t.Fatalf("%q, want %q", got, want)
		}
	}
	if got := oneLine("{\n  :a [\n   1 2]}"); got != "{:a [1 2]}" {
		t.Error(got)
	}
}
