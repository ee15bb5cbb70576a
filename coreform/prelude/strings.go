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
var stringNatives = []kernel.Native{
	{Name: "core/str::split", Arity: 2, Fn: strSplit},
	{Name: "core/str::trim", Arity: 1, Fn: onStrings(func(c *kernel.Call, s []string) Value {
		return newPart(c, strings.Trim(s[0], asciiSpace))
	})},
	{Name: "core/str::starts-with?", Arity: 2, Fn: onStrings(func(c *kernel.Call, s []string) Value {
		return coreform.Bool(strings.HasPrefix(s[0], s[1]))
	})},
	{Name: "core/str::ends-with?", Arity: 2, Fn: onStrings(func(c *kernel.Call, s []string) Value {
		return coreform.Bool(strings.HasSuffix(s[0], s[1]))
	})},
	{Name: "core/str::index-of", Arity: 2, Fn: onStrings(func(c *kernel.Call, s []string) Value {
		if i := strings.Index(s[0], s[1]); i >= 0 {
			return coreform.Int(int64(i))
		}
		return Value{}
	})},
	{Name: "core/str::slice", Arity: 3, Fn: strSlice},
	{Name: "core/str::to-int", Arity: 1, Fn: strToInt},
	{Name: "core/str::lower-ascii", Arity: 1, Fn: mapASCII('A', 'Z', 'a'-'A')},
	{Name: "core/str::upper-ascii", Arity: 1, Fn: mapASCII('a', 'z', -('a' - 'A'))},
}

const asciiSpace = " \t\n\v\f\r"

// onStrings makes a native of strings only, all of which are looked at: it costs
// ⌊bytes/64⌋ of them together.
func onStrings(f func(c *kernel.Call, s []string) Value) func(*kernel.Call, []Value) Value {
	return func(c *kernel.Call, a []Value) Value {
		total := int64(0)
		for _, v := range a {
			if v.Kind() != coreform.KindStr {
				return c.TypeError()
			}
			total += int64(v.StrLen())
		}
		if !c.Work(total, 0) {
			return Value{}
		}
		s := make([]string, len(a))
		for i, v := range a {
			s[i], _ = v.AsStr()
		}
		return f(c, s)
	}
}

// newPart makes a string of a part of another, which it must not keep alive.
func newPart(c *kernel.Call, part string) Value {
	if !c.RoomForStr(int64(len(part))) {
		return Value{}
	}
	return coreform.Str(strings.Clone(part))
}

// strSplit gives the parts between the separators; an empty separator gives the
// characters.
func strSplit(c *kernel.Call, a []Value) Value {
	return onStrings(func(c *kernel.Call, s []string) Value {
		n := int64(strings.Count(s[0], s[1])) + 1
		if s[1] == "" {
			n -= 2 // Count counts the places around characters
		}
		// A part of b bytes takes 1 + ⌈b/16⌉ units: at most 2 each and those of all.
		if !c.WorkSteps(n/8) || !c.RoomForVec(n) || !c.Alloc(2*n+kernel.TextUnits(int64(len(s[0])))) {
			return Value{}
		}
		parts := make([]Value, 0, n)
		for _, p := range strings.Split(s[0], s[1]) {
			parts = append(parts, coreform.Str(strings.Clone(p)))
		}
		return coreform.Vec(parts...)
	})(c, a)
}

// strSlice takes the bytes from a start on, that many.
func strSlice(c *kernel.Call, a []Value) Value {
	start, okStart := a[1].AsInt64()
	n, okLen := a[2].AsInt64()
	if a[0].Kind() != coreform.KindStr || !a[1].IsInt() || !a[2].IsInt() {
		return c.TypeError()
	}
	size := int64(a[0].StrLen())
	if !okStart || !okLen || start < 0 || n < 0 || start > size || n > size-start {
		return c.TextRangeError()
	}
	if !c.Work(size, 0) {
		return Value{}
	}
	s, _ := a[0].AsStr()
	if !boundary(s, start) || !boundary(s, start+n) {
		return c.TextRangeError()
	}
	return newPart(c, s[start:start+n])
}

// boundary reports whether a position is not inside a character.
func boundary(s string, at int64) bool { return at == int64(len(s)) || utf8.RuneStart(s[at]) }

// maxIntText is more digits than an integer of the largest size has.
const maxIntText = 1_300_000

// strToInt reads an optional sign and decimal digits. Reading l words takes time
// quadratic in them.
func strToInt(c *kernel.Call, a []Value) Value {
	if a[0].Kind() != coreform.KindStr {
		return c.TypeError()
	}
	n := int64(a[0].StrLen())
	words := n/19 + 1
	if !c.Work(n, 0) {
		return Value{}
	}
	s, _ := a[0].AsStr()
	digits := strings.TrimLeft(s, "+-")
	if len(s)-len(digits) > 1 || digits == "" || strings.Trim(digits, "0123456789") != "" || n > maxIntText {
		return c.NumericError()
	}
	if words == 1 {
		words = 0
	}
	if !c.WorkSteps(words*words/8) || words > 0 && !c.RoomForInt(words) {
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
	return onStrings(func(c *kernel.Call, s []string) Value {
		if !c.RoomForStr(int64(len(s[0]))) {
			return Value{}
		}
		b := []byte(s[0])
		for i, x := range b {
			if lo <= x && x <= hi {
				b[i] = byte(int(x) + by)
			}
		}
		return coreform.Str(string(b))
	})
}
