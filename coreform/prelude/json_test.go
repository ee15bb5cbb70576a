package prelude_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/coreform/kernel"
	"github.com/gcrun/gcrun/evidence/canonjson"
)

// strLiteral is the source of a string.
func strLiteral(s string) string { return `"` + coreform.EscapeStr(s) + `"` }

// sealedIn returns the payload of a sealed value.
func sealedIn(v coreform.Value) (payload coreform.Value, ok bool) {
	o := v.AsOther()
	if o == nil || o.TypeName() != "sealed" {
		return coreform.Value{}, false
	}
	_, kids := o.Parts()
	return kids[0], true
}

// jsonFault describes the error of parse or print: code and context.
func jsonFault(t rapid.TB, payload coreform.Value) string {
	t.Helper()
	m, _ := payload.AsMap()
	code, _ := m.Get(coreform.Sym(":error/code"))
	context, _ := m.Get(coreform.Sym(":error/context"))
	message, _ := m.Get(coreform.Sym(":error/message"))
	text, _ := code.AsStr()
	if said, _ := message.AsStr(); said == "" || said != kernel.ErrorText(text) {
		t.Errorf("%s says %q", text, said)
	}
	c, _ := context.AsMap()
	if s, _ := c.Get(coreform.Sym(":subsystem")); !coreform.Equal(s, coreform.Str("prelude")) {
		return text + " " + show(context)
	}
	return text + " " + show(c.Remove(coreform.Sym(":subsystem")))
}

// parseDoc parses a document in a program of its own. fault is "" if it is taken.
func parseDoc(t rapid.TB, doc string, limits kernel.Limits) (v coreform.Value, fault string) {
	t.Helper()
	v, _, err := eval("(core/json::parse "+strLiteral(doc)+")", limits)
	if err != nil {
		return v, failureText(err)
	}
	if payload, failed := sealedIn(v); failed {
		return v, jsonFault(t, payload)
	}
	return v, ""
}

// printTerm prints a term in a program of its own.
func printTerm(t rapid.TB, v coreform.Value, limits kernel.Limits) (text, fault string) {
	t.Helper()
	src, err := coreform.PrintTerm(v, coreform.Limits{MaxDepth: coreform.MaximumDepth})
	if err != nil {
		t.Fatal(err)
	}
	out, _, err := eval("(core/json::print (quote "+string(src)+"))", limits)
	if err != nil {
		return "", failureText(err)
	}
	if payload, failed := sealedIn(out); failed {
		return "", jsonFault(t, payload)
	}
	text, _ = out.AsStr()
	return text, ""
}

// decimal shows a decimal as a case does.
func decimal(unscaled string, scale int) string {
	return fmt.Sprintf("{:num/kind :fixed-decimal :num/scale %d :num/unscaled %s}", scale, unscaled)
}

// Documents that are read: the value, and the canonical text.
//
// spec: JSON-VAL-1, JSON-TEXT-1, JSON-TEXT-2, JSON-NUM-1, JSON-NUM-3, JSON-PRINT-1, JSON-PRINT-2, JSON-PRINT-3
func TestJSONDocuments(t *testing.T) {
	for _, c := range []struct{ doc, value, text string }{
		{"null", "nil", "null"},
		{" \t\r\n true \n", "true", "true"},
		{"false", "false", "false"},
		{"0", "0", "0"},
		{"-0", "0", "0"},
		{"-0.0", "0", "0"},
		{"0e0", "0", "0"},
		{"-0e-0", "0", "0"},
		{"0e999999999999999999999", "0", "0"},
		{"0.000e-999999999999999999999", "0", "0"},
		{"12", "12", "12"},
		{"-7", "-7", "-7"},
		{"999999999999999999", "999999999999999999", "999999999999999999"},
		{"9223372036854775807", "9223372036854775807", "9223372036854775807"},
		{"-9223372036854775808", "-9223372036854775808", "-9223372036854775808"},
		{"9223372036854775808", "9223372036854775808", "9223372036854775808"},
		{"-123456789012345678901234567890", "-123456789012345678901234567890", "-123456789012345678901234567890"},
		{"1e3", "1000", "1000"},
		{"1E+3", "1000", "1000"},
		{"1000.0", "1000", "1000"},
		{"10000e-1", "1000", "1000"},
		{"0.001e6", "1000", "1000"},
		{"1.5e1", "15", "15"},
		{"120e-1", "12", "12"},
		{"1e20", "100000000000000000000", "100000000000000000000"},
		{"1.25e25", "12500000000000000000000000", "12500000000000000000000000"},
		{"1.50", decimal("15", 1), "1.5"},
		{"-1.5e-2", decimal("-15", 3), "-0.015"},
		{"0.1", decimal("1", 1), "0.1"},
		{"100.010", decimal("10001", 2), "100.01"},
		{"0.00", "0", "0"},
		{"0.000001", decimal("1", 6), "0.000001"},
		{"0.0000001", decimal("1", 7), "1e-7"},
		{"-125e-9", decimal("-125", 9), "-1.25e-7"},
		{"0.00000999", decimal("999", 8), "0.00000999"},
		{"12345678901234567890.12345", decimal("1234567890123456789012345", 5), "12345678901234567890.12345"},
		{"99999999999999999999999.5", decimal("999999999999999999999995", 1), "99999999999999999999999.5"},
		{`""`, `""`, `""`},
		{`"a"`, `"a"`, `"a"`},
		{`"\"\\\/\b\f\n\r\t"`, `"\"\\/\u0008\u000C\n\r\t"`, `"\"\\/\b\f\n\r\t"`},
		{`"\u0000\u001F\u001f\u007f"`, `"\u0000\u001F\u001F\u007F"`, "\"\\u0000\\u001f\\u001f\u007f\""},
		{`"\u00e9é\u20AC"`, `"éé€"`, `"éé€"`},
		{`"\ud83d\ude00😀"`, `"😀😀"`, `"😀😀"`},
		{`"\uD800\uDC00\udbff\udfff"`, "\"\U00010000\U0010FFFF\"", "\"\U00010000\U0010FFFF\""},
		{"\"e\u0301\u2028\ufeff\"", "\"e\u0301\u2028\ufeff\"", "\"e\u0301\u2028\ufeff\""},
		{`"\\u0041"`, `"\\u0041"`, `"\\u0041"`},
		{"[]", "[]", "[]"},
		{" [ ] ", "[]", "[]"},
		{"[null,[],{},\"\"]", `[nil [] {} ""]`, `[null,[],{},""]`},
		{"[1 , 2\t,\n3]", "[1 2 3]", "[1,2,3]"},
		{"{}", "{}", "{}"},
		{`{ "b" : 1 , "a" : { "c" : [ 2 ] } }`, `{"a" {"c" [2]} "b" 1}`, `{"a":{"c":[2]},"b":1}`},
		{`{"":0," ":1}`, `{"" 0 " " 1}`, `{"":0," ":1}`},
		{`{"a":1,"A":2,"aa":3}`, `{"A" 2 "a" 1 "aa" 3}`, `{"A":2,"a":1,"aa":3}`},
		{`{"\u0061":{"a":1},"b":{"a":1}}`, `{"a" {"a" 1} "b" {"a" 1}}`, `{"a":{"a":1},"b":{"a":1}}`},
		{"{\"\ue000\":1,\"😀\":2,\"z\":3}", "{\"z\" 3 \"\ue000\" 1 \"😀\" 2}", "{\"z\":3,\"😀\":2,\"\ue000\":1}"},
		{"{\"a\uffff\":1,\"a\U00010000\":2,\"a\":3,\"a\ud7ff\":4}", "{\"a\" 3 \"a\ud7ff\" 4 \"a\uffff\" 1 \"a\U00010000\" 2}",
			"{\"a\":3,\"a\ud7ff\":4,\"a\U00010000\":2,\"a\uffff\":1}"},
	} {
		v, fault := parseDoc(t, c.doc, kernel.Limits{})
		if fault != "" || show(v) != c.value {
			t.Errorf("%s: %s %s, want %s", c.doc, show(v), fault, c.value)
			continue
		}
		text, fault := printTerm(t, v, kernel.Limits{})
		if fault != "" || text != c.text {
			t.Errorf("%s: printed %q %s, want %q", c.doc, text, fault, c.text)
		}
		again, fault := parseDoc(t, text, kernel.Limits{})
		if fault != "" || !coreform.Equal(again, v) {
			t.Errorf("%s: read again: %s %s", text, show(again), fault)
		}
	}
}

// Documents that are refused: code and offset.
//
// spec: JSON-TEXT-1, JSON-TEXT-2, JSON-TEXT-3, JSON-NUM-2, JSON-ERR-1, JSON-LIM-1
func TestJSONRefused(t *testing.T) {
	for _, c := range []struct {
		doc, kind string
		at        int
	}{
		{"", "eof", 0},
		{" \n", "eof", 2},
		{"[", "unexpected", 0},
		{" [1", "unexpected", 1},
		{"[1,", "unexpected", 0},
		{"[[]", "unexpected", 0},
		{`[{"a"`, "unexpected", 1},
		{`{"a":`, "unexpected", 0},
		{`{"a":1,`, "unexpected", 0},
		{`[1,"ab`, "unexpected", 3},
		{`"`, "unexpected", 0},
		{"tru", "unexpected", 0},
		{"[nul]", "unexpected", 1},
		{"nullx", "unexpected", 4},
		{"True", "unexpected", 0},
		{"NaN", "unexpected", 0},
		{"-Infinity", "unexpected", 0},
		{"+1", "unexpected", 0},
		{"-", "unexpected", 0},
		{".5", "unexpected", 0},
		{"1.", "unexpected", 0},
		{"[2,1.e3]", "unexpected", 3},
		{"1e", "unexpected", 0},
		{"1e+", "unexpected", 0},
		{"01", "unexpected", 1},
		{"-01", "unexpected", 2},
		{"0x10", "unexpected", 1},
		{"1 2", "unexpected", 2},
		{"{} x", "unexpected", 3},
		{"[1]]", "unexpected", 3},
		{"]", "unexpected", 0},
		{"[}", "unexpected", 1},
		{"{]", "unexpected", 1},
		{"[1}", "unexpected", 2},
		{`{"a":1]`, "unexpected", 6},
		{"[1,]", "unexpected", 3},
		{`{"a":1,}`, "unexpected", 7},
		{"[,1]", "unexpected", 1},
		{"[1 2]", "unexpected", 3},
		{"{1:2}", "unexpected", 1},
		{"{a:1}", "unexpected", 1},
		{`{"a" 1}`, "unexpected", 5},
		{`{"a",1}`, "unexpected", 4},
		{`{"a":1 "b":2}`, "unexpected", 7},
		{`["a":1]`, "unexpected", 4},
		{"'a'", "unexpected", 0},
		{"// c\n1", "unexpected", 0},
		{"[1,/*c*/2]", "unexpected", 3},
		{"\ufeff1", "unexpected", 0},
		{"1\x00", "unexpected", 1},
		{"\u00a01", "unexpected", 0},
		{"[\v1]", "unexpected", 1},
		{"\"a\nb\"", "unexpected", 2},
		{"\"\x1f\"", "unexpected", 1},
		{"\"\x00\"", "unexpected", 1},
		{`"\x41"`, "escape", 1},
		{`"a\'"`, "escape", 2},
		{`"\`, "escape", 1},
		{`"\u12`, "escape", 1},
		{`"\u00g0"`, "escape", 1},
		{`"\u 041"`, "escape", 1},
		{`"\U0041"`, "escape", 1},
		{`"\ud83d"`, "escape", 1},
		{`"x\ude00\ud83d"`, "escape", 2},
		{`"\ud83d\u0041"`, "escape", 1},
		{`"\ud83d\ud83d\ude00"`, "escape", 1},
		{`"\ud83d\\ude00"`, "escape", 1},
		{`"\ud83d\ude0"`, "escape", 1},
		{`{"\udfff":1}`, "escape", 2},
		{"1e999999999", "number", 0},
		{"[0,-1e99999999999999999999]", "number", 3},
		{"1e-999999999999999999999", "number", 0},
		{"1e1000000", "number", 0},
		{"1e-4097", "number", 0},
		{"[1.5e-4096]", "number", 1},
		{"1" + strings.Repeat("0", 1_000_000), "number", 0},
		{strings.Repeat("1", 600_000) + "e400001", "number", 0},
		{strings.Repeat("1", 999_000) + "." + strings.Repeat("1", 1001), "number", 0},
		{`{"a":1,"a":2}`, "duplicate", 7},
		{`{"a":1,"\u0061":2}`, "duplicate", 7},
		{`{"b":1,"a":1,"a":2,"b":2}`, "duplicate", 13},
		{`{"c":0,"a":1,"a":2,"a":3}`, "duplicate", 13},
		{`[{"x":{"b":{},"a":[],"b":{}}}]`, "duplicate", 21},
		{`{"a":{"z":1,"z":2},"a":0}`, "duplicate", 12},
		{`{"":1,"":2,}`, "unexpected", 11}, // names are compared in the end
		{strings.Repeat("[", 1001), "depth", 1000},
		{strings.Repeat(`{"a":[`, 501), "depth", 3000},
	} {
		v, fault := parseDoc(t, c.doc, kernel.Limits{})
		if want := fmt.Sprintf("core/parse/%s {:at %d}", c.kind, c.at); fault != want {
			t.Errorf("%.60q: %s %s, want %s", c.doc, show(v), fault, want)
		}
	}
}

// Everything at its limit is taken, and what is taken can be printed.
//
// spec: JSON-LIM-1, JSON-NUM-2, JSON-LAW-1
func TestJSONAtTheLimits(t *testing.T) {
	zeros := func(n int) string { return strings.Repeat("0", n) }
	for name, c := range map[string]struct{ doc, text string }{
		"scale":         {"1e-4096", ""},
		"spelled out":   {"0." + zeros(4095) + "1", "1e-4096"},
		"zeros behind":  {"0.5" + zeros(100_000), "0.5"},
		"zeros between": {"1" + zeros(100_000) + "e-100000", "1"},
		"digits":        {strings.Repeat("7", 1_000_000), ""},
		"zeros":         {"1e999999", "1" + zeros(999_999)},
		"both":          {strings.Repeat("7", 995_904) + "." + strings.Repeat("7", 4096), ""},
		"depth":         {strings.Repeat("[", 1000) + strings.Repeat("]", 1000), ""},
		"deep decimal":  {strings.Repeat("[", 1000) + "1.5" + strings.Repeat("]", 1000), ""},
		"deep objects":  {strings.Repeat(`{"a":`, 1000) + "{" + strings.Repeat("}", 1000) + "}", "-"},
	} {
		_, fault := parseDoc(t, c.doc, kernel.Limits{})
		if c.text == "-" {
			if fault != "core/parse/depth {:at 5000}" {
				t.Errorf("%s: %s", name, fault)
			}
			continue
		}
		if fault != "" {
			t.Errorf("%s: %s", name, fault)
			continue
		}
		if c.text == "" {
			c.text = c.doc
		}
		out, _, err := eval("(core/json::print (core/json::parse "+strLiteral(c.doc)+"))", kernel.Limits{})
		if text, _ := out.AsStr(); err != nil || text != c.text {
			t.Errorf("%s: printed as %.60q, %v", name, text, err)
		}
	}
}

// What has no form in JSON is refused, and what is found is named.
//
// spec: JSON-VAL-2, JSON-ERR-2, JSON-LIM-1
func TestJSONNotPrintable(t *testing.T) {
	typeError := func(found, place string) string {
		return fmt.Sprintf("core/type-error {:found %q :kind \"type\" :place %q}", found, place)
	}
	const nest = "(def nest (fn (v n) (if (core/int::eq? n 0) v (nest (core/vec::push [] v) (core/int::sub n 1))))) "
	for src, want := range map[string]string{
		"(core/json::print 'a)":                                   typeError("sym", "value"),
		"(core/json::print :null)":                                typeError("sym", "value"),
		`(core/json::print b"x")`:                                 typeError("bytes", "value"),
		"(core/json::print '(1 2))":                               typeError("pair", "value"),
		"(core/json::print (core/pair::cons 1 2))":                typeError("pair", "value"),
		"(core/json::print (fn (x) x))":                           typeError("function", "value"),
		"(core/json::print (seal))":                               typeError("seal-token", "value"),
		"(core/json::print (core/effect::pure 1))":                typeError("effect-program", "value"),
		"(core/json::print {\"a\" (core/error::make 1 2 3)})":     typeError("sealed", "value"),
		"(core/json::print '[1 {\"a\" [2 b]}])":                   typeError("sym", "value"),
		"(core/json::print {:a 1})":                               typeError("sym", "name"),
		"(core/json::print {1 2})":                                typeError("int", "name"),
		"(core/json::print {nil 2 :a 3})":                         typeError("nil", "name"),
		"(core/json::print {\"a\" 1 [] 2})":                       typeError("vec", "name"),
		"(core/json::print '[{\"a\" b \"b\" {c 1}} {d 1}])":       typeError("sym", "value"),
		"(core/json::print {:num/kind :fixed-decimal})":           typeError("sym", "name"),
		"(core/json::print " + decimal("1", 4097) + ")":           typeError("sym", "name"),
		"(core/json::print " + decimal("1", -1) + ")":             typeError("sym", "name"),
		"(core/json::print " + decimal("\"1\"", 1) + ")":          typeError("sym", "name"),
		nest + "(core/json::print (nest [] 999))":                 "",
		nest + "(core/json::print (nest [] 1000))":                `core/resource-exhausted {:dimension "depth" :limit 1000 :observed 1001}`,
		nest + "(core/json::print (nest {} 1000))":                `core/resource-exhausted {:dimension "depth" :limit 1000 :observed 1001}`,
		nest + "(core/json::print (nest 1 1000))":                 "",
		nest + "(core/json::print (nest [] 100000))":              `core/resource-exhausted {:dimension "depth" :limit 1000 :observed 1001}`,
		nest + "(core/json::print (nest (quote a) 1000))":         typeError("sym", "value"),
		"(core/json::parse 'a)":                                   `core/type-error {:kind "type"}`,
		"(core/json::parse 1)":                                    `core/type-error {:kind "type"}`,
		"(core/json::parse nil)":                                  `core/type-error {:kind "type"}`,
		`(core/json::parse b"\xFF")`:                              `core/type-error {:kind "type"}`,
		`(core/json::parse b"\"\xED\xA0\x80\"")`:                  `core/type-error {:kind "type"}`,
		`(core/json::parse (core/str::repeat "0" 67108865))`:      "core/parse/size {:at 67108864}",
		`(core/json::print (core/str::repeat "\u0001" 20000000))`: `core/resource-exhausted {:dimension "text-bytes" :limit 67108864 :observed 67141632}`,
	} {
		v, _, err := eval(src, kernel.Limits{})
		if err != nil {
			t.Errorf("%s: %v", src, err)
			continue
		}
		got := ""
		if payload, failed := sealedIn(v); failed {
			got = jsonFault(t, payload)
		}
		if got != want {
			t.Errorf("%s: %q, want %q", src, got, want)
		}
	}
}

// Decimals print by value, whatever else their maps hold.
//
// spec: JSON-VAL-2, JSON-NUM-3
func TestJSONDecimalsPrintByValue(t *testing.T) {
	for term, want := range map[string]string{
		decimal("150", 2):                         "1.5",
		decimal("1500", 2):                        "15",
		decimal("-0", 5):                          "0",
		decimal("12", 0):                          "12",
		decimal("-1"+strings.Repeat("0", 30), 30): "-1",
		decimal("10", 8):                          "1e-7",
		`{:num/kind :fixed-decimal :num/scale 1 :num/unscaled 5 :unit "kg" "x" 1}`: "0.5",
	} {
		v, err := coreform.ReadTerm([]byte(term), coreform.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if got, fault := printTerm(t, v, kernel.Limits{}); got != want || fault != "" {
			t.Errorf("%s: %q %s, want %q", term, got, fault, want)
		}
	}
}

// The vectors of the canonical form of evidence documents: every text that jcs
// leaves as it is is canonical here as well, unless a number is a large integer.
//
// spec: JSON-NUM-4, JSON-PRINT-1
func TestJSONAgreesWithJCS(t *testing.T) {
	for _, doc := range []string{
		`{"literals":[null,true,false],"numbers":[333333333.3333333,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
		"{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\u0080\":\"Control\",\"ö\":1,\"€\":\"Euro Sign\",\"😀\":2,\"\ufb33\":3}",
		`{"":"empty","1":{"\n":56,"f":{"F":5,"f":"hi"}},"10":{},"111":[{"E":"no","e":"yes"}],"A":{},"a":{}}`,
		`[0.000002,2e-7,300000000000000000000,999999999999999700000,-0.0000025,9007199254740992,-9007199254740991,5e-324]`,
	} {
		jcs, err := canonjson.Canonicalize(canonjson.JCS, []byte(doc), canonjson.Limits{})
		if err != nil || string(jcs) != doc {
			t.Fatalf("%s is not its jcs form %s, %v", doc, jcs, err)
		}
		v, fault := parseDoc(t, doc, kernel.Limits{})
		if text, f := printTerm(t, v, kernel.Limits{}); fault != "" || f != "" || text != doc {
			t.Errorf("%s\nprinted as %s %s %s", doc, text, fault, f)
		}
	}
}
