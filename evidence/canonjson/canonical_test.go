package canonjson

import (
	"bytes"
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/gcrun/gcrun/internal/testkit"
)

type vectorCase struct{ JSON, Canonical string }

type vectors struct {
	Cases         []vectorCase
	Reject        []string
	NFCCases      []vectorCase `json:"nfc_cases"`
	NFCCollisions []string     `json:"nfc_collisions"`
	StrictReject  []string     `json:"strict_reject"`
}

func loadVectors(t testing.TB) (v vectors) {
	t.Helper()
	testkit.Vectors(t, "testdata/vectors/canonical-json.json", &v)
	return v
}

func accept(t *testing.T, p Profile, src, want string) {
	t.Helper()
	got, err := Canonicalize(p, []byte(src), Limits{})
	if err != nil {
		t.Errorf("%v %s: %v", p, src, err)
		return
	}
	if string(got) != want {
		t.Errorf("%v %s\n got %s\nwant %s", p, src, got, want)
	}
	again, err := Canonicalize(p, got, Limits{})
	if err != nil || !bytes.Equal(again, got) {
		t.Errorf("%v %s: canonicalized again: %s, %v", p, got, again, err)
	}
}

func refuse(t *testing.T, p Profile, src string, code Code, offset int) {
	t.Helper()
	got, err := Canonicalize(p, []byte(src), Limits{})
	var e *Error
	if !errors.As(err, &e) {
		t.Errorf("%v %.80q: got %.80s, %v; want %s", p, src, got, err, code)
		return
	}
	if got != nil || e.Code != code || e.Offset != offset {
		t.Errorf("%v %.80q: got %s at %d (%v), want %s at %d", p, src, e.Code, e.Offset, e, code, offset)
	}
}

// spec: CJ-PROF-1, CJ-PROF-2, CJ-PROF-3, CJ-NUM-3, CJ-ORD-3
func TestVectors(t *testing.T) {
	v := loadVectors(t)
	for _, c := range v.Cases {
		accept(t, JCS, c.JSON, c.Canonical)
	}
	for _, c := range v.NFCCases {
		accept(t, Evidence, c.JSON, c.Canonical)
	}
	both := []Profile{JCS, Evidence}
	for _, src := range v.Reject {
		for _, p := range both {
			if got, err := Canonicalize(p, []byte(src), Limits{}); err == nil {
				t.Errorf("%v accepted %q as %s", p, src, got)
			}
		}
	}
	for _, src := range append(v.NFCCollisions, v.StrictReject...) {
		if got, err := Canonicalize(Evidence, []byte(src), Limits{}); err == nil {
			t.Errorf("evidence accepted %q as %s", src, got)
		}
	}
	for _, src := range v.NFCCollisions {
		if _, err := Canonicalize(JCS, []byte(src), Limits{}); err != nil {
			t.Errorf("jcs refused %q: %v", src, err)
		}
	}
}

// The worked examples of RFC 8785, sections 3.2.2 and 3.2.3.
//
// spec: CJ-PROF-1, CJ-ORD-1, CJ-TEXT-3
func TestRFC8785Examples(t *testing.T) {
	accept(t, JCS, `{
  "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
  "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
  "literals": [null, true, false]
}`, `{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`)
	accept(t, JCS, `{
  "\u20ac": "Euro Sign", "\r": "Carriage Return", "\ufb33": "Hebrew Letter Dalet With Dagesh", "1": "One",
  "\ud83d\ude00": "Emoji: Grinning Face", "\u0080": "Control", "\u00f6": "Latin Small Letter O With Diaeresis"
}`, "{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\u0080\":\"Control\",\"ö\":\"Latin Small Letter O With Diaeresis\","+
		"\"€\":\"Euro Sign\",\"😀\":\"Emoji: Grinning Face\",\"\ufb33\":\"Hebrew Letter Dalet With Dagesh\"}")
	accept(t, JCS, `{"1":{"f":{"f":"hi","F":5},"\n":56.0},"10":{},"":"empty","a":{},"111":[{"e":"yes","E":"no"}],"A":{}}`,
		`{"":"empty","1":{"\n":56,"f":{"F":5,"f":"hi"}},"10":{},"111":[{"E":"no","e":"yes"}],"A":{},"a":{}}`)
}

// CJ-01: the thresholds of the exponent form are those of ECMAScript.
//
// spec: CJ-NUM-1
func TestCJ01NumberThresholds(t *testing.T) {
	accept(t, JCS, `[0.000002,2e-7,3e20,4e21,999999999999999800000,-0.0000025]`,
		`[0.000002,2e-7,300000000000000000000,4e+21,999999999999999700000,-0.0000025]`)
}

// CJ-06: half a surrogate pair is refused and never replaced.
//
// spec: CJ-STR-2, CJ-ERR-1
func TestCJ06LoneSurrogates(t *testing.T) {
	for _, c := range []struct {
		src    string
		offset int
	}{
		{`{"q":"\uDB7F"}`, 6},
		{`{"q":"\uDE11\uD911"}`, 6},
		{`{"\uDFFF":1}`, 2},
		{`"\ud83d\u0041"`, 1},
		{`"ab\ud83dx"`, 3},
		{`"\ud83d\\ude00"`, 1},
		{`"\ud83d\ud83d\ude00"`, 1},
		{`"\ud83d\ude00\ude00"`, 13},
		{`["\ud83d","\ude00"]`, 2},
	} {
		refuse(t, JCS, c.src, CodeLoneSurrogate, c.offset)
		refuse(t, Evidence, c.src, CodeLoneSurrogate, c.offset)
	}
	accept(t, JCS, `"\\ud800"`, `"\\ud800"`)
	accept(t, JCS, `"\uD83D\uDE00"`, `"😀"`)
	accept(t, JCS, `"\ud7ff\ue000\ufffd"`, "\"\ud7ff\ue000\ufffd\"")
}

// CJ-08: names are ordered by UTF-16 code units, not by UTF-8 or code point.
//
// spec: CJ-ORD-1
func TestCJ08OrderByCodeUnits(t *testing.T) {
	accept(t, JCS, `{"\ue000":1,"\ud83e\uddea":2,"z":3}`, "{\"z\":3,\"🧪\":2,\"\ue000\":1}")
	accept(t, Evidence, `{"\ue000":1,"\ud83e\uddea":2,"z":3}`, "{\"z\":3,\"🧪\":2,\"\ue000\":1}")
	accept(t, JCS, `{"\ud7ff":1,"\ud800\udc00":2,"\udbff\udfff":3,"\uffff":4,"\ue000":5}`,
		"{\"\ud7ff\":1,\"\U00010000\":2,\"\U0010ffff\":3,\"\ue000\":5,\"\uffff\":4}")
}

// CJ-10: no HTML escaping, U+2028 raw, no final newline, also from Go values.
//
// spec: CJ-STR-1, CJ-TEXT-3, CJ-GO-1
func TestCJ10NoHTMLEscaping(t *testing.T) {
	want := "{\"s\":\"<&>\u2028\u007f\\u001f\\b\"}"
	accept(t, JCS, `{"s":"<&>\u2028\u007f\u001f\u0008"}`, want)
	got, err := Marshal(map[string]string{"s": "<&>\u2028\u007f\u001f\b"})
	if err != nil || string(got) != want {
		t.Errorf("Marshal: %s, %v", got, err)
	}
}

// CJ-15: strings follow the rules of JSON, not those of a Go string literal.
//
// spec: CJ-STR-1
func TestCJ15RawCharacters(t *testing.T) {
	want := "\"\u008e\ufeff\U000e0001\""
	accept(t, JCS, `"\u008e\ufeff\udb40\udc01"`, want)
	accept(t, JCS, want, want)
	got, err := Marshal("\u008e\ufeff\U000e0001")
	if err != nil || string(got) != want {
		t.Errorf("Marshal: %q, %v", got, err)
	}
}

// CJ-12: names that NFC makes equal collide in both orders.
//
// spec: CJ-ORD-3
func TestCJ12NameCollision(t *testing.T) {
	refuse(t, Evidence, `{"\u00f1":1,"n\u0303":2}`, CodeNameCollision, 12)
	refuse(t, Evidence, `{"n\u0303":1,"\u00f1":2}`, CodeNameCollision, 13)
	refuse(t, Evidence, `{"\u00f1":1,"ñ":2}`, CodeDuplicateName, 12)
	accept(t, JCS, `{"\u00f1":1,"n\u0303":2}`, "{\"n\u0303\":2,\"ñ\":1}")
	// Order and comparison come after NFC: U+212B sorts as U+00C5, before ß.
	accept(t, Evidence, `{"\u00df":1,"\u212b":2}`, `{"Å":2,"ß":1}`)
	accept(t, JCS, `{"\u00df":1,"\u212b":2}`, "{\"ß\":1,\"\u212b\":2}")
}

// spec: CJ-ORD-2, CJ-ERR-2
func TestDuplicateNames(t *testing.T) {
	for _, c := range []struct {
		src    string
		offset int
	}{
		{`{"a":1,"a":2}`, 7},
		{`{"a":1,"\u0061":2}`, 7},
		{`{"":1,"b":0,"":2}`, 12},
		{`{"b":1,"a":1,"a":2,"b":2}`, 13},
		{`{"a":1,"b":1,"b":2,"a":2}`, 13},
		{`{"c":0,"a":1,"a":2,"a":3}`, 13},
		{`[{"x":{"b":{},"a":[],"b":{}}}]`, 21},
		{`{"a":{"z":1,"z":2},"a":0}`, 12},
		{`{"\"":1,"\u0022":2}`, 8},
	} {
		refuse(t, JCS, c.src, CodeDuplicateName, c.offset)
		refuse(t, Evidence, c.src, CodeDuplicateName, c.offset)
	}
	accept(t, JCS, `{"b":{"a":1},"a":{"a":{"a":1}}}`, `{"a":{"a":{"a":1}},"b":{"a":1}}`)
}

// spec: CJ-TEXT-1, CJ-TEXT-2, CJ-ERR-1, CJ-ERR-2
func TestRefusedTexts(t *testing.T) {
	for _, c := range []struct {
		src    string
		code   Code
		offset int
	}{
		{"", CodeTruncated, 0},
		{" \n", CodeTruncated, 2},
		{`{"a":1`, CodeTruncated, 6},
		{`"abc`, CodeTruncated, 4},
		{`tru`, CodeTruncated, 3},
		{`1.`, CodeTruncated, 2},
		{`-`, CodeTruncated, 1},
		{`[1,`, CodeTruncated, 3},
		{"\ufeff{}", CodeBOM, 0},
		{"\ufeff", CodeBOM, 0},
		{"[\ufeff]", CodeSyntax, 1},
		{"\"a\xffb\"", CodeUTF8, 2},
		{"\"\xc0\x80\"", CodeUTF8, 1},
		{"\"\xed\xa0\x80\"", CodeUTF8, 1},
		{"\"\xf4\x90\x80\x80\"", CodeUTF8, 1},
		{"[1,}\xff", CodeUTF8, 4},
		{"{\xff\xfe", CodeUTF8, 1},
		{`{} x`, CodeTrailing, 3},
		{`1 2`, CodeTrailing, 2},
		{`01`, CodeTrailing, 1},
		{"null\x00", CodeTrailing, 4},
		{`{"a":1}]`, CodeTrailing, 7},
		{`[1,]`, CodeSyntax, 2},
		{`[1 2]`, CodeSyntax, 3},
		{`{1:2}`, CodeSyntax, 1},
		{`{a:1}`, CodeSyntax, 1},
		{`'a'`, CodeSyntax, 0},
		{`]`, CodeSyntax, 0},
		{`[}`, CodeSyntax, 1},
		{`{]`, CodeSyntax, 1},
		{"\"a\nb\"", CodeSyntax, 2},
		{`"\x41"`, CodeSyntax, 1},
		{`"\u00g0"`, CodeSyntax, 1},
		{`NaN`, CodeSyntax, 0},
		{`+1`, CodeSyntax, 0},
		{`.5`, CodeSyntax, 0},
		{`[1e]`, CodeSyntax, 3},
		{`nul1`, CodeSyntax, 3},
		{"[1,\v2]", CodeSyntax, 3},
		{"\u00a01", CodeSyntax, 0},
	} {
		refuse(t, JCS, c.src, c.code, c.offset)
		refuse(t, Evidence, c.src, c.code, c.offset)
	}
}

// spec: CJ-NUM-2
func TestOverflowAndUnderflow(t *testing.T) {
	zeros := func(n int) string { return strings.Repeat("0", n) }
	for src, code := range map[string]Code{
		"1e400":                               CodeNumberOverflow,
		"-1e309":                              CodeNumberOverflow,
		"1.7976931348623159e308":              CodeNumberOverflow,
		"1" + zeros(400):                      CodeNumberOverflow,
		"1e99999999999999999999999":           CodeNumberOverflow,
		"1" + zeros(200_000) + "e-100000":     CodeNumberOverflow,
		"1e-400":                              CodeNumberUnderflow,
		"-2e-324":                             CodeNumberUnderflow,
		"0." + zeros(400) + "1":               CodeNumberUnderflow,
		"1e-99999999999999999999999":          CodeNumberUnderflow,
		"1" + zeros(10_000) + "e-100000":      CodeNumberUnderflow,
		"0." + zeros(200_000) + "1e20000":     CodeNumberUnderflow,
		"2.4703282292062327208299439634e-324": CodeNumberUnderflow,
	} {
		refuse(t, JCS, src, code, 0)
		refuse(t, Evidence, src, code, 0)
		refuse(t, JCS, `{"a":[`+src+`]}`, code, 6)
	}
	for src, want := range map[string]string{
		"1" + zeros(10_000) + "e-10000":    "1",
		"1" + zeros(200_000) + "e-200000":  "1",
		"0." + zeros(200_000) + "1e200001": "1",
		"0e999999999999999999999":          "0",
		"-0.000e-99999999999":              "0",
		"0." + zeros(5000):                 "0",
		"1.7976931348623157e308":           "1.7976931348623157e+308",
		"1e23":                             "1e+23",
	} {
		accept(t, JCS, src, want)
		accept(t, Evidence, src, want)
	}
	accept(t, JCS, "1.7976931348623158e308", "1.7976931348623157e+308")
	accept(t, JCS, "2.4703282292062328e-324", "5e-324")
	refuse(t, Evidence, "2.4703282292062328e-324", CodeNumberInexact, 0)
}

// spec: CJ-NUM-3
func TestExactNumbers(t *testing.T) {
	for src, want := range map[string]string{
		"0.1": "0.1", "4.50": "4.5", "100.0": "100", "123456789012345680000": "123456789012345680000",
		"-0": "0", "-0.0": "0", "1e21": "1e+21", "1000e-3": "1", "9007199254740992": "9007199254740992",
		"9007199254740991": "9007199254740991", "-1.5E-10": "-1.5e-10", "0.00001": "0.00001", "5e-324": "5e-324",
		"999999999999999": "999999999999999", "-999999999999999": "-999999999999999",
	} {
		accept(t, Evidence, src, want)
	}
	for src, rounded := range map[string]string{
		"9007199254740993":          "9007199254740992",
		"-9007199254740993":         "-9007199254740992",
		"333333333.33333329":        "333333333.3333333",
		"12345678901234567890":      "12345678901234567000",
		"0.1000000000000000055":     "0.1",
		"0.10000000000000000001":    "0.1",
		"1.00000000000000000000001": "1",
		"4.9e-324":                  "5e-324",
	} {
		refuse(t, Evidence, src, CodeNumberInexact, 0)
		refuse(t, Evidence, "[ "+src+"]", CodeNumberInexact, 2)
		accept(t, JCS, src, rounded)
	}
}

// spec: CJ-LIM-1, CJ-LIM-2
func TestLimits(t *testing.T) {
	nest := func(n int) string { return strings.Repeat(`[`, n) + strings.Repeat(`]`, n) }
	objects := func(n int) string { return strings.Repeat(`{"b":1,"a":`, n) + "0" + strings.Repeat(`}`, n) }
	accept(t, JCS, nest(512), nest(512))
	refuse(t, JCS, nest(513), CodeDepth, 512)
	refuse(t, JCS, strings.Repeat("[", 1_000_000), CodeDepth, 512)
	accept(t, JCS, objects(512), strings.Repeat(`{"a":`, 512)+"0"+strings.Repeat(`,"b":1}`, 512))
	refuse(t, JCS, objects(513), CodeDepth, 512*len(`{"b":1,"a":`))

	for _, c := range []struct {
		limits Limits
		src    string
		code   Code
		offset int
	}{
		{Limits{MaxBytes: 4}, `[12]`, "", 0},
		{Limits{MaxBytes: 4}, `[123]`, CodeSize, 4},
		{Limits{MaxDepth: 2}, `[[],[{}]]`, CodeDepth, 5},
		{Limits{MaxDepth: 2}, `[[],[0]]`, "", 0},
		{Limits{MaxDepth: 100_000}, nest(513), CodeDepth, 512},
		{Limits{MaxDepth: -1, MaxBytes: -1}, nest(512), "", 0},
	} {
		_, err := Canonicalize(JCS, []byte(c.src), c.limits)
		var e *Error
		switch {
		case c.code == "" && err != nil:
			t.Errorf("%+v %.20s: %v", c.limits, c.src, err)
		case c.code != "" && (!errors.As(err, &e) || e.Code != c.code || e.Offset != c.offset):
			t.Errorf("%+v %.20s: %v, want %s at %d", c.limits, c.src, err, c.code, c.offset)
		}
	}
}

// An object at every level, each with its members the wrong way round and the
// bulk of the text innermost, must not be copied once a level.
//
// spec: CJ-LIM-2
func TestDeepReorderIsLinear(t *testing.T) {
	bulk := strings.Repeat("x", 1<<20)
	src := strings.Repeat(`{"b":1,"a":`, 500) + `"` + bulk + `"` + strings.Repeat(`}`, 500)
	want := strings.Repeat(`{"a":`, 500) + `"` + bulk + `"` + strings.Repeat(`,"b":1}`, 500)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got, err := Canonicalize(JCS, []byte(src), Limits{})
	runtime.ReadMemStats(&after)
	if err != nil || string(got) != want {
		t.Fatal("wrong result", err)
	}
	allocated := after.TotalAlloc - before.TotalAlloc
	if most := uint64(20 * len(src)); allocated > most {
		t.Errorf("allocated %d bytes for a source of %d", allocated, len(src))
	}
}

func TestErrorText(t *testing.T) {
	_, err := Canonicalize(JCS, []byte(`{"a\u001b[2J":1,"a\u001b[2J":2}`), Limits{})
	want := `byte 16: the name "a\x1b[2J" was used at byte 1 (json/duplicate-name); keep one of the two members`
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestSourceIsOnlyRead(t *testing.T) {
	for _, src := range []string{`{"b":"\u0041","a":[1e2,`, `{"b":"\u0041","a":1e2}`, `tr`} {
		backing := append(make([]byte, 0, len(src)+64), src...)
		for i := range backing[len(src):cap(backing)] {
			backing[:cap(backing)][len(src)+i] = 0xaa
		}
		before := bytes.Clone(backing[:cap(backing)])
		Canonicalize(Evidence, backing, Limits{})
		if !bytes.Equal(before, backing[:cap(backing)]) {
			t.Errorf("%s: the source's memory was written to", src)
		}
	}
}

func TestProfileNames(t *testing.T) {
	for _, p := range []Profile{JCS, Evidence} {
		if got, ok := ParseProfile(p.String()); !ok || got != p {
			t.Errorf("ParseProfile(%q) = %v, %v", p.String(), got, ok)
		}
	}
	if _, ok := ParseProfile("JCS"); ok {
		t.Error("profile names are lower case only")
	}
}
