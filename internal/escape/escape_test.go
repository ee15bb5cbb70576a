package escape

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestLine(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"empty", "", ""},
		{"ascii", `plain "text" \ here`, `plain "text" \ here`},
		{"letters", "héllo Ωmega 日本語 한국어 नमस्ते 🧪", "héllo Ωmega 日本語 한국어 नमस्ते 🧪"},
		{"combining", "e\u0301", "e\u0301"},
		{"right to left letters", "שלום مرحبا", "שלום مرحبا"},
		{"spaces that have width", "a\u00a0b\u3000c", "a\u00a0b\u3000c"},
		{"newlines", "a\nb\r\nc\td", `a\nb\r\nc\td`},
		{"colour", "\x1b[31mred\x1b[0m", `\x1b[31mred\x1b[0m`},
		{"nul bell delete", "\x00\a\x7f", `\x00\x07\x7f`},
		{"csi as one character", "\u009b31m\u0085", `\u009b31m\u0085`},
		{"bidi override", "a\u202egnp.exe", `a\u202egnp.exe`},
		{"bidi isolates", "\u2066x\u2069\u2067\u2068", `\u2066x\u2069\u2067\u2068`},
		{"bidi marks", "\u200e\u200f\u061c", `\u200e\u200f\u061c`},
		{"zero width", "a\u200bb\u200cc\u200dd\u2060e\ufefff", `a\u200bb\u200cc\u200dd\u2060e\ufefff`},
		{"soft hyphen", "co\u00adop", `co\u00adop`},
		{"separators", "a\u2028b\u2029", `a\u2028b\u2029`},
		{"tags", "x\U000e0041\U000e007f", `x\U000e0041\U000e007f`},
		{"variation selectors", "❤\ufe0f a\U000e0100", `❤\ufe0f a\U000e0100`},
		{"fillers", "\u3164\u115f\uffa0\u034f", `\u3164\u115f\uffa0\u034f`},
		{"noncharacters", "\ufffe\uffff\ufdd0\U0010ffff", `\ufffe\uffff\ufdd0\U0010ffff`},
		{"visible format characters", "\u0600\u06dd", "\u0600\u06dd"},
		{"replacement character itself", "\ufffd", "\ufffd"},
		{"not utf-8", "a\xff\xc3(\xe2\x80", `a\xff\xc3(\xe2\x80`},
		{"surrogate in utf-8", "\xed\xa0\x80", `\xed\xa0\x80`},
	} {
		if got := Line(c.in); got != c.want {
			t.Errorf("%s: Line(%q) = %q, want %q", c.name, c.in, got, c.want)
		}
	}
}

func TestLinesKeepsOnlyLineFeeds(t *testing.T) {
	in := "one\r\ntwo\tx\n\x1b]0;t\a\u2028"
	want := "one\\r\ntwo\\tx\n\\x1b]0;t\\x07\\u2028"
	if got := Lines(in); got != want {
		t.Errorf("Lines = %q, want %q", got, want)
	}
}

func TestMax(t *testing.T) {
	for _, c := range []struct {
		in   string
		max  int
		want string
	}{
		{"hello", 5, "hello"},
		{"hello", 6, "hello"},
		{"hello", 4, "hell… (5 bytes)"},
		{"hello", 0, "… (5 bytes)"},
		{"hello", -3, "… (5 bytes)"},
		{"", 0, ""},
		{"aé", 2, "a… (3 bytes)"},
		{"a🧪", 4, "a… (5 bytes)"},
		{"\x1b\x1b\x1b", 2, `\x1b\x1b… (3 bytes)`},
		{"\x80\x80\x80\x80\x80\x80", 4, `\x80\x80\x80\x80… (6 bytes)`},
		{"a\nb\nc", 3, `a\nb… (5 bytes)`},
	} {
		if got := LineMax(c.in, c.max); got != c.want {
			t.Errorf("LineMax(%q, %d) = %q, want %q", c.in, c.max, got, c.want)
		}
	}
	if got, want := LinesMax("a\nb\nc", 3), "a\nb… (5 bytes)"; got != want {
		t.Errorf("LinesMax = %q, want %q", got, want)
	}
}

// The laws hold for any bytes at all, drawn with the dangerous ones common.
func TestLaws(t *testing.T) {
	pieces := rapid.OneOf(
		rapid.String(),
		rapid.StringOfN(rapid.RuneFrom(nil, invisible...), 0, 4, -1),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 8), func(b []byte) string { return string(b) }),
	)
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOfN(pieces, 0, 6).Draw(t, "pieces"), "")
		max := rapid.IntRange(-1, 80).Draw(t, "max")
		check(t, s, max)
	})
}

type failer interface{ Fatalf(string, ...any) }

func check(t failer, s string, max int) {
	line := Line(s)
	assertSafe(t, line, false)
	if again := Line(line); again != line {
		t.Fatalf("escaped text changes again: %q then %q", line, again)
	}
	assertSafe(t, Lines(s), true)
	if strings.Count(Lines(s), "\n") != strings.Count(s, "\n") {
		t.Fatalf("Lines changed the number of lines of %q", s)
	}
	short := LineMax(s, max)
	assertSafe(t, short, false)
	if limit := 4*max + 40; max >= 0 && len(short) > limit && max < len(s) {
		t.Fatalf("LineMax(%q, %d) is %d bytes", s, max, len(short))
	}
	if max >= len(s) && short != line {
		t.Fatalf("LineMax(%q, %d) = %q, not %q", s, max, short, line)
	}
}

// assertSafe states the rule from the general categories, apart from the tables
// the code itself consults.
func assertSafe(t failer, s string, keepLF bool) {
	if !utf8.ValidString(s) {
		t.Fatalf("not UTF-8: %q", s)
	}
	for _, r := range s {
		if keepLF && r == '\n' {
			continue
		}
		seen := unicode.IsGraphic(r) || unicode.Is(unicode.Co, r) || unicode.Is(unicode.Prepended_Concatenation_Mark, r)
		unassigned := unicode.Is(unicode.Cn, r) && r&0xfffe != 0xfffe
		if !seen && !unassigned || unicode.Is(unicode.Bidi_Control, r) {
			t.Fatalf("%U left in %q", r, s)
		}
	}
}

func FuzzLine(f *testing.F) {
	for _, s := range []string{"", "plain", "\x1b[2J", "a\u202eb", "\xff\xfe", "é🧪", "\U000e0041", "\u07b3"} {
		f.Add(s, 3)
	}
	f.Fuzz(func(t *testing.T, s string, max int) { check(t, s, max%200) })
}
