package policy

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gcrun/gcrun/internal/testkit"
)

// table returns the rows of the first table after a clause of a file in spec/,
// cells trimmed.
func table(t *testing.T, file, clause string) [][]string {
	t.Helper()
	src, err := os.ReadFile(filepath.Join(testkit.Root(t), "spec", file))
	if err != nil {
		t.Fatal(err)
	}
	_, after, ok := strings.Cut(string(src), "\n**"+clause+"**")
	if !ok {
		t.Fatalf("spec/%s has no %s", file, clause)
	}
	var rows [][]string
	for line := range strings.SplitSeq(after, "\n") {
		switch {
		case strings.HasPrefix(line, "|"):
			var row []string
			for cell := range strings.SplitSeq(strings.Trim(line, "|"), "|") {
				row = append(row, strings.Trim(strings.TrimSpace(cell), "`"))
			}
			rows = append(rows, row)
		case len(rows) > 0 || strings.HasPrefix(line, "**"):
			if len(rows) < 3 {
				t.Fatalf("spec/%s: %s has no table", file, clause)
			}
			return rows[2:] // without heads
		}
	}
	t.Fatalf("spec/%s: %s has no table", file, clause)
	return nil
}

// spec: ERR-POL-1
func TestSpecOfCodes(t *testing.T) {
	var listed []string
	for _, row := range table(t, "errors.md", "ERR-POL-1") {
		listed = append(listed, row[0])
		want := Error
		if row[0] == CodeNotGranted {
			want = Warning
		}
		if row[1] != string(want) {
			t.Errorf("%s is listed as %s", row[0], row[1])
		}
	}
	if !slices.Equal(listed, Codes()) {
		t.Errorf("spec/errors.md lists %v, the package has %v", listed, Codes())
	}
}

// spec: POL-LIMIT-1
func TestSpecOfLimits(t *testing.T) {
	var keys []string
	defaults := (*Policy)(nil).Runtime()
	for _, row := range table(t, "policy.md", "POL-LIMIT-1") {
		keys = append(keys, row[0])
		want := "none"
		if n, ok := defaults[row[0]]; ok {
			want = strconv.FormatInt(n, 10)
		}
		if row[2] != want {
			t.Errorf("%s: default %s, want %s", row[0], row[2], want)
		}
		zero := "[runtime]\n" + row[0] + " = 0\n"
		if f, _ := Parse("x", []byte(zero)); (f != nil) != (row[1] == "integer from 0") {
			t.Errorf("%s: 0 is accepted: %v", row[0], f != nil)
		}
	}
	for k := range runtimeForms {
		if !slices.Contains(keys, k) {
			t.Errorf("spec/policy.md does not list %s", k)
		}
	}
	if len(keys) != len(runtimeForms) {
		t.Errorf("spec/policy.md lists %v", keys)
	}
}

// The bounds the text names are those of the code. spec: POL-FILE-2, POL-KEY-1, POL-PATHS-2, POL-KEY-3, POL-LIMIT-3
func TestSpecOfBounds(t *testing.T) {
	src, err := os.ReadFile(filepath.Join(testkit.Root(t), "spec", "policy.md"))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(string(src)), " ")
	for _, want := range []string{
		fmt.Sprintf("at most %d MiB and 10 000 keys", MaxFile>>20), fmt.Sprintf("a key has at most %d bytes", maxKey), fmt.Sprintf("nest at most %d deep", maxDepth),
		"At most 1 000 problems", "durations from 1 to 9 223 372 036 854", fmt.Sprintf("at most %d bytes, without empty", maxPattern),
		fmt.Sprintf("1 to %d letters", maxLabel), fmt.Sprintf("(a size; %d GiB when absent)", DefaultLogBytes>>30), fmt.Sprintf("(a size up to %d KiB, LOG-BLOB-1)", maxInline>>10),
	} {
		if !strings.Contains(text, want) {
			t.Errorf("spec/policy.md does not say %q", want)
		}
	}
	if maxKeys != 10_000 || maxDiagnostics != 1000 || maxDurationMs != 9_223_372_036_854 {
		t.Error("spec/policy.md names other bounds")
	}
}
