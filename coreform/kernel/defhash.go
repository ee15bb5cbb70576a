package kernel

import (
	"cmp"
	"encoding/binary"
	"maps"
	"slices"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/internal/digest"
)

// codeDomain separates the digests of code from those of values.
var codeDomain = digest.NewDomain("gcrun 2026-12 definition hash, profile 1")

// Tags of the preimages of code. (spec SH-DEF)
const (
	tagCode      = 1 // the code of a function
	tagGroup     = 2 // definitions that refer to each other
	tagMember    = 3 // one of them
	tagModule    = 4 // a definition of a module that is hashed as a whole
	tagLibrary   = 5
	tagUndefined = 6
)

// grain says what the definitions of a module hash as.
type grain uint8

const (
	grainOpen       grain = iota // not asked for yet
	grainDefinition              // each by what it says and reaches
	grainModule                  // each by the module as a whole
)

// written is what a module says of one of its definitions, for hashing.
type written struct {
	name string
	expr Value
	refs []string // names of module and library it uses, sorted
}

// define notes a definition of the module. Called in the order of the source.
func (u *unit) define(name string, expr Value, refs []string) {
	if u.defs == nil {
		u.defs = make(map[string]*written)
	}
	if u.defs[name] != nil {
		u.coarse = true
	}
	u.defs[name] = &written{name, expr, refs}
}

// decide settles how the definitions of the module hash, once. While it loads
// nobody knows yet whether a name will be looked up before its definition, so
// who asks for a hash then gets that of the module as a whole: no value may hash
// in two ways. (spec SH-DEF-4)
func (u *unit) decide() grain {
	if u.grain == grainOpen {
		u.grain = grainDefinition
		if u.coarse || !u.loaded {
			u.grain = grainModule
		}
	}
	return u.grain
}

// nameHash is what a name of the module or library stands for in a hash.
func (u *unit) nameHash(name string) digest.Digest {
	switch w, d := u.defs[name], u.find(name); {
	case w != nil && u.decide() == grainModule:
		return codeDomain.Sum([]byte{tagModule}, u.hash[:], []byte(name))
	case w != nil:
		if u.defHashes == nil {
			u.hashDefinitions()
		}
		return u.defHashes[name]
	case d != nil:
		return libraryHash(name, d.revision())
	}
	return codeDomain.Sum([]byte{tagUndefined}, []byte(name))
}

func libraryHash(name string, revision uint32) digest.Digest {
	return codeDomain.Sum([]byte{tagLibrary}, binary.BigEndian.AppendUint32(nil, revision), []byte(name))
}

// hashDefinitions hashes all definitions, those first that others refer to.
// Definitions that refer to each other hash as a group, in which names of the
// group are indices.
func (u *unit) hashDefinitions() {
	u.defHashes = make(map[string]digest.Digest, len(u.defs))
	for _, group := range u.groups() {
		slices.Sort(group)
		index := make(map[string]int, len(group))
		for i, name := range group {
			index[name] = i
		}
		b := binary.BigEndian.AppendUint32([]byte{tagGroup}, uint32(len(group)))
		for _, name := range group {
			w := u.defs[name]
			expr := coreform.StateHash(w.expr)
			b = append(appendName(b, name), expr[:]...)
			b = binary.BigEndian.AppendUint32(b, uint32(len(w.refs)))
			for _, ref := range w.refs {
				b = appendName(b, ref)
				if i, inner := index[ref]; inner {
					b = binary.BigEndian.AppendUint32(append(b, 1), uint32(i))
				} else {
					h := u.nameHash(ref)
					b = append(append(b, 0), h[:]...)
				}
			}
		}
		whole := codeDomain.Sum(b)
		for i, name := range group {
			u.defHashes[name] = codeDomain.Sum([]byte{tagMember}, whole[:], binary.BigEndian.AppendUint32(nil, uint32(i)))
		}
	}
}

// groups returns the strongly connected groups of the module's definitions, each
// after those it refers to. It is Tarjan's algorithm with its own stack: a module
// can be a chain of any length.
func (u *unit) groups() [][]string {
	type visit struct {
		w    *written
		next int // reference to look at
	}
	var (
		out   [][]string
		order = make(map[string]int, len(u.defs)) // 1 for the first that was visited
		low   = make(map[string]int, len(u.defs))
		open  []string // visited, not in a group yet
		isIn  = make(map[string]bool, len(u.defs))
		calls []visit
	)
	enter := func(name string) {
		order[name] = len(order) + 1
		low[name] = order[name]
		open = append(open, name)
		calls = append(calls, visit{w: u.defs[name]})
	}
	for _, root := range slices.Sorted(maps.Keys(u.defs)) {
		if order[root] > 0 {
			continue
		}
		enter(root)
		for len(calls) > 0 {
			v := &calls[len(calls)-1]
			name := v.w.name
			if v.next < len(v.w.refs) {
				ref := v.w.refs[v.next]
				v.next++
				switch {
				case u.defs[ref] == nil || isIn[ref]:
				case order[ref] == 0:
					enter(ref)
				default:
					low[name] = min(low[name], order[ref])
				}
				continue
			}
			calls = calls[:len(calls)-1]
			if len(calls) > 0 {
				caller := calls[len(calls)-1].w.name
				low[caller] = min(low[caller], low[name])
			}
			if low[name] == order[name] {
				at := len(open) - 1
				for open[at] != name {
					at--
				}
				group := slices.Clone(open[at:])
				open = open[:at]
				for _, member := range group {
					isIn[member] = true
				}
				out = append(out, group)
			}
		}
	}
	return out
}

// codeHash is the digest of the code that is left of p after k arguments: its
// expression and what the names in it mean that are not variables.
func (p *proto) codeHash(k int) digest.Digest {
	u := p.unit
	u.mu.Lock()
	defer u.mu.Unlock()
	if p.hashes == nil {
		p.hashes = make([]*digest.Digest, p.arity)
	}
	if h := p.hashes[k]; h != nil {
		return *h
	}
	body := coreform.StateHash(p.bodies[k])
	b := appendName(append([]byte{tagCode}, body[:]...), p.params[k])
	b = binary.BigEndian.AppendUint32(b, uint32(len(p.refs)))
	for _, ref := range p.refs {
		h := u.nameHash(ref)
		b = append(appendName(b, ref), h[:]...)
	}
	h := codeDomain.Sum(b)
	p.hashes[k] = &h
	return h
}

// Definition is a definition of a program and its hash.
type Definition struct {
	Name string
	Hash digest.Digest
}

// Definitions returns the definitions of the module with their hashes, by name.
// Asked for before the module was evaluated, they are those of a module hashed
// as a whole. (spec SH-DEF)
func (p *Program) Definitions() []Definition {
	u := p.unit
	u.mu.Lock()
	defer u.mu.Unlock()
	out := make([]Definition, 0, len(u.defs))
	for name := range u.defs {
		out = append(out, Definition{name, u.nameHash(name)})
	}
	slices.SortFunc(out, func(a, b Definition) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// ModuleGrained reports whether the definitions of the module hash as parts of
// the module as a whole, so that any edit changes all of them.
func (p *Program) ModuleGrained() bool {
	p.unit.mu.Lock()
	defer p.unit.mu.Unlock()
	return p.unit.decide() == grainModule
}
