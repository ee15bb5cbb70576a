package kernel

import (
	"maps"
	"slices"

	"github.com/gcrun/gcrun/internal/digest"
)

// Revision is what the semantic revision of a library definition is about.
type Revision struct {
	Name     string
	Revision uint32
	// Meaning is a digest of what the definition says, and of what all it refers to
	// says. It is zero for natives and constants: of those only their tests say what
	// they mean.
	Meaning digest.Digest
}

// Revisions returns the semantic revisions of the library's definitions, by name.
// They enter the state hashes of programs, while Meaning does not: it changes
// whenever somebody must decide whether a definition that reads differently still
// means the same. The error is that of a definition that does not compile.
// (spec SH-LIB)
func (l *Library) Revisions() ([]Revision, error) {
	natives := &Library{defs: make(map[string]*definition)}
	u := &unit{library: true, lib: natives, loaded: true}
	for name, d := range l.defs {
		if d.native != nil || d.isConstant() {
			natives.defs[name] = d
			continue
		}
		refs, err := l.refs(d)
		if err != nil {
			return nil, err
		}
		u.define(name, d.expr.Term, refs)
	}
	out := make([]Revision, 0, len(l.defs))
	for _, name := range l.DefinitionNames() {
		r := Revision{Name: name, Revision: l.defs[name].revision()}
		if u.defs[name] != nil {
			r.Meaning = u.nameHash(name)
		}
		out = append(out, r)
	}
	return out, nil
}

// refs returns the names of the library that a definition uses, sorted.
func (l *Library) refs(d *definition) ([]string, error) {
	u := &unit{library: true, lib: l, name: d.name, names: map[string]int{}, refAt: map[string]int32{}}
	f := &fnState{unit: u, p: &proto{unit: u, name: d.name}}
	if err := f.expr(d.expr, false); err != nil {
		return nil, err
	}
	return slices.Sorted(maps.Keys(f.refs)), nil
}
