package coreform_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// Every clause of the spec is cited by a test, and every clause cited exists.
func TestSpecClausesAreCited(t *testing.T) {
	text, err := os.ReadFile("../spec/coreform.md")
	if err != nil {
		t.Fatal(err)
	}
	clauses := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^\*\*(CF-[A-Z]+-\d+)\*\* `).FindAllSubmatch(text, -1) {
		if clauses[string(m[1])] {
			t.Errorf("%s is there twice", m[1])
		}
		clauses[string(m[1])] = true
	}
	files, err := filepath.Glob("*_test.go")
	if err != nil || len(files) == 0 || len(clauses) == 0 {
		t.Fatalf("%d test files, %d clauses, %v", len(files), len(clauses), err)
	}
	cited := map[string]bool{}
	line := regexp.MustCompile(`(?m)^// spec: .*$`)
	id := regexp.MustCompile(`CF-[A-Z]+-\d+`)
	for _, f := range files {
		src, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range line.FindAll(src, -1) {
			for _, c := range id.FindAllString(string(l), -1) {
				cited[c] = true
				if !clauses[c] {
					t.Errorf("%s cites %s, which does not exist", f, c)
				}
			}
		}
	}
	for c := range clauses {
		if !cited[c] {
			t.Errorf("no test cites %s", c)
		}
	}
}
