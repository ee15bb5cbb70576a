package canonjson

import (
	"bytes"
	"encoding/json/jsontext"
	"errors"
	"io"
	"unicode/utf8"

	"github.com/gcrun/gcrun/internal/unicode17"
)

// Profile selects the rules for strings and numbers.
type Profile int

const (
	// JCS is RFC 8785: strings untouched, numbers as the nearest double
	// (spec: CJ-PROF-1).
	JCS Profile = iota
	// Evidence adds NFC on strings and names and exact numbers
	// (spec: CJ-PROF-2).
	Evidence
)

func (p Profile) String() string {
	if p == Evidence {
		return "evidence"
	}
	return "jcs"
}

// ParseProfile returns the profile of that name, "jcs" or "evidence".
func ParseProfile(name string) (p Profile, ok bool) {
	switch name {
	case "jcs":
		return JCS, true
	case "evidence":
		return Evidence, true
	}
	return 0, false
}

// The bounds of [Limits].
const (
	DefaultMaxBytes = 64 << 20
	LargestMaxBytes = 256 << 20
	LargestMaxDepth = 512
)

// Limits bound the work. The zero value means the defaults (spec: CJ-LIM-1).
type Limits struct {
	// MaxBytes is the longest source, in bytes: 1 to LargestMaxBytes (256 MiB).
	// 0 or less means DefaultMaxBytes (64 MiB); more means LargestMaxBytes. The
	// memory used can reach about twenty times the source.
	MaxBytes int
	// MaxDepth is the largest number of arrays and objects open at once: 1 to
	// 512. 0 or less, and more, mean 512.
	MaxDepth int
}

func (l Limits) effective() Limits {
	if l.MaxBytes <= 0 {
		l.MaxBytes = DefaultMaxBytes
	}
	l.MaxBytes = min(l.MaxBytes, LargestMaxBytes)
	if l.MaxDepth <= 0 || l.MaxDepth > LargestMaxDepth {
		l.MaxDepth = LargestMaxDepth
	}
	return l
}

// Canonicalize returns the canonical form of the one JSON value in src, without
// a final newline, in memory of its own. src is only read.
//
// The result is the same for two sources exactly when they are equal after the
// profile's own normalization, and canonicalizing it again changes nothing
// (spec: CJ-PROF-3). The error is an [*Error] with any code but CodeEncode;
// size, byte order mark and UTF-8 are checked first, then the text from left to
// right, names when their object ends (spec: CJ-ERR-2).
func Canonicalize(profile Profile, src []byte, limits Limits) ([]byte, error) {
	return canonicalize(rules{nfc: profile == Evidence, exact: profile == Evidence}, src, limits.effective())
}

// rules are what the profiles differ in.
type rules struct {
	nfc   bool
	exact bool
}

func canonicalize(r rules, src []byte, limits Limits) ([]byte, error) {
	if err := checkEncoding(src, limits); err != nil {
		return nil, err
	}
	w := &writer{rules: r, limits: limits, src: src, out: make([]byte, 0, len(src))}
	w.dec = jsontext.NewDecoder(bytes.NewBuffer(src[:len(src):len(src)]), // no room to append: src is only read
		jsontext.AllowDuplicateNames(true), // found by this package, which knows NFC
		jsontext.AllowInvalidUTF8(true),    // UTF-8 was checked; surrogates are, with their own code
	)
	if err := w.value(); err != nil {
		return nil, err
	}
	return w.finish(), nil
}

func checkEncoding(src []byte, limits Limits) error {
	if len(src) > limits.MaxBytes {
		return fail(CodeSize, limits.MaxBytes, "the text has %d bytes, the limit is %d", len(src), limits.MaxBytes)
	}
	if bytes.HasPrefix(src, []byte("\ufeff")) {
		return fail(CodeBOM, 0, "the text begins with a byte order mark")
	}
	for i := 0; i < len(src); {
		if src[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, n := utf8.DecodeRune(src[i:])
		if r == utf8.RuneError && n == 1 {
			return fail(CodeUTF8, i, "the byte 0x%02x is not UTF-8 here", src[i])
		}
		i += n
	}
	return nil
}

// writer turns tokens into canonical text in source order.
type writer struct {
	rules  rules
	limits Limits
	src    []byte
	dec    *jsontext.Decoder
	out    []byte
	open   []container
	objects
	scratch, digits []byte
}

// container is an array or object that has not ended.
type container struct {
	object    bool
	wantName  bool // of an object: a name comes next, not a value
	count     int  // elements or members begun
	unordered bool // of an object: some name does not follow the one before it
	start     int  // of its bracket in out
	members   int  // of an object: length of objects.members before it
	names     int  // and of objects.names
}

// value reads one value and what may follow it.
func (w *writer) value() error {
	for {
		if err := w.token(); err != nil {
			return err
		}
		if len(w.open) == 0 {
			return w.trailing()
		}
	}
}

// token reads and writes one token, with the separator before it.
func (w *writer) token() error {
	kind := w.dec.PeekKind()
	switch kind {
	case jsontext.KindString, jsontext.KindNumber:
		literal, err := w.dec.ReadValue()
		if err != nil {
			return w.syntax(err)
		}
		at := int(w.dec.InputOffset()) - len(literal)
		if kind == jsontext.KindNumber {
			w.separate()
			return w.number(literal, at)
		}
		return w.stringOrName(literal, at)
	}
	if _, err := w.dec.ReadToken(); err != nil {
		return w.syntax(err)
	}
	switch kind {
	case jsontext.KindBeginArray, jsontext.KindBeginObject:
		return w.begin(kind == jsontext.KindBeginObject)
	case jsontext.KindEndArray, jsontext.KindEndObject:
		return w.end()
	case jsontext.KindNull:
		w.literal("null")
	case jsontext.KindTrue:
		w.literal("true")
	case jsontext.KindFalse:
		w.literal("false")
	}
	return nil
}

func (w *writer) literal(s string) {
	w.separate()
	w.out = append(w.out, s...)
}

// separate writes what goes between the token before and the value that comes,
// and counts the value.
func (w *writer) separate() {
	c := w.top()
	switch {
	case c == nil:
	case c.object:
		w.out = append(w.out, ':')
		c.wantName = true
	default:
		if c.count > 0 {
			w.out = append(w.out, ',')
		}
		c.count++
	}
}

func (w *writer) top() *container {
	if len(w.open) == 0 {
		return nil
	}
	return &w.open[len(w.open)-1]
}

func (w *writer) begin(object bool) error {
	if len(w.open) == w.limits.MaxDepth {
		return fail(CodeDepth, int(w.dec.InputOffset())-1, "more than %d arrays and objects are open", w.limits.MaxDepth)
	}
	w.separate()
	w.open = append(w.open, container{
		object: object, wantName: object, start: len(w.out),
		members: len(w.members), names: len(w.names),
	})
	bracket := byte('[')
	if object {
		bracket = '{'
	}
	w.out = append(w.out, bracket)
	return nil
}

func (w *writer) end() error {
	c := *w.top()
	w.open = w.open[:len(w.open)-1]
	if !c.object {
		w.out = append(w.out, ']')
		return nil
	}
	w.endMember(&c)
	w.out = append(w.out, '}')
	return w.close(&c)
}

func (w *writer) stringOrName(literal []byte, at int) error {
	text, bad, ok := unescape(w.scratch[:0], literal)
	w.scratch = text
	if !ok {
		return fail(CodeLoneSurrogate, at+bad, "the escape %s is half of a surrogate pair", literal[bad:bad+6])
	}
	if w.rules.nfc {
		text = normalize(text)
	}
	if c := w.top(); c != nil && c.object && c.wantName {
		w.endMember(c)
		w.beginMember(c, text, at)
	} else {
		w.separate()
	}
	w.out = appendQuoted(w.out, text)
	return nil
}

func normalize(text []byte) []byte {
	for _, c := range text {
		if c >= utf8.RuneSelf {
			return []byte(unicode17.NFC(string(text)))
		}
	}
	return text
}

func (w *writer) number(literal []byte, at int) error {
	if smallInteger(literal) {
		w.out = append(w.out, literal...)
		return nil
	}
	w.digits = growTo(w.digits, len(literal)+32)
	d := readDecimal(literal, w.digits)
	w.scratch = growTo(w.scratch, len(literal)+32)
	f, code := d.float(w.scratch)
	switch code {
	case CodeNumberOverflow:
		return fail(code, at, "the number is beyond the largest double")
	case CodeNumberUnderflow:
		return fail(code, at, "the number is not zero but the nearest double is")
	}
	start := len(w.out)
	w.out = appendFloat(w.out, f)
	if w.rules.exact && !d.equal(readDecimal(w.out[start:], w.scratch[:0])) {
		return fail(CodeNumberInexact, at, "the number would become %s", w.out[start:])
	}
	return nil
}

func growTo(b []byte, n int) []byte {
	if cap(b) < n {
		return make([]byte, 0, n)
	}
	return b[:0]
}

// trailing refuses anything but white space after the value.
func (w *writer) trailing() error {
	for i := int(w.dec.InputOffset()); i < len(w.src); i++ {
		switch w.src[i] {
		case ' ', '\t', '\n', '\r':
		default:
			return fail(CodeTrailing, i, "something follows the value")
		}
	}
	return nil
}

// syntax turns an error of the tokenizer into one of ours.
func (w *writer) syntax(err error) error {
	if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
		if len(bytes.TrimSpace(w.src)) == 0 {
			return fail(CodeTruncated, len(w.src), "there is no value")
		}
		return fail(CodeTruncated, len(w.src), "the text ends inside the value")
	}
	var s *jsontext.SyntacticError
	if errors.As(err, &s) {
		return fail(CodeSyntax, int(s.ByteOffset), "%v", s.Err)
	}
	return fail(CodeSyntax, int(w.dec.InputOffset()), "%v", err)
}
