package prelude_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/gcrun/gcrun/internal/testkit"
)

// referenceRows is how many worked examples the reference has.
const referenceRows = 72

var (
	rowLine     = regexp.MustCompile(`^; row (\d+): (kept|changed: .+ \(([A-Z]+(?:-[A-Z]+)*-\d+)\))$`)
	specifiedIn = regexp.MustCompile(`(?m)^\*\*([A-Z][A-Z0-9]*(?:-[A-Z][A-Z0-9]*)*-[0-9]+)\*\*`)
)

// clausesOf returns the ids of the clauses that spec/*.md defines.
func clausesOf(t *testing.T) map[string]bool {
	t.Helper()
	ids := map[string]bool{}
	for _, path := range testkit.Files(t, filepath.Join(testkit.Root(t), "spec", "*.md")) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range specifiedIn.FindAllSubmatch(data, -1) {
			ids[string(m[1])] = true
		}
	}
	return ids
}

// Every worked example of the reference is decided: a case of reference.txt says
// what it gives, and the line before it whether that was kept, or which clause
// changed it and why. TestLanguage evaluates the cases.
func TestReferenceRows(t *testing.T) {
	clauses := clausesOf(t)
	decided := map[int]bool{}
	last, cases := 1, 0
	for _, c := range readCases(t) {
		if !strings.HasPrefix(c.at, "reference.txt:") {
			continue
		}
		cases++
		m := rowLine.FindStringSubmatch(c.row)
		if m == nil {
			t.Errorf("%s: the line before it does not decide a row: %q", c.at, c.row)
			continue
		}
		n, err := strconv.Atoi(m[1])
		if err != nil || n < last || n > referenceRows {
			t.Errorf("%s: row %s does not follow row %d", c.at, m[1], last)
			continue
		}
		if m[3] != "" && !clauses[m[3]] {
			t.Errorf("%s: %s is no clause of the specification", c.at, m[3])
		}
		decided[n], last = true, n
	}
	for n := 1; n <= referenceRows; n++ {
		if !decided[n] {
			t.Errorf("row %d is not decided", n)
		}
	}
	// A line that decides a row must belong to a case of its own.
	data, err := os.ReadFile(filepath.Join(testkit.Root(t), "testdata", "language", "reference.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(data, []byte("\n; row ")); n != cases {
		t.Errorf("%d lines decide rows, for %d cases", n, cases)
	}
}
