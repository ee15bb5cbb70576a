package canonjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"pgregory.net/rapid"

	"github.com/gcrun/gcrun/internal/unicode17"
)

// spec: CJ-ORD-1
func TestCompareUTF16(t *testing.T) {
	letters := rapid.StringOf(rapid.OneOf(
		rapid.SampledFrom([]rune{0, 'a', 'z', 0x7f, 0x80, 0x7ff, 0x800, 0xd7ff, 0xe000, 0xefff, 0xf000, 0xffff, 0x10000, 0x3ffff, 0x40000, 0x10ffff}),
		rapid.Rune(),
	))
	rapid.Check(t, func(t *rapid.T) {
		a, b := letters.Draw(t, "a"), letters.Draw(t, "b")
		want := slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
		got := compareUTF16([]byte(a), []byte(b))
		if (got < 0) != (want < 0) || (got > 0) != (want > 0) {
			t.Fatalf("compareUTF16(%q, %q) = %d, code units say %d", a, b, got, want)
		}
	})
}

// Order and spelling of the source do not matter: shuffled members, other
// escapes and white space give the same bytes; another value gives others.
//
// spec: CJ-PROF-3
func TestSameValueSameBytes(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		doc := randomDocument(r, 4)
		first, err := Canonicalize(JCS, []byte(doc), Limits{})
		if err != nil {
			t.Fatalf("%s: %v", doc, err)
		}
		respelled := respell(r, decode(t, doc))
		second, err := Canonicalize(JCS, []byte(respelled), Limits{})
		if err != nil || !bytes.Equal(first, second) {
			t.Fatalf("%s\nand %s\ngive %s\nand %s (%v)", doc, respelled, first, second, err)
		}
		if !reflect.DeepEqual(decode(t, doc), decode(t, string(first))) {
			t.Fatalf("%s became another value: %s", doc, first)
		}
		changed, err := Canonicalize(JCS, []byte("["+doc+",0]"), Limits{})
		if err != nil || bytes.Equal(changed, first) {
			t.Fatalf("[%s,0] gives %s (%v)", doc, changed, err)
		}
	}
}

func decode(t *testing.T, doc string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(doc), &v); err != nil {
		t.Fatalf("%s: %v", doc, err)
	}
	return v
}

// respell writes a decoded value as JSON in some other way.
func respell(r *rand.Rand, v any) string {
	space := []string{"", " ", "\n\t"}[r.IntN(3)]
	switch v := v.(type) {
	case string:
		var s strings.Builder
		for _, u := range utf16.Encode([]rune(v)) {
			s.WriteString(`\u` + string("0123456789ABCDEF"[u>>12]) + string("0123456789abcdef"[u>>8&15]) +
				string("0123456789ABCDEF"[u>>4&15]) + string("0123456789abcdef"[u&15]))
		}
		return space + `"` + s.String() + `"` + space
	case []any:
		var items []string
		for _, x := range v {
			items = append(items, respell(r, x))
		}
		return space + "[" + strings.Join(items, ",") + "]"
	case map[string]any:
		var members []string
		for k, x := range v {
			members = append(members, respell(r, k)+":"+respell(r, x))
		}
		slices.Sort(members)
		r.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
		return "{" + strings.Join(members, ",") + "}" + space
	}
	b, _ := json.Marshal(v)
	return space + string(b)
}

// spec: CJ-PROF-2
func TestEvidenceStringsAreNFC(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringOf(rapid.OneOf(
			rapid.SampledFrom([]rune{'e', 'n', 0x301, 0x303, 0x327, 0x212b, 0x1100, 0x1161, 0x11a8, 0x2126, 0x1d160, 0x34f}),
			rapid.Rune(),
		)).Draw(t, "s")
		src := appendQuoted(nil, []byte(s))
		got, err := Canonicalize(Evidence, src, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if want := appendQuoted(nil, []byte(unicode17.NFC(s))); !bytes.Equal(got, want) {
			t.Fatalf("%q: %q, want %q", s, got, want)
		}
		if plain, err := Canonicalize(JCS, src, Limits{}); err != nil || !bytes.Equal(plain, src) {
			t.Fatalf("jcs changed %q to %q (%v)", src, plain, err)
		}
	})
}

// What is accepted canonicalizes to itself, is JSON to encoding/json too, and an
// evidence text is always a jcs text. What is refused says where.
//
// spec: CJ-PROF-3, CJ-ERR-1
func FuzzCanonicalize(f *testing.F) {
	v := loadVectors(f)
	for _, c := range append(v.Cases, v.NFCCases...) {
		f.Add([]byte(c.JSON))
	}
	for _, s := range slices.Concat(v.Reject, v.NFCCollisions, v.StrictReject) {
		f.Add([]byte(s))
	}
	f.Add([]byte(`{"b":[{"d":1,"c":{"z":[],"y":"\ud83d\ude00"}}],"a":-0.0e-5}`))
	f.Fuzz(func(t *testing.T, src []byte) {
		for _, p := range []Profile{JCS, Evidence} {
			out, err := Canonicalize(p, src, Limits{})
			if err != nil {
				var e *Error
				if !errors.As(err, &e) || e.Code == "" || e.Offset < 0 || e.Offset > len(src) || out != nil {
					t.Fatalf("%v: bad refusal %#v", p, err)
				}
				continue
			}
			if !json.Valid(out) || !json.Valid(src) {
				t.Fatalf("%v: accepted %q as %q, which is not JSON", p, src, out)
			}
			for _, q := range []Profile{JCS, p} {
				if again, err := Canonicalize(q, out, Limits{}); err != nil || !bytes.Equal(again, out) {
					t.Fatalf("%v of %v's %q: %q, %v", q, p, out, again, err)
				}
			}
		}
	})
}

func BenchmarkCanonicalize(b *testing.B) {
	r := rand.New(rand.NewPCG(5, 6))
	var docs []string
	for range 2000 {
		docs = append(docs, randomDocument(r, 4))
	}
	src := []byte("[" + strings.Join(docs, ",") + "]")
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Canonicalize(JCS, src, Limits{}); err != nil {
			b.Fatal(err)
		}
	}
}
