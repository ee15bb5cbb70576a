package check

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/coreform/kernel"
)

// Severity tells what stops a program from what only looks wrong.
type Severity uint8

// The severities.
const (
	// Warning is for code that does something, but not what it seems to.
	Warning Severity = iota
	// Error is for a source that cannot be loaded, for code that ends the run or
	// gives an error whenever it is reached, and for undeclared operations.
	Error
)

// String returns "warning" or "error".
func (s Severity) String() string {
	if s == Error {
		return "error"
	}
	return "warning"
}

// Problem is one finding. Its texts may hold what the source controls: escape
// them before they are shown.
type Problem struct {
	// Code is stable: check/… of spec CHK-CODE-1, or that of a source which
	// cannot be loaded.
	Code     string
	Severity Severity
	// Message says what is wrong, Hint what to do about it.
	Message, Hint string
	// File is the name given to Module.
	File string
	// Offset is a byte offset in the source, at most its length. Line and Col
	// count from 1; columns count Unicode scalars.
	Offset, Line, Col int
}

// maxProblems is how many problems of one module are told.
const maxProblems = 1000

// Module checks the source of one module against a library and returns what it
// found, sorted by place, then code, then message; nil if there is nothing. name
// is what File of the problems is to be. A source that cannot be read or
// canonicalized has that one problem, with the code it has when it is loaded; a
// misplaced def is a problem beside the others. Of more than 1000 problems the
// rest is only counted, in a last problem check/too-many.
//
// The error is a fault in gcrun, never of the source. Module is pure, keeps
// neither src nor lib, and is safe for concurrent use. (spec CHK-MOD-1)
func Module(name string, src []byte, lib *kernel.Library) ([]Problem, error) {
	forms, err := coreform.ReadModule(src, coreform.Limits{})
	if err == nil {
		forms, err = coreform.CanonicalizeModule(forms, coreform.Limits{})
	}
	r := &report{}
	if err != nil {
		if !r.addLoading(err) {
			return nil, fmt.Errorf("gcrun fault: check: %w", err)
		}
		return r.finish(name, src), nil
	}
	a, err := newAnalysis(forms, lib, r)
	if err != nil {
		return nil, fmt.Errorf("gcrun fault: check: %w", err)
	}
	a.module()
	if _, err := kernel.Load(name, src, lib, kernel.Limits{}); err != nil && !r.addLoading(err) {
		return nil, fmt.Errorf("gcrun fault: check: %w", err)
	}
	return r.finish(name, src), nil
}

// finding is a problem that may name another place: that stands between its
// message and rest.
type finding struct {
	Problem
	named bool
	other int // offset
	rest  string
}

// report collects problems.
type report struct {
	findings []finding
	more     int  // not kept
	errors   bool // one of those is an error
}

// full reports whether a further problem would only be counted.
func (r *report) full() bool { return len(r.findings) >= maxProblems }

func (r *report) add(f finding) {
	if !r.full() {
		r.findings = append(r.findings, f)
		return
	}
	r.more++
	r.errors = r.errors || f.Severity == Error
}

// addLoading adds why a source cannot be loaded, unless it is known already. It
// reports false for an error that is not about the source.
func (r *report) addLoading(err error) bool {
	p := Problem{Severity: Error}
	var read *coreform.ReadError
	var canon *coreform.CanonError
	var load *kernel.LoadError
	switch {
	case errors.As(err, &read):
		p.Code, p.Message, p.Hint, p.Offset = read.Code(), read.Message, read.Hint, read.Offset
	case errors.As(err, &canon):
		p.Code, p.Message, p.Hint, p.Offset = canon.Code(), canon.Message, canon.Hint, canon.Off
	case errors.As(err, &load):
		p.Code, p.Message, p.Hint, p.Offset = load.Code, load.Message, load.Hint, load.Span.Off
	default:
		return false
	}
	if p.Hint == "" {
		p.Hint = "correct the source there and check it again"
	}
	known := func(f finding) bool { return f.Code == p.Code && f.Offset == p.Offset }
	if !slices.ContainsFunc(r.findings, known) {
		r.add(finding{Problem: p})
	}
	return true
}

// finish sorts the problems and fills in their places.
func (r *report) finish(name string, src []byte) []Problem {
	var offsets []int
	for i := range r.findings {
		f := &r.findings[i]
		f.Offset = min(max(f.Offset, 0), len(src))
		offsets = append(offsets, f.Offset, f.other)
	}
	slices.SortFunc(r.findings, func(a, b finding) int {
		return cmp.Or(cmp.Compare(a.Offset, b.Offset), cmp.Compare(a.Code, b.Code), cmp.Compare(a.Message, b.Message))
	})
	if r.more > 0 {
		r.findings = append(r.findings, finding{Problem: tooMany(r.more, r.errors, len(src))})
		offsets = append(offsets, len(src))
	}
	at := positions(src, offsets)
	var out []Problem
	for _, f := range r.findings {
		p := f.Problem
		p.File, p.Line, p.Col = name, at[p.Offset].line, at[p.Offset].col
		if f.named {
			p.Message += fmt.Sprintf("%d:%d", at[f.other].line, at[f.other].col) + f.rest
		}
		out = append(out, p)
	}
	return out
}

type position struct{ line, col int }

// positions returns line and column of offsets, going over the source once.
func positions(src []byte, offsets []int) map[int]position {
	slices.Sort(offsets)
	places := map[int]position{}
	line, col, at := 1, 1, 0
	for _, off := range offsets {
		passed := src[at:off]
		if nl := bytes.LastIndexByte(passed, '\n'); nl >= 0 {
			line, col = line+bytes.Count(passed, []byte{'\n'}), 1
			passed = passed[nl+1:]
		}
		col += utf8.RuneCount(passed)
		at = off
		places[off] = position{line, col}
	}
	return places
}

func tooMany(n int, errors bool, end int) Problem {
	p := Problem{Code: "check/too-many", Message: fmt.Sprintf("%s not listed", counted(n, "more problem")),
		Hint: "correct the first ones and check again", Offset: end}
	if errors {
		p.Severity = Error
	}
	return p
}
