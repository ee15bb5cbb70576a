package gclog

import (
	"bytes"
	"encoding/hex"
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/fxamacker/cbor/v2"
	"pgregory.net/rapid"

	"github.com/gcrun/gcrun/coreform"
)

const noLimit = 1 << 30

func encodeTerm(t testing.TB, v coreform.Value) []byte {
	t.Helper()
	var e termEncoder
	b, err := e.append(nil, v, noLimit)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func decodeTerm(b []byte) (coreform.Value, error) {
	var d termDecoder
	c := &cursor{b: b}
	v := d.term(c)
	return v, c.done()
}

func bigOf(s string) coreform.Value {
	n, ok := new(big.Int).SetString(s, 10)
	if !ok {
		panic("BUG: " + s)
	}
	return coreform.BigInt(n)
}

// spec: LOG-TERM-1 LOG-TERM-2 LOG-TERM-3
func TestTermEncodings(t *testing.T) {
	for _, tc := range []struct {
		v    coreform.Value
		want string
	}{
		{coreform.Value{}, "f6"},
		{coreform.Bool(false), "f4"},
		{coreform.Bool(true), "f5"},
		{coreform.Int(0), "00"},
		{coreform.Int(23), "17"},
		{coreform.Int(24), "1818"},
		{coreform.Int(-1), "20"},
		{coreform.Int(-257), "390100"},
		{coreform.Int(math.MaxInt64), "1b7fffffffffffffff"},
		{coreform.Int(math.MinInt64), "3b7fffffffffffffff"},
		{bigOf("9223372036854775808"), "1b8000000000000000"},
		{bigOf("18446744073709551615"), "1bffffffffffffffff"},
		{bigOf("18446744073709551616"), "c249010000000000000000"},
		{bigOf("-18446744073709551616"), "3bffffffffffffffff"},
		{bigOf("-18446744073709551617"), "c349010000000000000000"},
		{coreform.Str(""), "60"},
		{coreform.Str("ä\x00"), "63c3a400"},
		{coreform.BytesOf(nil), "40"},
		{coreform.BytesOf([]byte{1, 2}), "420102"},
		{coreform.Sym(":path"), "d827653a70617468"},
		{coreform.Vec(), "80"},
		{coreform.Vec(coreform.Int(1), coreform.Value{}), "8201f6"},
		{coreform.List(coreform.Int(1), coreform.Int(2)), "d9cf01820102"},
		{coreform.MapOf(), "d9cf0280"},
		{kw("b", coreform.Int(2), "a", coreform.Int(1)), "d9cf0284d827623a6101d827623a6202"},
	} {
		got := hex.EncodeToString(encodeTerm(t, tc.v))
		if got != tc.want {
			t.Errorf("%v: %s, want %s", tc.v.Kind(), got, tc.want)
		}
		raw, _ := hex.DecodeString(tc.want)
		back, err := decodeTerm(raw)
		if err != nil || !coreform.Equal(back, tc.v) || coreform.Compare(back, tc.v) != 0 {
			t.Errorf("%s: does not read back: %v", tc.want, err)
		}
		if err := cbor.Wellformed(raw); err != nil {
			t.Errorf("%s: %v", tc.want, err)
		}
	}
}

// CB-01, CB-03, CB-08: what no encoder writes is refused, cheaply.
// spec: LOG-TERM-4 LOG-TERM-5 LOG-TERM-6
func TestTermRefusals(t *testing.T) {
	for name, in := range map[string]string{
		"empty":                       "",
		"trailing byte":               "0000",
		"long head":                   "1817",
		"long head 2":                 "190018",
		"long length":                 "5801ff",
		"long bignum":                 "c2480100000000000000",
		"bignum with leading zero":    "c24a00010000000000000000",
		"bignum of text":              "c26a30303030303030303030",
		"undefined":                   "f7",
		"simple value":                "f820",
		"float":                       "f93c00",
		"NaN":                         "f97e00",
		"break":                       "ff",
		"reserved info":               "1c",
		"CBOR map":                    "a10102",
		"duplicate keys (CB-06)":      "a2617401617402",
		"indefinite array":            "9f01ff",
		"indefinite map (CB-08)":      "bf616101ff",
		"indefinite text (CB-08)":     "7f61616162ff",
		"bad UTF-8":                   "61ff",
		"surrogate":                   "63eda080",
		"unknown tag":                 "c000",
		"nested tag":                  "d827d8276161",
		"symbol nil":                  "d827636e696c",
		"symbol empty":                "d82760",
		"symbol number":               "d8276131",
		"symbol of bytes":             "d8274161",
		"empty list":                  "d9cf0180",
		"list of a vector's tag":      "d9cf0100",
		"map with odd items":          "d9cf0281f6",
		"keys out of order":           "d9cf028402f601f6",
		"equal keys":                  "d9cf028401f601f6",
		"blob reference":              "d9cf0383005820" + strings.Repeat("00", 32) + "00",
		"array of billions (CB-01)":   "9afedcba98",
		"array of 2^64 (CB-01)":       "9bffffffffffffffff",
		"bytes of 2^63 (CB-01)":       "5b7fffffffffffffff",
		"map of 2^63":                 "d9cf029b8000000000000000",
		"100 000 arrays (CB-03)":      strings.Repeat("81", 100_000) + "00",
		"100 000 tags (CB-03)":        strings.Repeat("c6", 100_000) + "00",
		"100 000 list tags (CB-03)":   strings.Repeat("d9cf0181", 100_000) + "00",
		"one level too deep":          strings.Repeat("81", MaxTermDepth+1) + "00",
		"an item too many":            "9a00100000" + strings.Repeat("00", MaxTermItems),
		"ends in an array":            "8201",
		"ends in a head":              "19",
		"ends in a text":              "6261",
		"array claims more than left": "8301",
	} {
		raw, err := hex.DecodeString(in)
		if err != nil {
			t.Fatal(name, err)
		}
		if _, err := decodeTerm(raw); err == nil {
			t.Errorf("%s: accepted", name)
		}
		if len(raw) < 64 {
			allocs := testing.AllocsPerRun(10, func() { _, _ = decodeTerm(raw) })
			if allocs > 20 {
				t.Errorf("%s: %v allocations", name, allocs)
			}
		}
	}
}

// Limits are equal on both sides: what is at the limit goes both ways, what is
// beyond goes neither.
// spec: LOG-TERM-5 LOG-TERM-6
func TestTermLimits(t *testing.T) {
	deep := func(n int) coreform.Value {
		v := coreform.Int(0)
		for range n {
			v = coreform.Vec(v)
		}
		return v
	}
	var e termEncoder
	b, err := e.append(nil, deep(MaxTermDepth), noLimit)
	if err != nil {
		t.Fatal(err)
	}
	if back, err := decodeTerm(b); err != nil || back.Depth() != MaxTermDepth {
		t.Error(err)
	}
	if _, err := e.append(nil, deep(MaxTermDepth+1), noLimit); !errors.Is(err, ErrUnrecordable) {
		t.Error(err)
	}
	wide := func(n int) coreform.Value { return coreform.Vec(make([]coreform.Value, n)...) }
	if b, err = e.append(nil, wide(MaxTermItems-1), noLimit); err != nil {
		t.Fatal(err)
	}
	if _, err := decodeTerm(b); err != nil {
		t.Error(err)
	}
	if _, err := e.append(nil, wide(MaxTermItems), noLimit); !errors.Is(err, errTermTooBig) {
		t.Error(err)
	}
	// The size limit is exact, for every kind, and leaves the buffer as it was.
	for _, v := range []coreform.Value{coreform.Str("abc"), coreform.BytesOf([]byte("abc")), coreform.Sym("abc"), wide(9),
		coreform.List(coreform.Int(1), coreform.Int(2)), kw("a", coreform.Int(1)), bigOf("99999999999999999999999")} {
		n := len(encodeTerm(t, v))
		if b, err := e.append([]byte("x"), v, n); err != nil || len(b) != n+1 {
			t.Errorf("%v at its size: %v", v.Kind(), err)
		}
		if b, err := e.append([]byte("x"), v, n-1); !errors.Is(err, errTermTooBig) || string(b) != "x" {
			t.Errorf("%v below its size: %q %v", v.Kind(), b, err)
		}
	}
	if err := e.checkText(wide(MaxTextTerms - 1)); err != nil {
		t.Error(err)
	}
	if err := e.checkText(wide(MaxTextTerms)); !errors.Is(err, ErrUnrecordable) {
		t.Error(err)
	}
}

// A value that shares its parts can be exponentially larger written out.
func TestSharedPartsEndInAnError(t *testing.T) {
	v := coreform.Int(1)
	for range 200 {
		v = coreform.Vec(v, v)
	}
	var e termEncoder
	if _, err := e.append(nil, v, defaultInline); !errors.Is(err, errTermTooBig) {
		t.Error(err)
	}
	if err := e.checkText(v); !errors.Is(err, ErrUnrecordable) {
		t.Error(err)
	}
}

// spec: LOG-TERM-7
func TestNotATermIsNotEncoded(t *testing.T) {
	var e termEncoder
	improper := coreform.Vec(coreform.Cons(coreform.Int(1), coreform.Int(2)))
	if _, err := e.append(nil, improper, noLimit); !errors.Is(err, ErrUnrecordable) {
		t.Error(err)
	}
}

// genTerm draws any term of limited size.
func genTerm() *rapid.Generator[coreform.Value] {
	atom := rapid.OneOf(
		rapid.Just(coreform.Value{}),
		rapid.Map(rapid.Bool(), coreform.Bool),
		rapid.Map(rapid.Int64(), coreform.Int),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 20), func(b []byte) coreform.Value {
			n := new(big.Int).SetBytes(b)
			if len(b)%2 == 1 {
				n.Neg(n)
			}
			return coreform.BigInt(n)
		}),
		rapid.Map(rapid.String(), coreform.Str),
		rapid.Map(rapid.SliceOf(rapid.Byte()), coreform.BytesOf),
		rapid.Map(rapid.StringMatching(`:?[a-z][a-z0-9/-]{0,30}`).Filter(coreform.ValidSymbol), coreform.Sym),
	)
	var at func(depth int) *rapid.Generator[coreform.Value]
	at = func(depth int) *rapid.Generator[coreform.Value] {
		if depth == 0 {
			return atom
		}
		items := rapid.SliceOfN(rapid.Deferred(func() *rapid.Generator[coreform.Value] { return at(depth - 1) }), 0, 12)
		return rapid.OneOf(atom,
			rapid.Map(items, func(vs []coreform.Value) coreform.Value { return coreform.Vec(vs...) }),
			rapid.Map(items, func(vs []coreform.Value) coreform.Value { return coreform.List(vs...) }),
			rapid.Map(items, func(vs []coreform.Value) coreform.Value {
				var es []coreform.Entry
				for i := 0; i+1 < len(vs); i += 2 {
					es = append(es, coreform.Entry{Key: vs[i], Value: vs[i+1]})
				}
				return coreform.MapOf(es...)
			}))
	}
	return at(3)
}

// Writing and reading are inverse, one encoder may be used again and again, and
// an independent reader finds the bytes well-formed.
// spec: LOG-TERM-1 LOG-TERM-8
func TestTermLaws(t *testing.T) {
	var e termEncoder
	rapid.Check(t, func(t *rapid.T) {
		v := genTerm().Draw(t, "term")
		b, err := e.append([]byte("head"), v, noLimit)
		if err != nil {
			t.Fatal(err)
		}
		b = b[4:]
		back, err := decodeTerm(b)
		if err != nil {
			t.Fatal(err)
		}
		if !coreform.Equal(v, back) || coreform.StateHash(v) != coreform.StateHash(back) || v.Depth() != back.Depth() {
			t.Fatalf("%x reads back as another value", b)
		}
		if err := cbor.Wellformed(b); err != nil {
			t.Fatalf("%x: %v", b, err)
		}
	})
}

// Encoding allocates nothing but the output, decoding only the values.
func TestEncodingMakesNoGarbage(t *testing.T) {
	v := kw("path", coreform.Str("data/file.txt"), "opts", coreform.Vec(coreform.Int(1), coreform.List(coreform.Sym("a"))))
	var e termEncoder
	buf := make([]byte, 0, 1000)
	if n := testing.AllocsPerRun(100, func() {
		if _, err := e.append(buf, v, noLimit); err != nil {
			t.Error(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// What is accepted is written back byte for byte and is well-formed CBOR.
// spec: LOG-TERM-8
func FuzzTermDecode(f *testing.F) {
	for _, seed := range []string{"f6", "1b7fffffffffffffff", "c249010000000000000000", "d827653a70617468",
		"d9cf01820102", "d9cf0284d827623a6101d827623a6202", "8201f6", "d9cf028402f601f6", "9afedcba98", "3bffffffffffffffff"} {
		b, _ := hex.DecodeString(seed)
		f.Add(b)
	}
	dm, err := cbor.DecOptions{MaxNestedLevels: 65535, MaxArrayElements: math.MaxInt32, MaxMapPairs: math.MaxInt32}.DecMode()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := decodeTerm(b)
		if err != nil {
			return
		}
		if again := encodeTerm(t, v); !bytes.Equal(again, b) {
			t.Fatalf("%x is written back as %x", b, again)
		}
		if err := dm.Wellformed(b); err != nil {
			t.Fatalf("%x: %v", b, err)
		}
	})
}
