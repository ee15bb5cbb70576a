package kernel

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/gcrun/gcrun/coreform"
)

// Library is the set of definitions a program sees beside its own: natives
// written in Go and definitions written in CoreForm. It is immutable, compiled
// piece by piece when first used, and safe for concurrent use by many programs.
type Library struct {
	defs map[string]*definition

	isWatched   bool // code is compiled for programs that are watched
	watched     *Library
	watchedOnce sync.Once
}

// Native is a library function written in Go.
type Native struct {
	Name  string
	Arity int // at least 1
	// Fn computes the result. args has Arity elements, valid during the call
	// only; none is a sealed error unless Errors says so.
	Fn func(c *Call, args []Value) Value
	// Errors says which arguments may be sealed errors: bit i for argument i.
	// An error in any other place is the result, and Fn is not called.
	Errors uint32
	// Revision is what the function means: it is raised when the same arguments
	// can give another result, and enters the state hash of every program that
	// uses the function. 0 stands for 1.
	Revision uint32
}

func (n *Native) revision() uint32 { return max(1, n.Revision) }

// definition is one name of a library.
type definition struct {
	name  string
	lib   *Library
	expr  coreform.Node // canonical; unused for natives
	once  sync.Once
	value Value
	err   error

	native *Native
	rev    uint32 // of a definition in CoreForm; 0 stands for 1
}

// isConstant reports whether the definition is a value that was given.
func (d *definition) isConstant() bool {
	return d.native == nil && len(d.expr.Kids) == 0 && d.expr.End == 0
}

// revision is the semantic revision of the definition.
func (d *definition) revision() uint32 {
	if d.native != nil {
		return d.native.revision()
	}
	return max(1, d.rev)
}

// Constant is a library name bound to a value that exists before anything runs.
type Constant struct {
	Name  string
	Value Value
}

// NewLibrary makes a library of natives, constants and CoreForm sources, each a
// module of (def name expr) forms where expr is a function, a literal or another
// name. revisions has the semantic revisions of those definitions that are not 1.
// It takes ownership of natives. The error is about the sources and means a
// fault in gcrun.
func NewLibrary(natives []Native, constants []Constant, revisions map[string]uint32, sources ...string) (*Library, error) {
	l := &Library{defs: make(map[string]*definition)}
	for _, k := range constants {
		d := &definition{name: k.Name, value: k.Value}
		d.once.Do(func() {}) // there is nothing to compile
		if err := l.add(d); err != nil {
			return nil, err
		}
	}
	for i := range natives {
		n := &natives[i]
		if err := l.add(&definition{name: n.Name, native: n}); err != nil {
			return nil, err
		}
	}
	for _, src := range sources {
		forms, err := coreform.ReadModule([]byte(src), coreform.Limits{})
		if err != nil {
			return nil, fmt.Errorf("library source: %w", err)
		}
		if forms, err = coreform.CanonicalizeModule(forms, coreform.Limits{}); err != nil {
			return nil, fmt.Errorf("library source: %w", err)
		}
		for _, form := range forms {
			name, expr, ok := definitionOf(form)
			if !ok {
				return nil, fmt.Errorf("library source: form at byte %d is not a def", form.Off)
			}
			if err := l.add(&definition{name: name, expr: expr, rev: revisions[name]}); err != nil {
				return nil, err
			}
		}
	}
	return l, nil
}

func (l *Library) add(d *definition) error {
	if l.defs[d.name] != nil {
		return fmt.Errorf("library defines %s twice", d.name)
	}
	d.lib = l
	l.defs[d.name] = d
	return nil
}

// Names returns the names a program can use, sorted.
func (l *Library) Names() []string {
	return slices.DeleteFunc(l.DefinitionNames(), IsPrivate)
}

// DefinitionNames returns all names the library defines, private ones included,
// sorted.
func (l *Library) DefinitionNames() []string { return slices.Sorted(maps.Keys(l.defs)) }

// Check compiles every definition and returns the first error, or an unbound
// name. Tests call it; running programs compile what they use.
func (l *Library) Check() error {
	for _, name := range l.DefinitionNames() {
		d := l.defs[name]
		if _, err := d.load(); err != nil {
			return fmt.Errorf("library definition %s: %w", name, err)
		}
	}
	return nil
}

// watches reports whether code is compiled for programs that are watched.
func (l *Library) watches() bool { return l != nil && l.isWatched }

func (l *Library) find(name string) *definition {
	if l == nil {
		return nil
	}
	return l.defs[name]
}

// find returns the library definition that a name means in the unit's code.
// Programs do not see private ones.
func (u *unit) find(name string) *definition {
	if !u.library && IsPrivate(name) {
		return nil
	}
	return u.lib.find(name)
}

// IsPrivate reports whether a name of the library is for the library only: those
// with % after the family are parts of others.
func IsPrivate(name string) bool { return strings.Contains(name, "::%") }

// load compiles the definition once and returns its value.
func (d *definition) load() (Value, error) {
	d.once.Do(func() { d.value, d.err = d.compile() })
	return d.value, d.err
}

func (d *definition) compile() (Value, error) {
	if d.native != nil {
		p := &proto{name: d.name, arity: d.native.Arity, native: d.native, lib: d}
		return coreform.FromOther(&Fn{proto: p}), nil
	}
	if alias, ok := d.expr.Term.AsSym(); ok {
		to := d.lib.find(alias)
		if to == nil {
			return Value{}, fmt.Errorf("alias of unknown name %s", alias)
		}
		return to.load() // aliases point backwards, so this cannot come round
	}
	u := &unit{library: true, file: "<library>", lib: d.lib, name: d.name,
		names: map[string]int{}, refAt: map[string]int32{}}
	f := &fnState{unit: u, p: &proto{unit: u, name: d.name}}
	if err := f.expr(d.expr, false); err != nil {
		return Value{}, err
	}
	if len(u.cells) > 0 {
		return Value{}, fmt.Errorf("unbound name %s", u.cells[0].name)
	}
	if len(f.p.code) == 1 && f.p.code[0].op == opConst {
		return f.p.consts[0], nil
	}
	if len(f.p.code) != 1 || f.p.code[0].op != opClosure {
		return Value{}, fmt.Errorf("not a function, literal or name")
	}
	p := f.p.protos[0]
	p.lib = d
	return coreform.FromOther(&Fn{proto: p}), nil
}

// function returns the code of a definition that only wraps a primitive, and
// nil for all others. It looks at the form first, so that compiling one
// definition never compiles another that may refer back to it.
func (d *definition) function() *proto {
	body := d.expr
	for head(body) == "fn" {
		body = body.Kids[2]
	}
	if head(body) != "prim" {
		return nil
	}
	for _, k := range body.Kids {
		if k.Term.Kind() != coreform.KindSym {
			return nil
		}
	}
	v, err := d.load()
	if err != nil {
		return nil
	}
	return v.Ref().(*Fn).proto
}
