package gclog

import (
	"errors"
	"math"
	"math/big"

	"github.com/gcrun/gcrun/coreform"
)

// Terms in CBOR (spec LOG-TERM-1 … 8):
//
//	nil                     null
//	bool                    false, true
//	integer                 major type 0 or 1, or a bignum (tag 2, 3) beyond
//	text, bytes             as themselves
//	symbol                  tag 39 (text)
//	proper list, not empty  tag 52993 [elements]
//	vector                  [elements]
//	map                     tag 52994 [k₁ v₁ k₂ v₂ …], keys ascending in term order
//
// There is one encoding of each term and one term of each encoding.
const (
	tagBigPos = 2
	tagBigNeg = 3
	tagSymbol = 39
	tagList   = 0xCF01
	tagMap    = 0xCF02
	tagBlob   = 0xCF03 // in an entry only: a value kept in a blob
	tagHidden = 0xCF04 // in an entry only: a value that is withheld
)

const (
	// MaxTermDepth is how deep a term in a log may nest, see [coreform.Value.Depth].
	MaxTermDepth = coreform.MaximumDepth

	// MaxTermItems is how many terms an encoded term may hold, itself, and keys
	// and values of maps, counted.
	MaxTermItems = 1 << 20

	// MaxTextTerms is how many terms the canonical text of a value in a blob may
	// hold.
	MaxTextTerms = coreform.DefaultTerms
)

// errTermTooBig says that an encoding would pass the size asked for. It is
// internal: such a value becomes a blob.
var errTermTooBig = errors.New("term too big to be encoded inline")

var one = big.NewInt(1)

// termEncoder encodes terms with its own stack, which it keeps for the next
// one, so that encoding allocates nothing. It is owned by one goroutine.
type termEncoder struct {
	frames  []encFrame
	entries []coreform.Entry // the entries of the maps that are open
	items   int
}

// encFrame is a cursor over one open container.
type encFrame struct {
	vec       *coreform.Vector // a vector and the next index, or
	next      int
	list      coreform.Value // what is left of a list, or
	at, end   int            // a window of entries; base is where it began
	base      int
	valueTurn bool
	kind      coreform.Kind
}

// keepStack is how much of its stacks an encoder keeps for the next term.
const keepStack = 1 << 10

// append appends the encoding of v, of at most limit bytes. It returns
// errTermTooBig, or an error wrapping ErrUnrecordable for what is not a term or
// is nested too deeply. On error the result is b as it was.
func (e *termEncoder) append(b []byte, v coreform.Value, limit int) ([]byte, error) {
	if !v.IsTerm() {
		return b, unrecordable("a value that is not plain data")
	}
	if d := v.Depth(); d > MaxTermDepth {
		return b, unrecordable("a term nested %d deep, beyond %d,", d, MaxTermDepth)
	}
	start := len(b)
	out, err := e.run(b, start, v, limit)
	e.reset()
	if err != nil {
		return out[:start], err
	}
	return out, nil
}

func (e *termEncoder) run(b []byte, start int, v coreform.Value, limit int) ([]byte, error) {
	e.items = 0
	for more := true; more; v, more = e.next() {
		if e.items++; e.items > MaxTermItems {
			return b, errTermTooBig
		}
		room := limit - (len(b) - start)
		var err error
		if b, err = e.open(b, v, room); err != nil {
			return b, err
		}
		if len(b)-start > limit {
			return b, errTermTooBig
		}
	}
	return b, nil
}

// open appends an atom, or the head of a container that it pushes. room is how
// many bytes are left, so that nothing much larger is even looked at.
func (e *termEncoder) open(b []byte, v coreform.Value, room int) ([]byte, error) {
	switch v.Kind() {
	case coreform.KindNil:
		return append(b, cborNull), nil
	case coreform.KindBool:
		if t, _ := v.AsBool(); t {
			return append(b, cborTrue), nil
		}
		return append(b, cborFalse), nil
	case coreform.KindInt:
		return appendIntTerm(b, v), nil
	case coreform.KindStr:
		s, _ := v.AsStr()
		if len(s) > room {
			return b, errTermTooBig
		}
		return appendText(b, s), nil
	case coreform.KindSym:
		s, _ := v.AsSym()
		if len(s) > room {
			return b, errTermTooBig
		}
		if !coreform.ValidSymbol(s) {
			return b, unrecordable("a symbol that would not read back")
		}
		return appendText(appendHead(b, majTag, tagSymbol), s), nil
	case coreform.KindBytes:
		p, _ := v.AsBytes()
		if p.Len() > int64(room) {
			return b, errTermTooBig
		}
		data, err := p.Load()
		if err != nil {
			return b, err
		}
		return appendBytes(b, data), nil
	}
	return e.openContainer(b, v, room)
}

func (e *termEncoder) openContainer(b []byte, v coreform.Value, room int) ([]byte, error) {
	f := encFrame{kind: v.Kind()}
	switch f.kind {
	case coreform.KindPair:
		n := 0
		for rest := v; n <= room && !rest.IsNil(); n++ {
			p, _ := rest.AsPair()
			rest = p.Cdr()
		}
		if n > room {
			return b, errTermTooBig
		}
		f.list = v
		b = appendHead(appendHead(b, majTag, tagList), majArray, uint64(n))
	case coreform.KindVec:
		f.vec, _ = v.AsVec()
		if f.vec.Len() > room {
			return b, errTermTooBig
		}
		b = appendHead(b, majArray, uint64(f.vec.Len()))
	default:
		m, _ := v.AsMap()
		if m.Len() > room/2 {
			return b, errTermTooBig
		}
		f.base = len(e.entries)
		for k, x := range m.All() {
			e.entries = append(e.entries, coreform.Entry{Key: k, Value: x})
		}
		f.at, f.end = f.base, len(e.entries)
		b = appendHead(appendHead(b, majTag, tagMap), majArray, 2*uint64(m.Len()))
	}
	e.frames = append(e.frames, f)
	return b, nil
}

// next returns the next value to encode, closing what is at its end.
func (e *termEncoder) next() (coreform.Value, bool) {
	for len(e.frames) > 0 {
		f := &e.frames[len(e.frames)-1]
		switch f.kind {
		case coreform.KindPair:
			if p, ok := f.list.AsPair(); ok {
				f.list = p.Cdr()
				return p.Car(), true
			}
		case coreform.KindVec:
			if f.next < f.vec.Len() {
				f.next++
				return f.vec.At(f.next - 1), true
			}
		default:
			if f.at < f.end {
				entry := &e.entries[f.at]
				if f.valueTurn = !f.valueTurn; f.valueTurn {
					return entry.Key, true
				}
				f.at++
				return entry.Value, true
			}
			e.entries = e.entries[:f.base]
		}
		e.frames = e.frames[:len(e.frames)-1]
	}
	return coreform.Value{}, false
}

// checkText refuses, before it is printed, what could not be read back from its
// canonical text: too deep, or of too many terms. Only containers are looked at.
func (e *termEncoder) checkText(v coreform.Value) error {
	if !v.IsTerm() {
		return unrecordable("a value that is not plain data")
	}
	if d := v.Depth(); d > MaxTermDepth {
		return unrecordable("a term nested %d deep, beyond %d,", d, MaxTermDepth)
	}
	defer e.reset()
	var head [16]byte
	left := MaxTextTerms
	for more := true; more; v, more = e.next() {
		if left--; left < 0 {
			return unrecordable("a value of more than %d terms", MaxTextTerms)
		}
		switch v.Kind() {
		case coreform.KindPair, coreform.KindVec, coreform.KindMap:
			if _, err := e.openContainer(head[:0], v, left); err != nil {
				return unrecordable("a value of more than %d terms", MaxTextTerms)
			}
		}
	}
	return nil
}

// reset lets go of the values of the last term.
func (e *termEncoder) reset() {
	if cap(e.frames) > keepStack || cap(e.entries) > keepStack {
		e.frames, e.entries = nil, nil
		return
	}
	clear(e.frames[:cap(e.frames)])
	clear(e.entries[:cap(e.entries)])
	e.frames, e.entries = e.frames[:0], e.entries[:0]
}

func appendIntTerm(b []byte, v coreform.Value) []byte {
	if n, ok := v.AsInt64(); ok {
		return appendInt(b, n)
	}
	n, _ := v.AsBigInt()
	major, tag := majUint, uint64(tagBigPos)
	if n.Sign() < 0 {
		major, tag = majNeg, tagBigNeg
		n = new(big.Int).Sub(new(big.Int).Neg(n), one) // −1 − n, as CBOR counts
	}
	if n.IsUint64() {
		return appendHead(b, major, n.Uint64())
	}
	return appendBytes(appendHead(b, majTag, tag), n.Bytes())
}

// fitsInt64 reports whether a CBOR argument is an int64 in its major type.
func fitsInt64(n uint64) bool { return n <= math.MaxInt64 }
