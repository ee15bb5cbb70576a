package gclog

import (
	"math/big"

	"github.com/gcrun/gcrun/coreform"
)

// termDecoder decodes terms with its own stack. It accepts exactly what
// termEncoder writes. Nothing is allocated for a claimed length before the
// bytes that could fill it are there. It is owned by one goroutine.
type termDecoder struct {
	frames []decFrame
	vals   []coreform.Value // the finished items of the open containers
	items  int
}

type decFrame struct {
	kind  coreform.Kind
	start int // where its items begin in vals
	left  int // items still to come
}

// term takes one term from the cursor.
func (d *termDecoder) term(c *cursor) coreform.Value {
	d.items = 0
	v := d.run(c)
	clear(d.vals)
	d.frames, d.vals = d.frames[:0], d.vals[:0]
	if c.err != nil {
		return coreform.Value{}
	}
	return v
}

func (d *termDecoder) run(c *cursor) coreform.Value {
	for {
		v, opened := d.item(c)
		if c.err != nil {
			return coreform.Value{}
		}
		if opened {
			continue
		}
		for { // v is finished: it belongs to the innermost open container
			if len(d.frames) == 0 {
				return v
			}
			d.vals = append(d.vals, v)
			f := &d.frames[len(d.frames)-1]
			if f.left--; f.left > 0 {
				if !d.keyInOrder(c, f) {
					return coreform.Value{}
				}
				break
			}
			if !d.keyInOrder(c, f) {
				return coreform.Value{}
			}
			v = d.close()
		}
	}
}

// keyInOrder checks, when the last item was a key, that it follows the key
// before it.
func (d *termDecoder) keyInOrder(c *cursor, f *decFrame) bool {
	n := len(d.vals) - f.start
	if f.kind != coreform.KindMap || n%2 == 0 || n < 3 {
		return true
	}
	if coreform.Compare(d.vals[len(d.vals)-3], d.vals[len(d.vals)-1]) >= 0 {
		c.fail("the keys of a map are not in ascending order")
		return false
	}
	return true
}

// item takes an atom, or opens a container and says so.
func (d *termDecoder) item(c *cursor) (v coreform.Value, opened bool) {
	if d.items++; d.items > MaxTermItems {
		c.fail("more than %d terms in one", MaxTermItems)
		return v, false
	}
	first, ok := c.peek()
	if !ok {
		return v, false
	}
	switch first {
	case cborNull:
		c.pos++
		return v, false
	case cborFalse, cborTrue:
		c.pos++
		return coreform.Bool(first == cborTrue), false
	}
	major, n := c.head()
	switch major {
	case majUint, majNeg:
		return intTerm(major, n), false
	case majBytes:
		return coreform.BytesOf(append([]byte{}, c.raw(n)...)), false
	case majText:
		c.pos -= headLen(n)
		return coreform.Str(c.text()), false
	case majArray:
		return d.open(c, coreform.KindVec, n)
	case majTag:
		return d.tagged(c, n)
	}
	c.fail("initial byte 0x%02x begins no term", first)
	return v, false
}

func (d *termDecoder) tagged(c *cursor, tag uint64) (v coreform.Value, opened bool) {
	switch tag {
	case tagSymbol:
		s := c.text()
		if c.err == nil && !coreform.ValidSymbol(s) {
			c.fail("a symbol that is none")
		}
		return coreform.Sym(s), false
	case tagBigPos, tagBigNeg:
		return bigTerm(c, tag == tagBigNeg), false
	case tagList:
		n := c.want(majArray, "an array")
		if c.err == nil && n == 0 {
			c.fail("an empty list that is not nil")
		}
		return d.open(c, coreform.KindPair, n)
	case tagMap:
		n := c.want(majArray, "an array")
		if n%2 != 0 {
			c.fail("a map with a key and no value")
		}
		return d.open(c, coreform.KindMap, n)
	}
	c.fail("tag %d begins no term", tag)
	return v, false
}

// open pushes a container of n items, or makes an empty one.
func (d *termDecoder) open(c *cursor, kind coreform.Kind, n uint64) (v coreform.Value, opened bool) {
	switch {
	case c.err != nil:
	case n > uint64(c.rest()): // every item takes a byte
		c.fail("an array of %d items runs past the end", n)
	case len(d.frames) >= MaxTermDepth:
		c.fail("nested deeper than %d", MaxTermDepth)
	case n == 0 && kind == coreform.KindVec:
		return coreform.Vec(), false
	case n == 0:
		return coreform.MapOf(), false
	default:
		d.frames = append(d.frames, decFrame{kind: kind, start: len(d.vals), left: int(n)})
		return v, true
	}
	return v, false
}

// close pops the innermost container and returns it.
func (d *termDecoder) close() coreform.Value {
	f := d.frames[len(d.frames)-1]
	d.frames = d.frames[:len(d.frames)-1]
	items := d.vals[f.start:]
	var v coreform.Value
	switch f.kind {
	case coreform.KindPair:
		v = coreform.List(items...)
	case coreform.KindVec:
		v = coreform.Vec(append([]coreform.Value(nil), items...)...)
	default:
		es := make([]coreform.Entry, len(items)/2)
		for i := range es {
			es[i] = coreform.Entry{Key: items[2*i], Value: items[2*i+1]}
		}
		v = coreform.MapOf(es...)
	}
	clear(items)
	d.vals = d.vals[:f.start]
	return v
}

func intTerm(major byte, n uint64) coreform.Value {
	if fitsInt64(n) {
		if major == majNeg {
			return coreform.Int(^int64(n))
		}
		return coreform.Int(int64(n))
	}
	return coreform.BigInt(signed(new(big.Int).SetUint64(n), major == majNeg))
}

// signed returns n, or −1 − n.
func signed(n *big.Int, negative bool) *big.Int {
	if negative {
		return n.Neg(n.Add(n, one))
	}
	return n
}

func bigTerm(c *cursor, negative bool) coreform.Value {
	p := c.bytes()
	if c.err != nil {
		return coreform.Value{}
	}
	if len(p) <= 8 || p[0] == 0 {
		c.fail("a bignum that is not in its shortest form")
		return coreform.Value{}
	}
	return coreform.BigInt(signed(new(big.Int).SetBytes(p), negative))
}
