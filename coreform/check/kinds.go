package check

import (
	"slices"
	"strings"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/coreform/kernel"
)

// kinds is the set of kinds a value can be of. The empty set is that of an
// expression that never has a value.
type kinds uint32

const (
	kNil kinds = 1 << iota
	kFalse
	kTrue
	kInt
	kStr
	kBytes
	kSym
	kPair
	kVec
	kMap
	kFn
	kEffect // an effect program
	kAsk    // an effect program whose value is the answer of an operation
	kOther  // seal tokens, sealed values, contracts
	kErr    // a sealed error
	kAnswer // besides kErr: an error an operation can answer with, untested so far
)

const (
	kBool    = kFalse | kTrue
	kData    = kNil | kBool | kInt | kStr | kBytes | kSym | kPair | kVec | kMap
	kProgram = kEffect | kAsk
	kFailure = kErr | kAnswer
	// kAny is a value of which nothing is known. Nothing known is no accusation:
	// kAsk and kAnswer, which are, are not in it.
	kAny = kData | kFn | kEffect | kOther | kErr
)

// kindNames are the words for kinds in messages, in the order they are listed.
var kindNames = []struct {
	k    kinds
	name string
}{
	{kNil, "nil"}, {kBool, "a Boolean"}, {kInt, "an integer"}, {kStr, "a string"}, {kBytes, "bytes"},
	{kSym, "a symbol"}, {kPair, "a pair"}, {kVec, "a vector"}, {kMap, "a map"}, {kFn, "a function"},
	{kProgram, "an effect program"}, {kOther, "a seal or contract"}, {kFailure, "an error"},
}

// String lists the kinds for a person: "an integer or an error".
func (k kinds) String() string {
	if k&kData == kData {
		return strings.Join(append([]string{"data"}, (k&^kData).names()...), " or ")
	}
	return strings.Join(k.names(), " or ")
}

func (k kinds) names() []string {
	var names []string
	for _, n := range kindNames {
		if k&n.k != 0 {
			names = append(names, n.name)
		}
	}
	return names
}

// kindOf returns the kind of a value.
func kindOf(v coreform.Value) kinds {
	switch v.Kind() {
	case coreform.KindNil:
		return kNil
	case coreform.KindBool:
		if v.Truthy() {
			return kTrue
		}
		return kFalse
	case coreform.KindInt:
		return kInt
	case coreform.KindStr:
		return kStr
	case coreform.KindBytes:
		return kBytes
	case coreform.KindSym:
		return kSym
	case coreform.KindPair:
		return kPair
	case coreform.KindVec:
		return kVec
	case coreform.KindMap:
		return kMap
	}
	switch v.AsOther().(type) {
	case *kernel.Fn:
		return kFn
	case *kernel.Effect:
		return kEffect
	}
	if _, isErr := kernel.IsError(v); isErr {
		return kErr
	}
	return kOther
}

// value is what is known of the value of an expression.
type value struct {
	kinds kinds
	// fn is the function, if the value is one that is known; nil with kFn set is
	// some function.
	fn *function
	// given is how many arguments fn has already.
	given int
}

var anything = value{kinds: kAny}

func of(k kinds) value { return value{kinds: k} }

// join returns what is known of a value that is v or w.
func (v value) join(w value) value {
	out := value{kinds: v.kinds | w.kinds}
	switch {
	case v.kinds&kFn == 0:
		out.fn, out.given = w.fn, w.given
	case w.kinds&kFn == 0, v.fn == w.fn && v.given == w.given:
		out.fn, out.given = v.fn, v.given
	}
	return out
}

// partial reports whether the value can only be a function, one that waits for
// the rest of its arguments.
func (v value) partial() bool { return v.kinds == kFn && v.fn != nil && v.given > 0 }

// function is a function whose code is known: a chain of fn forms in the module
// or the library, or a native.
type function struct {
	name  string // "" for a function without one
	arity int
	// result joins what the body was seen to give, whatever the arguments.
	result value
	// row says what a native, or a function whose body is one primitive on its
	// parameters, does with its arguments; nil for others.
	row *row
	// library is set for functions of the library.
	library bool
	// fixed stops result from changing: it is as wide as can be.
	fixed bool
}

// uses are the operations that naming a library definition means to perform.
type uses struct {
	ops     []string // sorted
	dynamic bool     // also some that the source does not name
}

// add joins other to u and reports whether u changed.
func (u *uses) add(other uses) bool {
	changed := other.dynamic && !u.dynamic
	u.dynamic = u.dynamic || other.dynamic
	for _, op := range other.ops {
		if at, found := slices.BinarySearch(u.ops, op); !found {
			u.ops = slices.Insert(u.ops, at, op)
			changed = true
		}
	}
	return changed
}
