package policy

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/effects/ops"
)

// TermError says why a term is not that of a policy: the key at fault as a
// policy file would write it, "" if none, and what is wrong.
type TermError struct{ Key, Message string }

func (e *TermError) Error() string {
	if e.Key == "" {
		return "not the term of a policy: " + e.Message
	}
	return "not the term of a policy: " + e.Key + ": " + e.Message
}

// FromTerm reads back what Term made, for instance from a log: the result has
// exactly that term and its digest, and the grants, limits and secrets of the
// policy as far as the term tells them. It is for showing a policy and for the
// limits of a recorded run, not for a new run: where the host keeps things is
// not in a term, so Grant.Dir gives "" for a directory that only its label
// stands for, and [log] and [store] have their defaults.
//
// It accepts only what Term makes. The error is a *TermError.
// (spec/policy.md POL-DIGEST-5)
func FromTerm(term coreform.Value) (*Policy, error) {
	if !term.IsTerm() || term.Kind() != coreform.KindMap || term.Depth() > maxDepth {
		return nil, &TermError{Message: fmt.Sprintf("it must be a map that nests at most %d deep", maxDepth)}
	}
	raw, err := tableValues(term)
	if err != nil {
		return nil, err
	}
	standIns(raw)
	d := &document{root: &node{index: -1}, values: raw}
	f := newFile("")
	for _, k := range slices.Sorted(maps.Keys(raw)) {
		if k == "log" || k == "store" || k == "refs" {
			return nil, &TermError{Key: k, Message: "it has no place in a term"}
		}
		f.section(d, k, raw[k])
	}
	f.checkRequired(d, slices.DeleteFunc(f.granted(), f.forbids))
	for _, g := range d.diags {
		return nil, &TermError{Key: g.Key, Message: g.Message}
	}
	p := New(f)
	for _, g := range p.grants {
		if key := dirKey(g.op); g.set[key] == elsewhere {
			delete(g.set, key)
		}
	}
	if !coreform.Equal(p.term, term) {
		return nil, &TermError{Message: "it is not in normal form"}
	}
	return p, nil
}

// tableValues is a map as a TOML table: keywords become keys of a file, other
// symbols and strings stay. Keys that this makes equal, or that had another
// form, show when the term is made again. It recurses on the depth of the term,
// which the caller has bounded.
func tableValues(v coreform.Value) (map[string]any, error) {
	m, _ := v.AsMap()
	out := make(map[string]any, m.Len())
	for k, e := range m.All() {
		name, isSym := k.AsSym()
		if !isSym {
			var isStr bool
			if name, isStr = k.AsStr(); !isStr {
				return nil, &TermError{Message: "a key is a " + k.Kind().String()}
			}
		} else if word, isKeyword := strings.CutPrefix(name, ":"); isKeyword {
			name = strings.ReplaceAll(word, "-", "_")
		}
		if e.IsSym(outside) && slices.Contains(hostNames, name) && !slices.Contains(labelled, name) {
			out[name] = elsewhere
			continue
		}
		value, err := rawValue(e)
		if err != nil {
			return nil, err
		}
		out[name] = value
	}
	return out, nil
}

// rawValue is a term as the TOML library would give it.
func rawValue(v coreform.Value) (any, error) {
	switch v.Kind() {
	case coreform.KindBool:
		b, _ := v.AsBool()
		return b, nil
	case coreform.KindInt:
		if n, ok := v.AsInt64(); ok {
			return n, nil
		}
		return nil, &TermError{Message: "an integer does not fit 64 bits"}
	case coreform.KindStr:
		s, _ := v.AsStr()
		return s, nil
	case coreform.KindSym:
		s, _ := v.AsSym()
		return s, nil
	case coreform.KindMap:
		return tableValues(v)
	case coreform.KindVec:
		vec, _ := v.AsVec()
		out := make([]any, 0, vec.Len())
		for _, e := range vec.All() {
			x, err := rawValue(e)
			if err != nil {
				return nil, err
			}
			out = append(out, x)
		}
		return out, nil
	}
	return nil, &TermError{Message: "a policy holds no " + v.Kind().String()}
}

// elsewhere stands in for what a term does not tell: it is accepted where a file
// must name something on the host, and does not enter a term itself.
const elsewhere = "/"

// standIns puts elsewhere where a file must have what a term leaves out. What
// has the wrong type is left for the forms to report.
func standIns(raw map[string]any) {
	each(raw["family"], func(family string, t map[string]any) {
		if all := familyOps(family); len(all) > 0 {
			standInDir(t, all[0])
		}
	})
	each(raw["op"], func(name string, t map[string]any) {
		if op, ok := ops.Lookup(name); ok {
			standInDir(t, op)
		}
	})
	for _, tables := range []any{raw["family"], raw["op"]} {
		each(tables, func(_ string, t map[string]any) {
			each(t["programs"], func(_ string, program map[string]any) {
				program["path"] = elsewhere
				if program["sha256"] == unpinned {
					delete(program, "sha256")
				}
			})
		})
	}
	each(raw["secrets"], func(_ string, secret map[string]any) { secret["file"] = elsewhere })
}

func standInDir(t map[string]any, op *ops.Op) {
	if key := dirKey(op); key != "" && t[key] == nil && t["label"] != nil {
		t[key] = elsewhere
	}
}

// each calls f for the tables in a table, if that is what it is.
func each(raw any, f func(name string, t map[string]any)) {
	tables, _ := raw.(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(tables)) {
		if t, ok := tables[name].(map[string]any); ok {
			f(name, t)
		}
	}
}
