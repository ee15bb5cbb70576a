package policy

import (
	"slices"
	"strings"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/effects/ops"
)

// Grant is what one granted op may do. It is immutable and safe for concurrent
// use.
type Grant struct {
	op       *ops.Op
	set      settings
	fromFile bool
	maxBytes int64
	patterns [][]string // of paths, by components
}

func newGrant(op *ops.Op, set settings, fromFile bool) *Grant {
	g := &Grant{op: op, set: set, fromFile: fromFile}
	list, _ := set["paths"].([]string)
	for _, pattern := range list {
		g.patterns = append(g.patterns, strings.Split(pattern, "/"))
	}
	return g
}

// Op returns the name of the op.
func (g *Grant) Op() string { return g.op.Name }

// Dir returns the directory of the op as written, and whether it is relative to
// the directory of the policy file (else to the current one). It is "" for ops
// without.
func (g *Grant) Dir() (dir string, fromFile bool) {
	dir, _ = g.set[dirKey(g.op)].(string)
	return dir, g.fromFile
}

// TimeoutMs is the bound the policy sets in milliseconds, 0 if it sets none.
func (g *Grant) TimeoutMs() int64 { n, _ := g.set["timeout_ms"].(int64); return n }

// MaxBytes is the response limit the policy sets for this op in bytes, capped by
// an explicit max_response_bytes_per_op of [runtime]; 0 if it sets none.
// (spec/policy.md POL-LIMIT-2)
func (g *Grant) MaxBytes() int64 { return g.maxBytes }

// CreateDirs reports whether missing directories are made on the way.
func (g *Grant) CreateDirs() bool { b, _ := g.set["create_dirs"].(bool); return b }

// Log says how much of the op's entries the log may keep: "full" (the default),
// "hash" (no payload) or "redact" (no payload and no response).
func (g *Grant) Log() string {
	if s, ok := g.set["log"].(string); ok {
		return s
	}
	return "full"
}

// Strings returns a setting that is a list of strings, as a new slice, nil if the
// policy does not have it. An empty list lets nothing through.
func (g *Grant) Strings(key string) []string {
	l, _ := g.set[key].([]string)
	return slices.Clone(l)
}

func (g *Grant) cap(p *Policy) {
	g.maxBytes, _ = g.set["max_bytes"].(int64)
	if n, ok := p.explicit(func(f *File) settings { return f.runtime }, "max_response_bytes_per_op"); ok && g.maxBytes > n {
		g.maxBytes = n
	}
}

// Cap is the grant as it enters a log entry, without paths: the op, and
// create-dirs, timeout and max-bytes as written.
func (g *Grant) Cap() coreform.Value {
	es := []coreform.Entry{{Key: coreform.Sym(":op"), Value: coreform.Sym(g.op.Name)}}
	if g.CreateDirs() {
		es = append(es, coreform.Entry{Key: coreform.Sym(":create-dirs"), Value: coreform.Bool(true)})
	}
	for _, key := range [...]string{"max_bytes", "timeout_ms"} {
		if n, ok := g.set[key].(int64); ok {
			es = append(es, coreform.Entry{Key: keyword(key), Value: coreform.Int(n)})
		}
	}
	return coreform.MapOf(es...)
}

// AllowsPath reports whether the op's paths patterns, if it has any, cover a
// path that package fspolicy has accepted. The base directory "." is covered by
// the patterns "." and "**". An empty list covers nothing.
// (spec/policy.md POL-PATHS-1)
func (g *Grant) AllowsPath(p string) bool {
	if g.set["paths"] == nil {
		return true
	}
	parts := strings.Split(p, "/")
	return slices.ContainsFunc(g.patterns, func(pattern []string) bool { return matchPath(pattern, parts) })
}

// matchPath matches whole components; ** stands for any number of them. It
// keeps the set of pattern positions reached, so that it takes no more time than
// the product of both lengths.
func matchPath(pattern, parts []string) bool {
	if len(parts) == 1 && parts[0] == "." {
		if len(pattern) == 1 && pattern[0] == "." {
			return true
		}
		parts = nil
	}
	at, next := make([]bool, len(pattern)+1), make([]bool, len(pattern)+1)
	at[0] = true
	for _, part := range parts {
		skipStars(pattern, at)
		clear(next)
		for i, p := range pattern {
			switch {
			case !at[i]:
			case p == "**":
				next[i] = true
			case matchComponent(p, part):
				next[i+1] = true
			}
		}
		at, next = next, at
	}
	skipStars(pattern, at)
	return at[len(pattern)]
}

// skipStars lets each ** that was reached stand for nothing.
func skipStars(pattern []string, at []bool) {
	for i, p := range pattern {
		if p == "**" && at[i] {
			at[i+1] = true
		}
	}
}

// matchComponent matches one component; * stands for any characters. Only the
// last star is ever tried again, which is enough: an earlier one could only make
// what follows it begin later.
func matchComponent(pattern, s string) bool {
	star, mark, i := -1, 0, 0
	j := 0
	for i < len(s) {
		switch {
		case j < len(pattern) && pattern[j] == '*':
			star, mark = j, i
			j++
		case j < len(pattern) && pattern[j] == s[i]:
			i++
			j++
		case star >= 0:
			mark++
			i, j = mark, star+1
		default:
			return false
		}
	}
	for j < len(pattern) && pattern[j] == '*' {
		j++
	}
	return j == len(pattern)
}
