package prelude

import (
	"math/big"
	"strings"
	"unicode/utf8"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/coreform/kernel"
)

// stringNatives look into strings by their bytes: positions and lengths are in
// UTF-8 bytes, as those of core/str::len, and may not fall inside a character.
// What looks at a part of a string charges for that part, and does not put a
// string in one piece that was joined, so that going through a text by its parts
// is linear.
var stringNatives = []kernel.Native{
	{Name: "core/str::split", Arity: 2, Fn: strSplit},
	{Name: "core/str::trim", Arity: 1, Fn: strTrim},
	{Name: "core/str::starts-with?", Arity: 2, Fn: hasPart(func(int, int) int { return 0 })},
	{Name: "core/str::ends-with?", Arity: 2, Fn: hasPart(func(whole, part int) int { return whole - part })},
	{Name: "core/str::index-of", Arity: 2, Fn: func(c *kernel.Call, a []Value) Value {
		return indexOf(c, a[0], a[1], 0)
	}},
	{Name: "core/str::index-from", Arity: 3, Fn: func(c *kernel.Call, a []Value) Value {
		if a[0].Kind() != coreform.KindStr || a[1].Kind() != coreform.KindStr || !a[2].IsInt() {
			return c.TypeError()
		}
		at, ok := a[2].AsInt64()
		if !ok || !boundary(a[0], at) {
			return c.TextRangeError()
		}
		return indexOf(c, a[0], a[1], int(at))
	}},
	{Name: "core/str::slice", Arity: 3, Fn: strSlice},
	{Name: "core/str::to-int", Arity: 1, Fn: strToInt},
	{Name: "core/str::lower-ascii", Arity: 1, Fn: mapASCII('A', 'Z', 'a'-'A')},
	{Name: "core/str::upper-ascii", Arity: 1, Fn: mapASCII('a', 'z', -('a' - 'A'))},
}

const asciiSpace = " \t\n\v\f\r"

// newPart makes a string of a part of another, which it must not keep alive.
func newPart(c *kernel.Call, part string) Value {
	if !c.RoomForStr(int64(len(part))) {
		return Value{}
	}
	return coreform.Str(strings.Clone(part))
}

// boundary reports whether a position is in a string and not inside a character.
func boundary(v Value, at int64) bool {
	n := int64(v.StrLen())
	return 0 <= at && (at == n || at < n && utf8.RuneStart(v.StrPart(int(at), int(at)+1)[0]))
}

// strSplit gives the parts between the separators; an empty separator gives the
// characters.
func strSplit(c *kernel.Call, a []Value) Value {
	if a[0].Kind() != coreform.KindStr || a[1].Kind() != coreform.KindStr {
		return c.TypeError()
	}
	total := int64(a[0].StrLen()) + int64(a[1].StrLen())
	if !c.WorkSteps(total/8) || c.Interrupted() {
		return Value{}
	}
	s, _ := a[0].AsStr()
	sep, _ := a[1].AsStr()
	n := int64(strings.Count(s, sep)) + 1
	if sep == "" {
		n -= 2 // Count counts the places around characters
	}
	// A part of b bytes takes 1 + ⌈b/16⌉ units: at most 2 each and those of all.
	if !c.WorkSteps(n/8) || !c.RoomForVec(n) || !c.Alloc(2*n+kernel.TextUnits(int64(len(s)))) {
		return Value{}
	}
	parts := make([]Value, 0, n)
	for p := range strings.SplitSeq(s, sep) {
		if !c.LenLimit("string-len", int64(len(p))) {
			return Value{}
		}
		parts = append(parts, coreform.Str(strings.Clone(p)))
	}
	return coreform.Vec(parts...)
}

func strTrim(c *kernel.Call, a []Value) Value {
	if a[0].Kind() != coreform.KindStr {
		return c.TypeError()
	}
	if !c.Work(int64(a[0].StrLen()), 0) {
		return Value{}
	}
	s, _ := a[0].AsStr()
	return newPart(c, strings.Trim(s, asciiSpace))
}

// hasPart makes a native that compares a part of a string with another.
func hasPart(start func(whole, part int) int) func(*kernel.Call, []Value) Value {
	return func(c *kernel.Call, a []Value) Value {
		if a[0].Kind() != coreform.KindStr || a[1].Kind() != coreform.KindStr {
			return c.TypeError()
		}
		n := a[1].StrLen()
		if n > a[0].StrLen() {
			return coreform.Bool(false)
		}
		if !c.Work(int64(n), 0) {
			return Value{}
		}
		part, _ := a[1].AsStr()
		at := start(a[0].StrLen(), n)
		return coreform.Bool(a[0].StrPart(at, at+n) == part)
	}
}

// searchPiece is how many bytes a search looks at before it charges for them.
const searchPiece = 1 << 12

// indexOf gives the position of the first occurrence of a string that begins at
// or behind a position, nil if there is none. It charges ⌊bytes/8⌋ for what is
// searched for, and for what is looked at: up to the end of the occurrence, or of
// the text.
func indexOf(c *kernel.Call, text, part Value, at int) Value {
	if text.Kind() != coreform.KindStr || part.Kind() != coreform.KindStr {
		return c.TypeError()
	}
	size, n := text.StrLen(), part.StrLen()
	if !c.WorkSteps(int64(n) / 8) {
		return Value{}
	}
	p, _ := part.AsStr()
	piece := max(searchPiece, n)
	looked := int64(0)
	charge := func(to int64) bool {
		before := looked
		looked = to
		return c.WorkSteps(to/8-before/8) && !c.Interrupted()
	}
	for from := at; size-from >= n; from += piece {
		end := min(from+piece+n-1, size)
		if n == 0 {
			return coreform.Int(int64(at))
		}
		if i := strings.Index(text.StrPart(from, end), p); i >= 0 {
			if !charge(int64(from + i + n - at)) {
				return Value{}
			}
			return coreform.Int(int64(from + i))
		}
		if !charge(int64(min(from+piece, size) - at)) {
			return Value{}
		}
	}
	if !charge(int64(size - at)) {
		return Value{}
	}
	return Value{}
}

// strSlice takes the bytes from a start on, that many.
func strSlice(c *kernel.Call, a []Value) Value {
	if a[0].Kind() != coreform.KindStr || !a[1].IsInt() || !a[2].IsInt() {
		return c.TypeError()
	}
	start, okStart := a[1].AsInt64()
	n, okLen := a[2].AsInt64()
	size := int64(a[0].StrLen())
	if !okStart || !okLen || start < 0 || n < 0 || start > size || n > size-start ||
		!boundary(a[0], start) || !boundary(a[0], start+n) {
		return c.TextRangeError()
	}
	if !c.Work(n, 0) || !c.RoomForStr(n) {
		return Value{}
	}
	return coreform.Str(strings.Clone(a[0].StrPart(int(start), int(start+n))))
}

// maxIntWords is how many 64-bit words an integer can have. (spec LIM-SHAPE-2)
const maxIntWords = 65_536

// decimalWords is at least the 64-bit words of a number of n decimal digits, and
// hardly more: a digit has log₂ 10 bits.
func decimalWords(n int64) int64 { return n*3402/65536 + 1 }

// strToInt reads an optional sign and decimal digits. Reading l words is charged
// as if it took time quadratic in them.
func strToInt(c *kernel.Call, a []Value) Value {
	if a[0].Kind() != coreform.KindStr {
		return c.TypeError()
	}
	if !c.Work(int64(a[0].StrLen()), 0) {
		return Value{}
	}
	s, _ := a[0].AsStr()
	digits := s
	if s != "" && (s[0] == '+' || s[0] == '-') {
		digits = s[1:]
	}
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return c.NumericError()
	}
	words := decimalWords(int64(len(strings.TrimLeft(digits, "0"))))
	if words > maxIntWords {
		return c.NumericError()
	}
	if words > 1 && (!c.WorkSteps(words*words/8) || !c.RoomForInt(words)) {
		return Value{}
	}
	i, ok := new(big.Int).SetString(s, 10)
	if !ok {
		return c.NumericError()
	}
	return coreform.BigInt(i)
}

// mapASCII moves the letters from lo to hi by a distance; all else stays.
func mapASCII(lo, hi byte, by int) func(*kernel.Call, []Value) Value {
	return func(c *kernel.Call, a []Value) Value {
		if a[0].Kind() != coreform.KindStr {
			return c.TypeError()
		}
		n := int64(a[0].StrLen())
		if !c.WorkSteps(n/8) || !c.RoomForStr(n) {
			return Value{}
		}
		s, _ := a[0].AsStr()
		b := []byte(s)
		for i, x := range b {
			if lo <= x && x <= hi {
				b[i] = byte(int(x) + by)
			}
		}
		return coreform.Str(string(b))
	}
}
