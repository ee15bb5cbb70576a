package kernel

import (
	"encoding/binary"
	"slices"
	"strings"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/internal/digest"
)

// Fn is a function: code, the variables it captured, and the arguments it has
// collected so far. All functions are curried; a call that gives fewer
// arguments than the code wants makes another Fn.
//
// A chain (fn (x) (fn (y) …)) is compiled as one piece of code with two
// parameters. What can be observed is that of the chain: the state hash and the
// memory units of a partly applied Fn are those of the inner closure.
type Fn struct {
	proto *proto
	caps  []Value
	args  []Value
	cell  coreform.DigestCell
}

// proto is the code shared by all closures of one (fn …) chain, or a native.
type proto struct {
	name   string // definition it belongs to, for people and library hashes
	arity  int
	native *Native

	code     []instr
	spans    []span // parallel to code
	consts   []Value
	protos   []*proto
	captures []capture
	slots    int   // parameters and let variables
	stack    int   // slots and temporaries
	room     int   // pending values at most, functions about to be called aside
	units    int64 // of a frame
	unit     *unit

	params    []string
	bodies    []Value  // the expression below each parameter
	refs      []string // names of module and library the code uses, sorted
	hashes    []*digest.Digest
	usedParam []bool

	lib     *definition // set for the function of a library definition
	ordinal int         // of this chain within its definition, for library code
	inline  *inlined    // set when the body is one primitive on the parameters
}

// capture says where a closure finds a variable when it is made.
type capture struct {
	name  string
	local bool // a slot of the enclosing frame, else one of its captures
	index int
}

type span struct{ off, end int32 }

// inlined describes code whose body is (prim op p1 … pn).
type inlined struct {
	prim  *primitive
	steps int64
	units int64
}

// TypeName returns "function".
func (f *Fn) TypeName() string { return "function" }

// Equality says that functions are never equal.
func (f *Fn) Equality() coreform.Equality { return coreform.EqualNever }

// Cell holds the state hash.
func (f *Fn) Cell() *coreform.DigestCell { return &f.cell }

// Name returns the definition the function belongs to, "" if there is none.
func (f *Fn) Name() string { return f.proto.name }

func (f *Fn) remaining() int { return f.proto.arity - len(f.args) }

// Parts returns what the rest of a run can depend on: the code and what is
// captured. Library functions enter by name and revision, so that it does not
// matter which are native; user functions by their code, in which names of the
// module stand for what they are defined as. The names of the captured variables
// belong to the code: which names of a body are variables is decided around it.
// (spec SH-FN)
func (f *Fn) Parts() ([]byte, []Value) {
	p := f.proto
	if p.native != nil || p.lib != nil {
		return p.libraryLabel(-1), f.args
	}
	var label []byte
	if k := len(f.args); p.unit.library {
		label = binary.BigEndian.AppendUint32(p.libraryLabel(p.ordinal), uint32(k))
	} else {
		code := p.codeHash(k)
		label = append([]byte{labelUser}, code[:]...)
	}
	vars := f.captured()
	values := make([]Value, len(vars))
	for i, v := range vars {
		label, values[i] = appendName(label, v.name), v.value
	}
	return label, values
}

// The first byte of a function's label.
const (
	labelUser    = 1
	labelLibrary = 2
)

// libraryLabel names code of the library: the function of a definition (ordinal
// -1), or a chain of fn forms inside it, counted from 0 in the order of the text.
func (p *proto) libraryLabel(ordinal int) []byte {
	h := libraryHash(p.name, p.revision())
	label := append([]byte{labelLibrary}, h[:]...)
	return binary.BigEndian.AppendUint32(label, uint32(int32(ordinal)))
}

// revision is that of the library definition the code belongs to.
func (p *proto) revision() uint32 {
	switch {
	case p.native != nil:
		return p.native.revision()
	case p.lib != nil:
		return p.lib.revision()
	}
	return p.unit.lib.find(p.name).revision()
}

func appendName(b []byte, name string) []byte {
	return append(binary.BigEndian.AppendUint32(b, uint32(len(name))), name...)
}

// variable is one that a closure holds.
type variable struct {
	name  string
	value Value
}

// captured returns the variables the closure holds, by name: those of the chain
// and the collected arguments that the code below still uses. A closure written
// at that place would hold the same, so the two hash alike.
func (f *Fn) captured() []variable {
	vars := make([]variable, 0, len(f.caps)+len(f.args))
	for i, v := range f.caps {
		vars = append(vars, variable{f.proto.captures[i].name, v})
	}
	for i, v := range f.args {
		if f.proto.usedParam[i] {
			vars = append(vars, variable{f.proto.params[i], v})
		}
	}
	slices.SortFunc(vars, func(a, b variable) int { return strings.Compare(a.name, b.name) })
	return vars
}

// levelUnits is what the closure after k collected arguments would allocate.
func (p *proto) levelUnits(k int) int64 {
	if p.native != nil {
		return 2 + int64(k)
	}
	n := 2 + int64(len(p.captures))
	for _, used := range p.usedParam[:k] {
		if used {
			n++
		}
	}
	return n
}

// levelSteps is what making that closure costs: one visit of its fn form.
func (p *proto) levelSteps() int64 {
	if p.native != nil {
		return 0
	}
	return 1
}
