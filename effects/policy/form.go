package policy

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/gcrun/gcrun/internal/digest"
	"github.com/gcrun/gcrun/internal/unicode17"
)

// wrong reports a value of the wrong type.
func wrong(d *document, at *node, want, hint string) (any, bool) {
	d.bad(at, CodeType, hint, "%s must be %s", at, want)
	return nil, false
}

// unfit reports a value that has the right type.
func unfit(d *document, at *node, hint, problem string) (any, bool) {
	d.bad(at, CodeValue, hint, "%s %s", at, problem)
	return nil, false
}

func boolForm(d *document, at *node, raw any) (any, bool) {
	if b, ok := raw.(bool); ok {
		return b, true
	}
	return wrong(d, at, "true or false", "write true or false, without quotes")
}

func textForm(d *document, at *node, raw any) (any, bool) {
	s, ok := raw.(string)
	switch {
	case !ok:
		return wrong(d, at, "a text", "write it in quotes")
	case strings.TrimSpace(s) == "":
		return unfit(d, at, "write a value, or leave it out", "is blank")
	case strings.ContainsRune(s, 0):
		return unfit(d, at, `remove the \u0000`, "holds a NUL")
	}
	return s, true
}

// argTextForm is an argument, which may be blank.
func argTextForm(d *document, at *node, raw any) (any, bool) {
	s, ok := raw.(string)
	if !ok {
		return wrong(d, at, "a text", "write it in quotes")
	}
	if strings.ContainsRune(s, 0) {
		return unfit(d, at, `remove the \u0000`, "holds a NUL")
	}
	return s, true
}

func enumForm(values ...string) form {
	list := strings.Join(values, ", ")
	return func(d *document, at *node, raw any) (any, bool) {
		s, ok := raw.(string)
		switch {
		case !ok:
			return wrong(d, at, "one of "+list, `write "`+values[0]+`"`)
		case !slices.Contains(values, s):
			return unfit(d, at, didYouMean(s, values, `write "`+values[0]+`"`), "must be one of "+list)
		}
		return s, true
	}
}

const maxLabel = 64

var labelRE = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`) })

func labelForm(d *document, at *node, raw any) (any, bool) {
	s, ok := raw.(string)
	switch {
	case !ok:
		return wrong(d, at, "a text", "write it in quotes")
	case !labelRE().MatchString(s):
		return unfit(d, at, `write a short name such as "data"`, `may have letters, digits, ".", "_" and "-", at most 64, and begins with a letter or digit`)
	}
	return s, true
}

func sha256Form(d *document, at *node, raw any) (any, bool) {
	s, ok := raw.(string)
	if !ok {
		return wrong(d, at, "a text", "write it in quotes")
	}
	if _, err := digest.Parse(s); err != nil {
		return unfit(d, at, "sha256sum FILE prints it", "must be 64 lower-case hexadecimal digits")
	}
	return s, true
}

// countForm is an integer that is not below a least one.
func countForm(least int64) form {
	return func(d *document, at *node, raw any) (any, bool) {
		n, ok := raw.(int64)
		switch {
		case !ok:
			return wrong(d, at, "an integer", "write a number without quotes")
		case n < least:
			return unfit(d, at, "leave it out for the default", "must be at least "+strconv.FormatInt(least, 10))
		}
		return n, true
	}
}

// maxInline is the largest inline limit of a log. (spec/gclog.md LOG-BLOB-1)
const maxInline = 256 << 10

// unit is a kind of quantity: how it is called and written.
type unit struct {
	want, example, names string
	factors              map[string]int64
	most                 int64
}

// maxDurationMs is what fits the host's clock arithmetic: 292 years.
const maxDurationMs = math.MaxInt64 / 1_000_000

var byteUnit = unit{"a number of bytes", `"8MiB"`, "B, KiB, MiB, GiB and TiB",
	map[string]int64{"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}, math.MaxInt64}
var inlineUnit = unit{byteUnit.want, `"4KiB"`, byteUnit.names, byteUnit.factors, maxInline}
var timeUnit = unit{"a number of milliseconds", `"30s"`, "ms, s, m and h",
	map[string]int64{"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000}, maxDurationMs}

var quantityRE = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(0|[1-9][0-9]*)([A-Za-z]+)$`) })

func sizeForm(d *document, at *node, raw any) (any, bool)     { return byteUnit.read(d, at, raw) }
func inlineForm(d *document, at *node, raw any) (any, bool)   { return inlineUnit.read(d, at, raw) }
func durationForm(d *document, at *node, raw any) (any, bool) { return timeUnit.read(d, at, raw) }

// read reads an integer, or a text with a unit. Nothing is 0: no limit of a
// policy means "none", and one that lets nothing through is a mistake.
func (u *unit) read(d *document, at *node, raw any) (any, bool) {
	n, ok := raw.(int64)
	if !ok {
		s, isText := raw.(string)
		m := quantityRE().FindStringSubmatch(s)
		switch {
		case !isText:
			return wrong(d, at, u.want+", or a text such as "+u.example, "write a number without quotes, or "+u.example)
		case m == nil:
			return unfit(d, at, "write it like "+u.example, "must be "+u.want+", or a text such as "+u.example)
		case u.factors[m[2]] == 0:
			return unfit(d, at, "the units are "+u.names, "has a unit that is not known, "+shown(m[2]))
		}
		var err error
		if n, err = strconv.ParseInt(m[1], 10, 64); err != nil || n > u.most/u.factors[m[2]] {
			return u.tooLarge(d, at)
		}
		n *= u.factors[m[2]]
	}
	switch {
	case n < 1:
		return unfit(d, at, "leave it out for the default", "must be at least 1")
	case n > u.most:
		return u.tooLarge(d, at)
	}
	return n, true
}

func (u *unit) tooLarge(d *document, at *node) (any, bool) {
	return unfit(d, at, "leave it out for the default", "is larger than "+strconv.FormatInt(u.most, 10)+", the most there can be")
}

// maxPattern is the longest pattern in bytes, as long as the longest path.
const maxPattern = 4096

// patternForm is a path pattern: components, of which ** stands for any number
// and * within one for any characters; "." alone is the base directory.
func patternForm(d *document, at *node, raw any) (any, bool) {
	const hint = `write it like "in/**" or "data/*.txt"`
	v, ok := textForm(d, at, raw)
	if !ok || v == "." {
		return v, ok
	}
	p := v.(string)
	if len(p) > maxPattern {
		return unfit(d, at, hint, "has more than 4096 bytes, as no path does")
	}
	for c := range strings.SplitSeq(p, "/") {
		switch {
		case c == "" && strings.HasPrefix(p, "/"):
			return unfit(d, at, hint, "is absolute; paths of programs are relative")
		case c == "":
			return unfit(d, at, hint, "has an empty component")
		case c == "." || c == "..":
			return unfit(d, at, hint, "has a component "+c+", as no path does")
		case strings.Contains(c, `\`):
			return unfit(d, at, hint, "has a backslash; components are separated by /")
		case strings.Contains(c, "**") && c != "**":
			return unfit(d, at, hint, "has ** beside other characters; it stands for whole components")
		}
	}
	if !unicode17.IsNFC(p) {
		return unfit(d, at, "write "+strconv.Quote(unicode17.NFC(p)), "is not in normal form C, as every path is")
	}
	return p, true
}

// regexpForm is a regular expression that is matched against a whole argument.
// It is compiled alone first: what surrounds it must not make it valid.
func regexpForm(d *document, at *node, raw any) (any, bool) {
	s, ok := raw.(string)
	if !ok {
		return wrong(d, at, "a text", "write it in single quotes")
	}
	if _, err := regexp.Compile(s); err != nil {
		return unfit(d, at, "the syntax is that of RE2", "is not a regular expression")
	}
	if _, err := regexp.Compile(anchored(s)); err != nil {
		return unfit(d, at, "make it shorter", "is too large")
	}
	return s, true
}

// anchored is a regular expression that matches whole arguments alone.
func anchored(re string) string { return `\A(?:` + re + `)\z` }
