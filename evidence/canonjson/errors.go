package canonjson

import "fmt"

// Code names why a text was refused. Codes are stable: scripts and other
// programs may compare them (spec: CJ-ERR-1).
type Code string

// The codes, in the order in which the checks are made.
const (
	CodeSize            Code = "json/size"             // longer than Limits.MaxBytes
	CodeBOM             Code = "json/bom"              // begins with a byte order mark
	CodeUTF8            Code = "json/utf8"             // not UTF-8
	CodeSyntax          Code = "json/syntax"           // not the grammar of RFC 8259
	CodeTruncated       Code = "json/truncated"        // ends too early, or is empty
	CodeTrailing        Code = "json/trailing"         // something follows the value
	CodeDepth           Code = "json/depth"            // more open containers than Limits.MaxDepth
	CodeDuplicateName   Code = "json/duplicate-name"   // two members of one object with one name
	CodeNameCollision   Code = "json/name-collision"   // two names that NFC makes equal
	CodeLoneSurrogate   Code = "json/lone-surrogate"   // an escape that is half a character
	CodeNumberOverflow  Code = "json/number-overflow"  // beyond the largest double
	CodeNumberUnderflow Code = "json/number-underflow" // not zero, and rounds to zero
	CodeNumberInexact   Code = "json/number-inexact"   // the double prints as another number
	CodeEncode          Code = "json/encode"           // Marshal: the Go value has no JSON form
)

// Error says where and why a text has no canonical form.
type Error struct {
	Code   Code
	Offset int    // of the first byte at fault, from 0; the length of the text when it ends too early
	Detail string // one line, safe for a terminal
	Hint   string // what to do about it, or ""
}

func (e *Error) Error() string {
	s := fmt.Sprintf("byte %d: %s (%s)", e.Offset, e.Detail, e.Code)
	if e.Hint != "" {
		s += "; " + e.Hint
	}
	return s
}

var hints = map[Code]string{
	CodeBOM:             "remove the first three bytes",
	CodeUTF8:            "save the text as UTF-8",
	CodeTrailing:        "a document is one value; split the file",
	CodeDuplicateName:   "keep one of the two members",
	CodeNameCollision:   "rename one of the two members",
	CodeNumberOverflow:  "write the number as a string",
	CodeNumberUnderflow: "write the number as a string",
	CodeNumberInexact:   "write the number as a string",
}

func fail(code Code, offset int, format string, args ...any) *Error {
	return &Error{Code: code, Offset: offset, Detail: fmt.Sprintf(format, args...), Hint: hints[code]}
}
