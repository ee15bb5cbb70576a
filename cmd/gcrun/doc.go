package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gcrun/gcrun/coreform/prelude"
)

func (a *app) docCommand() *cobra.Command {
	return &cobra.Command{
		Use: "doc [NAME]", Short: "Say what a name of the library is, or list them all", Args: cobra.MaximumNArgs(1),
		Long: `Say what a name of the library takes and gives, its errors, what it costs, and
examples; for what is written in CoreForm, its definition too. NAME can be a
family, such as core/list, which lists its names; without NAME all are listed.`,
		Example: "  gcrun doc\n  gcrun doc core/list\n  gcrun doc core/list::map",
		RunE: verb(func(_ context.Context, args []string) error {
			if len(args) == 0 {
				return a.showFamilies(prelude.Families())
			}
			if d, ok := prelude.Doc(args[0]); ok {
				return a.showDoc(d)
			}
			for _, f := range prelude.Families() {
				if f.Name == strings.TrimSuffix(args[0], "::") {
					return a.showFamilies([]prelude.Family{f})
				}
			}
			f := usage("there is no name %q in the library", args[0])
			f.hint = "gcrun doc lists all names"
			if near := nearNames(args[0]); len(near) > 0 {
				f.hint = "did you mean " + strings.Join(near, ", ") + "?"
			}
			return f
		}),
	}
}

// showFamilies lists families and their names, a line for each.
func (a *app) showFamilies(families []prelude.Family) error {
	if a.asJSON {
		list := make([]any, 0, len(families))
		for _, f := range families {
			names := make([]any, 0, len(f.Names))
			for _, name := range f.Names {
				d, _ := prelude.Doc(name)
				names = append(names, map[string]any{"name": name, "args": texts(d.Args), "summary": d.Summary()})
			}
			list = append(list, map[string]any{"family": f.Name, "title": f.Title, "text": f.Text, "names": names})
		}
		a.printJSON(map[string]any{"kind": "gcrun/doc/1", "ok": true, "families": list})
		return nil
	}
	var b strings.Builder
	for i, f := range families {
		if i > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "%s  %s\n", f.Name, f.Title)
		if len(families) == 1 {
			b.WriteString(wrapped("", f.Text))
		}
		width := 0
		for _, name := range f.Names {
			width = max(width, len(name))
		}
		for _, name := range f.Names {
			d, _ := prelude.Doc(name)
			fmt.Fprintf(&b, "  %-*s  %s\n", width, name, shortened(d.Summary(), docWidth-4-width))
		}
	}
	_, err := a.stdout.Write([]byte(b.String()))
	return err
}

// showDoc prints what a name is.
func (a *app) showDoc(d prelude.Documentation) error {
	if a.asJSON {
		examples := make([]any, 0, len(d.Examples))
		for _, e := range d.Examples {
			examples = append(examples, map[string]any{"source": e.Source, "result": e.Result})
		}
		out := map[string]any{"kind": "gcrun/doc/1", "ok": true, "name": d.Name, "family": d.Family, "args": texts(d.Args),
			"text": d.Text, "errors": d.Errors, "steps": d.Steps, "examples": examples}
		if d.Source != "" {
			out["source"] = d.Source
		}
		a.printJSON(out)
		return nil
	}
	var b strings.Builder
	b.WriteString(d.Call() + "\n\n")
	b.WriteString(wrapped("  ", d.Text))
	b.WriteString("\n" + wrapped("  errors  ", d.Errors) + wrapped("  steps   ", d.Steps))
	for _, e := range d.Examples {
		fmt.Fprintf(&b, "\n  %s\n    => %s\n", e.Source, e.Result)
	}
	if d.Source != "" {
		b.WriteString("\n")
		for _, line := range strings.Split(d.Source, "\n") {
			b.WriteString("  | " + line + "\n")
		}
	}
	_, err := a.stdout.Write([]byte(b.String()))
	return err
}

// docWidth is how many columns a line of text has.
const docWidth = 100

// wrapped breaks a text into lines. The first begins with the words given, the
// others below what follows them.
func wrapped(first, text string) string {
	indent := strings.Repeat(" ", len(first))
	var b strings.Builder
	line := first
	used := len(first)
	for _, word := range strings.Fields(text) {
		n := len([]rune(word))
		if used > len(first) {
			if used+1+n > docWidth {
				b.WriteString(line + "\n")
				line, used = indent, len(first)
			} else {
				line, used = line+" ", used+1
			}
		}
		line, used = line+word, used+n
	}
	return b.String() + line + "\n"
}

// shortened is the text, or as many of its words as there is room for.
func shortened(text string, room int) string {
	r := []rune(text)
	if room = max(room, 20); len(r) <= room {
		return text
	}
	cut := string(r[:room-1])
	if i := strings.LastIndexByte(cut, ' '); i > 0 && r[room-1] != ' ' {
		cut = cut[:i]
	}
	return strings.TrimRight(cut, " ,;:") + "…"
}

func texts(ss []string) []any {
	out := make([]any, 0, len(ss))
	for _, s := range ss {
		out = append(out, s)
	}
	return out
}

// mostNear is how many names are suggested.
const mostNear = 6

// nearNames returns names of the library that may be meant: those that end with
// what was given, else those that hold it, else those a few characters away.
func nearNames(given string) []string {
	if given == "" || len(given) > 100 {
		return nil
	}
	word := strings.ToLower(strings.ReplaceAll(strings.TrimSpace(given), ".", "::"))
	if !strings.Contains(word, "::") && strings.Count(word, "/") == 1 && !strings.HasPrefix(word, "core/") {
		word = strings.ReplaceAll(word, "/", "::") // list/map
	}
	var all []string
	for _, f := range prelude.Families() {
		all = append(all, f.Name)
		all = append(all, f.Names...)
	}
	for _, fits := range []func(string) bool{
		func(name string) bool { return strings.HasSuffix(name, "/"+word) || strings.HasSuffix(name, "::"+word) },
		func(name string) bool { return len(word) > 2 && strings.Contains(name, word) },
	} {
		if near := slices.DeleteFunc(slices.Clone(all), func(n string) bool { return !fits(n) }); len(near) > 0 {
			return near[:min(len(near), mostNear)]
		}
	}
	return closest(word, all)
}

// closest returns the names with the fewest edits from a word, if they are few.
func closest(word string, names []string) []string {
	var near []string
	best := min(4, (len(word)+2)/4)
	for _, name := range names {
		d := min(edits(word, name), edits(word, strings.TrimPrefix(name, "core/")))
		if _, local, ok := strings.Cut(name, "::"); ok && !strings.Contains(word, "::") {
			d = min(d, edits(word, local))
		}
		switch {
		case d > best || d >= len(word):
		case d < best:
			near, best = []string{name}, d
		default:
			near = append(near, name)
		}
	}
	return near[:min(len(near), mostNear)]
}

// edits is the number of bytes to put in, leave out or replace to get from a to b.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
