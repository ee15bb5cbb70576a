package prelude_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/coreform/kernel"
	"github.com/gcrun/gcrun/effects/guest"
)

// jsonUsage is what an expression of s, the text doc, costs: the difference to s.
func jsonUsage(t testing.TB, doc, src string) (steps, units int64) {
	t.Helper()
	run := func(src string) guest.Usage {
		v, p, err := eval("(def s "+strLiteral(doc)+") "+src, kernel.Limits{})
		if payload, failed := sealedIn(v); err != nil || failed {
			t.Fatalf("%.60s: %.60s: %v %s", src, doc, err, show(payload))
		}
		return p.Usage()
	}
	before, after := run("(core/function::is? s)"), run(src) // both call one native
	return after.Steps - before.Steps, after.AllocUnits - before.AllocUnits
}

// objectDoc is an object of n members whose names have the given length.
func objectDoc(n, length int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, ",\"%0*d\":0", length, i*7919%n) // n is not a multiple of 7919
	}
	return "{" + b.String()[1:] + "}"
}

// Steps and units are those of the formulas.
//
// spec: JSON-COST-1, JSON-COST-2
func TestJSONCost(t *testing.T) {
	text := kernel.TextUnits
	for _, c := range []struct {
		doc         string
		steps, made int64 // beside the text
	}{
		{"1", 0, 2},
		{strings.Repeat(" ", 800) + "null", 100, 2},
		{`"` + strings.Repeat("x", 798) + `"`, 100, 2 + text(798)},
		{`"\u00e9\n"`, 1, 2 + text(3)},
		{"[]", 0, 2 + 2},
		{"[1,2,3]", 0, 2 + 5 + 3*2},
		{"[[[[1]]]]", 1, 4*(2+3) + 2},
		{"{}", 0, 2 + 2},
		{`{"a":1}`, 0, 2 + 5 + 2*2 + text(1)},
		{`{"a":{"b":[]}}`, 1, 2 + 5 + 2 + 5 + 2 + 2 + 2*(2+text(1))},
		{objectDoc(8, 4), (1+9*8)/8 + 4, 2 + 2 + 3*8 + 8*(4+text(4))},
		{objectDoc(9, 64), (1+69*9)/8 + 4*(9+9/8), 2 + 2 + 3*9 + 9*(4+text(64))},
		{"999999999999999999", 2, 2},
		{"1000000000000000000", 2, 2 + 2},
		{"1e17", 0, 2},
		{"1e18", 0, 2 + 2},
		{"0.5", 0, 2 + 11},
		{"0.123456789012345678", 2, 2 + 11},
		{"0.1234567890123456789", 2, 2 + 11 + 2},
		{strings.Repeat("1", 1900), 237 + 101*10/8, 2 + 1 + 51},
		{"1e1899", 101 * 10 / 8, 2 + 1 + 51},
		{"1e-1000", 0, 2 + 11},
	} {
		steps, units := jsonUsage(t, c.doc, "(core/json::parse s)")
		if made := units - text(int64(len(c.doc))); steps != c.steps || made != c.made {
			t.Errorf("%.60s: %d steps, %d units, want %d and %d", c.doc, steps, made, c.steps, c.made)
		}
	}
	for _, c := range []struct {
		doc         string
		steps, made int64 // beside the text
	}{
		{"null", 0, 0},
		{`"` + strings.Repeat("x", 798) + `"`, 100, 0},
		{"[" + strings.Repeat("1,", 499) + "1]", 125, 0},
		{objectDoc(8, 4), (1+9*8)/8 + 4, 0},
		{objectDoc(100, 64), (1+69*100)/8 + 7*(100+100/8), 0},
		{"{\"\ue000\":1,\"😀\":2}", 2, 2 + 3*2},
		{"{\"\ue000\":1,\"\uffff\":2}", 2, 0},
		{"9223372036854775808", 2, 0},
		{strings.Repeat("1", 1900), 237 + 99*9/8, 0}, // 6309 bits
		{strings.Repeat("1", 1890) + ".5", 236 + 99*9/8, 0},
	} {
		parse, made := jsonUsage(t, c.doc, "(core/json::parse s)")
		steps, units := jsonUsage(t, c.doc, "(begin (core/json::print (core/json::parse s)))")
		const call = 3 // begin, the outer application, its name
		if steps, units := steps-parse-call, units-made-text(int64(len(c.doc))); steps != c.steps || units != c.made {
			t.Errorf("print %.60s: %d steps, %d units, want %d and %d", c.doc, steps, units, c.steps, c.made)
		}
	}
}

// Steps and units of parsing and printing grow as the document does.
//
// spec: JSON-COST-1, JSON-COST-2
func TestJSONIsNotQuadratic(t *testing.T) {
	deep := func(n int) string {
		return strings.Repeat("[", 900) + strings.Repeat("0,", n) + "0" + strings.Repeat("]", 900)
	}
	shapes := map[string]func(n int) string{
		"elements":    func(n int) string { return "[" + strings.Repeat("1,", n) + "1]" },
		"strings":     func(n int) string { return "[" + strings.Repeat(`"a\n",`, n) + "1]" },
		"one string":  func(n int) string { return `"` + strings.Repeat(`\u00e9`, n) + `"` },
		"decimals":    func(n int) string { return "[" + strings.Repeat("1.5e-3,", n) + "1]" },
		"members":     func(n int) string { return objectDoc(n, 8) },
		"long names":  func(n int) string { return objectDoc(n, 300) },
		"objects":     func(n int) string { return "[" + strings.Repeat(`{"b":1,"a":[{}]},`, n) + "1]" },
		"deep, wide":  deep,
		"long number": func(n int) string { return strings.Repeat("7", n) },
		"fraction":    func(n int) string { return strings.Repeat("7", n) + ".5" },
	}
	for name, shape := range shapes {
		measure := func(n int) (sums [4]int64) {
			doc := shape(n)
			sums[0], sums[1] = jsonUsage(t, doc, "(core/json::parse s)")
			s, u := jsonUsage(t, doc, "(core/json::print (core/json::parse s))")
			sums[2], sums[3] = s-sums[0], u-sums[1]
			return sums
		}
		small, large := measure(5_000), measure(20_000)
		for i, what := range []string{"steps to parse", "units to parse", "steps to print", "units to print"} {
			most := 4.6 // the logarithm of the members is in it
			if strings.HasPrefix(name, "long number") || name == "fraction" {
				most = 8.2 // and the root of the digits
			}
			if ratio := float64(large[i]) / float64(small[i]); ratio > most {
				t.Errorf("%s: %s: %d, then %d, %.2f times", name, what, small[i], large[i], ratio)
			}
		}
	}
}

// Documents made to be expensive end soon, in an error or a limit.
//
// spec: JSON-LIM-1, JSON-NUM-2, LIM-MEM-2
func TestJSONHostile(t *testing.T) {
	huge := func(piece string, bytes int) string { return strings.Repeat(piece, bytes/len(piece)) }
	for name, c := range map[string]struct{ doc, want string }{
		"brackets":        {huge("[", 1_000_000), "core/parse/depth {:at 1000}"},
		"braces":          {huge(`{"":`, 4_000_000), "core/parse/depth {:at 4000}"},
		"digits":          {huge("7", 10_000_000), "core/parse/number {:at 0}"},
		"fraction":        {"0." + huge("7", 10_000_000), "core/parse/number {:at 0}"},
		"exponent digits": {"1e" + huge("7", 10_000_000), "core/parse/number {:at 0}"},
		"tiny":            {"1e-" + huge("7", 10_000_000), "core/parse/number {:at 0}"},
		"zeros":           {"0." + huge("0", 10_000_000), ""},
		"huge exponent":   {"1e999999999", "core/parse/number {:at 0}"},
		"many exponents":  {"[" + huge("1e999999,", 900_000) + "0]", "limit steps"},
		"long numbers":    {"[" + huge("1e99999,", 120_000) + "0]", "limit live-units"},
		"never closed":    {huge(`[],`, 3_000_000), "core/parse/unexpected {:at 2}"},
		"last comma":      {"[" + huge(`1,`, 4_000_000) + "]", "core/parse/unexpected {:at 4000001}"},
		"same name":       {"{" + huge(`"a":0,`, 600_000) + `"b":0}`, "core/parse/duplicate {:at 7}"},
		"backslashes":     {`"` + huge(`\\`, 4_000_000), "core/parse/unexpected {:at 0}"},
		"terms":           {"[" + huge("0,", 16<<20) + "0]", "core/parse/size {:at 16777215}"},
		"one bad name":    {objectDoc(100_000, 10)[:1_500_000-1], ""},
	} {
		if name == "one bad name" {
			c.doc, c.want = strings.Replace(objectDoc(100_000, 10), `"0000099999"`, `"0000000000"`, 1), "duplicate"
		}
		start := time.Now()
		_, fault := parseDoc(t, c.doc, kernel.Limits{})
		if fault != c.want && (c.want != "duplicate" || !strings.HasPrefix(fault, "core/parse/duplicate")) {
			t.Errorf("%s: %q, want %q", name, fault, c.want)
		}
		if d := time.Since(start); d > 2*time.Minute {
			t.Errorf("%s took %v", name, d)
		}
	}
}

// The units are charged before the memory is taken.
//
// spec: LIM-MEM-2, JSON-COST-2
func TestJSONMemoryBefore(t *testing.T) {
	for name, doc := range map[string]string{
		"elements": "[" + strings.Repeat("0,", 3_000_000) + "0]",
		"members":  objectDoc(500_000, 8),
		"numbers":  "[" + strings.Repeat("1e99999,", 5_000) + "0]",
	} {
		p, err := loadWith("(core/json::parse "+strLiteral(doc)+")", kernel.Limits{LiveUnits: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err = p.Eval(context.Background())
		runtime.ReadMemStats(&after)
		if f, ok := errors.AsType[*guest.Fatal](err); !ok || f.Limit == nil || f.Limit.Dimension != "live-units" {
			t.Errorf("%s: %v", name, err)
		}
		if got := after.TotalAlloc - before.TotalAlloc; got > uint64(len(doc))+16<<20 {
			t.Errorf("%s: %d MiB were allocated for %d MiB of text", name, got>>20, len(doc)>>20)
		}
	}
}

// Values that share their parts are far larger as texts than in memory: printing
// them ends in an error or a limit before that is noticed.
//
// spec: JSON-LIM-1, LIM-MEM-2
func TestJSONSharedValues(t *testing.T) {
	const grow = `
		(def twice (fn (v n) (if (core/int::eq? n 0) v (twice (core/vec::push (core/vec::push [] v) v) (core/int::sub n 1)))))
		(def fill (fn (m n v) (if (core/int::eq? n 0) m (fill (core/map::put m (core/str::concat "k" (core/int::to-str n)) v) (core/int::sub n 1) v))))
		(def fillv (fn (m n v) (if (core/int::eq? n 0) m (fillv (core/vec::push m v) (core/int::sub n 1) v))))
		(def chain (fn (m n) (if (core/int::eq? n 0) m (chain (core/map::put m "a" m) (core/int::sub n 1)))))
		(def chainv (fn (m n) (if (core/int::eq? n 0) m (chainv (core/vec::set m 0 m) (core/int::sub n 1)))))
		(def astral (core/map::put (fill {} 20000 0) (core/json::parse "\"\\ud83d\\ude00\"") 0)) `
	for src, want := range map[string]string{
		"(twice [] 60)":                                   "core/resource-exhausted",
		"(chain (fill {} 20000 0) 900)":                   "core/resource-exhausted",
		"(chainv (fillv [] 20000 0) 900)":                 "core/resource-exhausted",
		"(chain (core/map::put astral \"\ue000\" 0) 300)": "core/resource-exhausted",
		"(fill {} 200000 {})":                             "",
	} {
		start := time.Now()
		v, _, err := eval(grow+"(core/json::print "+src+")", kernel.Limits{})
		got := ""
		if err != nil {
			got = failureText(err)
		} else if payload, failed := sealedIn(v); failed {
			got, _, _ = strings.Cut(jsonFault(t, payload), " ")
		}
		if got != want {
			t.Errorf("%s: %q, want %q", src, got, want)
		}
		if d := time.Since(start); d > 2*time.Minute {
			t.Errorf("%s took %v", src, d)
		}
	}
}

// Limits of shape are inclusive, for all that parse makes.
//
// spec: LIM-SHAPE-1, JSON-COST-2
func TestJSONShapeLimits(t *testing.T) {
	for _, c := range []struct {
		doc    string
		limits kernel.Limits
		want   string
	}{
		{`[1,2,3]`, kernel.Limits{VecLen: 3}, ""},
		{`{"a":[1,2,3]}`, kernel.Limits{VecLen: 2}, "limit vec-len"},
		{`{"a":1,"b":{}}`, kernel.Limits{MapLen: 2}, ""},
		{`[{"a":1,"b":{}}]`, kernel.Limits{MapLen: 1}, "limit map-len"},
		{`1.5`, kernel.Limits{MapLen: 3}, ""},
		{`1.5`, kernel.Limits{MapLen: 2}, "limit map-len"},
		{`["abc",{"ab":"é"}]`, kernel.Limits{StringLen: 3}, ""},
		{`["abc"]`, kernel.Limits{StringLen: 2}, "limit string-len"},
		{`{"abc":1}`, kernel.Limits{StringLen: 2}, "limit string-len"},
		{`["abc"]`, kernel.Limits{BytesLen: 7}, ""},
		{`["abc"]`, kernel.Limits{BytesLen: 6}, "limit bytes-len"},
	} {
		if _, fault := parseDoc(t, c.doc, c.limits); fault != c.want {
			t.Errorf("%s with %+v: %q, want %q", c.doc, c.limits, fault, c.want)
		}
	}
	for text, want := range map[string]string{`["ab"]`: "", `["abc"]`: "limit string-len"} {
		v, _ := parseDoc(t, text, kernel.Limits{})
		if _, fault := printTerm(t, v, kernel.Limits{StringLen: 6}); fault != want {
			t.Errorf("print %s: %q, want %q", text, fault, want)
		}
	}
}

// A run that nobody waits for any more stops within a document.
func TestJSONInterrupted(t *testing.T) {
	doc := "[" + strings.Repeat("0,", 3_000_000) + "0]"
	for _, src := range []string{"(core/json::parse s)", "(core/json::print (core/json::parse s))"} {
		p, err := loadWith("(def s "+strLiteral(doc)+") "+src, kernel.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if _, err := p.Eval(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", src, err)
		}
	}
}

// Names that are text of a document do not keep the document.
func TestJSONDoesNotKeepTheText(t *testing.T) {
	doc := `["` + strings.Repeat("x", 1_000_000) + `","abc"]`
	src := "(def s " + strLiteral(doc) + ") (def f (fn (v n) (if (core/int::eq? n 0) v (f (core/vec::push v (core/vec::get (core/json::parse s) 1)) (core/int::sub n 1))))) (f [] 200)"
	v, _, err := eval(src, kernel.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	var after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&after)
	if after.HeapAlloc > 120<<20 {
		t.Errorf("%d MB are still held", after.HeapAlloc>>20)
	}
	runtime.KeepAlive(v)
}

func BenchmarkJSON(b *testing.B) {
	doc := "[" + strings.Repeat(`{"id":12345,"name":"Erika Mustermann","tags":["a","b"],"price":12.50,"ok":true},`, 10_000) + "0]"
	for name, src := range map[string]string{"parse": "(core/json::parse s)", "both": "(core/json::print (core/json::parse s))"} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(doc)))
			for b.Loop() {
				b.StopTimer()
				p, err := loadWith("(def s "+strLiteral(doc)+") "+src, kernel.Limits{})
				if err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
				if v, err := p.Eval(context.Background()); err != nil || v.Kind() == coreform.KindOther {
					b.Fatal(err)
				}
			}
		})
	}
}
