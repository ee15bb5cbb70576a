package kernel

import (
	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/effects/ops"
)

// errorText is the one text of every sealed error the evaluator and its natives
// make; codes that operations can give as well have theirs. (spec ERR-2)
var errorText = map[string]string{
	ops.CodeType:            opsText(ops.CodeType),
	ops.CodeNumeric:         opsText(ops.CodeNumeric),
	ops.CodeTextRange:       opsText(ops.CodeTextRange),
	"core/bad-form":         "the form is not valid CoreForm",
	"core/parse/eof":        "the text ends where a term is needed",
	"core/parse/unexpected": "the text has an unexpected token",
	"core/parse/escape":     "the text has an invalid escape",
	"core/parse/int":        "the text has an invalid integer",
	"core/parse/depth":      "the text nests too deep",
	"core/parse/size":       "the text is too long",
	"core/parse/duplicate":  "the text has an object with two members of one name",
	"core/parse/number":     "the text has a number that is out of range",

	"core/resource-exhausted": "the term is too deep or too large for this",
}

func opsText(code string) string {
	c, ok := ops.LookupCode(code)
	if !ok {
		panic("BUG: kernel: no operation gives " + code)
	}
	return c.Message
}

// ErrorText returns the sentence of a code, "" for a code not known here.
func ErrorText(code string) string { return errorText[code] }

// ErrorCodes returns the codes ErrorText knows, in no particular order.
func ErrorCodes() []string {
	out := make([]string, 0, len(errorText))
	for c := range errorText {
		out = append(out, c)
	}
	return out
}

// ErrorPayload is the payload of a sealed error of the evaluator. context must
// be a term.
func ErrorPayload(code string, context Value) Value {
	return coreform.MapOf(
		coreform.Entry{Key: coreform.Sym(":error/code"), Value: coreform.Str(code)},
		coreform.Entry{Key: coreform.Sym(":error/context"), Value: context},
		coreform.Entry{Key: coreform.Sym(":error/message"), Value: coreform.Str(errorText[code])},
	)
}

func kindContext(kind string) Value {
	return coreform.MapOf(coreform.Entry{Key: coreform.Sym(":kind"), Value: coreform.Str(kind)})
}

// The three payloads primitives give, made once: errors are values, and equal
// causes give equal bytes.
var (
	typeErrorPayload      = ErrorPayload(ops.CodeType, kindContext("type"))
	numericErrorPayload   = ErrorPayload(ops.CodeNumeric, kindContext("numeric"))
	textRangeErrorPayload = ErrorPayload(ops.CodeTextRange, kindContext("text-range"))
)
