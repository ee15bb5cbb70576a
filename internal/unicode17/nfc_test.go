package unicode17

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"
)

// spec: PATH-4
func TestTablesAreUnicode17OrNewer(t *testing.T) {
	major, _, _ := strings.Cut(norm.Version, ".")
	n, err := strconv.Atoi(major)
	if err != nil || n < 17 {
		t.Fatalf("norm.Version = %q, want 17.0.0 or newer", norm.Version)
	}
	// U+1611E to U+16129 are vowel signs added in Unicode 16 that compose.
	if got := NFC("\U00016121\U0001611F"); got != "\U00016126" {
		t.Errorf("NFC(16121 1611F) = %+q, want 16126", got)
	}
}

// nfcCases are rows in the manner of the Unicode normalization test: source,
// form C. Each names what it would catch.
var nfcCases = []struct{ name, in, want string }{
	{"empty", "", ""},
	{"ascii", "abc/def", "abc/def"},
	{"precomposed stays", "\u00e9", "\u00e9"},
	{"base and mark compose", "e\u0301", "\u00e9"},
	{"UN-01 ccc 0 vowel blocks", "o\U00011930\u0301\u0323", "o\U00011930\u0323\u0301"},
	{"UN-04 hangul with mark between", "\uac00\u0323\u11a8", "\uac00\u0323\u11a8"},
	{"UN-04 lower class first", "D\u0323\u0307", "\u1e0c\u0307"},
	{"UN-04 reordered before composing", "D\u0307\u0323", "\u1e0c\u0307"},
	{"UN-04 excluded mark pair", "\u0344", "\u0308\u0301"},
	{"UN-04 excluded nukta letter", "\u0958", "\u0915\u093c"},
	{"singleton kelvin", "\u212a", "K"},
	{"singleton angstrom", "\u212b", "\u00c5"},
	{"singleton ohm", "\u2126", "\u03a9"},
	{"compatibility ideograph", "\uf900", "\u8c48"},
	{"hangul L V", "\u1100\u1161", "\uac00"},
	{"hangul L V T", "\u1100\u1161\u11a8", "\uac01"},
	{"hangul LV T", "\uac00\u11a8", "\uac01"},
	{"hangul LVT T stays", "\uac01\u11a8", "\uac01\u11a8"},
	{"hangul V alone", "\u1161\u11a8", "\u1161\u11a8"},
	{"two marks, two composites", "a\u0323\u0302", "\u1ead"},
	{"two marks, given in the other order", "a\u0302\u0323", "\u1ead"},
	{"composed base and lower mark", "\u00e2\u0323", "\u1ead"},
	{"same class blocks", "a\u0302\u0301\u0302", "\u1ea5\u0302"},
	{"three levels", "u\u0308\u0304", "\u01d6"},
	{"ring then acute from singleton", "\u212b\u0301", "\u01fa"},
	{"bengali split vowel", "\u09c7\u09be", "\u09cb"},
	{"tamil split vowel", "\u0bc6\u0bbe", "\u0bca"},
	{"sinhala three parts", "\u0dd9\u0dcf\u0dca", "\u0ddd"},
	{"excluded tibetan", "\u0f43", "\u0f42\u0fb7"},
	{"hebrew excluded presentation", "\ufb2c", "\u05e9\u05bc\u05c1"},
	{"musical symbol excluded", "\U0001d15e", "\U0001d157\U0001d165"},
	{"kaithi nukta", "\U00011099\U000110ba", "\U0001109a"},
	{"chakma vowel", "\U00011131\U00011127", "\U0001112e"},
	{"dives akuru vowel", "\U00011935\U00011930", "\U00011938"},
	{"not equal", "=\u0338", "\u2260"},
	{"joiner is kept and blocks", "a\u034f\u0301", "a\u034f\u0301"},
	{"leading marks order", "\u0301\u0323", "\u0323\u0301"},
	{"greek with three marks", "\u03b1\u0313\u0301\u0345", "\u1f84"},
	{"compatibility is left alone", "\ufb01\u00b2", "\ufb01\u00b2"},
	{"31 compatibility vowels", strings.Repeat("\u3160", 31), strings.Repeat("\u3160", 31)},
	{"31 halfwidth voicing marks", "\uff76" + strings.Repeat("\uff9e", 31), "\uff76" + strings.Repeat("\uff9e", 31)},
	{"invalid bytes are kept", "e\xff\u0301", "e\xff\u0301"},
}

// spec: PATH-4
func TestNFCCases(t *testing.T) {
	for _, c := range nfcCases {
		if got := NFC(c.in); got != c.want {
			t.Errorf("%s: NFC(%+q) = %+q, want %+q", c.name, c.in, got, c.want)
		}
		if got := string(appendLong(nil, c.in)); got != c.want {
			t.Errorf("%s: slow path of %+q = %+q, want %+q", c.name, c.in, got, c.want)
		}
		if !IsNFC(c.want) || IsNFC(c.in) != (c.in == c.want) {
			t.Errorf("%s: IsNFC disagrees with NFC", c.name)
		}
	}
}

// TestEveryCodePoint compares the slow path with x/text on each code point
// alone, after a base, and before a mark.
func TestEveryCodePoint(t *testing.T) {
	for r := rune(0); r <= utf8.MaxRune; r++ {
		if !utf8.ValidRune(r) {
			continue
		}
		s := string(r) + "x" + string(r) + "\u0323\u0301" + string(r)
		if got, want := string(appendLong(nil, s)), norm.NFC.String(s); got != want {
			t.Fatalf("U+%04X: %+q, want %+q", r, got, want)
		}
	}
}

// TestPrescanIsConservative proves that text the prescan lets through never
// makes x/text insert U+034F: each character is repeated to the longest run
// the prescan accepts.
func TestPrescanIsConservative(t *testing.T) {
	if testing.Short() {
		t.Skip("walks every code point thirty times")
	}
	for r := rune(firstMark); r <= utf8.MaxRune; r++ {
		if !utf8.ValidRune(r) || r == '\u034f' || r >= 0x20000 && r < 0xe0000 {
			continue
		}
		n := 31
		for n > 1 && hasLongRun("\u01d6"+strings.Repeat(string(r), n)) {
			n--
		}
		s := "\u01d6" + strings.Repeat(string(r), n)
		if strings.ContainsRune(norm.NFC.String(s), '\u034f') {
			t.Fatalf("U+%04X: the prescan lets a run through that x/text breaks", r)
		}
	}
	for r := rune(0x80); r < firstMark; r++ {
		if n := utf8.RuneCount(norm.NFC.PropertiesString(string(r)).Decomposition()); n > 3 {
			t.Fatalf("U+%04X decomposes to %d characters", r, n)
		}
	}
}

// naiveNFC is the algorithm of the Unicode core specification written the slow
// way: decompose everything, bubble the marks into order, then compose with a
// table built from every code point's own decomposition.
func naiveNFC(s string) string {
	var rs []rune
	for _, r := range s {
		rs = append(rs, []rune(norm.NFD.String(string(r)))...)
	}
	ccc := func(r rune) uint8 { return norm.NFD.PropertiesString(string(r)).CCC() }
	for swapped := true; swapped; {
		swapped = false
		for i := 1; i < len(rs); i++ {
			if a, b := ccc(rs[i-1]), ccc(rs[i]); b != 0 && a > b {
				rs[i-1], rs[i] = rs[i], rs[i-1]
				swapped = true
			}
		}
	}
	for i := 0; i < len(rs); i++ {
		if ccc(rs[i]) != 0 {
			continue
		}
		for j := i + 1; j < len(rs); j++ {
			blocked := j > i+1 && ccc(rs[j-1]) >= ccc(rs[j])
			if c, ok := naiveTable()[[2]rune{rs[i], rs[j]}]; ok && !blocked {
				rs[i] = c
				rs = slices.Delete(rs, j, j+1)
				j--
				continue
			}
			if ccc(rs[j]) == 0 {
				break
			}
		}
	}
	return string(rs)
}

var naivePairs map[[2]rune]rune

// naiveTable maps pairs to primary composites. The first of a pair is found by
// composing all of the decomposition but its last character.
func naiveTable() map[[2]rune]rune {
	if naivePairs != nil {
		return naivePairs
	}
	naivePairs = map[[2]rune]rune{}
	for r := rune(0xc0); r <= 0x1ffff; r++ {
		if !utf8.ValidRune(r) {
			continue
		}
		d := []rune(norm.NFD.String(string(r)))
		if len(d) < 2 || norm.NFC.String(string(r)) != string(r) {
			continue
		}
		head := []rune(norm.NFC.String(string(d[:len(d)-1])))
		if len(head) == 1 {
			naivePairs[[2]rune{head[0], d[len(d)-1]}] = r
		}
	}
	return naivePairs
}

// interesting draws characters that take part in normalization.
var interesting = []rune{
	'a', 'o', 'D', 'K', '=', 'u', 0xe2, 0x1d6, 0x1e0c, 0x212b, 0x344, 0x958, 0x915, 0x93c,
	0x300, 0x301, 0x302, 0x304, 0x307, 0x308, 0x30c, 0x313, 0x315, 0x323, 0x327, 0x328, 0x338, 0x345, 0x34f, 0x35c,
	0x1100, 0x1161, 0x11a8, 0xac00, 0xac01, 0x9c7, 0x9be, 0xdd9, 0xdcf, 0xdca, 0xbc6, 0xbbe,
	0xf43, 0xf71, 0xf72, 0xf73, 0xf74, 0xfb7, 0x5e9, 0x5bc, 0x5c1, 0xfb2c, 0x1d15e, 0x1d165, 0x1d157,
	0x11935, 0x11930, 0x11131, 0x11127, 0x16121, 0x1611f, 0x302a, 0x3099, 0x304b, 0x6dd, 0x200d, 0x10ffff,
}

// spec: PATH-4
func TestSameAsTextOnShortStrings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := string(rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(interesting), rapid.Rune()), 0, 9).Draw(t, "s"))
		want := norm.NFC.String(s)
		if got := NFC(s); got != want {
			t.Fatalf("NFC(%+q) = %+q, want %+q", s, got, want)
		}
		if got := string(appendLong(nil, s)); got != want {
			t.Fatalf("slow path of %+q = %+q, want %+q", s, got, want)
		}
	})
}

// spec: PATH-4
func TestLongRunsMatchTheNaiveAlgorithm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := string(rapid.SliceOfN(rapid.SampledFrom(interesting), 0, 120).Draw(t, "s"))
		want := naiveNFC(s)
		got := NFC(s)
		if got != want {
			t.Fatalf("NFC(%+q) = %+q, want %+q", s, got, want)
		}
		if NFC(got) != got || !IsNFC(got) {
			t.Fatalf("NFC(%+q) is not stable", s)
		}
	})
}

// spec: PATH-4
func TestMoreThanThirtyMarks(t *testing.T) {
	for _, n := range []int{29, 30, 31, 32, 100, 1000} {
		s := "a" + strings.Repeat("\u0301\u0323", n) + "\u0302b"
		got := NFC(s)
		want := "\u1ea1" + strings.Repeat("\u0323", n-1) + strings.Repeat("\u0301", n) + "\u0302b"
		if got != want {
			t.Errorf("%d pairs of marks: got %+q", n, got)
		}
		if strings.ContainsRune(got, '\u034f') {
			t.Errorf("%d pairs of marks: U+034F was inserted", n)
		}
	}
	if got := naiveNFC("a" + strings.Repeat("\u0301\u0323", 40)); got != NFC("a"+strings.Repeat("\u0301\u0323", 40)) {
		t.Error("the naive algorithm disagrees")
	}
}

func TestHostileInputIsLinear(t *testing.T) {
	marks := []rune{0x301, 0x323, 0x327, 0x328, 0x345, 0x338, 0x302}
	rng := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	for b.Len() < 1<<20 {
		b.WriteRune(marks[rng.IntN(len(marks))])
	}
	inputs := map[string]string{
		"random marks":       b.String(),
		"base, random marks": "a" + b.String(),
		"one mark":           strings.Repeat("\u0301", 1<<19),
		"descending":         strings.Repeat("\u0345", 1<<18) + strings.Repeat("\u0301", 1<<18) + strings.Repeat("\u0323", 1<<18),
		"ccc 0 combining":    "\u09c7" + strings.Repeat("\u09be", 1<<18),
		"expanding":          strings.Repeat("\u0344", 1<<19),
	}
	for name, s := range inputs {
		begin := time.Now()
		got := NFC(s)
		if d := time.Since(begin); d > 5*time.Second {
			t.Errorf("%s: %d bytes took %v", name, len(s), d)
		}
		if strings.ContainsRune(got, '\u034f') || !IsNFC(got) {
			t.Errorf("%s: result is not NFC", name)
		}
	}
}

func FuzzNFC(f *testing.F) {
	for _, c := range nfcCases {
		f.Add(c.in)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := NFC(s)
		if NFC(got) != got || !IsNFC(got) {
			t.Fatalf("NFC(%+q) = %+q is not stable", s, got)
		}
		if string(appendLong(nil, s)) != got {
			t.Fatalf("the two paths differ on %+q", s)
		}
	})
}

func BenchmarkNFC(b *testing.B) {
	for name, s := range map[string]string{
		"ascii":  strings.Repeat("hello/world ", 1000),
		"cjk":    strings.Repeat("日本語", 1000),
		"decomp": strings.Repeat("e\u0301", 1000),
		"marks":  strings.Repeat("\u0301\u0323", 1000),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(s)))
			for b.Loop() {
				NFC(s)
			}
		})
	}
}
