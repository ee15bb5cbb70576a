package prelude_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/coreform/kernel"
	"github.com/gcrun/gcrun/evidence/canonjson"
)

// jsonStrings are strings with what escapes and orders of names are about.
func jsonStrings() *rapid.Generator[string] {
	return rapid.Map(rapid.SliceOfN(rapid.OneOf(
		rapid.SampledFrom([]rune("\x00\x08\t\n\f\r\x1f\"\\/ az\x7f\u0080é\ud7ff\ue000\ufeff\uffff\U00010000\U0010ffff😀")),
		rapid.Rune(),
	), 0, 6), func(rs []rune) string { return strings.ToValidUTF8(string(rs), "?") })
}

// jsonTerms are the values that parse can give.
func jsonTerms(depth int) *rapid.Generator[coreform.Value] {
	atom := rapid.OneOf(
		rapid.Just(coreform.Value{}),
		rapid.Map(rapid.Bool(), coreform.Bool),
		rapid.Map(integers(), coreform.BigInt),
		rapid.Map(jsonStrings(), coreform.Str),
		rapid.Custom(func(t *rapid.T) coreform.Value {
			n := integers().Draw(t, "unscaled")
			if new(big.Int).Mod(n, big.NewInt(10)).Sign() == 0 {
				n.Add(n, big.NewInt(3))
			}
			return coreform.MapOf(entryOf(":num/kind", coreform.Sym(":fixed-decimal")),
				entryOf(":num/scale", coreform.Int(int64(rapid.OneOf(rapid.IntRange(1, 40), rapid.IntRange(1, 4096)).Draw(t, "scale")))),
				entryOf(":num/unscaled", coreform.BigInt(n)))
		}),
	)
	if depth == 0 {
		return atom
	}
	kids := rapid.SliceOfN(rapid.Deferred(func() *rapid.Generator[coreform.Value] { return jsonTerms(depth - 1) }), 0, 9)
	return rapid.OneOf(atom,
		rapid.Map(kids, func(vs []coreform.Value) coreform.Value { return coreform.Vec(slices.Clone(vs)...) }),
		rapid.Custom(func(t *rapid.T) coreform.Value {
			var es []coreform.Entry
			for _, v := range kids.Draw(t, "members") {
				es = append(es, coreform.Entry{Key: coreform.Str(jsonStrings().Draw(t, "name")), Value: v})
			}
			return coreform.MapOf(es...)
		}),
	)
}

func entryOf(key string, v coreform.Value) coreform.Entry {
	return coreform.Entry{Key: coreform.Sym(key), Value: v}
}

// What parse can give is what print prints and parse reads again, and the text
// is JSON to others too.
//
// spec: JSON-LAW-1, JSON-VAL-1, JSON-PRINT-1
func TestJSONRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		v := jsonTerms(3).Draw(rt, "v")
		text, fault := printTerm(rt, v, kernel.Limits{})
		if fault != "" || !json.Valid([]byte(text)) {
			rt.Fatalf("%s: %q %s", show(v), text, fault)
		}
		again, fault := parseDoc(rt, text, kernel.Limits{})
		if fault != "" || !coreform.Equal(again, v) {
			rt.Fatalf("%s: %s\nread as %s %s", show(v), text, show(again), fault)
		}
		if twice, _ := printTerm(rt, again, kernel.Limits{}); twice != text {
			rt.Fatalf("%s: printed again: %s", text, twice)
		}
		// Others see the same strings, numbers and structure.
		if seen := asGo(rt, text); seen != describe(v) {
			rt.Fatalf("%s\nis %s\nto others %s", text, describe(v), seen)
		}
	})
}

// asGo describes a document as encoding/json reads it.
func asGo(t rapid.TB, doc string) string {
	d := json.NewDecoder(strings.NewReader(doc))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return describeGo(t, v)
}

func describeGo(t rapid.TB, v any) string {
	switch v := v.(type) {
	case json.Number:
		r, ok := new(big.Rat).SetString(string(v))
		if !ok {
			t.Fatalf("%s is no number", v)
		}
		return r.RatString()
	case []any:
		var out []string
		for _, x := range v {
			out = append(out, describeGo(t, x))
		}
		return fmt.Sprint("vec", out)
	case map[string]any:
		var out []string
		for _, k := range slices.Sorted(maps.Keys(v)) {
			out = append(out, fmt.Sprintf("%q:%s", k, describeGo(t, v[k])))
		}
		return fmt.Sprint("map", out)
	}
	return fmt.Sprintf("%#v", v)
}

// describe describes a value in the same way.
func describe(v coreform.Value) string {
	if n, ok := v.AsBigInt(); ok {
		return n.String()
	}
	if s, ok := v.AsStr(); ok {
		return fmt.Sprintf("%#v", s)
	}
	if b, ok := v.AsBool(); ok {
		return fmt.Sprint(b)
	}
	if x, ok := v.AsVec(); ok {
		var out []string
		for _, e := range x.All() {
			out = append(out, describe(e))
		}
		return fmt.Sprint("vec", out)
	}
	m, ok := v.AsMap()
	if !ok {
		return "<nil>"
	}
	if u, ok := m.Get(coreform.Sym(":num/unscaled")); ok {
		n, _ := u.AsBigInt()
		s, _ := m.Get(coreform.Sym(":num/scale"))
		scale, _ := s.AsInt64()
		return new(big.Rat).SetFrac(n, new(big.Int).Exp(big.NewInt(10), big.NewInt(scale), nil)).RatString()
	}
	var out []string
	for k, e := range m.All() {
		s, _ := k.AsStr()
		out = append(out, fmt.Sprintf("%q:%s", s, describe(e)))
	}
	return fmt.Sprint("map", out)
}

// jsonLiterals are numbers, mostly near where something changes.
func jsonLiterals() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.StringMatching(`-?(0|[1-9][0-9]{0,24})(\.[0-9]{1,12})?([eE][+-]?[0-9]{1,2})?`),
		rapid.Map(rapid.Float64(), func(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }),
		rapid.Map(rapid.Float64Range(-1, 1), func(f float64) string { return strconv.FormatFloat(f, 'e', -1, 64) }),
		rapid.Map(rapid.Int64(), func(n int64) string { return strconv.FormatInt(n, 10) }),
		rapid.StringMatching(`[1-9][0-9]{0,2}e(1[789]|2[0123])|[1-9]{1,3}e-[4-9]|0\.0{4,7}[1-9]{1,3}`),
	)
}

// A number is printed as jcs prints it exactly when that does not change its
// value and needs no exponent for an integer. Its value is that of the literal.
//
// spec: JSON-NUM-1, JSON-NUM-3, JSON-NUM-4
func TestJSONNumbersAndJCS(t *testing.T) {
	same, other := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		literal := jsonLiterals().Draw(rt, "literal")
		exact, ok := new(big.Rat).SetString(literal)
		if !ok {
			rt.Skip("not a finite number")
		}
		v, fault := parseDoc(rt, literal, kernel.Limits{})
		if fault != "" || describe(v) != exact.RatString() || v.IsInt() != exact.IsInt() {
			rt.Fatalf("%s: %s %s, want %s", literal, show(v), fault, exact.RatString())
		}
		text, _ := printTerm(rt, v, kernel.Limits{})
		jcs, err := canonjson.Canonicalize(canonjson.JCS, []byte(literal), canonjson.Limits{})
		if err != nil {
			rt.Skip("no double")
		}
		rounded, _ := new(big.Rat).SetString(string(jcs))
		long := exact.IsInt() && len(new(big.Int).Abs(exact.Num()).String()) > 21
		if want := rounded.Cmp(exact) == 0 && !long; want != (text == string(jcs)) {
			rt.Fatalf("%s: printed as %s, by jcs %s", literal, text, jcs)
		}
		if text == string(jcs) {
			same++
		} else {
			other++
		}
	})
	if same == 0 || other == 0 {
		t.Errorf("%d numbers are the same, %d are not", same, other)
	}
}

// jsonDocs are documents, most of which are wrong somewhere: pieces in any order,
// and documents in which a place was changed.
func jsonDocs() *rapid.Generator[string] {
	words := strings.Fields(`[ [ ] ] { { } } , , : : " " \ 1 0 - . e E + null true fals "a" "b": "a":1 ,"a":[] [1,2] {} [] 1.5 1e2 \u00e9 \ud83d \udE00 \n "\u0041" é 😀`)
	piece := rapid.SampledFrom(append(words, " ", "\t", "\n", "\x00", "\x1f", "\x7f", "\ufeff", ""))
	return rapid.OneOf(
		rapid.Map(rapid.SliceOfN(piece, 0, 14), func(ps []string) string { return strings.Join(ps, "") }),
		rapid.Custom(func(t *rapid.T) string {
			doc, _ := printTerm(t, jsonTerms(2).Draw(t, "v"), kernel.Limits{})
			at := rapid.IntRange(0, len(doc)).Draw(t, "at")
			to := min(len(doc), at+rapid.IntRange(0, 2).Draw(t, "without"))
			return strings.ToValidUTF8(doc[:at]+piece.Draw(t, "with")+doc[to:], "?")
		}),
	)
}

// longExponent is an exponent that math/big should not see.
var longExponent = regexp.MustCompile(`[eE][+-]?[0-9]{5}`)

// checkDoc compares what is said of a document with what encoding/json says of
// its grammar, and with the laws. It reports whether the document is taken.
func checkDoc(t rapid.TB, doc string, limits kernel.Limits) bool {
	v, fault := parseDoc(t, doc, limits)
	kind, _, _ := strings.Cut(strings.TrimPrefix(fault, "core/parse/"), " ")
	switch {
	case fault == "":
	case strings.HasPrefix(fault, "limit "):
		return false
	case kind == "eof" || kind == "unexpected":
		if json.Valid([]byte(doc)) && utf8.ValidString(doc) {
			t.Fatalf("%q: %s, but it is valid", doc, fault)
		}
		return false
	case slices.Contains([]string{"escape", "number", "duplicate", "depth"}, kind):
		return false // encoding/json takes some of these
	default:
		t.Fatalf("%q: %s", doc, fault)
	}
	if !json.Valid([]byte(doc)) {
		t.Fatalf("%q: taken as %s", doc, show(v))
	}
	if !longExponent.MatchString(doc) {
		if seen := asGo(t, doc); seen != describe(v) {
			t.Fatalf("%s\nis %s\nto others %s", doc, describe(v), seen)
		}
	}
	text, fault := printTerm(t, v, limits)
	if strings.HasPrefix(fault, "limit ") {
		return false
	}
	again, wrong := parseDoc(t, text, limits)
	if fault != "" || wrong != "" && !strings.HasPrefix(wrong, "limit ") {
		t.Fatalf("%q: %s, then %s", doc, fault, wrong)
	}
	if wrong == "" {
		if twice, _ := printTerm(t, again, limits); !coreform.Equal(again, v) || twice != text {
			t.Fatalf("%q: printed as %q, then as %q", doc, text, twice)
		}
	}
	return true
}

// Exactly the documents of the grammar are taken, but for those that the clauses
// below refuse, and they mean the same to encoding/json.
//
// spec: JSON-TEXT-1, JSON-TEXT-2, JSON-TEXT-3
func TestJSONGrammar(t *testing.T) {
	taken, refused := 0, 0
	for range 5 { // few documents that are drawn are valid
		rapid.Check(t, func(t *rapid.T) {
			if checkDoc(t, jsonDocs().Draw(t, "doc"), kernel.Limits{}) {
				taken++
			} else {
				refused++
			}
		})
	}
	t.Logf("%d documents taken, %d refused", taken, refused)
	if !testing.Short() && (taken == 0 || refused == 0) {
		t.Errorf("%d documents are taken, %d refused", taken, refused)
	}
}

// spec: JSON-TEXT-1, JSON-LAW-1
func FuzzJSON(f *testing.F) {
	for _, doc := range []string{
		`{"a":[1,2.5,-3e-9,1e30,"\ud83d\ude00\n",null,true,{}],"":{"b":[]}}`, "[[[[", `{"a":1,"a":2}`, "1e999999999", "-0.0e0", ` "\u00e9" `, "[1,]", `"\ud83d"`,
		"{\"\ue000\":1,\"😀\":2}", "123456789012345678901234567890.123456789", "nul",
	} {
		f.Add(doc)
	}
	f.Fuzz(func(t *testing.T, doc string) {
		if !utf8.ValidString(doc) {
			v, _, err := eval(`(core/json::parse b"`+coreform.EscapeBytes([]byte(doc))+`")`, kernel.Limits{})
			if _, refused := sealedIn(v); err != nil || !refused {
				t.Fatalf("%q: %s, %v", doc, show(v), err)
			}
			return
		}
		limits := kernel.Limits{Steps: 10_000_000, LiveUnits: 1 << 20}
		checkDoc(t, doc, limits)
		src := "(core/json::print (core/json::parse " + strLiteral(doc) + "))"
		if a, b := denied([]byte(src), limits), denied([]byte(src), limits); a != b {
			t.Fatalf("two runs differ:\n%s\n%s", a, b)
		}
	})
}
