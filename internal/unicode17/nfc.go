package unicode17

import (
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// streamSafeLimit is the number of non-starters after which x/text inserts
// U+034F. A segment that may hold more is normalized by this package.
const streamSafeLimit = 30

// firstMark is the lowest code point that can attach to what precedes it, and
// the lowest whose decomposition begins with one that can.
const firstMark = 0x300

// NFC returns s in Unicode 17 normalization form C. It returns s itself,
// without allocating, when s is already normal and has no run of more than
// thirty combining marks. Time and memory are linear in len(s).
func NFC(s string) string {
	if isASCII(s) {
		return s
	}
	if !hasLongRun(s) {
		return norm.NFC.String(s)
	}
	return string(appendLong(make([]byte, 0, len(s)), s))
}

// IsNFC reports whether s equals NFC(s).
func IsNFC(s string) bool {
	if isASCII(s) {
		return true
	}
	if !hasLongRun(s) {
		return norm.NFC.IsNormalString(s)
	}
	return NFC(s) == s
}

func isASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// hasLongRun reports whether some segment of s may hold more than
// streamSafeLimit non-starters. It counts every character of a decomposition,
// which is never less than what x/text counts.
func hasLongRun(s string) bool {
	count := 0
	for i := 0; i < len(s); {
		if s[i] < utf8.RuneSelf {
			count = 0
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r < firstMark {
			// Latin letters decompose to a base and at most two marks.
			count = 2
			i += size
			continue
		}
		p := norm.NFC.PropertiesString(s[i:])
		n := utf8.RuneCount(p.Decomposition())
		switch {
		case countedStarter(r):
			count++
		case p.BoundaryBefore():
			count = n
		case n == 0:
			count++
		default:
			count += n
		}
		if count > streamSafeLimit {
			return true
		}
		i += size
	}
	return false
}

// countedStarter reports whether r may be one of the starters that x/text counts
// as non-starters although nothing in form C attaches them: compatibility and
// halfwidth jamo and halfwidth voicing marks, which do combine in form KC. The
// ranges are the blocks that hold them all.
func countedStarter(r rune) bool {
	return r >= 0x3130 && r <= 0x318F || r >= 0xFF9E && r <= 0xFFDC
}

// mark is one character of a decomposed segment with its combining class.
type mark struct {
	r   rune
	ccc uint8
}

// segment collects decomposed characters up to the next one that cannot
// combine with anything before it.
type segment struct {
	out   []byte
	chars []mark
	spare []mark
}

// appendLong appends NFC(s) to dst without any limit on the length of a run.
func appendLong(dst []byte, s string) []byte {
	seg := segment{out: dst}
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 {
			seg.flush()
			seg.out = append(seg.out, s[i])
			i++
			continue
		}
		seg.decompose(r, s[i:i+size])
		i += size
	}
	seg.flush()
	return seg.out
}

// decompose adds the canonical decomposition of r, whose UTF-8 is text.
func (g *segment) decompose(r rune, text string) {
	if l, v, t, ok := splitHangul(r); ok {
		g.flush()
		g.chars = append(g.chars, mark{r: l}, mark{r: v})
		if t != 0 {
			g.chars = append(g.chars, mark{r: t})
		}
		return
	}
	p := norm.NFC.PropertiesString(text)
	d := p.Decomposition()
	if d == nil {
		g.add(r, p)
		return
	}
	for len(d) > 0 {
		c, n := utf8.DecodeRune(d)
		g.add(c, norm.NFC.Properties(d))
		d = d[n:]
	}
}

func (g *segment) add(r rune, p norm.Properties) {
	if p.BoundaryBefore() {
		g.flush()
	}
	g.chars = append(g.chars, mark{r: r, ccc: p.CCC()})
}

// flush orders, composes and writes the segment collected so far.
func (g *segment) flush() {
	if len(g.chars) == 0 {
		return
	}
	g.order()
	for _, c := range compose(g.chars) {
		g.out = utf8.AppendRune(g.out, c.r)
	}
	g.chars = g.chars[:0]
}

// order sorts every run of non-starters by combining class, keeping the order
// of equals.
func (g *segment) order() {
	for i := 0; i < len(g.chars); {
		if g.chars[i].ccc == 0 {
			i++
			continue
		}
		end, sorted := i+1, true
		for end < len(g.chars) && g.chars[end].ccc != 0 {
			if g.chars[end].ccc < g.chars[end-1].ccc {
				sorted = false
			}
			end++
		}
		if !sorted {
			g.spare = countingSort(g.chars[i:end], g.spare)
		}
		i = end
	}
}

// countingSort sorts run stably by combining class in linear time, using and
// returning spare as scratch space.
func countingSort(run, spare []mark) []mark {
	var start [256]int
	for _, c := range run {
		start[c.ccc]++
	}
	sum := 0
	for i, n := range start {
		start[i] = sum
		sum += n
	}
	spare = append(spare[:0], run...)
	for _, c := range spare {
		run[start[c.ccc]] = c
		start[c.ccc]++
	}
	return spare
}

// compose applies the canonical composition algorithm in place to one ordered
// segment and returns what remains of it. A character is tried against the last
// starter only when nothing between blocks it; in an ordered run that is at
// most once per combining class plus once per character composed away, so a
// run costs linear time.
func compose(chars []mark) []mark {
	starter, last := -1, 0
	n := 0
	for _, c := range chars {
		if starter >= 0 && (n == starter+1 || (last != 0 && last < int(c.ccc))) {
			if r, ok := composePair(chars[starter].r, c.r); ok {
				chars[starter].r = r
				continue
			}
		}
		if c.ccc == 0 {
			starter = n
		}
		last = int(c.ccc)
		chars[n] = c
		n++
	}
	return chars[:n]
}

// composePair returns the primary composite of a and b. x/text has no exported
// look-up for it, so the pair is normalized; the composite counts only when its
// decomposition is that of a followed by b with nothing moved, since
// normalizing also reorders, which the caller has done already.
func composePair(a, b rune) (rune, bool) {
	var in, out [32]byte
	pair := utf8.AppendRune(utf8.AppendRune(in[:0], a), b)
	single := norm.NFC.Append(out[:0], pair...)
	c, size := utf8.DecodeRune(single)
	if size != len(single) {
		return 0, false
	}
	if _, _, _, ok := splitHangul(c); ok {
		return c, true
	}
	full := norm.NFC.Properties(single).Decomposition()
	return c, string(full) == fullDecomposition(a)+fullDecomposition(b)
}

func fullDecomposition(r rune) string {
	s := string(r)
	if d := norm.NFC.PropertiesString(s).Decomposition(); d != nil {
		return string(d)
	}
	return s
}

// Hangul syllables are composed by arithmetic (Unicode core specification,
// section 3.12); the property tables leave them out.
const (
	hangulBase  = 0xAC00
	hangulCount = 11172
	jamoLBase   = 0x1100
	jamoVBase   = 0x1161
	jamoTBase   = 0x11A7
	jamoVCount  = 21
	jamoTCount  = 28
)

// splitHangul returns the conjoining jamo of a syllable; t is 0 when it has no
// final consonant.
func splitHangul(r rune) (l, v, t rune, ok bool) {
	if r < hangulBase || r >= hangulBase+hangulCount {
		return 0, 0, 0, false
	}
	i := r - hangulBase
	l = jamoLBase + i/(jamoVCount*jamoTCount)
	v = jamoVBase + i/jamoTCount%jamoVCount
	if f := i % jamoTCount; f != 0 {
		t = jamoTBase + f
	}
	return l, v, t, true
}
