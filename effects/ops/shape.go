package ops

import (
	"strings"

	"github.com/gcrun/gcrun/coreform"
)

// Type is what a payload field may hold, as the words used in messages and
// documentation.
type Type string

// The types of payload fields.
const (
	TypeAny     Type = "any term"
	TypeNil     Type = "nil"
	TypeBool    Type = "bool"
	TypeInt     Type = "int"
	TypeString  Type = "string"
	TypeSymbol  Type = "symbol"
	TypeBytes   Type = "bytes"
	TypeVector  Type = "vector"
	TypeStrings Type = "vector of strings without NUL"
	TypeEnvName Type = "variable name"
	TypeEnv     Type = "map of variable names to a string or a secret"
	TypeLine    Type = "string without CR, LF and NUL"
	TypeMethod  Type = "upper-case method"
	TypeHeaders Type = "map of lower-case header names to a string, a secret, or a vector of them"
	TypeQuery   Type = "map of names to a string, a secret, or a vector of them"
	TypeHash    Type = "64 lower-case hexadecimal digits"
)

// verdict is how a value fits a type.
type verdict uint8

const (
	wrongType verdict = iota
	wrongValue
	fits
)

// fit judges v against one type. It looks at most two levels into v.
func (t Type) fit(v coreform.Value) verdict {
	switch t {
	case TypeAny:
		return okIf(v.IsTerm())
	case TypeNil:
		return okIf(v.IsNil())
	case TypeBool:
		return okIf(v.Kind() == coreform.KindBool)
	case TypeInt:
		return okIf(v.IsInt())
	case TypeString:
		return okIf(v.Kind() == coreform.KindStr)
	case TypeSymbol:
		return okIf(v.Kind() == coreform.KindSym)
	case TypeBytes:
		return okIf(v.Kind() == coreform.KindBytes)
	case TypeVector:
		return okIf(v.Kind() == coreform.KindVec)
	case TypeStrings:
		return fitVector(v, func(e coreform.Value) verdict { return fitString(e, noNUL) })
	case TypeEnvName:
		return fitString(v, validEnvName)
	case TypeEnv:
		return fitMap(v, validEnvName, func(e coreform.Value) verdict { return fitSecretOr(e, noNUL) })
	case TypeLine:
		return fitString(v, oneLine)
	case TypeMethod:
		return fitString(v, validMethod)
	case TypeHeaders:
		return fitMap(v, validHeaderName, func(e coreform.Value) verdict { return fitMany(e, oneLine) })
	case TypeQuery:
		return fitMap(v, noNUL, func(e coreform.Value) verdict { return fitMany(e, noNUL) })
	case TypeHash:
		return fitString(v, validHash)
	}
	return wrongType
}

func okIf(ok bool) verdict {
	if ok {
		return fits
	}
	return wrongType
}

func fitString(v coreform.Value, valid func(string) bool) verdict {
	s, ok := v.AsStr()
	if !ok {
		return wrongType
	}
	if !valid(s) {
		return wrongValue
	}
	return fits
}

// fitVector returns the verdict on the first element that does not fit.
func fitVector(v coreform.Value, each func(coreform.Value) verdict) verdict {
	vec, ok := v.AsVec()
	if !ok {
		return wrongType
	}
	for _, e := range vec.All() {
		if r := each(e); r != fits {
			return r
		}
	}
	return fits
}

// fitMap returns the verdict on the first key or value that does not fit.
func fitMap(v coreform.Value, validKey func(string) bool, each func(coreform.Value) verdict) verdict {
	m, ok := v.AsMap()
	if !ok {
		return wrongType
	}
	for k, e := range m.All() {
		if r := fitString(k, validKey); r != fits {
			return r
		}
		if r := each(e); r != fits {
			return r
		}
	}
	return fits
}

// fitSecretOr accepts {:secret "NAME"} or a valid string.
func fitSecretOr(v coreform.Value, valid func(string) bool) verdict {
	m, ok := v.AsMap()
	if !ok {
		return fitString(v, valid)
	}
	name, ok := m.Get(coreform.Sym(":secret"))
	if !ok || m.Len() != 1 {
		return wrongType
	}
	return fitString(name, ValidSecretName)
}

func fitMany(v coreform.Value, valid func(string) bool) verdict {
	if v.Kind() == coreform.KindVec {
		return fitVector(v, func(e coreform.Value) verdict { return fitSecretOr(e, valid) })
	}
	return fitSecretOr(v, valid)
}

func noNUL(s string) bool { return !strings.Contains(s, "\x00") }

func oneLine(s string) bool { return !strings.ContainsAny(s, "\x00\r\n") }

func validEnvName(s string) bool { return s != "" && !strings.ContainsAny(s, "=\x00") }

func validHash(s string) bool {
	if len(s) != 64 {
		return false
	}
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

func validMethod(s string) bool {
	if s == "" || len(s) > 32 {
		return false
	}
	for i := range len(s) {
		if c := s[i]; (c < 'A' || c > 'Z') && c != '-' {
			return false
		}
	}
	return true
}

// ValidSecretName reports whether s can name a secret: a letter or "_", then
// letters, digits, "_" and "-"; at most 64 bytes. (spec/policy.md POL-SECRET-1)
func ValidSecretName(s string) bool {
	if s == "" || len(s) > 64 {
		return false
	}
	for i := range len(s) {
		c := s[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
		if !letter && (i == 0 || (c < '0' || c > '9') && c != '-') {
			return false
		}
	}
	return true
}

// ownHeaders are the headers the transport alone sets.
var ownHeaders = []string{
	"connection", "content-length", "expect", "host", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade",
}

// ValidHeaderName reports whether s is a header name in lower case, that is an
// HTTP token without upper-case letters.
func ValidHeaderName(s string) bool {
	if s == "" || len(s) > 256 {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && !strings.ContainsRune("!#$%&'*+-.^_`|~", rune(c)) {
			return false
		}
	}
	return true
}

// validHeaderName is ValidHeaderName for headers a program may set.
func validHeaderName(s string) bool {
	if !ValidHeaderName(s) || strings.HasPrefix(s, "proxy-") {
		return false
	}
	for _, own := range ownHeaders {
		if s == own {
			return false
		}
	}
	return true
}
