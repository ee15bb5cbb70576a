package project

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gcrun/gcrun/internal/testkit"
)

// grammarFolder holds the TextMate grammar and what an editor needs beside it.
const grammarFolder = "docs/editors/textmate"

// A rule of a TextMate grammar, as far as ours uses them. Unknown members are
// refused: nothing would test them.
type rule struct {
	Comment       string             `json:"comment"`
	Name          string             `json:"name"`
	Include       string             `json:"include"`
	Match         string             `json:"match"`
	Begin         string             `json:"begin"`
	End           string             `json:"end"`
	Captures      map[string]capture `json:"captures"`
	BeginCaptures map[string]capture `json:"beginCaptures"`
	EndCaptures   map[string]capture `json:"endCaptures"`
	Patterns      []*rule            `json:"patterns"`

	first, last *regexp.Regexp // of match or begin, and of end
}

type capture struct {
	Name string `json:"name"`
}

type grammar struct {
	Name       string           `json:"name"`
	ScopeName  string           `json:"scopeName"`
	FileTypes  []string         `json:"fileTypes"`
	Patterns   []*rule          `json:"patterns"`
	Repository map[string]*rule `json:"repository"`
}

// readGrammar reads the grammar strictly, and compiles its patterns with Go's
// engine: what that takes means the same in the engine of editors.
func readGrammar(t *testing.T) *grammar {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(testkit.Root(t), grammarFolder, "coreform.tmLanguage.json"))
	if err != nil {
		t.Fatal(err)
	}
	g := &grammar{}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(g); err != nil {
		t.Fatal(err)
	}
	included := map[string]bool{}
	compile(t, g, g.Patterns, included)
	for _, r := range g.Repository {
		compile(t, g, []*rule{r}, included)
	}
	for name := range g.Repository {
		if !included["#"+name] {
			t.Errorf("no pattern includes #%s", name)
		}
	}
	return g
}

func compile(t *testing.T, g *grammar, rules []*rule, included map[string]bool) {
	t.Helper()
	var err error
	for _, r := range rules {
		if r.Include != "" {
			included[r.Include] = true
			if g.Repository[strings.TrimPrefix(r.Include, "#")] == nil {
				t.Errorf("nothing is called %s", r.Include)
			}
		}
		if first := r.Match + r.Begin; first != "" {
			if r.first, err = regexp.Compile(first); err != nil {
				t.Fatal(err)
			}
			if r.first.MatchString("") {
				t.Errorf("%q matches nothing", first)
			}
		}
		if r.Begin != "" {
			if r.last, err = regexp.Compile(r.End); err != nil {
				t.Fatal(err)
			}
		}
		for _, scope := range slices.Concat([]string{r.Name}, names(r.Captures), names(r.BeginCaptures), names(r.EndCaptures)) {
			if scope != "" && !strings.HasSuffix(scope, ".coreform") {
				t.Errorf("the scope %s does not end in .coreform", scope)
			}
		}
		compile(t, g, r.Patterns, included)
	}
}

func names(captures map[string]capture) (scopes []string) {
	for _, c := range captures {
		scopes = append(scopes, c.Name)
	}
	return scopes
}

// A piece of a source has an innermost scope, without ".coreform".
type piece struct {
	text, scope string
	at          int
}

// tokens does with a source what an editor does: line by line, the rule that
// matches first, of several the one that stands first in the grammar. Within a
// begin and its end, only the patterns of that rule count.
func (g *grammar) tokens(source string) (pieces []piece) {
	var inside *rule
	offset := 0
	for line := range strings.Lines(source) {
		text := strings.TrimSuffix(line, "\n")
		for pos := 0; pos < len(text); {
			found, at := g.next(inside, text, pos)
			if found == nil {
				at = []int{len(text), len(text)}
			}
			if at[0] > pos {
				pieces = append(pieces, piece{text: text[pos:at[0]], scope: scopeOf(inside), at: offset + pos})
			}
			if found == nil {
				break
			}
			ends := found == inside
			captures := found.Captures
			if found.last != nil {
				captures = found.BeginCaptures
			}
			if ends {
				captures = found.EndCaptures
			}
			pieces = append(pieces, captured(text, at, offset, found, captures)...)
			pos = at[1]
			if ends {
				inside = nil
			} else if found.last != nil {
				inside = found
			}
		}
		offset += len(line)
	}
	return pieces
}

// next finds the rule that applies at pos or next behind it, and where it
// matches. The rule one is inside of stands for its end.
func (g *grammar) next(inside *rule, text string, pos int) (found *rule, at []int) {
	patterns := g.Patterns
	if inside != nil {
		patterns = inside.Patterns
		if m := inside.last.FindStringSubmatchIndex(text[pos:]); m != nil {
			found, at = inside, m
		}
	}
	var look func(rules []*rule)
	look = func(rules []*rule) {
		for _, r := range rules {
			if r.Include != "" {
				r = g.Repository[strings.TrimPrefix(r.Include, "#")]
			}
			if r.first == nil {
				look(r.Patterns)
			} else if m := r.first.FindStringSubmatchIndex(text[pos:]); m != nil && (found == nil || m[0] < at[0]) {
				found, at = r, m
			}
		}
	}
	look(patterns)
	for i := range at {
		at[i] += pos
	}
	return found, at
}

// captured splits a match into its captures; what is in none has the scope of the
// rule.
func captured(text string, at []int, offset int, r *rule, captures map[string]capture) (pieces []piece) {
	add := func(from, to int, scope string) {
		if from < to {
			pieces = append(pieces, piece{text: text[from:to], scope: scope, at: offset + from})
		}
	}
	if whole, ok := captures["0"]; ok {
		add(at[0], at[1], strings.TrimSuffix(whole.Name, ".coreform"))
		return pieces
	}
	pos := at[0]
	for i := 1; 2*i < len(at); i++ {
		add(pos, at[2*i], scopeOf(r))
		add(at[2*i], at[2*i+1], strings.TrimSuffix(captures[strconv.Itoa(i)].Name, ".coreform"))
		pos = at[2*i+1]
	}
	add(pos, at[1], scopeOf(r))
	return pieces
}

func scopeOf(r *rule) string {
	if r == nil {
		return ""
	}
	return strings.TrimSuffix(r.Name, ".coreform")
}

func TestGrammarSamples(t *testing.T) {
	g := readGrammar(t)
	if g.ScopeName != "source.coreform" || !slices.Equal(g.FileTypes, []string{"gc"}) {
		t.Errorf("scope %q, file types %q", g.ScopeName, g.FileTypes)
	}
	const open, shut = "( punctuation.section.parens.begin", ") punctuation.section.parens.end"
	for source, want := range map[string][]string{
		"; a (b":         {"; a (b comment.line.semicolon"},
		`x;y`:            {"x variable.other", ";y comment.line.semicolon"},
		`"a;b"`:          {`" punctuation.definition.string.begin`, "a;b string.quoted.double", `" punctuation.definition.string.end`},
		`"\n\q\""`:       {`" punctuation.definition.string.begin`, `\n constant.character.escape`, `\q invalid.illegal.escape`, `\" constant.character.escape`, `" punctuation.definition.string.end`},
		`"\x4"`:          {`" punctuation.definition.string.begin`, `\x invalid.illegal.escape`, "4 string.quoted.double", `" punctuation.definition.string.end`},
		"\"a\n(b\"c":     {`" punctuation.definition.string.begin`, "a string.quoted.double", "(b string.quoted.double", `" punctuation.definition.string.end`, "c variable.other"},
		`b"\xFF\u00e9z"`: {`b" punctuation.definition.string.begin`, `\xFF constant.character.escape`, `\u00e9 constant.character.escape`, "z string.quoted.other.bytes", `" punctuation.definition.string.end`},
		`ab"x"`:          {"ab variable.other", `" punctuation.definition.string.begin`, "x string.quoted.double", `" punctuation.definition.string.end`},
		"12 -7 - -a 1b":  {"12 constant.numeric.integer", "-7 constant.numeric.integer", "- variable.other", "-a variable.other", "1 constant.numeric.integer", "b variable.other"},
		"a-5":            {"a-5 variable.other"},
		"nil true false": {"nil constant.language", "true constant.language", "false constant.language"},
		"nilly true? x":  {"nilly variable.other", "true? variable.other", "x variable.other"},
		":a ::meta :":    {":a constant.other.keyword", "::meta constant.other.keyword", ": constant.other.keyword"},
		"core/int::add":  {"core/int::add support.function"},
		"my/core/x core": {"my/core/x variable.other", "core variable.other"},
		"'io/fs::read":   {"' keyword.operator.quote", "io/fs::read variable.other"},
		"[a]{:k 1}": {"[ punctuation.section.brackets.begin", "a variable.other", "] punctuation.section.brackets.end",
			"{ punctuation.section.braces.begin", ":k constant.other.keyword", "1 constant.numeric.integer", "} punctuation.section.braces.end"},
		"(def sum? 1)":      {open, "def storage.type.definition", "sum? entity.name.function", "1 constant.numeric.integer", shut},
		"( def\n x 1)":      {open, "def storage.type.definition", "x variable.other", "1 constant.numeric.integer", shut},
		"(define x)":        {open, "define variable.other", "x variable.other", shut},
		"(if a(b)c)":        {open, "if keyword.control", "a variable.other", open, "b variable.other", shut, "c variable.other", shut},
		"(if(b)c)":          {open, "if keyword.control", open, "b variable.other", shut, "c variable.other", shut},
		"(iffy if)":         {open, "iffy variable.other", "if variable.other", shut},
		"(fn (x) x)":        {open, "fn keyword.control", open, "x variable.other", shut, "x variable.other", shut},
		"(let((a 1))a)":     {open, "let keyword.control", open, open, "a variable.other", "1 constant.numeric.integer", shut, shut, "a variable.other", shut},
		"(begin 1)(seal)":   {open, "begin keyword.control", "1 constant.numeric.integer", shut, open, "seal keyword.control", shut},
		"(unseal a b)":      {open, "unseal keyword.control", "a variable.other", "b variable.other", shut},
		"(quote a)":         {open, "quote keyword.control", "a variable.other", shut},
		"(prim int/add a)":  {open, "prim keyword.control", "int/add support.function.primitive", "a variable.other", shut},
		"(core/list::car a": {open, "core/list::car support.function", "a variable.other"},
	} {
		var got []string
		for _, tok := range g.tokens(source) {
			if strings.Trim(tok.text, " \t") != "" {
				got = append(got, tok.text+" "+tok.scope)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s\n got %q\nwant %q", source, got, want)
		}
	}
}

// TestGrammarOnSources compares the grammar with the reader's rules (CF-READ-2) on
// everything there is: each token is one of the grammar's, and has the scope of
// its kind.
func TestGrammarOnSources(t *testing.T) {
	g, root := readGrammar(t), testkit.Root(t)
	seen := map[string]int{}
	for _, path := range slices.Concat(testkit.Files(t, filepath.Join(root, "examples", "*", "*.gc")), testkit.Files(t, filepath.Join(root, "coreform", "prelude", "*.gc"))) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		scopes := map[int]piece{}
		for _, tok := range g.tokens(string(data)) {
			scopes[tok.at] = tok
		}
		for _, want := range lex(string(data)) {
			seen[want.scope]++
			got := scopes[want.at]
			same := got.text == want.text && strings.HasPrefix(got.scope, want.scope)
			if want.scope == "string" { // which comes in pieces
				same = got.scope == "punctuation.definition.string.begin"
			}
			if !same {
				line := 1 + strings.Count(string(data)[:want.at], "\n")
				t.Errorf("%s:%d: %q is %+v and not %s", filepath.Base(path), line, want.text, got, want.scope)
			}
		}
	}
	for _, scope := range []string{"comment.line", "string", "constant.numeric", "constant.language", "constant.other.keyword", "support.function", "support.function.primitive",
		"storage.type", "keyword.control", "entity.name", "keyword.operator.quote", "punctuation.section.parens", "punctuation.section.brackets", "punctuation.section.braces", "variable.other"} {
		if seen[scope] == 0 {
			t.Errorf("no source has a token of the kind %s", scope)
		}
	}
}

// reader has the tokens of CF-READ-2, in the order in which they are tried.
var reader = regexp.MustCompile(`(;[^\n]*)|(b?"(?:[^"\\]|\\.)*")|(-?[0-9]+)|([()\[\]{}'])|([^ \t\r\n()\[\]{}'";]+)`)

// lex gives the tokens of a source with the beginning of the scope each should
// have: that of a name depends on it and on the two tokens before it.
func lex(source string) (pieces []piece) {
	kinds := []string{"comment.line", "string", "constant.numeric", "bracket", "name"}
	brackets := map[string]string{"(": "parens", ")": "parens", "[": "brackets", "]": "brackets", "{": "braces", "}": "braces"}
	before, beforeThat := "", ""
	for _, m := range reader.FindAllStringSubmatchIndex(source, -1) {
		tok := piece{text: source[m[0]:m[1]], at: m[0]}
		for i, kind := range kinds {
			if m[2*i+2] >= 0 {
				tok.scope = kind
			}
		}
		switch {
		case tok.text == "'":
			tok.scope = "keyword.operator.quote"
		case tok.scope == "bracket":
			tok.scope = "punctuation.section." + brackets[tok.text]
		case tok.scope == "name":
			tok.scope = nameScope(tok.text, before, beforeThat)
		}
		pieces = append(pieces, tok)
		if tok.scope != "comment.line" {
			before, beforeThat = tok.text, before
		}
	}
	return pieces
}

func nameScope(name, before, beforeThat string) string {
	switch {
	case beforeThat == "(" && before == "def":
		return "entity.name"
	case beforeThat == "(" && before == "prim":
		return "support.function.primitive"
	case before == "(" && name == "def":
		return "storage.type"
	case before == "(" && slices.Contains(strings.Fields("begin fn if let prim quote seal unseal"), name):
		return "keyword.control"
	case name == "nil" || name == "true" || name == "false":
		return "constant.language"
	case strings.HasPrefix(name, ":"):
		return "constant.other.keyword"
	case strings.HasPrefix(name, "core/"):
		return "support.function"
	}
	return "variable.other"
}

// TestGrammarFolder checks the files beside the grammar: an editor takes the
// folder as an extension.
func TestGrammarFolder(t *testing.T) {
	dir := filepath.Join(testkit.Root(t), grammarFolder)
	var extension struct {
		Contributes struct {
			Languages []struct {
				ID, Configuration string
				Extensions        []string
			}
			Grammars []struct{ Language, ScopeName, Path string }
		}
	}
	readJSON(t, filepath.Join(dir, "package.json"), &extension)
	languages, grammars := extension.Contributes.Languages, extension.Contributes.Grammars
	if len(languages) != 1 || len(grammars) != 1 || grammars[0].Language != languages[0].ID || !slices.Equal(languages[0].Extensions, []string{".gc"}) {
		t.Fatalf("%+v", extension)
	}
	if g := readGrammar(t); grammars[0].ScopeName != g.ScopeName || filepath.Clean(grammars[0].Path) != "coreform.tmLanguage.json" {
		t.Errorf("%+v", grammars[0])
	}
	var configuration struct{ WordPattern string }
	readJSON(t, filepath.Join(dir, languages[0].Configuration), &configuration)
	word, err := regexp.Compile("^(?:" + configuration.WordPattern + ")$")
	if err != nil || !word.MatchString("core/map::has?") || word.MatchString("(a") {
		t.Errorf("%q: %v", configuration.WordPattern, err)
	}
}

func readJSON(t *testing.T, path string, v any) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, v)
	}
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}
