package canonjson

import (
	"bufio"
	"context"
	"encoding/json/jsontext"
	"fmt"
	"math"
	"math/rand/v2"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
)

// The table of RFC 8785, appendix B: bits of the double, and its text.
//
// spec: CJ-NUM-1
func TestRFC8785Numbers(t *testing.T) {
	for bits, want := range map[uint64]string{
		0x0000000000000000: "0",
		0x8000000000000000: "0",
		0x0000000000000001: "5e-324",
		0x8000000000000001: "-5e-324",
		0x7fefffffffffffff: "1.7976931348623157e+308",
		0xffefffffffffffff: "-1.7976931348623157e+308",
		0x4340000000000000: "9007199254740992",
		0xc340000000000000: "-9007199254740992",
		0x4430000000000000: "295147905179352830000",
		0x44b52d02c7e14af5: "9.999999999999997e+22",
		0x44b52d02c7e14af6: "1e+23",
		0x44b52d02c7e14af7: "1.0000000000000001e+23",
		0x444b1ae4d6e2ef4e: "999999999999999700000",
		0x444b1ae4d6e2ef4f: "999999999999999900000",
		0x444b1ae4d6e2ef50: "1e+21",
		0x3eb0c6f7a0b5ed8c: "9.999999999999997e-7",
		0x3eb0c6f7a0b5ed8d: "0.000001",
		0x41b3de4355555553: "333333333.3333332",
		0x41b3de4355555554: "333333333.33333325",
		0x41b3de4355555555: "333333333.3333333",
		0x41b3de4355555556: "333333333.3333334",
		0x41b3de4355555557: "333333333.33333343",
		0xbecbf647612f3696: "-0.0000033333333333333333",
		0x43143ff3c1cb0959: "1424953923781206.2",
	} {
		f := math.Float64frombits(bits)
		if got := string(appendFloat(nil, f)); got != want {
			t.Errorf("%016x: %s, want %s", bits, got, want)
		}
		exact := strconv.FormatFloat(f, 'f', -1, 64)
		accept(t, JCS, exact, want)
	}
}

// sampleFloats returns finite doubles of every kind: random bits, the corners of
// the printed forms and their neighbours, powers of two and ten.
func sampleFloats(n int) []float64 {
	out := []float64{0, math.Copysign(0, -1), 1, math.MaxFloat64, math.SmallestNonzeroFloat64, 0x1p-1022}
	for e := -323; e <= 308; e++ {
		f, _ := strconv.ParseFloat("1e"+strconv.Itoa(e), 64)
		out = append(out, f, math.Nextafter(f, 0), -math.Nextafter(f, math.MaxFloat64))
	}
	for e := -1074; e <= 1023; e++ {
		out = append(out, math.Ldexp(1, e))
	}
	r := rand.New(rand.NewPCG(8785, 2020))
	for len(out) < n {
		f := math.Float64frombits(r.Uint64())
		if r.IntN(2) == 0 { // about half of ordinary size
			f = (r.Float64() - 0.5) * math.Pow(10, float64(r.IntN(30)-8))
		}
		if !math.IsNaN(f) && !math.IsInf(f, 0) {
			out = append(out, f)
		}
	}
	return out
}

// Printing agrees with jsontext, which has a printer of its own for the same
// rule, and reads back as the same double.
//
// spec: CJ-NUM-1
func TestNumbersAgainstJSONText(t *testing.T) {
	for _, f := range sampleFloats(50_000) {
		got := string(appendFloat(nil, f))
		want := jsontext.Float(f).String()
		if f == 0 {
			want = "0" // jsontext keeps the sign, ECMAScript does not
		}
		if got != want {
			t.Fatalf("%x: %s, jsontext says %s", math.Float64bits(f), got, want)
		}
		back, err := strconv.ParseFloat(got, 64)
		if err != nil || back != f {
			t.Fatalf("%x prints as %s and reads as %x", math.Float64bits(f), got, math.Float64bits(back))
		}
		accept(t, Evidence, got, got)
	}
}

// Node prints the same doubles; it reads them as bits, so that only printing is
// compared.
//
// spec: CJ-NUM-1
func TestNumbersAgainstNode(t *testing.T) {
	floats := sampleFloats(20_000)
	var in strings.Builder
	for _, f := range floats {
		fmt.Fprintf(&in, "%016x\n", math.Float64bits(f))
	}
	const script = `
const view = new DataView(new ArrayBuffer(8));
const lines = require('fs').readFileSync(0, 'latin1').trim().split('\n');
process.stdout.write(lines.map(h => { view.setBigUint64(0, BigInt('0x' + h)); return String(view.getFloat64(0)); }).join('\n') + '\n');
`
	lines := bufio.NewScanner(strings.NewReader(node(t, script, in.String())))
	for i, f := range floats {
		if !lines.Scan() {
			t.Fatalf("node printed %d numbers of %d", i, len(floats))
		}
		if got, want := string(appendFloat(nil, f)), lines.Text(); got != want {
			t.Errorf("%x: %s, node says %s", math.Float64bits(f), got, want)
		}
	}
}

// Whole documents agree with a ten-line canonicalizer in JavaScript, where the
// rules come from: sort() is by code units, JSON.stringify writes the rest.
//
// spec: CJ-PROF-1, CJ-ORD-1, CJ-STR-1
func TestDocumentsAgainstNode(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var docs []string
	for range 2000 {
		docs = append(docs, randomDocument(r, 4))
	}
	const script = `
const canon = v => Array.isArray(v) ? '[' + v.map(canon).join(',') + ']'
  : v && typeof v === 'object' ? '{' + Object.keys(v).sort().map(k => JSON.stringify(k) + ':' + canon(v[k])).join(',') + '}'
  : JSON.stringify(v);
const lines = require('fs').readFileSync(0, 'utf8').trimEnd().split('\n');
process.stdout.write(lines.map(l => canon(JSON.parse(l))).join('\n') + '\n');
`
	out := strings.Split(node(t, script, strings.Join(docs, "\n")+"\n"), "\n")
	if len(out) != len(docs)+1 {
		t.Fatalf("node printed %d lines for %d documents", len(out)-1, len(docs))
	}
	for i, doc := range docs {
		accept(t, JCS, doc, out[i])
	}
}

// randomDocument returns a JSON text on one line, without duplicate names, with
// the characters that matter for order and escaping common.
func randomDocument(r *rand.Rand, depth int) string {
	kind := r.IntN(7)
	if depth == 0 {
		kind = r.IntN(5)
	}
	switch kind {
	case 0:
		return []string{"null", "true", "false"}[r.IntN(3)]
	case 1, 2:
		return strconv.FormatFloat((r.Float64()-0.5)*math.Pow(10, float64(r.IntN(60)-30)), "eg"[r.IntN(2)], r.IntN(20), 64)
	case 3, 4:
		return randomString(r)
	case 5:
		var items []string
		for range r.IntN(5) {
			items = append(items, randomDocument(r, depth-1))
		}
		return "[" + strings.Join(items, " ,\t") + "]"
	}
	var members []string
	for i := range r.IntN(6) {
		// The counter at the end keeps names apart.
		name := randomString(r)
		name = name[:len(name)-1] + "-" + strconv.Itoa(i) + `"`
		members = append(members, name+" : "+randomDocument(r, depth-1))
	}
	return "{ " + strings.Join(members, ",") + "}"
}

func randomString(r *rand.Rand) string {
	parts := []string{
		`a`, `Z`, ` `, `\n`, `\u0001`, `\u001f`, `\/`, `/`, `\\`, `\"`, `<`, "\u007f", "\u0080", `é`, "\u2028", `\u2028`,
		"\ud7ff", "\ue000", `\ue000`, "\uffff", "🧪", `\ud83e\uddea`, "\U00010000", "\U0010ffff", `\u0000`,
	}
	s := `"`
	for range r.IntN(5) {
		s += parts[r.IntN(len(parts))]
	}
	return s + `"`
}

// node runs a script with a time limit, or skips the test where there is none.
func node(t *testing.T, script, stdin string) string {
	t.Helper()
	path, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not on PATH: the comparison with ECMAScript itself is skipped; RFC 8785's table and jsontext still cover it")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "-e", script)
	cmd.Stdin = strings.NewReader(stdin)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("node: %v", err)
	}
	return string(out)
}
