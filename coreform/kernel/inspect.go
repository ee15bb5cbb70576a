package kernel

import "github.com/gcrun/gcrun/coreform"

// Description is what can be known of a primitive or a library definition
// without running it. Nothing in it may be changed.
type Description struct {
	// Name is the name of the primitive or of the definition.
	Name string
	// Arity is how many arguments the function collects before it computes, for
	// definitions written in CoreForm the length of their fn chain. It is 0 for
	// what is not written as a function: constants, literals and aliases.
	Arity int
	// Native is set for primitives and for definitions written in Go.
	Native bool
	// Errors has bit i set when argument i may be a sealed error; an error in
	// any other place is the result. It is only set for natives and primitives.
	Errors uint32
	// Expr is the canonical expression of a definition written in CoreForm, an
	// alias being a symbol; the zero Node for others.
	Expr coreform.Node
	// Value is the value of a constant.
	Value Value
}

// Constant reports whether the description is that of a library name bound to a
// value that exists before anything runs; Value is that value.
func (d Description) Constant() bool { return !d.Native && d.Expr.End == 0 }

// Describe returns what is known of a library definition, and false for a name
// the library does not define, private ones included. It compiles nothing, does not follow aliases,
// and is safe for concurrent use.
func (l *Library) Describe(name string) (Description, bool) {
	d := l.find(name)
	if d == nil {
		return Description{}, false
	}
	if d.native != nil {
		return Description{Name: name, Arity: d.native.Arity, Native: true, Errors: d.native.Errors}, true
	}
	out := Description{Name: name, Expr: d.expr}
	if out.Constant() {
		out.Value = d.value
	}
	for body := d.expr; head(body) == "fn"; body = body.Kids[2] {
		out.Arity++
	}
	return out, true
}

// DescribePrimitive returns what is known of a primitive, the operation of a
// (prim op …) form, and false for a name that is none.
func DescribePrimitive(name string) (Description, bool) {
	at, ok := primitiveIndex[name]
	if !ok {
		return Description{}, false
	}
	p := &primitives[at]
	return Description{Name: name, Arity: p.arity, Native: true, Errors: p.errors}, true
}
