package canonjson

import (
	"encoding/json/jsontext"
	jsonv2 "encoding/json/v2"
	"errors"

	"github.com/gcrun/gcrun/internal/escape"
)

// Marshal returns the canonical JSON (profile [JCS]) of a Go value: what every
// --json prints before its newline. Equal values give equal bytes; there is no
// HTML escaping and no final newline (spec: CJ-GO-1).
//
// The encoding is that of encoding/json/v2, so a nil slice is [], a nil map {},
// and a []byte base64. What would change on the way is refused rather than
// changed: an integer the double does not hold exactly (a count that may pass
// 2^53 is a string; spec: CJ-GO-2), a string that is not UTF-8, NaN, a type
// without JSON form, more than 512 levels, more than 256 MiB.
//
// The error is an [*Error]. With CodeEncode its offset is 0; otherwise the
// offset is one in the JSON text before it was put in order.
func Marshal(v any) ([]byte, error) {
	src, err := jsonv2.Marshal(v, jsonv2.Deterministic(true))
	if err != nil {
		return nil, encodeError(err)
	}
	limits := Limits{MaxBytes: LargestMaxBytes}
	return canonicalize(rules{exact: true}, src, limits.effective())
}

// encodeError words an error of encoding/json/v2 itself, because the package
// varies its own wording from one build to the next.
func encodeError(err error) error {
	where, why := "", err
	var semantic *jsonv2.SemanticError
	var syntactic *jsontext.SyntacticError
	switch {
	case errors.As(err, &semantic):
		where = string(semantic.JSONPointer)
		if semantic.GoType != nil {
			where += " (Go type " + semantic.GoType.String() + ")"
		}
		why = semantic.Err
	case errors.As(err, &syntactic):
		where, why = string(syntactic.JSONPointer), syntactic.Err
	}
	if why == nil {
		return fail(CodeEncode, 0, "the value at %s has no JSON form", escape.LineMax(where, 200))
	}
	return fail(CodeEncode, 0, "the value at %s has no JSON form: %s",
		escape.LineMax(where, 200), escape.LineMax(why.Error(), 200))
}
