package prelude_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/coreform/kernel"
	"github.com/gcrun/gcrun/effects/guest"
	"github.com/gcrun/gcrun/internal/testkit"
)

// languageCase is one case of testdata/language: a module and what it gives.
// The format is described in testdata/language/README.md.
type languageCase struct {
	at     string
	src    string
	want   string
	steps  int64 // -1: not asserted
	limits kernel.Limits
	row    string // the line "; row N: …" before it, if there is one
}

// withLimit returns the default limits but for those that a line "; with NAME N"
// names as a log's header would.
func withLimit(t testing.TB, at string, words []string) kernel.Limits {
	t.Helper()
	named := kernel.Limits{}.Named()
	for ; len(words) >= 2; words = words[2:] {
		n, err := strconv.ParseInt(words[1], 10, 64)
		if err != nil {
			t.Fatalf("%s: %v", at, err)
		}
		named[words[0]] = n
	}
	limits, ok := kernel.LimitsFromNames(named)
	if !ok || len(words) != 0 {
		t.Fatalf("%s: not a list of limits and numbers", at)
	}
	return limits
}

var stepsAsserted = regexp.MustCompile(`^(.*) \((\d+) steps?\)$`)

func readCases(t testing.TB) []languageCase {
	t.Helper()
	var cases []languageCase
	for _, path := range testkit.Files(t, filepath.Join(testkit.Root(t), "testdata", "language", "*.txt")) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		before := len(cases)
		chunk, start, row := "", 0, ""
		var limits kernel.Limits
		finish := func() {
			if chunk == "" {
				return
			}
			at := fmt.Sprintf("%s:%d", filepath.Base(path), start)
			i := strings.LastIndex(chunk, "=> ")
			if i < 0 {
				t.Fatalf("%s: no => in this case", at)
			}
			c := languageCase{at: at, src: strings.TrimSpace(chunk[:i]), want: strings.TrimSpace(chunk[i+3:]), steps: -1, limits: limits, row: row}
			if m := stepsAsserted.FindStringSubmatch(c.want); m != nil {
				c.want = m[1]
				c.steps, _ = strconv.ParseInt(m[2], 10, 64)
			}
			cases = append(cases, c)
			chunk, limits, row = "", kernel.Limits{}, ""
		}
		for i, line := range strings.Split(string(bytes.TrimSuffix(data, []byte("\n"))), "\n") {
			switch {
			case strings.TrimSpace(line) == "" || line[0] == ';':
				finish()
				if rest, ok := strings.CutPrefix(line, "; with "); ok {
					limits = withLimit(t, fmt.Sprintf("%s:%d", filepath.Base(path), i+1), strings.Fields(rest))
				}
				if strings.HasPrefix(line, "; row ") {
					row = line
				}
			case line[0] == ' ':
				chunk += "\n" + line
			default:
				finish()
				chunk, start = line, i+1
			}
		}
		finish()
		if len(cases) == before {
			t.Fatalf("%s holds no case", path)
		}
	}
	return cases
}

var (
	openLine = regexp.MustCompile(`([\[({])\n\s*`)
	newLine  = regexp.MustCompile(`\n\s*`)
)

// show is the text of a value on one line.
func show(v coreform.Value) string {
	if payload, ok := kernel.IsError(v); ok {
		if m, ok := payload.AsMap(); ok {
			if code, ok := m.Get(coreform.Sym(":error/code")); ok {
				if s, ok := code.AsStr(); ok {
					return "error " + s
				}
			}
		}
		return "error " + show(payload)
	}
	text := coreform.FormatLossy(v, 1<<16)
	return newLine.ReplaceAllString(openLine.ReplaceAllString(text, "$1"), " ")
}

// failureText is how a case names a run that ends without a value.
func failureText(err error) string {
	if f, ok := errors.AsType[*guest.Fatal](err); ok {
		if f.Limit != nil {
			return "limit " + f.Limit.Dimension
		}
		return "fatal " + f.Code
	}
	if e, ok := errors.AsType[*kernel.LoadError](err); ok {
		return "refused " + e.Code
	}
	if e, ok := errors.AsType[*coreform.CanonError](err); ok {
		return "refused " + e.Code()
	}
	if e, ok := errors.AsType[*coreform.ReadError](err); ok {
		return fmt.Sprintf("refused %s at %d", e.Code(), e.Offset)
	}
	return "unexpected: " + err.Error()
}

// runCase evaluates a case; an effect program is run, and every request
// answered with its own payload.
func runCase(src string, limits kernel.Limits) (got string, steps int64) {
	v, p, err := eval(src, limits)
	if p != nil {
		steps = p.Usage().Steps
	}
	if err != nil {
		return failureText(err), steps
	}
	if o := v.AsOther(); o == nil || o.TypeName() != "effect-program" {
		return show(v), steps
	}
	p, _ = loadWith(src, limits)
	got = "program: "
	var answer *guest.Response
	for {
		s, err := p.Step(context.Background(), 0, answer)
		if err != nil {
			return got + failureText(err), steps
		}
		if s.Done != nil {
			return got + show(s.Done.Value), steps
		}
		got += s.Request.Op + " " + show(s.Request.Payload) + "; "
		answer = &guest.Response{Value: s.Request.Payload}
	}
}

// The language, case by case.
//
// spec: LANG-FORM-1, LANG-FORM-2, LANG-FORM-3, LANG-FORM-4, LANG-EVAL-1, LANG-EVAL-2, LANG-EVAL-4, LANG-EVAL-5
// spec: LANG-VAL-1, LANG-VAL-2, LANG-VAL-3, LANG-VAL-4, LANG-ERR-1, LANG-ERR-2, LANG-ERR-3, LANG-STEP-1, LANG-STEP-2
// spec: LANG-PRIM-1, LANG-PRIM-2, LANG-PRIM-3, LANG-DEC-1, LANG-NAT-1, LANG-LIB-1, LANG-LIB-2, LANG-LIB-4
func TestLanguage(t *testing.T) {
	cases := readCases(t)
	if len(cases) < 250 {
		t.Fatalf("only %d cases", len(cases))
	}
	for _, c := range cases {
		got, steps := runCase(c.src, c.limits)
		if got != c.want {
			t.Errorf("%s: %s\n got %s\nwant %s", c.at, c.src, got, c.want)
		}
		if c.steps >= 0 && steps != c.steps {
			t.Errorf("%s: %s: %d steps, want %d", c.at, c.src, steps, c.steps)
		}
	}
}
