package policy

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// MaxFile is the largest policy file in bytes.
const MaxFile = 1 << 20

// maxNesting bounds arrays and inline tables within each other.
const maxNesting = 64

// document is a TOML file as values, with the place of every key and element.
type document struct {
	name   string
	values map[string]any
	places map[string]place // by path
	diags  Diagnostics
}

type place struct{ line, col int }

// path names a value: keys and indices, joined so that no key can look like two.
type path string

func (p path) key(k string) path { return p + path(strconv.Quote(k)) + "." }
func (p path) index(i int) path  { return p + path(strconv.Itoa(i)) + "." }

// String shows a path as a person would write it.
func (p path) String() string {
	var parts []string
	rest := strings.TrimSuffix(string(p), ".")
	for rest != "" {
		if q, err := strconv.QuotedPrefix(rest); err == nil {
			k, _ := strconv.Unquote(q)
			if bareKey(k) {
				parts = append(parts, k)
			} else {
				parts = append(parts, strconv.Quote(k))
			}
			rest = strings.TrimPrefix(rest[len(q):], ".")
			continue
		}
		n, after, _ := strings.Cut(rest, ".")
		if len(parts) > 0 {
			parts[len(parts)-1] += "[" + n + "]"
		}
		rest = after
	}
	return strings.Join(parts, ".")
}

func bareKey(k string) bool {
	return k != "" && strings.IndexFunc(k, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-'
	}) < 0
}

// parseDocument reads TOML 1.0 strictly. The library decides what is TOML; what
// it lets pass although it hides text (bare CR) is refused here first.
func parseDocument(name string, src []byte) *document {
	d := &document{name: name, places: map[string]place{}}
	if !d.wellFormed(src) {
		return d
	}
	err := toml.Unmarshal(src, &d.values)
	if err == nil {
		err = d.locate(src)
	}
	if err == nil {
		return d
	}
	line, col := 0, 0
	var at *toml.DecodeError
	if errors.As(err, &at) {
		line, col = at.Position()
	}
	message := strings.TrimPrefix(err.Error(), "toml: ")
	d.values = nil
	d.report(Diagnostic{Code: "policy/toml", Line: line, Col: col, Message: "this is not valid TOML: " + message,
		Hint: "correct the line; strings are quoted, tables are [named]"})
	return d
}

func (d *document) wellFormed(src []byte) bool {
	bad := func(off int, message, hint string) bool {
		line := 1 + bytes.Count(src[:off], []byte("\n"))
		col := 1 + utf8.RuneCount(src[bytes.LastIndexByte(src[:off], '\n')+1:off])
		d.report(Diagnostic{Code: "policy/toml", Line: line, Col: col, Message: message, Hint: hint})
		return false
	}
	if len(src) > MaxFile {
		return bad(0, fmt.Sprintf("the file has more than %d bytes", MaxFile), "a policy is short; is this the right file?")
	}
	if bytes.HasPrefix(src, []byte("\uFEFF")) {
		return bad(0, "the file begins with a byte order mark", "save it without one")
	}
	nesting := 0
	for i := 0; i < len(src); i++ {
		switch src[i] {
		case '\r':
			if i+1 == len(src) || src[i+1] != '\n' {
				return bad(i, "a carriage return stands alone and hides what follows it", "use LF or CRLF line ends")
			}
		case '[', '{':
			if nesting++; nesting > maxNesting {
				return bad(i, "arrays or tables nest too deep", "a policy needs no more than a few levels")
			}
		case ']', '}':
			nesting = max(0, nesting-1)
		}
	}
	if !utf8.Valid(src) {
		off := 0
		for r, n := utf8.DecodeRune(src); r != utf8.RuneError || n != 1; r, n = utf8.DecodeRune(src[off:]) {
			off += n
		}
		return bad(off, "the file is not valid UTF-8", "save it as UTF-8")
	}
	return true
}

// locate walks the syntax once more for the places of keys and elements.
func (d *document) locate(src []byte) error {
	p := unstable.Parser{}
	p.Reset(src)
	table := path("")
	arrays := map[path]int{}
	for p.NextExpression() {
		e := p.Expression()
		switch e.Kind {
		case unstable.Table:
			table = d.keys(&p, "", e.Key())
		case unstable.ArrayTable:
			table = d.keys(&p, "", e.Key())
			arrays[table]++
			table = table.index(arrays[table] - 1)
		case unstable.KeyValue:
			d.value(&p, d.keys(&p, table, e.Key()), e.Value())
		}
	}
	return p.Error()
}

func (d *document) keys(p *unstable.Parser, at path, it unstable.Iterator) path {
	for it.Next() {
		n := it.Node()
		at = at.key(string(n.Data))
		if _, known := d.places[string(at)]; !known {
			d.mark(p, at, n.Raw)
		}
	}
	return at
}

func (d *document) mark(p *unstable.Parser, at path, r unstable.Range) {
	if r.Length == 0 {
		return
	}
	s := p.Shape(r).Start
	d.places[string(at)] = place{s.Line, s.Column}
}

// value recurses on nesting, which wellFormed has bounded.
func (d *document) value(p *unstable.Parser, at path, n *unstable.Node) {
	switch n.Kind {
	case unstable.Array:
		it := n.Children()
		for i := 0; it.Next(); i++ {
			k := at.index(i)
			d.mark(p, k, it.Node().Raw)
			d.value(p, k, it.Node())
		}
	case unstable.InlineTable:
		it := n.Children()
		for it.Next() {
			kv := it.Node()
			d.value(p, d.keys(p, at, kv.Key()), kv.Value())
		}
	}
}

func (d *document) report(g Diagnostic) {
	g.File = d.name
	if g.Severity == "" {
		g.Severity = Error
	}
	d.diags = append(d.diags, g)
}

// bad reports an error at a path, or at the nearest thing above it with a place.
func (d *document) bad(at path, code, hint, format string, args ...any) {
	d.say(Error, at, code, hint, format, args...)
}

func (d *document) say(sev Severity, at path, code, hint, format string, args ...any) {
	var where place
	for p := at; p != ""; p = p.parent() {
		if pl, ok := d.places[string(p)]; ok {
			where = pl
			break
		}
	}
	d.report(Diagnostic{Code: code, Severity: sev, Line: where.line, Col: where.col, Key: at.String(),
		Message: fmt.Sprintf(format, args...), Hint: hint})
}

func (p path) parent() path {
	rest, last := string(p), 0
	for i := 0; i < len(rest); {
		last = i
		if q, err := strconv.QuotedPrefix(rest[i:]); err == nil {
			i += len(q) + 1
			continue
		}
		n := strings.IndexByte(rest[i:], '.')
		i += n + 1
	}
	return path(rest[:last])
}
