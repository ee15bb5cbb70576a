package check

import "github.com/gcrun/gcrun/coreform/kernel"

// row says what a primitive or native takes and gives, as its row in
// spec/language.md does. Tests run every row against the machine.
type row struct {
	name   string
	result kinds // without the errors that come of arguments
	fails  bool  // it can give an error though all arguments are of their kinds
	args   []kinds
	errors uint32 // arguments that may be errors, of kernel.Description
}

// gives returns the row of an operation that gives result, and an error only for
// arguments of other kinds.
func gives(result kinds, args ...kinds) row { return row{result: result, args: args} }

// mayFail is gives for an operation that can fail in other ways too.
func mayFail(result kinds, args ...kinds) row { return row{result: result, fails: true, args: args} }

// primitiveRows are those of LANG-PRIM-1 to 3.
var primitiveRows = map[string]row{
	"int/add":    gives(kInt, kInt, kInt),
	"int/sub":    gives(kInt, kInt, kInt),
	"int/mul":    gives(kInt, kInt, kInt),
	"int/div":    mayFail(kInt, kInt, kInt),
	"int/mod":    mayFail(kInt, kInt, kInt),
	"int/eq?":    gives(kBool, kInt, kInt),
	"int/lt?":    gives(kBool, kInt, kInt),
	"int/to-str": gives(kStr, kInt),

	"dec/parse":    mayFail(kMap, kStr),
	"dec/to-str":   mayFail(kStr, kMap),
	"dec/from-int": gives(kMap, kInt),
	"dec/add":      mayFail(kMap, kMap, kMap),
	"dec/sub":      mayFail(kMap, kMap, kMap),
	"dec/mul":      mayFail(kMap, kMap, kMap),
	"dec/eq?":      mayFail(kBool, kMap, kMap),
	"dec/lt?":      mayFail(kBool, kMap, kMap),

	"core/eq?":            gives(kBool, kAny, kAny),
	"pair/cons":           gives(kPair, kAny, kAny),
	"pair/car":            mayFail(kAny, kPair),
	"pair/cdr":            mayFail(kAny, kPair),
	"pair/as-proper-list": gives(kVec|kNil, kPair|kNil),
	"list/is-nil?":        gives(kBool, kAny),
	"data/tag":            gives(kSym, kData),

	"sym/eq?":      gives(kBool, kSym, kSym),
	"sym/to-str":   gives(kStr, kSym),
	"sym/from-str": mayFail(kSym, kStr),

	"str/concat":          gives(kStr, kStr, kStr),
	"str/len":             gives(kInt, kStr),
	"str/scalar-len":      gives(kInt, kStr),
	"str/grapheme-len":    gives(kInt, kStr),
	"str/grapheme-slice":  mayFail(kStr, kStr, kInt, kInt),
	"str/nfc":             gives(kStr, kStr),
	"str/to-bytes-utf8":   gives(kBytes, kStr),
	"str/repeat":          mayFail(kStr, kStr, kInt),
	"str/join":            mayFail(kStr, kVec, kStr),
	"coreform/escape-str": gives(kStr, kStr),

	"bytes/len":             gives(kInt, kBytes),
	"bytes/get":             mayFail(kInt, kBytes, kInt),
	"bytes/slice":           mayFail(kBytes, kBytes, kInt, kInt),
	"bytes/concat":          gives(kBytes, kBytes, kBytes),
	"bytes/join":            mayFail(kBytes, kVec),
	"bytes/to-str-utf8":     mayFail(kStr, kBytes),
	"bytes/to-hex":          gives(kStr, kBytes),
	"bytes/from-hex":        mayFail(kBytes, kStr),
	"coreform/escape-bytes": gives(kStr, kBytes),
	"utf8/encode-codepoint": mayFail(kBytes, kInt),
	"crypto/blake3":         gives(kBytes, kBytes),

	"map/get":          mayFail(kAny, kMap, kData),
	"map/put":          mayFail(kMap, kMap, kData, kAny),
	"map/merge":        gives(kMap, kMap, kMap),
	"map/len":          gives(kInt, kMap),
	"map/entries":      gives(kVec, kMap),
	"map/from-entries": mayFail(kMap, kVec),
	"vec/get":          mayFail(kAny, kVec, kInt),
	"vec/len":          gives(kInt, kVec),
	"vec/set":          mayFail(kVec, kVec, kInt, kAny),
	"vec/push":         gives(kVec, kVec, kAny),
}

// The natives whose meaning the checker knows beyond their row.
const (
	nativePerform = "core/effect::perform"
	nativeAsk     = "core/effect::ask"
	nativeBind    = "core/effect::bind"
)

// errorTests are the natives that tell an error from other values.
var errorTests = map[string]bool{"core/protocol::is-error": true, "core/protocol::unerror": true}

// nativeRows are those of LANG-NAT-1. Of a native without a row only the number
// of arguments is known.
var nativeRows = map[string]row{
	"core/protocol::unhandled":    mayFail(kOther, kData),
	"core/protocol::error":        gives(kErr, kAny),
	"core/protocol::effect":       gives(kOther, kAny),
	"core/protocol::is-unhandled": gives(kBool, kAny),
	"core/protocol::is-effect":    gives(kBool, kAny),
	"core/protocol::is-error":     gives(kBool, kAny),
	"core/protocol::unerror":      gives(kAny, kAny),
	"core/error::make":            gives(kErr, kAny, kAny, kAny),

	"core/msg::make":    mayFail(kPair, kSym, kData),
	"core/msg::op":      mayFail(kData, kPair),
	"core/msg::payload": mayFail(kData, kPair),

	nativePerform:       mayFail(kEffect, kSym, kData, kFn),
	nativeAsk:           mayFail(kAsk, kSym, kData),
	nativeBind:          mayFail(kAny, kAny, kFn),
	"core/effect::pure": gives(kEffect, kAny),

	"core/coreform::parse-term":          mayFail(kData, kStr|kBytes),
	"core/coreform::parse-module":        mayFail(kVec, kStr|kBytes),
	"core/coreform::canonicalize-module": mayFail(kVec, kVec),
	"core/coreform::print-term":          mayFail(kStr, kData),
	"core/coreform::print-module":        mayFail(kStr, kVec),
	"core/coreform::fmt-module":          mayFail(kStr, kStr|kBytes),
	"core/coreform::hash-module-src":     mayFail(kStr, kStr|kBytes),
	"core/coreform::hash-term":           mayFail(kStr, kData),
	"core/coreform::hash-module":         mayFail(kStr, kVec),
}

// rowOf returns the row of a table for a described operation, nil if there is
// none that fits.
func rowOf(table map[string]row, d kernel.Description) *row {
	r, ok := table[d.Name]
	if !ok || len(r.args) != d.Arity {
		return nil
	}
	r.name, r.errors = d.Name, d.Errors
	return &r
}

// takesError reports whether argument i may be an error.
func (r *row) takesError(i int) bool { return r.errors&(1<<i) != 0 }

// apply returns what the operation gives for arguments of these kinds, and the
// number of the first argument that is certainly of none of the kinds it must
// be, -1 if there is none. (spec CHK-KIND-2)
func (r *row) apply(args []value) (result kinds, wrong int) {
	wrong = -1
	result = r.result
	if r.fails {
		result |= kErr
	}
	onlyErrors := false
	for i, a := range args {
		k := a.kinds
		if k == 0 {
			return 0, -1 // an argument that never has a value
		}
		if r.takesError(i) {
			k &^= kFailure
		} else if k&kFailure != 0 {
			result |= k & kFailure
			onlyErrors = onlyErrors || k&^kFailure == 0
			k &^= kFailure
		}
		if k&^allowed(r.args[i]) != 0 {
			result |= kErr
		}
		if k != 0 && k&allowed(r.args[i]) == 0 && wrong < 0 {
			wrong = i
		}
	}
	if onlyErrors || wrong >= 0 {
		result &= kFailure
	}
	return result, wrong
}

// allowed is a set of kinds with what belongs to it for an argument.
func allowed(k kinds) kinds {
	if k&kEffect != 0 {
		k |= kAsk
	}
	return k
}
