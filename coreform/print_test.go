package coreform_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gcrun/gcrun/coreform"
)

// plainLayout is the layout written from the spec's clauses without regard to
// cost, to compare the printer with.
type plainLayout struct{}

func (plainLayout) atom(v coreform.Value) (string, bool) {
	switch v.Kind() {
	case coreform.KindNil:
		return "nil", true
	case coreform.KindBool:
		b, _ := v.AsBool()
		return fmt.Sprint(b), true
	case coreform.KindInt:
		return v.IntText(), true
	case coreform.KindSym:
		s, _ := v.AsSym()
		return s, true
	case coreform.KindStr:
		s, _ := v.AsStr()
		return `"` + coreform.EscapeStr(s) + `"`, true
	case coreform.KindBytes:
		b, _ := v.AsBytes()
		return `b"` + coreform.EscapeBytes(b.MustLoad()) + `"`, true
	}
	return "", false
}

func (l plainLayout) atoms(vs []coreform.Value, most int) (string, bool) {
	var texts []string
	for _, v := range vs {
		s, ok := l.atom(v)
		if !ok {
			return "", false
		}
		texts = append(texts, s)
	}
	return strings.Join(texts, " "), len(vs) <= most
}

func (l plainLayout) flat(v coreform.Value) (string, bool) {
	switch v.Kind() {
	case coreform.KindVec:
		x, _ := v.AsVec()
		s, ok := l.atoms(x.Slice(), 3)
		return "[" + s + "]", ok
	case coreform.KindMap:
		m, _ := v.AsMap()
		var vs []coreform.Value
		for k, x := range m.All() {
			vs = append(vs, k, x)
		}
		s, ok := l.atoms(vs, 4)
		return "{" + s + "}", ok
	case coreform.KindPair:
		elems, _ := coreform.ListElems(v)
		var texts []string
		for _, e := range elems {
			s, ok := l.flat(e)
			if !ok {
				return "", false
			}
			texts = append(texts, s)
		}
		s := "(" + strings.Join(texts, " ") + ")"
		return s, len(s) <= 100
	}
	return l.atom(v)
}

func (l plainLayout) lay(v coreform.Value, ind int) []string {
	pad := strings.Repeat(" ", ind)
	flat, ok := l.flat(v)
	if _, atom := l.atom(v); atom || (ok && ind+len(flat) <= 100) {
		return []string{pad + flat}
	}
	var lines []string
	add := func(vs ...coreform.Value) {
		for _, x := range vs {
			lines = append(lines, l.lay(x, ind+2)...)
		}
	}
	closing := ""
	switch v.Kind() {
	case coreform.KindVec:
		lines, closing = []string{pad + "["}, "]"
		x, _ := v.AsVec()
		add(x.Slice()...)
	case coreform.KindMap:
		lines, closing = []string{pad + "{"}, "}"
		m, _ := v.AsMap()
		for k, x := range m.All() {
			fk, ok1 := l.flat(k)
			fx, ok2 := l.flat(x)
			if ok1 && ok2 && ind+2+len(fk)+1+len(fx) <= 100 {
				lines = append(lines, pad+"  "+fk+" "+fx)
				continue
			}
			lines = append(append(lines, l.lay(k, ind+2)...), l.lay(x, ind+4)...)
		}
	default:
		elems, _ := coreform.ListElems(v)
		closing = ")"
		head, ok := l.flat(elems[0])
		if !ok {
			lines = []string{pad + "("}
			add(elems...)
			break
		}
		first := pad + "(" + head
		rest := elems[1:]
		if len(rest) > 0 {
			if s, ok := l.flat(rest[0]); ok && len(first)+1+len(s) <= 100 {
				first += " " + s
				rest = rest[1:]
			}
		}
		lines = []string{first}
		add(rest...)
	}
	lines[len(lines)-1] += closing
	return lines
}

// genPrintable draws terms whose widths lie about the line width.
func genPrintable(depth int) *rapid.Generator[coreform.Value] {
	atom := rapid.OneOf(
		rapid.SampledFrom([]coreform.Value{{}, coreform.Bool(true), coreform.Int(7), coreform.Int(-1 << 63), coreform.Sym("f"), coreform.Vec(), coreform.MapOf()}),
		rapid.Map(rapid.IntRange(1, 104), func(n int) coreform.Value { return coreform.Sym(strings.Repeat("s", n)) }),
		rapid.Map(rapid.StringN(0, 40, -1), coreform.Str),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 30), coreform.BytesOf),
		rapid.Map(rapid.IntRange(60, 360), func(n int) coreform.Value {
			return coreform.BigInt(new(big.Int).Neg(new(big.Int).Lsh(big.NewInt(1), uint(n))))
		}),
	)
	if depth == 0 {
		return atom
	}
	deferred := rapid.Deferred(func() *rapid.Generator[coreform.Value] { return genPrintable(depth - 1) })
	few, more := rapid.SliceOfN(deferred, 1, 4), rapid.SliceOfN(deferred, 1, 9)
	list := func(vs []coreform.Value) coreform.Value { return coreform.List(vs...) }
	return rapid.OneOf(atom, rapid.Map(few, list), rapid.Map(more, list),
		rapid.Map(few, func(vs []coreform.Value) coreform.Value { return coreform.Vec(slices.Clone(vs)...) }),
		rapid.Map(more, func(vs []coreform.Value) coreform.Value {
			var es []coreform.Entry
			for i := 0; i+1 < len(vs); i += 2 {
				es = append(es, coreform.Entry{Key: vs[i], Value: vs[i+1]})
			}
			return coreform.MapOf(es...)
		}),
		rapid.Map(rapid.IntRange(1, 60), func(n int) coreform.Value {
			v := coreform.Sym("x")
			for range n {
				v = coreform.List(v)
			}
			return v
		}))
}

// spec: CF-PRINT-1 CF-PRINT-2 CF-PRINT-4 CF-PRINT-5 CF-PRINT-6 CF-PRINT-9 CF-READ-10
func TestPrinterAgainstPlainLayout(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := genPrintable(4).Draw(t, "term")
		want := strings.Join(plainLayout{}.lay(v, 0), "\n")
		b, err := coreform.PrintTerm(v, coreform.Limits{})
		if err != nil || string(b) != want {
			t.Fatalf("%v\n%s\nwant\n%s", err, b, want)
		}
		var w bytes.Buffer
		if err := coreform.WriteTerm(&w, v); err != nil || w.String() != want {
			t.Fatalf("streamed: %v", err)
		}
		back, err := coreform.ReadTerm(b, coreform.Limits{})
		if err != nil || !coreform.Equal(back, v) {
			t.Fatalf("read(print(x)) is not x: %v", err)
		}
		if back, err = coreform.DecodeCanonical(b, coreform.Limits{}); err != nil || !coreform.Equal(back, v) {
			t.Fatalf("decoding: %v", err)
		}
		if lossy := coreform.FormatLossy(v, len(want)); lossy != want {
			t.Fatalf("lossy differs from the text:\n%s", lossy)
		}
	})
}

// spec: CF-PRINT-3
func TestEscapes(t *testing.T) {
	in := "\\\"\n\r\t\x00\x1f\x7f\u0080\u009f\u00a0é\u2028\uFEFF😀"
	if got := coreform.EscapeStr(in); got != `\\\"\n\r\t\u0000\u001F\u007F\u0080\u009F`+"\u00a0é\u2028\uFEFF😀" {
		t.Errorf("string: %s", got)
	}
	if got := coreform.EscapeBytes([]byte("\\\"\n\r\t\x00 ~\x7f\xff")); got != `\\\"\n\r\t\x00 ~\x7F\xFF` {
		t.Errorf("bytes: %s", got)
	}
	long := strings.Repeat("é\u0085", 50_000)
	if got := mustPrint(t, coreform.Str(long)); mustRead(t, got).IsNil() || len(got) != 2+50_000*8 {
		t.Error("long string")
	}
}

// The figures of the worked examples about width.
//
// spec: CF-PRINT-6
func TestWidths(t *testing.T) {
	a, b := strings.Repeat("A", 49), strings.Repeat("B", 49)
	if got := mustPrint(t, mustRead(t, "("+a+" "+b+")")); got != "("+a+" "+b+")" || len(got) != 101 {
		t.Errorf("%s", got)
	}
	if got := mustPrint(t, mustRead(t, `(f "`+strings.Repeat("é", 49)+`")`)); strings.Count(got, "\n") != 1 {
		t.Errorf("%s", got)
	}
	if got := mustPrint(t, mustRead(t, "((f [1 2 3 4]) x y)")); got != "(\n  (f\n    [\n      1\n      2\n      3\n      4])\n  x\n  y)" {
		t.Errorf("%s", got)
	}
	if got := mustPrint(t, mustRead(t, "(def name [1 2 3 4])")); got != "(def name\n  [\n    1\n    2\n    3\n    4])" {
		t.Errorf("%s", got)
	}
}

// Every width about the limit, in every place where a width decides.
//
// spec: CF-PRINT-4 CF-PRINT-5 CF-PRINT-6
func TestWidthBoundaries(t *testing.T) {
	for _, form := range []string{"(%s %s)", "(%s x %s)", "(x (%s %s))", "{%s %s}", "{%s %s a 1 b 2}", "{(x %s) %s a 1 b 2}", "{%s (x %s) a 1 b 2}",
		"[a b c {%s %s d 1 e 2}]", "[%s %s]", "[a b c [%s %s]]", "((%s) %s)", "([%s] %s y)", "({a %s} %s y)", "[a b c ({a %s} %s y)]"} {
		for first := 1; first <= 104; first++ {
			for total := 84; total <= 106; total++ {
				if total <= first {
					continue
				}
				v := mustRead(t, fmt.Sprintf(form, strings.Repeat("k", first), strings.Repeat("v", total-first)))
				want := strings.Join(plainLayout{}.lay(v, 0), "\n")
				if got := mustPrint(t, v); got != want {
					t.Fatalf("%s with %d and %d:\n%s\nwant\n%s", form, first, total-first, got, want)
				}
			}
		}
	}
}

// spec: CF-PRINT-7
func TestModuleText(t *testing.T) {
	for src, want := range map[string]string{"": "", "a": "a\n", "a b": "a\n\nb\n"} {
		vs, err := coreform.ReadTerms([]byte(src), coreform.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		b, err := coreform.PrintModule(vs, coreform.Limits{})
		if err != nil || string(b) != want {
			t.Errorf("%q: %q, %v", src, b, err)
		}
		if _, err := coreform.DecodeCanonicalModule(b, coreform.Limits{}); err != nil {
			t.Error(err)
		}
	}
}

// spec: CF-PRINT-9 CF-LIMIT-1 CF-TERM-1
func TestPrintLimits(t *testing.T) {
	type lim = coreform.Limits
	deep := coreform.Value{}
	for range 1000 {
		deep = coreform.Vec(deep)
	}
	big := coreform.BigInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(40), nil))
	for _, c := range []struct {
		name      string
		v         coreform.Value
		fits, not lim
		dim       string
	}{
		{"depth", deep, lim{}, lim{MaxDepth: 999}, coreform.DimDepth},
		{"bytes", mustRead(t, "(abc d)"), lim{MaxBytes: 7}, lim{MaxBytes: 6}, coreform.DimBytes},
		{"string", coreform.Str("\n\n"), lim{MaxBytes: 6}, lim{MaxBytes: 5}, coreform.DimBytes},
		{"octets", coreform.BytesOf([]byte{0, 0}), lim{MaxBytes: 11}, lim{MaxBytes: 10}, coreform.DimBytes},
		{"int", coreform.Int(-1 << 63), lim{MaxBytes: 20}, lim{MaxBytes: 19}, coreform.DimBytes},
		{"terms", mustRead(t, "[a b (c)]"), lim{MaxTerms: 5}, lim{MaxTerms: 4}, coreform.DimTerms},
		{"digits", coreform.Vec(big), lim{MaxDigits: 41}, lim{MaxDigits: 40}, coreform.DimDigits},
		{"bits", coreform.Vec(big), lim{MaxDigits: 41}, lim{MaxDigits: 12}, coreform.DimDigits},
	} {
		text, err := coreform.PrintTerm(c.v, c.fits)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if _, err := coreform.DecodeCanonical(text, c.fits); err != nil {
			t.Errorf("%s: what was printed is not read: %v", c.name, err)
		}
		var limit *coreform.LimitError
		dst := []byte("before")
		got, err := coreform.AppendTerm(dst, c.v, c.not)
		if !errors.As(err, &limit) || limit.Dimension != c.dim || limit.Observed <= limit.Limit || string(got) != "before" {
			t.Errorf("%s: %q, %v", c.name, got, err)
		}
	}
	improper := coreform.List(coreform.Cons(coreform.Int(1), coreform.Int(2)))
	for _, v := range []coreform.Value{improper, coreform.FromOther(testOther{})} {
		if _, err := coreform.PrintTerm(v, lim{}); !errors.Is(err, coreform.ErrNotTerm) {
			t.Errorf("%v", err)
		}
		if _, err := coreform.ValueHash(v); !errors.Is(err, coreform.ErrNotTerm) {
			t.Errorf("%v", err)
		}
	}
}

// The printer looks ahead in proportion to what it writes: twice the text,
// about twice the looks, for flat, nested and awkward terms, and never more
// than a fixed number for each byte.
//
// spec: CF-PRINT-8
func TestPrinterIsLinear(t *testing.T) {
	atom := coreform.Sym("x")
	for name, build := range map[string]func(n int) coreform.Value{
		"flat list": func(n int) coreform.Value { return coreform.List(slices.Repeat([]coreform.Value{atom}, 200*n)...) },
		"call chain": func(n int) coreform.Value {
			v := atom
			for range n {
				v = coreform.List(v, atom)
			}
			return v
		},
		"tail chain": func(n int) coreform.Value {
			v := atom
			for range n {
				v = coreform.List(atom, v)
			}
			return v
		},
		"wide and deep": func(n int) coreform.Value {
			v := atom
			for range n {
				v = coreform.List(atom, v, coreform.List(atom, atom, atom))
			}
			return v
		},
		"maps": func(n int) coreform.Value {
			v := atom
			for range n {
				v = coreform.MapOf(coreform.Entry{Key: coreform.Int(1), Value: v}, coreform.Entry{Key: coreform.List(atom, atom), Value: atom})
			}
			return v
		},
	} {
		per := func(n int) (perByte float64) {
			text, looks, err := coreform.PrintLooks(build(n), coreform.Limits{MaxDepth: 4000})
			if err != nil {
				t.Fatal(err)
			}
			return float64(looks) / float64(len(text))
		}
		small, large := per(900), per(1800)
		if large > small*1.05 || small > 30 {
			t.Errorf("%s: %.3f looks per byte, then %.3f", name, small, large)
		}
	}
}

// spec: CF-READ-10
func TestDecodeCanonicalRefusesOtherSpellings(t *testing.T) {
	for src, off := range map[string]int{
		"007": 0, "-0": 0, "'x": 0, " x": 0, "x ": 1, "x;": 1, "()": 0, `"\x41"`: 1, `"\u00e9"`: 1, "(a  b)": 3, "[1 2 3 4]": 1,
		`b"\xff"`: 4, "{:b 1 :a 2}": 2, "{:a 1 :a 2}": 4, "(a b)\n": 5, "\"\x7f\"": 1, "[\n  1]": 1, "\"\n\"": 1,
	} {
		var re *coreform.ReadError
		_, err := coreform.DecodeCanonical([]byte(src), coreform.Limits{})
		if !errors.As(err, &re) || re.Code() != "core/parse/not-canonical" || re.Offset != off {
			t.Errorf("%q: %v, want offset %d", src, err, off)
		}
	}
	for src, off := range map[string]int{"a": 1, "a\n\n": 2, "a\nb\n": 2, "a\n\nb": 4, "\n": 0} {
		var re *coreform.ReadError
		_, err := coreform.DecodeCanonicalModule([]byte(src), coreform.Limits{})
		if !errors.As(err, &re) || re.Kind != coreform.ReadNotCanonical || re.Offset != off {
			t.Errorf("module %q: %v, want offset %d", src, err, off)
		}
	}
}

// testOther is a function as far as coreform is concerned.
type testOther struct{ cell *coreform.DigestCell }

func (testOther) TypeName() string                  { return "function" }
func (testOther) Equality() coreform.Equality       { return coreform.EqualNever }
func (testOther) Parts() ([]byte, []coreform.Value) { return nil, nil }
func (o testOther) Cell() *coreform.DigestCell      { return o.cell }

// spec: CF-PRINT-10
func TestFormatLossy(t *testing.T) {
	fn := coreform.FromOther(testOther{})
	improper := coreform.Cons(coreform.Int(1), coreform.Int(2))
	long := coreform.Int(2)
	for range 10_000 {
		long = coreform.Cons(coreform.Int(1), long)
	}
	huge := coreform.BigInt(new(big.Int).Lsh(big.NewInt(1), 1<<22))
	for _, c := range []struct {
		v    coreform.Value
		max  int
		want string
	}{
		{coreform.List(coreform.Sym("f"), fn, improper), 100, "(f #<function> #<improper-pair>)"},
		{coreform.Vec(fn, improper), 100, "[#<function> #<improper-pair>]"},
		{coreform.Str("äöü"), 100, `"äöü"`},
		{coreform.Str("äöü"), 8, `"äöü"`},
		{coreform.Str("äöü"), 7, `"ä…`},
		{coreform.Str("äöü"), 3, "…"},
		{coreform.Str("äöü"), 2, ""},
		{coreform.Str("äöü"), 0, ""},
		{coreform.Str("äöü"), -5, ""},
		{coreform.List(coreform.Sym("abcdefgh"), coreform.Sym("ijklmnop")), 12, "(abcdefgh…"},
		{long, 12, "(1 1\n  1\n…"},
		{huge, 12, "…"},
	} {
		if got := coreform.FormatLossy(c.v, c.max); got != c.want {
			t.Errorf("%q within %d, want %q", got, c.max, c.want)
		}
	}
	whole := coreform.FormatLossy(long, 1<<20)
	if !strings.HasSuffix(whole, "1 #<improper-pair>)") {
		t.Errorf("a long improper chain ends in %q", whole[len(whole)-40:])
	}
	var many []coreform.Value
	for range 5000 {
		many = append(many, long)
	}
	if got := coreform.FormatLossy(coreform.Vec(many...), 4000); len(got) > 4000 {
		t.Error("too long")
	}
}
