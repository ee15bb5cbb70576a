package fspolicy

import (
	"strings"
	"unicode/utf8"

	"github.com/gcrun/gcrun/internal/unicode17"
)

// Limits of a path, in bytes of UTF-8. spec/paths.md PATH-2.
const (
	MaxPathBytes      = 4096
	MaxComponentBytes = 255
)

// Path is a base-relative path that the rules of spec/paths.md accept: valid
// UTF-8 in form C, `/` between components, no empty, `.` or `..` component.
// "." alone is the base directory. A Path is only made by ParsePath and by the
// methods below, so holding one is proof that it was checked; the zero Path is
// the base directory. Paths compare with ==. Case is identity.
type Path struct {
	s string // "" stands for ".", so that the zero value is valid
}

// ParsePath checks s and returns it as a Path. A refused string gives *Error
// whose Kind is the first reason of PATH-2 that applies and whose Path is
// `<outside-base>` or `<invalid-path>`, never s itself. Nothing is asked of any
// host.
func ParsePath(s string) (Path, error) {
	if kind := refusal(s); kind != "" {
		return Path{}, &Error{Kind: kind, Path: sentinel(kind)}
	}
	if s == "." {
		return Path{}, nil
	}
	return Path{s: s}, nil
}

// refusal returns the first reason of PATH-2 that refuses s, or "".
func refusal(s string) Kind {
	switch {
	case s == "":
		return KindEmpty
	case !utf8.ValidString(s):
		return KindNotUTF8
	case strings.IndexByte(s, 0) >= 0:
		return KindNUL
	case strings.IndexByte(s, '\\') >= 0:
		return KindBackslash
	case s[0] == '/':
		return KindAbsolute
	case s == ".":
		return ""
	}
	for rest, more := s, true; more; {
		var c string
		c, rest, more = strings.Cut(rest, "/")
		if kind := componentRefusal(c); kind != "" {
			return kind
		}
	}
	switch {
	case len(s) > MaxPathBytes:
		return KindPathTooLong
	case !unicode17.IsNFC(s):
		return KindNotNFC
	}
	return ""
}

// componentRefusal returns the first reason that refuses one component.
func componentRefusal(c string) Kind {
	switch {
	case c == "":
		return KindEmptyComponent
	case c == ".":
		return KindDotComponent
	case c == "..":
		return KindDotDotComponent
	case len(c) >= 2 && c[1] == ':' && isASCIILetter(c[0]):
		return KindDrivePrefix
	case len(c) > MaxComponentBytes:
		return KindComponentTooLong
	}
	return ""
}

func isASCIILetter(b byte) bool {
	return 'a' <= b|0x20 && b|0x20 <= 'z'
}

// sentinel is the path an error about a refused string carries. PATH-3.
func sentinel(kind Kind) string {
	switch kind {
	case KindAbsolute, KindDotDotComponent, KindDrivePrefix:
		return OutsideBase
	}
	return InvalidPath
}

// String returns the text of p, "." for the base directory.
func (p Path) String() string {
	if p.s == "" {
		return "."
	}
	return p.s
}

// IsRoot reports whether p is the base directory itself.
func (p Path) IsRoot() bool { return p.s == "" }

// Components returns the components of p from the base downward; none for the
// base directory. The caller owns the slice.
func (p Path) Components() []string {
	if p.s == "" {
		return nil
	}
	return strings.Split(p.s, "/")
}

// Base returns the last component, "." for the base directory.
func (p Path) Base() string {
	return p.String()[strings.LastIndexByte(p.s, '/')+1:]
}

// Parent returns the directory that holds p; the base directory is its own
// parent.
func (p Path) Parent() Path {
	return Path{s: p.s[:max(0, strings.LastIndexByte(p.s, '/'))]}
}

// Join returns the path of rel inside p. It fails as ParsePath does when the
// result is too long; everything else both parts have shown already.
func (p Path) Join(rel Path) (Path, error) {
	switch {
	case p.s == "":
		return rel, nil
	case rel.s == "":
		return p, nil
	}
	return ParsePath(p.s + "/" + rel.s)
}

// Within reports whether p is dir or lies below it, comparing whole components:
// data-old is not within data.
func (p Path) Within(dir Path) bool {
	rest, ok := strings.CutPrefix(p.s, dir.s)
	return ok && (rest == "" || dir.s == "" || rest[0] == '/')
}

// child returns the path of the entry with the host name name in p, and false
// when no Path can name it: not UTF-8, or refused by PATH-2 once in form C.
func (p Path) child(name string) (Path, bool) {
	if !utf8.ValidString(name) {
		return Path{}, false
	}
	c, err := ParsePath(unicode17.NFC(name))
	if err != nil || c.s == "" || strings.IndexByte(c.s, '/') >= 0 {
		return Path{}, false
	}
	c, err = p.Join(c)
	return c, err == nil
}
