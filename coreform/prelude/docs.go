package prelude

import (
	"embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/gcrun/gcrun/coreform"
)

// Documentation says what a name of the library is.
type Documentation struct {
	Name   string
	Family string   // what stands before ::, or core
	Args   []string // names of the arguments, in the order in which they are given
	// Text says what the function gives, in sentences. Errors and Steps say which
	// errors of its own it gives and when, and what it takes beside its visits.
	Text, Errors, Steps string
	Examples            []Example
	// Source is the definition as it is written in CoreForm, "" for natives.
	Source string
}

// Example is an expression and what it gives: a value as gcrun prints it on one
// line, "error CODE", "asks OP PAYLOAD" for the first request of a program, or "a
// program whose value is VALUE" for one that asks nothing.
type Example struct{ Source, Result string }

// Family is a group of names that are documented together.
type Family struct {
	Name, Title, Text string
	Names             []string // in the order in which they are explained
}

// docFiles holds the documentation: in docs/*.txt, a line "= FAMILY TITLE" begins a
// family and is followed by a line of text; a line "# NAME ARGUMENT …" begins a
// name and is followed by a line of text, a line "errors: …", a line "steps: …",
// and examples, each a line "> EXPRESSION" and a line "=> RESULT".
//
//go:embed docs/*.txt
var docFiles embed.FS

type library struct {
	families []Family
	docs     map[string]Documentation
}

var documentation = sync.OnceValue(readDocumentation)

// Doc returns the documentation of a library name, and false for what is none. The
// caller must not change what it holds.
func Doc(name string) (Documentation, bool) {
	d, ok := documentation().docs[name]
	return d, ok
}

// Families returns the families of the library, those with the most basic names
// first. The caller must not change what they hold.
func Families() []Family { return slices.Clone(documentation().families) }

// docOrder is the order of the files; others follow by name.
var docOrder = []string{"core", "int", "list", "vec", "map", "str", "bytes", "json", "error", "effect", "fs", "sys", "data", "task", "contract", "coreform"}

func readDocumentation() library {
	entries, err := docFiles.ReadDir("docs")
	if err != nil {
		panic("BUG: prelude: " + err.Error()) // it is embedded
	}
	rank := func(file string) int {
		if i := slices.Index(docOrder, strings.TrimSuffix(file, ".txt")); i >= 0 {
			return i
		}
		return len(docOrder)
	}
	var files []string
	for _, e := range entries {
		files = append(files, e.Name())
	}
	slices.SortStableFunc(files, func(a, b string) int { return rank(a) - rank(b) })
	l := library{docs: map[string]Documentation{}}
	for _, file := range files {
		data, err := docFiles.ReadFile("docs/" + file)
		if err == nil {
			err = l.read(string(data))
		}
		if err != nil {
			panic(fmt.Sprintf("BUG: prelude: docs/%s: %v", file, err)) // tests read it
		}
	}
	for name, source := range definitionSources() {
		if d, ok := l.docs[name]; ok {
			d.Source = source
			l.docs[name] = d
		}
	}
	return l
}

// read adds what a file says. Its paragraphs are families and names.
func (l *library) read(text string) error {
	for _, paragraph := range strings.Split(strings.TrimSpace(text), "\n\n") {
		head, body, _ := strings.Cut(paragraph, "\n")
		lines := strings.Split(body, "\n")
		if rest, ok := strings.CutPrefix(head, "= "); ok {
			name, title, _ := strings.Cut(rest, " ")
			if len(lines) != 1 || title == "" {
				return fmt.Errorf("%q is not followed by one line of text", head)
			}
			l.families = append(l.families, Family{Name: name, Title: title, Text: lines[0]})
			continue
		}
		rest, ok := strings.CutPrefix(head, "# ")
		if !ok || len(l.families) == 0 {
			return fmt.Errorf("%q begins neither a family nor a name", head)
		}
		family := &l.families[len(l.families)-1]
		d, err := readName(strings.Fields(rest), lines)
		if err != nil {
			return fmt.Errorf("%s: %w", rest, err)
		}
		if _, twice := l.docs[d.Name]; twice {
			return fmt.Errorf("%s is documented twice", d.Name)
		}
		d.Family = family.Name
		l.docs[d.Name] = d
		family.Names = append(family.Names, d.Name)
	}
	return nil
}

func readName(words, lines []string) (d Documentation, err error) {
	if len(lines) < 5 || len(lines)%2 == 0 {
		return d, fmt.Errorf("wants text, errors, steps and examples of two lines")
	}
	d = Documentation{Name: words[0], Args: words[1:], Text: lines[0]}
	var okErrors, okSteps bool
	d.Errors, okErrors = strings.CutPrefix(lines[1], "errors: ")
	d.Steps, okSteps = strings.CutPrefix(lines[2], "steps: ")
	if !okErrors || !okSteps {
		return d, fmt.Errorf("wants errors: and steps: behind the text")
	}
	for i := 3; i < len(lines); i += 2 {
		source, okSource := strings.CutPrefix(lines[i], "> ")
		result, okResult := strings.CutPrefix(lines[i+1], "=> ")
		if !okSource || !okResult {
			return d, fmt.Errorf("%q is no example", lines[i])
		}
		d.Examples = append(d.Examples, Example{source, result})
	}
	return d, nil
}

// definitionSources returns the definitions in CoreForm as they are written.
func definitionSources() map[string]string {
	out := map[string]string{}
	for _, src := range sources() {
		forms, err := coreform.ReadModule([]byte(src), coreform.Limits{})
		if err != nil {
			panic("BUG: prelude: " + err.Error()) // the library is made of them
		}
		for _, f := range forms {
			if len(f.Kids) == 3 {
				name, _ := f.Kids[1].Term.AsSym()
				out[name] = src[f.Off:f.End]
			}
		}
	}
	return out
}

// Summary is the first sentence of the text.
func (d Documentation) Summary() string {
	first, _, _ := strings.Cut(d.Text, ". ")
	return strings.TrimSuffix(first, ".")
}

// Call is the name with its arguments as it is called.
func (d Documentation) Call() string {
	if len(d.Args) == 0 {
		return d.Name
	}
	return "(" + d.Name + " " + strings.Join(d.Args, " ") + ")"
}
