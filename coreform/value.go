package coreform

import (
	"math/big"
	"reflect"
	"strconv"
)

// Kind is the kind of a Value. The order of the data kinds is the term order
// between kinds (spec CF-ORDER-1).
type Kind uint8

// The kinds of values. KindOther is everything that is not data: functions,
// seals, contracts and effect programs, which the evaluator defines.
const (
	KindNil Kind = iota
	KindBool
	KindInt
	KindStr
	KindBytes
	KindSym
	KindPair
	KindVec
	KindMap
	KindOther
)

// String returns the name the language uses for the kind ("vec", "sym", …).
func (k Kind) String() string {
	return [...]string{"nil", "bool", "int", "str", "bytes", "sym", "pair", "vec", "map", "other"}[k]
}

// Value is a CoreForm value: a term, or a container or function that the
// evaluator made. Values are immutable and safe to share between goroutines.
// The zero Value is nil. Values must not be compared with ==; use [Equal].
//
// There is one representation of data: how a vector, map or integer came about
// cannot be observed (the reference system has two, which leak).
type Value struct {
	// ref holds what does not fit in num. Nil has a nil ref; Booleans and
	// integers of 64 bits have typed pointers as tags, nil ones unless they are
	// marked (see Origin), so that making one allocates nothing. Of all other
	// values num holds the mark. (A 16-byte Value needs package unsafe; measured gains
	// did not justify it in a program whose subject is safety.)
	ref any
	num int64
}

type (
	boolTag struct{ origin Origin }
	intTag  struct{ origin Origin }
)

// Symbol is the heap part of a symbol value.
type symbol struct{ name string }

type bigInt struct{ n *big.Int }

type str struct {
	s    string
	cell DigestCell
}

// Bool returns true or false.
func Bool(b bool) Value {
	v := Value{ref: (*boolTag)(nil)}
	if b {
		v.num = 1
	}
	return v
}

// Int returns an integer.
func Int(n int64) Value { return Value{ref: (*intTag)(nil), num: n} }

// BigInt returns an integer of any size. It takes ownership of n, which must
// not be changed afterwards.
func BigInt(n *big.Int) Value {
	if n.IsInt64() {
		return Int(n.Int64())
	}
	return Value{ref: &bigInt{n}}
}

// Str returns a string. s must be valid UTF-8: the caller has checked it.
func Str(s string) Value { return Value{ref: &str{s: s}} }

// Sym returns a symbol. A text that would not read back as this symbol (see
// [ValidSymbol]) must not be given; "nil", "true" and "false" are not symbols.
func Sym(name string) Value { return Value{ref: &symbol{name}} }

// FromOther wraps a value that is not data.
func FromOther(o Other) Value { return Value{ref: o} }

// Kind returns the kind of v.
func (v Value) Kind() Kind {
	switch v.ref.(type) {
	case nil:
		return KindNil
	case *boolTag:
		return KindBool
	case *intTag, *bigInt:
		return KindInt
	case *str, *joined:
		return KindStr
	case *Bytes:
		return KindBytes
	case *symbol:
		return KindSym
	case *Pair:
		return KindPair
	case *Vector:
		return KindVec
	case *Map:
		return KindMap
	}
	return KindOther
}

// IsNil reports whether v is nil, which is also the empty list.
func (v Value) IsNil() bool { return v.ref == nil }

// Truthy reports whether v counts as true: everything but nil and false does.
func (v Value) Truthy() bool {
	if v.ref == nil {
		return false
	}
	_, isBool := v.ref.(*boolTag)
	return !isBool || v.num != 0
}

// AsBool returns the Boolean, if v is one.
func (v Value) AsBool() (b, ok bool) {
	_, ok = v.ref.(*boolTag)
	return ok && v.num != 0, ok
}

// AsInt64 returns the integer, if v is one of 64 bits.
func (v Value) AsInt64() (int64, bool) {
	_, ok := v.ref.(*intTag)
	return v.num, ok
}

// AsBigInt returns the integer, if v is one. The result must not be changed.
func (v Value) AsBigInt() (*big.Int, bool) {
	switch r := v.ref.(type) {
	case *intTag:
		return big.NewInt(v.num), true
	case *bigInt:
		return r.n, true
	}
	return nil, false
}

// IsInt reports whether v is an integer of any size.
func (v Value) IsInt() bool { return v.Kind() == KindInt }

// AsStr returns the string, if v is one.
func (v Value) AsStr() (string, bool) {
	switch s := v.ref.(type) {
	case *str:
		return s.s, true
	case *joined:
		return s.flat(), true
	}
	return "", false
}

// AsSym returns the text of the symbol, if v is one.
func (v Value) AsSym() (string, bool) {
	if s, ok := v.ref.(*symbol); ok {
		return s.name, true
	}
	return "", false
}

// IsSym reports whether v is the symbol of that name.
func (v Value) IsSym(name string) bool {
	s, ok := v.ref.(*symbol)
	return ok && s.name == name
}

// AsBytes returns the bytes object, if v is one.
func (v Value) AsBytes() (*Bytes, bool) {
	b, ok := v.ref.(*Bytes)
	return b, ok
}

// AsPair returns the pair, if v is one.
func (v Value) AsPair() (*Pair, bool) {
	p, ok := v.ref.(*Pair)
	return p, ok
}

// AsVec returns the vector, if v is one.
func (v Value) AsVec() (*Vector, bool) {
	x, ok := v.ref.(*Vector)
	return x, ok
}

// AsMap returns the map, if v is one.
func (v Value) AsMap() (*Map, bool) {
	m, ok := v.ref.(*Map)
	return m, ok
}

// Ref returns the heap part of v, of a type that only this package and, for what
// is not data, the evaluator know: asking for one of its types is cheaper than
// asking whether v is an Other first.
func (v Value) Ref() any { return v.ref }

// AsOther returns what v holds if it is not data, else nil.
func (v Value) AsOther() Other {
	o, _ := v.ref.(Other)
	return o
}

// Identity returns a comparable pointer that is equal for two values exactly
// when they share one heap object, and nil for values that have none. Writers
// store shared objects once with it; nothing else may depend on it.
func (v Value) Identity() any {
	switch v.ref.(type) {
	case nil, *boolTag, *intTag:
		return nil
	}
	return v.ref
}

// Address returns the address of v's heap object, 0 for values that have none.
// It is good for one thing, counting shared objects once while all of them are
// reachable, and must never reach anything that is hashed, logged or printed.
func (v Value) Address() uintptr {
	switch v.ref.(type) {
	case nil, *boolTag, *intTag:
		return 0
	}
	return reflect.ValueOf(v.ref).Pointer()
}

// Depth returns how deep v nests: 0 for an atom, 1 + the deepest element for a
// list, vector or map (the tail of a list does not add). What is not data
// counts 0. More than 65 535 counts as that. It takes constant time.
func (v Value) Depth() int { return int(v.shape().depth) }

// IsTerm reports whether v is plain data that has a canonical text: no
// functions, seals, contracts or programs and no improper pairs anywhere
// inside. It takes constant time. (spec CF-TERM-1)
func (v Value) IsTerm() bool { return v.shape().flags&(hasOther|hasImproper) == 0 }

// IsData reports whether v is data through and through, improper pairs
// allowed. It takes constant time.
func (v Value) IsData() bool { return v.shape().flags&hasOther == 0 }

// shape is what every container knows about its content without looking.
type shape struct {
	depth  uint16
	flags  uint8
	inline uint32 // units of what counts at its place; not kept for pairs
}

const (
	hasOther    = 1 << iota // something inside is not data
	hasImproper             // a pair chain inside does not end in nil
	hasObjects              // an element is an object of its own; not kept for pairs
)

func (v Value) shape() shape {
	switch r := v.ref.(type) {
	case *Pair:
		return r.shape
	case *Vector:
		return r.shape
	case *Map:
		return r.shape
	case Other:
		return shape{flags: hasOther}
	}
	return shape{}
}

// add widens s, the shape of a container's content, by one more element.
func (s *shape) add(v Value) {
	units, object := v.InlineUnits()
	s.inline += uint32(units) // what would overflow it does not fit in memory
	o := v.shape()
	s.depth = max(s.depth, o.depth)
	s.flags |= o.flags &^ hasObjects
	if object {
		s.flags |= hasObjects
	}
}

// merge widens s by the content of another part of the same container.
func (s *shape) merge(o shape) {
	s.depth = max(s.depth, o.depth)
	s.flags |= o.flags
	s.inline += o.inline
}

// outer is the shape of a container whose content has shape s.
func (s shape) outer() shape {
	if s.depth < 1<<16-1 {
		s.depth++
	}
	return s
}

// IntText returns the decimal text of an integer value, and "" for others.
func (v Value) IntText() string {
	switch r := v.ref.(type) {
	case *intTag:
		return strconv.FormatInt(v.num, 10)
	case *bigInt:
		return r.n.String()
	}
	return ""
}

// Equality is how core/eq? compares two values that are not data.
type Equality uint8

// The ways of comparing. Functions and effect programs are never equal, not
// even to themselves; tokens and sealed values are equal when their parts are;
// contracts when their state hashes are, because a handler is a function.
const (
	EqualNever Equality = iota
	EqualParts
	EqualHash
)

// Other is a value that is not data, defined by the evaluator. Implementations
// are immutable pointers.
type Other interface {
	// TypeName names the kind for people: "function", "sealed", "contract", ….
	TypeName() string

	// Equality tells how two values of this type are compared.
	Equality() Equality

	// Parts returns what identifies the value beside its type name: a label
	// that frames itself, and the values it holds, in a fixed order. It is what
	// the state hash covers.
	Parts() (label []byte, kids []Value)

	// Cell is where the state hash of the value is remembered.
	Cell() *DigestCell
}
