package kernel

import (
	"encoding/hex"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/gcrun/gcrun/coreform"
)

var bytesPrimitives = []primitive{
	{name: "bytes/len", arity: 1, fn: onBytes(func(_ *Call, b *coreform.Bytes) Value { return coreform.Int(b.Len()) })},
	{name: "bytes/get", arity: 2, fn: func(c *Call, a []Value) Value {
		b, ok := a[0].AsBytes()
		i, isIndex := index(a[1])
		if !ok || !isIndex || i >= b.Len() {
			return c.TypeError()
		}
		return coreform.Int(int64(octet(b, i)))
	}},
	{name: "bytes/slice", arity: 3, fn: bytesSlice},
	{name: "bytes/concat", arity: 2, fn: func(c *Call, a []Value) Value {
		x, okx := a[0].AsBytes()
		y, oky := a[1].AsBytes()
		if !okx || !oky {
			return c.TypeError()
		}
		return joinBytes(c, x, y)
	}},
	{name: "bytes/join", arity: 1, fn: bytesJoin},
	{name: "bytes/to-str-utf8", arity: 1, fn: onBytes(func(c *Call, b *coreform.Bytes) Value {
		if !c.RoomForStr(b.Len()) || !c.Work(b.Len(), 0) {
			return Value{}
		}
		s := contentString(b)
		if !utf8.ValidString(s) {
			return c.TypeError()
		}
		return coreform.Str(s)
	})},
	{name: "bytes/to-hex", arity: 1, fn: onBytes(func(c *Call, b *coreform.Bytes) Value {
		if !c.roomForText(c.RoomForStr, 2, b.Len()) || !c.Work(2*b.Len(), 0) {
			return Value{}
		}
		var out strings.Builder
		out.Grow(int(2 * b.Len()))
		copyContent(hex.NewEncoder(&out), b)
		return coreform.Str(out.String())
	})},
	{name: "bytes/from-hex", arity: 1, fn: onStr(func(c *Call, s string) Value {
		if !c.RoomForBytes(int64(len(s)/2)) || !c.Work(int64(len(s)), 0) {
			return Value{}
		}
		b, err := hex.DecodeString(s)
		if err != nil {
			return c.TypeError()
		}
		return coreform.BytesOf(b)
	})},
	{name: "coreform/escape-bytes", arity: 1, fn: onBytes(escapeBytes)},
	{name: "utf8/encode-codepoint", arity: 1, fn: func(c *Call, a []Value) Value {
		n, ok := index(a[0])
		if !ok || n > utf8.MaxRune || !utf8.ValidRune(rune(n)) {
			return c.TypeError()
		}
		b := utf8.AppendRune(nil, rune(n))
		if !c.RoomForBytes(int64(len(b))) {
			return Value{}
		}
		return coreform.BytesOf(b)
	}},
	{name: "crypto/blake3", arity: 1, fn: onBytes(func(c *Call, b *coreform.Bytes) Value {
		if !c.Work(b.Len(), 0) || !c.RoomForBytes(32) {
			return Value{}
		}
		d := b.ContentDigest()
		return coreform.BytesOf(d[:])
	})},
}

// onBytes makes a primitive of one bytes argument.
func onBytes(f func(c *Call, b *coreform.Bytes) Value) func(*Call, []Value) Value {
	return func(c *Call, a []Value) Value {
		b, ok := a[0].AsBytes()
		if !ok {
			return c.TypeError()
		}
		return f(c, b)
	}
}

// octet reads one octet, of a blob only that one.
func octet(b *coreform.Bytes, i int64) byte {
	if !b.InMemory() {
		b, _ = b.Slice(i, 1).AsBytes()
		i = 0
	}
	return b.MustLoad()[i]
}

// copyContent writes the content of b to w, which never fails, holding little
// of a blob at a time.
func copyContent(w io.Writer, b *coreform.Bytes) {
	if b.InMemory() {
		_, _ = w.Write(b.MustLoad())
		return
	}
	if n, err := io.Copy(w, b.Reader()); err != nil || n != b.Len() {
		if err == nil {
			err = io.ErrUnexpectedEOF
		}
		panic(coreform.Fault{Err: err})
	}
}

func contentString(b *coreform.Bytes) string {
	var out strings.Builder
	out.Grow(int(b.Len()))
	copyContent(&out, b)
	return out.String()
}

// bytesSlice copies what is in memory, because a part must not keep the whole
// alive; a part of a blob shares it.
func bytesSlice(c *Call, a []Value) Value {
	b, ok := a[0].AsBytes()
	start, okStart := index(a[1])
	n, okLen := index(a[2])
	if !ok || !okStart || !okLen || start > b.Len() || n > b.Len()-start {
		return c.TypeError()
	}
	switch {
	case n == b.Len():
		return a[0]
	case !b.InMemory():
		if !c.Alloc(blobUnits) {
			return Value{}
		}
		return b.Slice(start, n)
	case !c.RoomForBytes(n) || !c.Work(n, 0):
		return Value{}
	}
	part, _ := b.Slice(start, n).AsBytes()
	return coreform.BytesOf([]byte(string(part.MustLoad())))
}

// blobUnits is what a bytes value takes whose content is in a blob.
const blobUnits = 4

func bytesJoin(c *Call, a []Value) Value {
	v, ok := a[0].AsVec()
	if !ok {
		return c.TypeError()
	}
	if !c.Work(0, int64(v.Len())) {
		return Value{}
	}
	parts := make([]*coreform.Bytes, 0, v.Len())
	for _, p := range v.All() {
		b, ok := p.AsBytes()
		if !ok {
			return c.TypeError()
		}
		parts = append(parts, b)
	}
	return joinBytes(c, parts...)
}

func joinBytes(c *Call, parts ...*coreform.Bytes) Value {
	total := int64(0)
	for _, b := range parts {
		if total += b.Len(); total < 0 || total > 1<<62 {
			total = 1 << 62 // blobs can be of any size
		}
	}
	if !c.RoomForBytes(total) || !c.Work(total, 0) {
		return Value{}
	}
	out := appender(make([]byte, 0, total))
	for _, b := range parts {
		copyContent(&out, b)
	}
	return coreform.BytesOf(out)
}

// appender is a writer to a slice.
type appender []byte

func (a *appender) Write(p []byte) (int, error) {
	*a = append(*a, p...)
	return len(p), nil
}

// escapeBytes loads a blob, and charges for that.
func escapeBytes(c *Call, b *coreform.Bytes) Value {
	if !c.textWork(b.Len()) || !b.InMemory() && !c.RoomForBytes(b.Len()) {
		return Value{}
	}
	p := b.MustLoad()
	n := int64(len(p))
	for _, x := range p {
		switch {
		case x == '\\' || x == '"' || x == '\n' || x == '\r' || x == '\t':
			n++
		case x < 0x20 || x > 0x7E:
			n += 3 // \xHH
		}
	}
	if !c.RoomForStr(n) {
		return Value{}
	}
	return coreform.Str(coreform.EscapeBytes(p))
}
