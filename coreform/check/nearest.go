package check

import (
	"fmt"
	"maps"
	"slices"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/effects/ops"
	"github.com/gcrun/gcrun/internal/spelling"
)

// unbound reports a name that means nothing. (spec CHK-NAME-1)
func (a *analysis) unbound(n coreform.Node, name string) {
	if a.silent || a.report.full() {
		a.problem(n, Error, "check/unbound", "", "")
		return
	}
	hint := ""
	if _, isOp := ops.Lookup(name); isOp {
		hint = "the name of an operation is data: write '" + name
	} else if coreform.IsSpecialForm(name) {
		hint = name + " begins a form and is no value: write it as the head of a list"
	} else {
		hint = a.didYouMeanBound(name)
	}
	a.problem(n, Error, "check/unbound", hint, "the name %s is not bound here", shown(name))
}

// didYouMeanBound suggests the variable, definition or library name closest to
// a name.
func (a *analysis) didYouMeanBound(name string) string {
	const otherwise = "define it, or check its spelling"
	if full := "core/" + name; a.bound(full) {
		return "did you mean " + full + "?"
	}
	var known []string
	for _, group := range [][]string{keys(a.vars), keys(a.defs), a.names} {
		known = append(known, group...)
	}
	return a.didYouMean(name, known, otherwise)
}

// keys returns the names a table has, sorted, or none if there are too many to
// look at.
func keys[V any](table map[string]V) []string {
	if len(table) > maxCandidates {
		return nil
	}
	return slices.Sorted(maps.Keys(table))
}

// didYouMean suggests the closest of the known names, or otherwise.
func (a *analysis) didYouMean(name string, known []string, otherwise string) string {
	if near := a.nearest(name, known); near != "" {
		return fmt.Sprintf("did you mean %s?", near)
	}
	return otherwise
}

// Bounds of looking for close names: variables or definitions there are, and
// characters compared in one module. Beyond them nothing is suggested.
const (
	maxCandidates  = 10_000
	maxComparisons = 100_000_000
	longestName    = 100
)

// nearest returns the known name with the fewest edits, the first of several, ""
// if none is close: a quarter of a name may be wrong, at most four characters.
func (a *analysis) nearest(name string, known []string) string {
	if len(name) < 2 || len(name) > longestName {
		return ""
	}
	best, limit := "", min(4, (len(name)+2)/4)+1
	for _, k := range known {
		if k == name || len(k) > longestName || len(k)-len(name) >= limit || len(name)-len(k) >= limit {
			continue
		}
		if a.nearness += len(k) * len(name); a.nearness > maxComparisons {
			return best
		}
		if d := spelling.Distance(name, k, limit); d < limit {
			best, limit = k, d
		}
	}
	return best
}
