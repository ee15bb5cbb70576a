package policy

import (
	"strings"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/effects/ops"
)

// Grant is what one granted op may do. It is immutable.
type Grant struct {
	op       *ops.Op
	set      settings
	fromFile bool
	maxBytes int64
}

// Op returns the name of the op.
func (g *Grant) Op() string { return g.op.Name }

// Dir returns the directory of the op as written, and whether it is relative to
// the policy file (else to the current directory). It is "" for ops without.
func (g *Grant) Dir() (dir string, fromFile bool) {
	dir, _ = g.set[dirKey(g.op)].(string)
	return dir, g.fromFile
}

// TimeoutMs is the bound the policy sets, 0 if it sets none.
func (g *Grant) TimeoutMs() int64 { n, _ := g.set["timeout_ms"].(int64); return n }

// MaxBytes is the response limit the policy sets for this op, capped by an
// explicit one for the whole run; 0 if it sets none.
func (g *Grant) MaxBytes() int64 { return g.maxBytes }

// CreateDirs reports whether missing directories are made on the way.
func (g *Grant) CreateDirs() bool { b, _ := g.set["create_dirs"].(bool); return b }

// Strings returns a setting that is a list of strings. It must not be changed.
func (g *Grant) Strings(key string) []string { l, _ := g.set[key].([]string); return l }

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
// path. The root "." is covered only when some pattern begins with **, or there
// are no patterns. An empty list covers nothing.
func (g *Grant) AllowsPath(p string) bool {
	patterns, ok := g.set["paths"].([]string)
	if !ok {
		return true
	}
	var parts []string
	if p != "." {
		parts = strings.Split(p, "/")
	}
	for _, pattern := range patterns {
		if matchPath(strings.Split(pattern, "/"), parts) {
			return true
		}
	}
	return false
}

// matchPath matches whole components; ** stands for any number of them. It
// keeps the set of pattern positions reached, so that no input is exponential.
func matchPath(pattern, parts []string) bool {
	at := map[int]bool{0: true}
	skip := func() { // ** may stand for nothing
		for i, p := range pattern {
			if p == "**" && at[i] {
				at[i+1] = true
			}
		}
	}
	skip()
	for _, part := range parts {
		next := map[int]bool{}
		for i := range at {
			if i < len(pattern) {
				switch {
				case pattern[i] == "**":
					next[i] = true
				case matchComponent(pattern[i], part):
					next[i+1] = true
				}
			}
		}
		at = next
		skip()
	}
	return at[len(pattern)]
}

// matchComponent matches one component; * stands for any characters.
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
