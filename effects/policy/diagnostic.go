package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gcrun/gcrun/internal/spelling"
)

// Severity tells what keeps a policy from loading from what does not.
type Severity string

// The severities.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
)

// The codes of diagnostics. (spec/errors.md ERR-POL-1)
const (
	CodeTOML          = "policy/toml"          // not TOML, or not a text
	CodeDuplicate     = "policy/duplicate"     // a key, table or entry twice
	CodeUnknownKey    = "policy/unknown-key"   // a key that has no meaning there
	CodeUnknownOp     = "policy/unknown-op"    // no operation or family of that name
	CodeType          = "policy/type"          // a value of the wrong type
	CodeValue         = "policy/value"         // a value that is not accepted
	CodeMissingKey    = "policy/missing-key"   // a key without which something cannot be granted
	CodeContradiction = "policy/contradiction" // two settings that exclude each other
	CodeNotGranted    = "policy/not-granted"   // a warning: a table without effect
)

// Codes returns the codes of diagnostics, sorted, as a new slice.
func Codes() []string {
	codes := []string{CodeTOML, CodeDuplicate, CodeUnknownKey, CodeUnknownOp, CodeType, CodeValue, CodeMissingKey,
		CodeContradiction, CodeNotGranted}
	slices.Sort(codes)
	return codes
}

// Diagnostic is one problem in a policy: where, what, and what to do.
type Diagnostic struct {
	Code     string   `json:"code"` // stable, "policy/…" (spec/errors.md)
	Severity Severity `json:"severity"`
	File     string   `json:"file"`
	Line     int      `json:"line"` // from 1, 0 if unknown
	Col      int      `json:"col"`  // in characters from 1, 0 if unknown
	Key      string   `json:"key"`  // path to the key, as TOML writes it, "" if none is concerned
	Message  string   `json:"message"`
	Hint     string   `json:"hint"`
}

// Error is one line: place, message and code. What stands in the file is quoted
// in it where it is not plain.
func (d Diagnostic) Error() string {
	if d.Line == 0 {
		return fmt.Sprintf("%s: %s (%s)", d.File, d.Message, d.Code)
	}
	return fmt.Sprintf("%s:%d:%d: %s (%s)", d.File, d.Line, d.Col, d.Message, d.Code)
}

// Diagnostics are all problems of a file, sorted by place. As an error they
// read one a line.
type Diagnostics []Diagnostic

func (ds Diagnostics) Error() string {
	lines := make([]string, len(ds))
	for i, d := range ds {
		lines[i] = d.Error()
	}
	return strings.Join(lines, "\n")
}

// Failed reports whether one of them is an error.
func (ds Diagnostics) Failed() bool {
	return slices.ContainsFunc(ds, func(d Diagnostic) bool { return d.Severity == Error })
}

func (ds Diagnostics) sorted() Diagnostics {
	slices.SortStableFunc(ds, func(a, b Diagnostic) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col), cmp.Compare(a.Key, b.Key), cmp.Compare(a.Code, b.Code))
	})
	return ds
}

// nearest returns the known name closest to s, the first of several, "" if none
// is close: a third of a name may be wrong, and one letter of a short one.
func nearest(s string, known []string) string {
	if len(s) < 2 {
		return ""
	}
	best, bestD := "", max(1, len(s)/3)+1
	for _, k := range known {
		if d := spelling.Distance(s, k, bestD); d < bestD {
			best, bestD = k, d
		}
	}
	return best
}

func didYouMean(s string, known []string, otherwise string) string {
	if n := nearest(s, known); n != "" {
		return fmt.Sprintf("did you mean %s?", n)
	}
	return otherwise
}
