package format

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/gcrun/gcrun/coreform"
)

// laws checks a source that can be read against everything that holds for all
// of them, and returns its formatted text.
//
// spec: FMT-LAW-1 FMT-LAW-2 FMT-LAW-3 FMT-TEXT-2
func laws(t interface {
	Helper()
	Fatalf(string, ...any)
}, src []byte, lim coreform.Limits) []byte {
	t.Helper()
	before := bytes.Clone(src)
	out, err := Source(src, lim)
	if err != nil {
		t.Fatalf("Source: %v\n%q", err, src)
	}
	if !bytes.Equal(src, before) {
		t.Fatalf("the source was changed: %q", before)
	}
	again, err := Source(out, lim)
	if err != nil || !bytes.Equal(out, again) {
		t.Fatalf("formatting again: %v\nsource %q\nonce\n%s\ntwice\n%s", err, src, out, again)
	}
	if fault := sameTerms(src, out, lim); fault != "" {
		t.Fatalf("%s\nsource %q\nformatted %q", fault, src, out)
	}
	was, code := pieces(src)
	is, formatted := pieces(out)
	if !slices.Equal(was, is) {
		t.Fatalf("comments were %q and are %q\nsource %q\nformatted %q", was, is, src, out)
	}
	if !slices.Equal(code, formatted) {
		t.Fatalf("code was %q and is %q", code, formatted)
	}
	if fault := untidy(out); fault != "" {
		t.Fatalf("%s\nsource %q\nformatted %q", fault, src, out)
	}
	return out
}

// sameTerms compares the terms of two sources, and what becomes of them.
func sameTerms(a, b []byte, lim coreform.Limits) string {
	x, err1 := coreform.ReadModule(a, lim)
	y, err2 := coreform.ReadModule(b, lim)
	if err1 != nil || err2 != nil || len(x) != len(y) {
		return fmt.Sprintf("%d terms, %d formatted; %v; %v", len(x), len(y), err1, err2)
	}
	for i := range x {
		if !coreform.Equal(x[i].Term, y[i].Term) {
			return fmt.Sprintf("form %d is another term", i)
		}
	}
	x, err1 = coreform.CanonicalizeModule(x, lim)
	y, err2 = coreform.CanonicalizeModule(y, lim)
	if (err1 == nil) != (err2 == nil) {
		return fmt.Sprintf("canonical: %v; formatted: %v", err1, err2)
	}
	if err1 != nil {
		return ""
	}
	textA, err1 := coreform.PrintModule(coreform.Terms(x), lim)
	textB, err2 := coreform.PrintModule(coreform.Terms(y), lim)
	if (err1 == nil) != (err2 == nil) || !bytes.Equal(textA, textB) {
		return fmt.Sprintf("another canonical text: %v, %v", err1, err2)
	}
	hashA, err1 := coreform.ModuleHash(coreform.Terms(x))
	hashB, err2 := coreform.ModuleHash(coreform.Terms(y))
	if err1 != nil || err2 != nil || hashA != hashB {
		return fmt.Sprintf("module hash %v, %v; formatted %v, %v", hashA, err1, hashB, err2)
	}
	return ""
}

// pieces cuts a source that can be read into the texts of its comments and its
// tokens, without using the formatter or the reader.
func pieces(src []byte) (comments, tokens []string) {
	const delimiters = "()[]{}'"
	for i := 0; i < len(src); {
		from := i
		switch c := src[i]; {
		case strings.IndexByte(" \t\r\n", c) >= 0:
			i++
		case c == ';':
			for i < len(src) && src[i] != '\n' {
				i++
			}
			comments = append(comments, strings.TrimRight(string(src[from:i]), " \t\r"))
		case strings.IndexByte(delimiters, c) >= 0:
			i++
			tokens = append(tokens, string(c))
		case c == '"' || c == 'b' && i+1 < len(src) && src[i+1] == '"':
			for i += strings.IndexByte(string(src[i:i+2]), '"') + 1; src[i] != '"'; i++ {
				if src[i] == '\\' {
					i++
				}
			}
			i++
			tokens = append(tokens, string(src[from:i]))
		default:
			digits := c >= '0' && c <= '9' || c == '-' && i+1 < len(src) && src[i+1] >= '0' && src[i+1] <= '9'
			for i++; i < len(src) && strings.IndexByte(delimiters+" \t\r\n\";", src[i]) < 0; i++ {
				if digits && (src[i] < '0' || src[i] > '9') {
					break
				}
			}
			tokens = append(tokens, string(src[from:i]))
		}
	}
	return comments, tokens
}

// untidy tells what is wrong with lines of a formatted text, leaving out those
// inside strings.
func untidy(out []byte) string {
	if len(out) == 0 {
		return ""
	}
	if out[len(out)-1] != '\n' || bytes.HasSuffix(out, []byte("\n\n")) || out[0] == '\n' {
		return "the text does not begin with a term or comment and end with one LF"
	}
	inString, blank := false, 0
	start := 0
	for i := 0; i < len(out); i++ {
		switch c := out[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == ';':
			n := bytes.IndexByte(out[i:], '\n')
			i += n - 1
		case c == '\r' || c == '\t':
			return fmt.Sprintf("byte %q at %d", c, i)
		case c == '\n':
			line := out[start:i]
			if len(line) > 0 && line[len(line)-1] == ' ' {
				return fmt.Sprintf("a blank at the end of line %q", line)
			}
			if len(line) > 0 {
				blank = 0
			} else if blank++; blank > 1 {
				return "two empty lines"
			}
		}
		if out[min(i, len(out)-1)] == '\n' {
			start = i + 1
		}
	}
	return ""
}

// atoms are generated with their neighbours in mind: "b" before a string, what
// ends where the next begins, and texts of several lines.
var atoms = []string{
	"a", "b", "x", "nil", "true", "0", "-7", "12", "-", ":key", "core/int::add", "some-name", "quote", "prim",
	"core/effect::bind", "a-rather-long-name-of-a-thing", "()", "[]", "{}", `""`, `"\x41\u00e9"`, `"; no comment"`, `"two
lines"`, "\"line ends\r\n kept \"", `b"\x00\""`, "b\"a\nb\"", "é", `"日本語"`, "+5", `"a string that is not short, but fits on a line"`,
}

// generated returns sources: mostly code of the usual shapes, sometimes nonsense.
func generated(t *rapid.T) []byte {
	g := generator{t: t, left: rapid.IntRange(1, 80).Draw(t, "size")}
	g.wild = rapid.IntRange(0, 3).Draw(t, "wild")
	g.space(false)
	for g.left > 0 {
		g.term(0)
		g.space(true)
	}
	return g.out
}

type generator struct {
	t    *rapid.T
	out  []byte
	left int
	wild int
}

func (g *generator) pick(n int) int { return rapid.IntRange(0, n-1).Draw(g.t, "pick") }

func (g *generator) text(s string) { g.out = append(g.out, s...) }

// space writes what separates two tokens.
func (g *generator) space(needed bool) {
	if g.wild == 0 && g.pick(4) > 0 {
		g.text(" ")
		return
	}
	switch g.pick(12) {
	case 0:
		g.text(" ; a remark  \r\n")
	case 1:
		g.text("\n; alone ;; (\"\n")
	case 2:
		g.text("\n\n\n  ;; ä\n\n")
	case 3:
		g.text("\r\n\t")
	case 4:
		g.text("\n\n")
	case 5:
		g.text("\n" + strings.Repeat(" ", g.pick(5)))
	case 6:
		g.text(" ; x\n" + strings.Repeat(" ", g.pick(12)) + "; y\n")
	case 7: // a remark that goes on in its column
		line := g.out[bytes.LastIndexByte(g.out, '\n')+1:]
		g.text("; x\n" + strings.Repeat(" ", utf8.RuneCount(line)) + "; y\n")
	case 8:
		if !needed {
			return
		}
		g.text(" ")
	default:
		g.text(" ")
	}
}

func (g *generator) term(depth int) {
	g.left--
	if depth > 12 || g.left < 0 {
		g.text(atoms[g.pick(len(atoms))])
		return
	}
	switch g.pick(12) {
	case 0, 1, 2:
		g.text(atoms[g.pick(len(atoms))])
	case 3:
		g.text("'")
		if g.wild > 1 {
			g.space(false)
		}
		g.term(depth + 1)
	case 4:
		g.list("[", "]", g.pick(7), depth)
	case 5:
		g.list("{", "}", 2*g.pick(4), depth)
	case 6:
		g.form(depth)
	default:
		g.list("(", ")", g.pick(6), depth)
	}
}

func (g *generator) list(open, end string, n, depth int) {
	g.text(open)
	g.space(false)
	for i := range n {
		if i > 0 {
			g.space(true)
		}
		g.term(depth + 1)
	}
	g.space(false)
	g.text(end)
}

// form writes a special form, perhaps one that is malformed.
func (g *generator) form(depth int) {
	part := func(s string) { g.text(s); g.space(true) }
	g.text("(")
	g.space(false)
	switch g.pick(8) {
	case 0:
		part("def")
		part("name")
	case 1:
		part("def")
		part("a-longer-name")
		g.text("(fn (a b)\n")
		g.term(depth + 2)
		g.space(false)
		g.text(")")
	case 2:
		part("fn")
		g.list("(", ")", g.pick(4), depth+10)
		g.space(true)
	case 3:
		part("let")
		g.text("(")
		for range g.pick(4) {
			g.space(false)
			g.text("(name ")
			g.term(depth + 2)
			g.text(")")
		}
		g.text(")")
		g.space(true)
	case 4:
		part("if")
		g.term(depth + 1)
		g.space(true)
		g.term(depth + 1)
		g.space(true)
	case 5:
		part("begin")
	case 6:
		part("prim")
		part("int/add")
	default:
		part("core/effect::bind")
		g.term(depth + 1)
		g.space(true)
		g.text("(fn (x) ")
		g.term(depth + 2)
		g.text(")")
	}
	for range 1 + g.pick(2) {
		g.space(true)
		g.term(depth + 1)
	}
	g.text(")")
}

// spec: FMT-LAW-1 FMT-LAW-2 FMT-LAW-3 FMT-TEXT-2
func TestLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { laws(t, generated(t), coreform.Limits{}) })
}

// FuzzSource: what can be read is formatted and keeps every law, and what cannot
// is refused with the reader's error.
//
// spec: FMT-TEXT-1 FMT-LAW-1 FMT-LAW-2 FMT-LAW-3
func FuzzSource(f *testing.F) {
	for _, a := range atoms {
		f.Add([]byte("(f " + a + " ; c\n)"))
	}
	for _, s := range awkward {
		f.Add([]byte(s))
	}
	lim := coreform.Limits{MaxDepth: 200, MaxTerms: 100_000, MaxDigits: 500, MaxBytes: 1 << 20}
	f.Fuzz(func(t *testing.T, src []byte) {
		if len(src) > 1<<13 {
			return
		}
		_, want := coreform.ReadModule(src, lim)
		if want == nil {
			laws(t, src, lim)
			return
		}
		if out, err := Source(src, lim); out != nil || err == nil || err.Error() != want.Error() {
			t.Fatalf("%q, %v; the reader says %v", out, err, want)
		}
	})
}

// awkward sources, most of them with a comment where nobody would put one.
var awkward = []string{
	"", "\n\n", ";", "; only", ";a\r\n\r\n;b", "a", "12abc", `a"b"b"c"`, "'''a", "' ; c\n'\n;d\nx", "(;c\n)", "(\n;c\n)", "( ;c\n ;d\n)",
	"[1;a\n;b\n2]", "{a;b\n1 c;d\n2;e\n}", "((a ;x\n) ;y\n b)", "(a (b (c ;x\n) ) ;y\n)", "((a ;x\n\n ;y\n)\n\n)", "(def;1\nx;2\n(fn;3\n(a;4\n);5\nb;6\n);7\n)",
	"(let;1\n(;2\n(a;3\n1;4\n);5\n);6\na)", "(if;1\na;2\nb;3\nc)", "(prim;1\nint/add;2\n1 2)", "(f \"a\nb\" ;c\n  ;d\n)", "(f \"a\nb\" ;c\n;d\n x)",
	"(\"\n\" ; a\n  ; b\n)", "(f ; a\n   ; b\n   ; c\n  x)", "a ; x\n  ; x\n; y", "(a\n\n\nb\n\n)", "(\n\n;a\n\nb)", "x;a\n\n\n;b\n\n\n", "(quote (f a\n b))",
	"'(def x\n (fn (y)\n z))", "(fn (a\nb) c)", "(let ((a\n1)(b\n2)) c)", "[a\nb c\n\nd]", "{a 1\nb 2}", "{a\n1}", "(def (x)\n1)", "(def x\n1)", "((f)\n1)",
	"(f\n(a)\n(b))", "(f\na\nb\n(c))", "(f (a)\n(b) (c) d)", "(begin)", "(if)", "(let x y)", "(fn)", "(prim)", "(prim (a) b\n(c))",
}

// spec: FMT-LAW-1 FMT-LAW-2 FMT-LAW-3 FMT-TEXT-2
func TestAwkward(t *testing.T) {
	for _, s := range awkward {
		out := laws(t, []byte(s), coreform.Limits{})
		crlf := laws(t, []byte(strings.ReplaceAll(s, "\n", "\r\n")), coreform.Limits{})
		if !strings.Contains(s, `"`) && !bytes.Equal(out, crlf) {
			t.Errorf("%q with CR LF gives %q, without %q", s, crlf, out)
		}
	}
}
