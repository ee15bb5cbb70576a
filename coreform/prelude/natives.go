package prelude

import (
	"errors"
	"unicode/utf8"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/coreform/kernel"
)

// Value is a CoreForm value; see package coreform.
type Value = coreform.Value

func entry(key string, v Value) coreform.Entry {
	return coreform.Entry{Key: coreform.Sym(key), Value: v}
}

// errorNatives are native because an error remembers where it was made. Nothing
// about the parts of an error is checked: they may be any value.
var errorNatives = []kernel.Native{
	{Name: "core/error::make", Arity: 3, Errors: 7, Fn: func(c *kernel.Call, a []Value) Value {
		if !c.RoomForMap(3) || !c.Alloc(1) {
			return Value{}
		}
		return c.ErrorOf(coreform.MapOf(
			entry(":error/code", a[0]), entry(":error/context", a[2]), entry(":error/message", a[1])))
	}},
}

// textNatives are CoreForm as text, as a program sees it.
var textNatives = []kernel.Native{
	{Name: "core/coreform::parse-term", Arity: 1, Fn: func(c *kernel.Call, a []Value) Value {
		src, failed, ok := source(c, a[0], parseUnits)
		if !ok {
			return failed
		}
		v, err := coreform.ReadTerm(src, coreform.Limits{})
		return result(c, v, err)
	}},
	{Name: "core/coreform::parse-module", Arity: 1, Fn: func(c *kernel.Call, a []Value) Value {
		src, failed, ok := source(c, a[0], parseUnits)
		if !ok {
			return failed
		}
		vs, err := coreform.ReadTerms(src, coreform.Limits{})
		if err == nil && !c.RoomForVec(int64(len(vs))) {
			return Value{}
		}
		return result(c, coreform.Vec(vs...), err)
	}},
	{Name: "core/coreform::canonicalize-module", Arity: 1, Fn: canonicalizeModule},
	{Name: "core/coreform::print-term", Arity: 1, Fn: func(c *kernel.Call, a []Value) Value {
		return text(c, func(w *textWriter) error { return coreform.WriteTerm(w, a[0]) })
	}},
	{Name: "core/coreform::print-module", Arity: 1, Fn: func(c *kernel.Call, a []Value) Value {
		forms, ok := a[0].AsVec()
		if !ok {
			return c.TypeError()
		}
		return printModule(c, forms.Slice())
	}},
	{Name: "core/coreform::fmt-module", Arity: 1, Fn: func(c *kernel.Call, a []Value) Value {
		return onModule(c, a[0], printModule)
	}},
	{Name: "core/coreform::hash-module-src", Arity: 1, Fn: func(c *kernel.Call, a []Value) Value {
		return onModule(c, a[0], hashModule)
	}},
	{Name: "core/coreform::hash-term", Arity: 1, Fn: func(c *kernel.Call, a []Value) Value {
		if failed, ok := chargeText(c, func(w *textWriter) error { return coreform.WriteTerm(w, a[0]) }); !ok {
			return failed
		}
		d, err := coreform.TermHash(a[0])
		if err != nil {
			return failure(c, err)
		}
		return c.NewStr(d.String())
	}},
	{Name: "core/coreform::hash-module", Arity: 1, Fn: func(c *kernel.Call, a []Value) Value {
		forms, ok := a[0].AsVec()
		if !ok {
			return c.TypeError()
		}
		return hashModule(c, forms.Slice())
	}},
}

// What reading charges for each token before it is read, in units. A term takes
// at most 4; a node with its place, and the canonical form of it, some more.
const (
	parseUnits  = 4
	moduleUnits = 16
)

// source returns the text of a string or of UTF-8 bytes, after charging for it:
// ⌊bytes/8⌋ steps, and units for every token. When ok is false the native's
// result is failed.
func source(c *kernel.Call, v Value, perToken int64) (src []byte, failed Value, ok bool) {
	if s, isStr := v.AsStr(); isStr {
		if !c.WorkSteps(int64(len(s))/8) || !c.RoomForBytes(int64(len(s))) {
			return nil, Value{}, false
		}
		src = []byte(s)
	} else {
		b, isBytes := v.AsBytes()
		if !isBytes {
			return nil, c.TypeError(), false
		}
		if !c.WorkSteps(b.Len()/8) || !c.RoomForBytes(b.Len()) {
			return nil, Value{}, false
		}
		if src = b.MustLoad(); !utf8.Valid(src) {
			return nil, c.TypeError(), false
		}
	}
	return src, Value{}, c.Alloc(perToken*countTokens(src) + kernel.TextUnits(int64(len(src))))
}

// countTokens returns at least the number of tokens in a source, and not many
// more, so that memory can be charged before it is used.
func countTokens(src []byte) int64 {
	n := int64(1)
	const none, word, number = 0, 1, 2
	for i, in := 0, none; i < len(src); i++ {
		switch b := src[i]; {
		case b == '"':
			n++
			in = none
			for i++; i < len(src) && src[i] != '"'; i++ {
				if src[i] == '\\' {
					i++
				}
			}
		case b == ';':
			in = none
			for i < len(src) && src[i] != '\n' {
				i++
			}
		case b == ' ' || b == '\t' || b == '\n' || b == '\r':
			in = none
		case b == '(' || b == ')' || b == '[' || b == ']' || b == '{' || b == '}' || b == '\'':
			n++
			in = none
		case in == word:
		case '0' <= b && b <= '9':
			if in != number {
				n++
			}
			in = number
		default: // - may begin a number, which may end anywhere
			n++
			if in = word; b == '-' {
				in = none
			}
		}
	}
	return n
}

// result is the native's result for what the reader gave.
func result(c *kernel.Call, v Value, err error) Value {
	if err != nil {
		return failure(c, err)
	}
	return v
}

// onModule reads and canonicalizes a module and gives its forms to f.
func onModule(c *kernel.Call, v Value, f func(*kernel.Call, []Value) Value) Value {
	src, failed, ok := source(c, v, moduleUnits)
	if !ok {
		return failed
	}
	forms, err := coreform.ReadModule(src, coreform.Limits{})
	if err == nil {
		forms, err = coreform.CanonicalizeModule(forms, coreform.Limits{})
	}
	if err != nil {
		return failure(c, err)
	}
	return f(c, coreform.Terms(forms))
}

// canonicalizeModule charges a step for every node, and units for the nodes and
// terms made of it, before anything is made.
func canonicalizeModule(c *kernel.Call, a []Value) Value {
	forms, ok := a[0].AsVec()
	if !ok || !a[0].IsTerm() {
		return c.TypeError()
	}
	nodes, ok := c.TermSize(a[0], 8)
	if !ok || !c.Alloc(moduleUnits*nodes) {
		return Value{}
	}
	out := make([]Value, 0, forms.Len())
	for i, form := range forms.All() {
		v, err := coreform.CanonicalizeTerm(form, coreform.Limits{})
		if err != nil {
			if e, ok := errors.AsType[*coreform.CanonError](err); ok {
				e.Form = i
			}
			return failure(c, err)
		}
		out = append(out, v)
	}
	return coreform.Vec(out...)
}
