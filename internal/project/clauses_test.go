package project

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gcrun/gcrun/internal/testkit"
)

// A clause of spec/*.md is a paragraph or list item that begins with its id in
// bold: "**CF-READ-3** A reader ...". An id is upper-case words and a number.
var (
	clauseID  = `[A-Z][A-Z0-9]*(?:-[A-Z][A-Z0-9]*)*-[0-9]+`
	defining  = regexp.MustCompile(`^(?:- )?\*\*(` + clauseID + `)\*\*`)
	misplaced = regexp.MustCompile(`^(?:#+ +|\| *|[*+] |[0-9]+\. )[*` + "`" + `]*(` + clauseID + `)\b`)
	inText    = regexp.MustCompile(`[A-Z0-9-]*` + clauseID + `[A-Z0-9-]*`)
	citation  = regexp.MustCompile(`(?m)^[ \t]*(?://|#|;)[ \t]*spec:(.*)$`)
)

// withoutClauses are files of spec/ that state no rules.
var withoutClauses = []string{"benchmarks.md"}

func TestEveryClauseIsCited(t *testing.T) {
	root := testkit.Root(t)
	defined := map[string]string{} // id to file:line
	for _, path := range testkit.Files(t, filepath.Join(root, "spec", "*.md")) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(path)
		clauses, faults := readClauses(name, string(data))
		for _, fault := range faults {
			t.Error(fault)
		}
		if len(clauses) == 0 && !slices.Contains(withoutClauses, name) {
			t.Errorf("spec/%s defines no clause", name)
		}
		for id, at := range clauses {
			if other, twice := defined[id]; twice {
				t.Errorf("spec/%s: the clause %s is also defined at spec/%s", at, id, other)
			}
			defined[id] = at
		}
	}

	cited, claimed := citations(t, root)
	for _, id := range slices.Sorted(maps.Keys(defined)) {
		if !cited[id] {
			t.Errorf("spec/%s: no test or vector cites %s", defined[id], id)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(claimed)) {
		if _, ok := defined[id]; !ok {
			t.Errorf("%s: cites %s, which no file of spec/ defines", claimed[id], id)
		}
	}
}

// readClauses returns the clauses a file defines, and what looks like another of
// its clauses but is not in the one form that is read. (A table about UTF-8 is
// no clause: the words before the number must be those of a clause.)
func readClauses(name, text string) (clauses map[string]string, faults []string) {
	clauses = map[string]string{}
	families := map[string]bool{}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if m := defining.FindStringSubmatch(line); m != nil {
			at := fmt.Sprintf("%s:%d", name, i+1)
			if _, twice := clauses[m[1]]; twice {
				faults = append(faults, fmt.Sprintf("spec/%s: the clause %s is defined twice", at, m[1]))
			}
			clauses[m[1]] = at
			families[family(m[1])] = true
		}
	}
	for i, line := range lines {
		m := misplaced.FindStringSubmatch(line)
		if m == nil || !families[family(m[1])] {
			continue
		}
		if _, known := clauses[m[1]]; !known { // a table about known clauses is fine
			faults = append(faults, fmt.Sprintf("spec/%s:%d: %s does not begin its paragraph as **%s**", name, i+1, m[1], m[1]))
		}
	}
	return clauses, faults
}

// family is an id without its number.
func family(id string) string { return id[:strings.LastIndexByte(id, '-')] }

// citations reads all tests and vectors. cited has every word that has the form
// of an id; claimed those after "spec:" in a comment, with their file.
func citations(t *testing.T, root string) (cited map[string]bool, claimed map[string]string) {
	t.Helper()
	cited, claimed = map[string]bool{}, map[string]string{}
	read := 0
	for _, name := range files(t) {
		isTest := strings.HasSuffix(name, "_test.go")
		isData := slices.Contains(strings.Split(name, "/"), "testdata")
		if !isTest && !isData || strings.HasPrefix(name, "internal/project/") {
			continue
		}
		data, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			continue // removed but still tracked
		}
		read++
		for _, id := range inText.FindAllString(string(data), -1) {
			cited[id] = true
		}
		for _, m := range citation.FindAllStringSubmatch(string(data), -1) {
			for _, id := range inText.FindAllString(m[1], -1) {
				claimed[id] = name
			}
		}
	}
	if read == 0 {
		t.Fatal("found no test and no vector")
	}
	return cited, claimed
}

func TestReadClauses(t *testing.T) {
	clauses, faults := readClauses("x.md", strings.Join([]string{
		"# Title", "**CF-READ-1** One.", "see **CF-READ-9** there", "- **LG-2** Two.", "CF-READ-3 three",
		"### CF-READ-4", "| `CF-READ-5` | x |", "| CF-READ-1 | x |", "| UTF-8 | x |", "| x | CF-READ-1 |", "**CF-READ-1** Again.", "**Not-A-1** x", "**CF-READ-66** y",
	}, "\n"))
	if got, want := fmt.Sprint(slices.Sorted(maps.Keys(clauses))), "[CF-READ-1 CF-READ-66 LG-2]"; got != want {
		t.Errorf("clauses %s, want %s", got, want)
	}
	want := []string{
		"spec/x.md:11: the clause CF-READ-1 is defined twice",
		"spec/x.md:6: CF-READ-4 does not begin its paragraph as **CF-READ-4**",
		"spec/x.md:7: CF-READ-5 does not begin its paragraph as **CF-READ-5**",
	}
	if !slices.Equal(faults, want) {
		t.Errorf("faults %q", faults)
	}
	if got := inText.FindAllString("CF-READ-31, (CF-READ-3) xCF-READ-4x", -1); !slices.Equal(got, []string{"CF-READ-31", "CF-READ-3", "CF-READ-4"}) {
		t.Errorf("ids %q", got)
	}
}
