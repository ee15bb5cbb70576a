package kernel

import (
	"strings"
	"unicode/utf8"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/internal/unicode17"
)

var symPrimitives = []primitive{
	{name: "sym/eq?", arity: 2, fn: func(c *Call, a []Value) Value {
		x, okx := a[0].AsSym()
		y, oky := a[1].AsSym()
		switch {
		case !okx || !oky:
			return c.TypeError()
		case len(x) != len(y):
			return coreform.Bool(false)
		case !c.Work(int64(len(x)), 0):
			return Value{}
		}
		return coreform.Bool(x == y)
	}},
	{name: "sym/to-str", arity: 1, fn: func(c *Call, a []Value) Value {
		s, ok := a[0].AsSym()
		if !ok {
			return c.TypeError()
		}
		return c.NewStr(s)
	}},
	{name: "sym/from-str", arity: 1, fn: onStr(func(c *Call, s string) Value {
		if !c.Work(int64(len(s)), 0) {
			return Value{}
		}
		if !coreform.ValidSymbol(s) {
			return c.TypeError()
		}
		if !c.RoomForStr(int64(len(s))) {
			return Value{}
		}
		return coreform.Sym(s)
	})},
}

var strPrimitives = []primitive{
	{name: "str/concat", arity: 2, fn: strConcat},
	{name: "str/len", arity: 1, fn: func(c *Call, a []Value) Value {
		if a[0].Kind() != coreform.KindStr {
			return c.TypeError()
		}
		return coreform.Int(int64(a[0].StrLen()))
	}},
	{name: "str/scalar-len", arity: 1, fn: onStr(func(c *Call, s string) Value {
		if !c.Work(int64(len(s)), 0) {
			return Value{}
		}
		return coreform.Int(int64(utf8.RuneCountInString(s)))
	})},
	{name: "str/grapheme-len", arity: 1, fn: onStr(func(c *Call, s string) Value {
		if !c.textWork(int64(len(s))) {
			return Value{}
		}
		return coreform.Int(int64(unicode17.GraphemeLen(s)))
	})},
	{name: "str/grapheme-slice", arity: 3, fn: strGraphemeSlice},
	{name: "str/nfc", arity: 1, fn: onStr(strNFC)},
	{name: "str/to-bytes-utf8", arity: 1, fn: onStr(func(c *Call, s string) Value {
		if n := int64(len(s)); !c.RoomForBytes(n) || !c.Work(n, 0) {
			return Value{}
		}
		return coreform.BytesOf([]byte(s))
	})},
	{name: "str/repeat", arity: 2, fn: strRepeat},
	{name: "str/join", arity: 2, fn: strJoin},
	{name: "coreform/escape-str", arity: 1, fn: onStr(func(c *Call, s string) Value {
		if !c.textWork(int64(len(s))) || !c.RoomForStr(escapedStrLen(s)) {
			return Value{}
		}
		return coreform.Str(coreform.EscapeStr(s))
	})},
}

// onStr makes a primitive of one string argument.
func onStr(f func(c *Call, s string) Value) func(*Call, []Value) Value {
	return func(c *Call, a []Value) Value {
		s, ok := a[0].AsStr()
		if !ok {
			return c.TypeError()
		}
		return f(c, s)
	}
}

// textWork charges ⌊bytes/8⌋ for work that decides something at every byte:
// Unicode properties, reading, printing.
func (c *Call) textWork(n int64) bool { return c.WorkSteps(n / 8) }

func strConcat(c *Call, a []Value) Value {
	if a[0].Kind() != coreform.KindStr || a[1].Kind() != coreform.KindStr {
		return c.TypeError()
	}
	n := int64(a[0].StrLen()) + int64(a[1].StrLen())
	if !c.RoomForStr(n) || !c.WorkSteps(concatSteps(n)) {
		return Value{}
	}
	return coreform.ConcatStr(a[0], a[1])
}

// concatPiece is how many bytes joining two strings copies at most.
const concatPiece = 512

// concatSteps is the work of making a string of n bytes of two: copying a piece,
// and the way to where that is. The string is put in one piece when somebody looks
// into it, who pays for all of its bytes anyway.
func concatSteps(n int64) int64 { return min(n, concatPiece)/64 + bitLen(int(n/concatPiece)) }

// strGraphemeSlice gives a range error for whatever is no position in the text,
// whether it is an integer or not.
func strGraphemeSlice(c *Call, a []Value) Value {
	s, ok := a[0].AsStr()
	if !ok {
		return c.TypeError()
	}
	start, okStart := index(a[1])
	n, okLen := index(a[2])
	size := int64(len(s))
	if !okStart || !okLen || start > size || n > size-start {
		return c.TextRangeError()
	}
	if !c.textWork(size) {
		return Value{}
	}
	sub, ok := unicode17.GraphemeSlice(s, int(start), int(n))
	if !ok {
		return c.TextRangeError()
	}
	if len(sub) == len(s) {
		return a[0]
	}
	if !c.RoomForStr(int64(len(sub))) {
		return Value{}
	}
	return coreform.Str(strings.Clone(sub)) // a part must not keep the whole alive
}

// maxNFCGrowth is how many times longer NFC can make a UTF-8 text.
const maxNFCGrowth = 3

func strNFC(c *Call, s string) Value {
	n := int64(len(s))
	if !c.textWork(n) {
		return Value{}
	}
	if unicode17.IsNFC(s) {
		return coreform.Str(s)
	}
	if !c.Alloc(TextUnits(maxNFCGrowth * n)) {
		return Value{}
	}
	out := unicode17.NFC(s)
	if !c.m.lenLimit("string-len", int64(len(out)), c.m.limits.StringLen) {
		return Value{}
	}
	return coreform.Str(out)
}

func strRepeat(c *Call, a []Value) Value {
	s, ok := a[0].AsStr()
	n, isCount := index(a[1])
	if !ok || !isCount {
		return c.TypeError()
	}
	size := int64(len(s))
	if !c.roomForText(c.RoomForStr, n, size) || !c.Work(n*size, 0) {
		return Value{}
	}
	if size == 0 { // whatever n is
		return coreform.Str("")
	}
	return coreform.Str(strings.Repeat(s, int(n)))
}

func strJoin(c *Call, a []Value) Value {
	parts, ok := a[0].AsVec()
	sep, isStr := a[1].AsStr()
	if !ok || !isStr {
		return c.TypeError()
	}
	if !c.Work(0, int64(parts.Len())) {
		return Value{}
	}
	if parts.Len() == 0 {
		return c.NewStr("")
	}
	// Each length is below 2^31 and there are below 2^31 parts: no overflow.
	total := int64(parts.Len()-1) * int64(len(sep))
	for leaf := range parts.Leaves() {
		for _, p := range leaf {
			n := p.StrLen()
			if n == 0 && p.Kind() != coreform.KindStr {
				return c.TypeError()
			}
			total += int64(n)
		}
	}
	if !c.RoomForStr(total) || !c.Work(total, 0) {
		return Value{}
	}
	var b strings.Builder
	b.Grow(int(total))
	first := true
	for leaf := range parts.Leaves() {
		for _, p := range leaf {
			if !first {
				b.WriteString(sep)
			}
			first = false
			s, _ := p.AsStr()
			b.WriteString(s)
		}
	}
	return coreform.Str(b.String())
}

// escapedStrLen is the length of EscapeStr(s), so that it can be charged before.
func escapedStrLen(s string) int64 {
	n := int64(len(s))
	for _, r := range s {
		switch {
		case strings.ContainsRune("\\\"\n\r\t", r):
			n++
		case r < 0x20 || r == 0x7F:
			n += 5 // one byte becomes \uXXXX
		case r >= 0x80 && r < 0xA0:
			n += 4 // two bytes do
		}
	}
	return n
}
