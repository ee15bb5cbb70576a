package coreform_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gcrun/gcrun/coreform"
)

// The worked examples of reading: source, and terms printed one per line, or
// an error as kind@offset for the source as a single term.
//
// spec: CF-READ-1 CF-READ-2 CF-READ-3 CF-READ-4 CF-READ-5 CF-READ-6 CF-READ-7
func TestReadExamples(t *testing.T) {
	for _, c := range [][2]string{
		{`'-5`, `(quote -5)`},
		{`'(-5 -x 12abc +5 --1 1.5 a'b)`, `(quote (-5 -x 12 abc +5 --1 1 .5 a (quote b)))`},
		{`"\x41\xFF\u00e9\t"`, `"Aÿé\t"`},
		{`b"\xFF\u00e9A"`, `b"\xFF\xC3\xA9A"`},
		{`"\u007f\u0080"`, `"\u007F\u0080"`},
		{`{:a 1 :a 2}`, `{:a 2}`},
		{`()`, `nil`},
		{`'((7))`, `(quote ((7)))`},
		{`(1 . 2)`, `(1 . 2)`},
		{`(1-2 5-x 0x10)`, `(1 -2 5 -x 0 x10)`},
		{`(ab"x" "a""b" b"")`, `(ab "x" "a" "b" b"")`},
		{"(a;c\rstill )\n b)", `(a b)`},
		{"\"a\r\nb\"", `"a\r\nb"`},
		{"(-0 00012345678901234567890)", `(0 12345678901234567890)`},
		{"a\uFEFFb", "a\uFEFFb"},
		{"\u00a0", "\u00a0"},
		{`(`, `unexpected@0`},
		{`((1`, `unexpected@1`},
		{`(]`, `unexpected@1`},
		{`('`, `eof@2`},
		{`(')`, `unexpected@2`},
		{`('a' ;c`, `eof@7`},
		{`"\q"`, `escape@1`},
		{`"a\`, `escape@2`},
		{`"\x4"`, `escape@1`},
		{`"\ud800"`, `escape@1`},
		{`"\u12`, `escape@1`},
		{`b"\u12"`, `escape@2`},
		{"\"a\\\nb\"", `escape@2`},
		{`1 2`, `unexpected@2`},
		{`1 "abc`, `unexpected@2`},
		{`1 "\q"`, `escape@3`},
		{"1 a\x01", `unexpected@3`},
		{`{:a 1 :b}`, `unexpected@0`},
		{`{:a 1 :b`, `unexpected@0`},
		{`({a)`, `unexpected@3`},
		{"\uFEFF(a)", `unexpected@0`},
		{"(a \uFEFFb)", `unexpected@3`},
		{"(a b\x00c)", `unexpected@4`},
		{"(a b\u0085c)", `unexpected@4`},
		{"\x7f", `unexpected@0`},
		{"(a \"\xff\")", `utf8@4`},
		{"(\xed\xa0\x80", `utf8@1`},
		{"\"\xc2", `utf8@1`},
	} {
		v, err := coreform.ReadTerm([]byte(c[0]), coreform.Limits{})
		got := ""
		var re *coreform.ReadError
		switch {
		case err == nil:
			got = mustPrint(t, v)
		case errors.As(err, &re):
			got = re.Kind.String() + "@" + strconv.Itoa(re.Offset)
			if re.Message == "" || re.Hint == "" {
				t.Errorf("%q: no message or hint: %+v", c[0], re)
			}
		default:
			got = err.Error()
		}
		if got != c[1] {
			t.Errorf("%q: %s, want %s", c[0], got, c[1])
		}
	}
}

// Case CF-05: an unknown escape is an error, not dropped.
//
// spec: CF-READ-3 CF-READ-6
func TestCF05UnknownEscape(t *testing.T) {
	for _, src := range []string{`"a\qb"`, `b"a\qb"`, `(x "a\0b")`, `"\'"`} {
		var re *coreform.ReadError
		_, err := coreform.ReadModule([]byte(src), coreform.Limits{})
		if !errors.As(err, &re) || re.Code() != "core/parse/escape" || re.Offset != strings.IndexByte(src, '\\') {
			t.Errorf("%s: %v", src, err)
		}
	}
}

// Case CF-01: deep nesting gives a prompt error, not a crash.
//
// spec: CF-READ-8
func TestCF01DeepNesting(t *testing.T) {
	for _, unit := range []string{"(", "[", "{", "'", "{a ", "((a) ", "'(", "['", ";c\n("} {
		src := []byte(strings.Repeat(unit, 300_000))
		for _, depth := range []int{0, 7, coreform.MaximumDepth, 1 << 30} {
			start := time.Now()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := coreform.ReadModule(src, coreform.Limits{MaxDepth: depth})
			runtime.ReadMemStats(&after)
			var re *coreform.ReadError
			if !errors.As(err, &re) || re.Code() != "core/parse/depth" {
				t.Fatalf("%q: %v", unit, err)
			}
			if spent := time.Since(start); spent > 10*time.Second {
				t.Errorf("%q: took %v", unit, spent)
			}
			if used := after.TotalAlloc - before.TotalAlloc; used > 32<<20 {
				t.Errorf("%q: allocated %d bytes", unit, used)
			}
		}
	}
	// The same in values a program made, which may be deeper than any source.
	deep := coreform.Value{}
	for range 300_000 {
		deep = coreform.List(deep)
	}
	var limit *coreform.LimitError
	if _, err := coreform.PrintTerm(deep, coreform.Limits{}); !errors.As(err, &limit) || limit.Dimension != coreform.DimDepth {
		t.Errorf("printing: %v", err)
	}
	if _, err := coreform.TermHash(deep); !errors.As(err, &limit) {
		t.Errorf("hashing: %v", err)
	}
	if _, err := coreform.CanonicalizeTerm(deep, coreform.Limits{}); !errors.As(err, &limit) {
		t.Errorf("canonicalizing: %v", err)
	}
	if s := coreform.FormatLossy(deep, 50); len(s) > 50 || !strings.HasSuffix(s, "…") {
		t.Errorf("lossy: %q", s)
	}
	if !coreform.Equal(deep, deep) || coreform.Compare(deep, coreform.List(deep)) == 0 {
		t.Error("comparing")
	}
}

// Every limit at, below and above what a source needs, and that what one
// limit lets print the same lets read.
//
// spec: CF-READ-7 CF-READ-8 CF-LIMIT-1
func TestReadLimits(t *testing.T) {
	type lim = coreform.Limits
	nested := strings.Repeat("(a ", 30) + strings.Repeat(")", 30)
	for _, c := range []struct {
		src       string
		fits, not lim
		kind      coreform.ReadErrorKind
		off       int
	}{
		{"(a b c)", lim{MaxBytes: 7}, lim{MaxBytes: 6}, coreform.ReadSize, 6},
		{"(a b c)", lim{MaxTerms: 4}, lim{MaxTerms: 3}, coreform.ReadSize, 5},
		{"'[a]", lim{MaxTerms: 3}, lim{MaxTerms: 2}, coreform.ReadSize, 2},
		{nested, lim{MaxDepth: 30}, lim{MaxDepth: 29}, coreform.ReadDepth, 29 * 3},
		{"'''a", lim{MaxDepth: 3}, lim{MaxDepth: 2}, coreform.ReadDepth, 2},
		{"((()))", lim{MaxDepth: 3}, lim{MaxDepth: 2}, coreform.ReadDepth, 2},
		{"[0 -12345678901234567890]", lim{MaxDigits: 20}, lim{MaxDigits: 19}, coreform.ReadInt, 3},
		{"000000000000000000000000001", lim{MaxDigits: 1}, lim{MaxBytes: 3}, coreform.ReadSize, 3},
	} {
		if _, err := coreform.ReadModule([]byte(c.src), c.fits); err != nil {
			t.Errorf("%s with %+v: %v", c.src, c.fits, err)
		}
		var re *coreform.ReadError
		if _, err := coreform.ReadTerm([]byte(c.src), c.not); !errors.As(err, &re) || re.Kind != c.kind || re.Offset != c.off || re.Hint == "" {
			t.Errorf("%s with %+v: %v", c.src, c.not, err)
		}
	}
	for depth, ok := range map[int]bool{coreform.DefaultDepth: true, coreform.DefaultDepth + 1: false} {
		_, err := coreform.ReadTerm([]byte(strings.Repeat("[", depth)+strings.Repeat("]", depth)), lim{})
		if (err == nil) != ok {
			t.Errorf("default depth at %d: %v", depth, err)
		}
	}
	if _, err := coreform.ReadTerm(bytes.Repeat([]byte{'9'}, coreform.DefaultDigits+1), lim{}); err == nil {
		t.Error("an integer above the default limit was read")
	}
}

// Long integers take less than quadratic time, and are right.
//
// spec: CF-READ-2
func TestLongIntegers(t *testing.T) {
	for _, n := range []int{18, 19, 20, 1199, 1200, 1201, 2401, 5000, 100_000} {
		text := strings.Repeat("9081726354", n/10+1)[:n]
		for _, sign := range []string{"", "-"} {
			if got := mustRead(t, sign+text).IntText(); got != sign+text {
				t.Errorf("%d digits come back wrong", n)
			}
		}
	}
	start := time.Now()
	mustRead(t, strings.Repeat("7", coreform.DefaultDigits))
	if spent := time.Since(start); spent > 20*time.Second {
		t.Errorf("a million digits took %v", spent)
	}
}

// spec: CF-READ-9
func TestPositions(t *testing.T) {
	src := "; c\n(f 'é [1 {b 2 a 3}]) nil"
	nodes, err := coreform.ReadModule([]byte(src), coreform.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	var walk func(n coreform.Node, indent string)
	walk = func(n coreform.Node, indent string) {
		line, col := coreform.Position([]byte(src), n.Off)
		lines = append(lines, fmt.Sprintf("%s%s %d:%d", indent, src[n.Off:n.End], line, col))
		for _, k := range n.Kids {
			walk(k, indent+" ")
		}
	}
	for _, n := range nodes {
		walk(n, "")
	}
	want := `(f 'é [1 {b 2 a 3}]) 2:1
 f 2:2
 'é 2:4
  ' 2:4
  é 2:5
 [1 {b 2 a 3}] 2:7
  1 2:8
  {b 2 a 3} 2:10
   b 2:11
   2 2:13
   a 2:15
   3 2:17
nil 2:22`
	if got := strings.Join(lines, "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if !nodes[0].Kids[1].Kids[0].Term.IsSym("quote") {
		t.Error("the prefix is not the symbol quote")
	}
	one, err := coreform.ReadTermNode([]byte(" (a)"), coreform.Limits{})
	if err != nil || one.Off != 1 || one.End != 4 || len(one.Kids) != 1 {
		t.Errorf("single node: %+v, %v", one, err)
	}
}

// spec: CF-READ-9
func TestPositionHelpers(t *testing.T) {
	src := []byte("ab\r\né\xffz\n")
	for _, c := range []struct {
		off, line, col int
		text           string
	}{{-1, 1, 1, "ab"}, {0, 1, 1, "ab"}, {2, 1, 3, "ab"}, {3, 1, 4, "ab"}, {4, 2, 1, "é\xffz"}, {6, 2, 2, "é\xffz"},
		{7, 2, 3, "é\xffz"}, {8, 2, 4, "é\xffz"}, {9, 3, 1, ""}, {99, 3, 1, ""}} {
		line, col := coreform.Position(src, c.off)
		if line != c.line || col != c.col || string(coreform.SourceLine(src, c.off)) != c.text {
			t.Errorf("offset %d: %d:%d %q", c.off, line, col, coreform.SourceLine(src, c.off))
		}
	}
}

// Sources with an error, and where and what is reported, in chunks divided by
// a line of three dashes. The line under the one with the error holds a caret
// under its column and then kind and a part of the message.
//
// spec: CF-READ-6 CF-CANON-7
func TestErrorChunks(t *testing.T) {
	files, err := filepath.Glob("testdata/errors/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files with chunks: %v", err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i, chunk := range strings.Split(string(b), "---\n") {
			checkChunk(t, fmt.Sprintf("%s chunk %d", filepath.Base(file), i), chunk)
		}
	}
}

func checkChunk(t *testing.T, name, chunk string) {
	t.Helper()
	var src strings.Builder
	wantLine, wantCol, want := 0, 0, ""
	for i, line := range strings.SplitAfter(chunk, "\n") {
		if rest, ok := strings.CutPrefix(strings.TrimLeft(line, " "), "^ "); ok {
			wantLine, wantCol, want = i, strings.IndexByte(line, '^')+1, strings.TrimSpace(rest)
			continue
		}
		src.WriteString(line)
	}
	if want == "" {
		t.Errorf("%s: expects nothing", name)
		return
	}
	text := []byte(src.String())
	nodes, err := coreform.ReadModule(text, coreform.Limits{})
	if err == nil {
		_, err = coreform.CanonicalizeModule(nodes, coreform.Limits{})
	}
	var re *coreform.ReadError
	var ce *coreform.CanonError
	off, got := -1, "no error"
	switch {
	case errors.As(err, &re):
		off, got = re.Offset, re.Code()+" "+re.Message
	case errors.As(err, &ce):
		off, got = ce.Off, ce.Code()+" "+ce.Message
	}
	line, col := coreform.Position(text, off)
	if line != wantLine || col != wantCol || !strings.Contains(got, want) {
		t.Errorf("%s: %d:%d %s, want %d:%d %s", name, line, col, got, wantLine, wantCol, want)
	}
}
