package policy

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// Bounds of a policy file. (spec/policy.md POL-FILE-2)
const (
	// MaxFile is the largest policy file in bytes.
	MaxFile = 1 << 20
	// maxDepth bounds tables and arrays within each other, dotted keys included.
	maxDepth = 32
	// maxKey is the longest key in bytes.
	maxKey = 256
	// maxKeys is how many keys a file may have, tables included; the library
	// takes time that grows with their square.
	maxKeys = 10_000
	// maxDiagnostics is how many problems are reported.
	maxDiagnostics = 1000
)

// document is a TOML file as values, with the place of every key and element.
type document struct {
	name   string
	values map[string]any // nil if the file is not TOML
	root   *node
	order  []*node // as they stand in the file
	keyed  int     // keys in it
	diags  Diagnostics

	cursor cursor
}

// parseDocument reads TOML 1.0. The syntax is walked first: it gives the places,
// bounds the depth before anything recurses, and finds keys given twice, all of
// them and where they are. Then the library decides what the values are.
func parseDocument(name string, src []byte) *document {
	src = bytes.Clone(src)
	d := &document{name: name, root: &node{index: -1}, cursor: cursor{src: src}}
	if !d.wellFormed(src) {
		return d
	}
	d.locate(src)
	if len(d.diags) > 0 {
		return d
	}
	if err := toml.Unmarshal(src, &d.values); err != nil {
		d.values = nil
		d.notTOML(src, err)
	} else if d.values == nil {
		d.values = map[string]any{}
	}
	return d
}

// wellFormed refuses what is no text, and what hides text: TOML libraries
// differ about a carriage return that stands alone.
func (d *document) wellFormed(src []byte) bool {
	bad := func(off int, message, hint string) bool {
		at := d.cursor.place(off)
		d.report(Diagnostic{Code: CodeTOML, Line: at.line, Col: at.col, Message: message, Hint: hint})
		return false
	}
	if len(src) > MaxFile {
		return bad(0, fmt.Sprintf("the file has more than %d bytes", MaxFile), "a policy is short; is this the right file?")
	}
	if bytes.HasPrefix(src, []byte("\uFEFF")) {
		return bad(0, "the file begins with a byte order mark", "save it without one")
	}
	for off := 0; off < len(src); {
		r, n := utf8.DecodeRune(src[off:])
		switch {
		case r == utf8.RuneError && n == 1:
			return bad(off, "the file is not valid UTF-8", "save it as UTF-8")
		case r == '\r' && (off+1 == len(src) || src[off+1] != '\n'):
			return bad(off, "a carriage return stands alone and hides what follows it", "end lines with LF or CRLF")
		}
		off += n
	}
	return true
}

// locate walks the syntax for the places of keys and elements.
func (d *document) locate(src []byte) {
	p := &unstable.Parser{}
	p.Reset(src)
	table, ok := d.root, true
	for ok && p.NextExpression() {
		e := p.Expression()
		switch e.Kind {
		case unstable.Table:
			if table, ok = d.keys(d.root, e.Key()); ok {
				if table.header {
					d.twice(table, e)
				}
				table.header = true
				table = table.last()
			}
		case unstable.ArrayTable:
			if table, ok = d.keys(d.root, e.Key()); ok {
				table.tables = true
				table = table.addElem()
			}
		case unstable.KeyValue:
			ok = d.pair(table, e)
		}
	}
	if err := p.Error(); err != nil {
		d.syntax(src, table, err)
	}
}

// syntax reports where the syntax ends to be TOML, under the key whose value it
// breaks off in, if that begins in the same line.
func (d *document) syntax(src []byte, table *node, err error) {
	off := 0
	var pe *unstable.ParserError
	if errors.As(err, &pe) { // its text is a part of src
		off = min(max(cap(src)-cap(pe.Highlight), 0), len(src))
	}
	at, line := table, src[bytes.LastIndexByte(src[:off], '\n')+1:off]
	const tries = 8 // a key may hold "=" in quotes
	for i, n := 0, 0; i < len(line) && n < tries; i++ {
		if line[i] != '=' {
			continue
		}
		n++
		p := &unstable.Parser{}
		p.Reset(slices.Concat(line[:i], []byte("= 0")))
		if p.NextExpression() && p.Expression().Kind == unstable.KeyValue {
			for it := p.Expression().Key(); it.Next() && at.depth < maxDepth; {
				at = at.key(string(it.Node().Data))
			}
			break
		}
	}
	d.badTOML(d.cursor.place(off), at, err.Error())
}

// keys walks the keys of a header or the left side of a pair down from a table,
// and reports whether they are within the bounds.
func (d *document) keys(at *node, it unstable.Iterator) (*node, bool) {
	for it.Next() {
		n := it.Node()
		at = at.last().addKey(string(n.Data))
		d.mark(at, n.Raw)
		if !d.bounded(at) {
			return at, false
		}
	}
	return at, true
}

// mark notes where a node first stands.
func (d *document) mark(at *node, r unstable.Range) {
	if r.Length > 0 && !at.place.known() {
		at.place = d.cursor.place(int(r.Offset))
		d.order = append(d.order, at)
	}
}

func (d *document) bounded(at *node) bool {
	if len(at.name) > maxKey {
		where := at.where()
		d.report(Diagnostic{Code: CodeTOML, Line: where.line, Col: where.col, Key: at.parent.String(),
			Message: fmt.Sprintf("a key has more than %d bytes", maxKey), Hint: "shorten it"})
		return false
	}
	if at.index < 0 {
		d.keyed++
	}
	if d.keyed > maxKeys {
		d.bad(at, CodeTOML, "a policy is short; is this the right file?", "the file has more than %d keys", maxKeys)
		return false
	}
	if at.depth > maxDepth {
		d.bad(at, CodeTOML, "a policy needs no more than a few levels", "tables and arrays nest more than %d deep", maxDepth)
		return false
	}
	return true
}

// pair is one key and its value in a table.
func (d *document) pair(table *node, kv *unstable.Node) bool {
	at, ok := d.keys(table, kv.Key())
	if !ok {
		return false
	}
	if at.valued {
		d.twice(at, kv)
		return len(d.diags) < maxDiagnostics
	}
	at.valued = true
	return d.value(at, kv.Value())
}

// value recurses on depth, which bounded bounds.
func (d *document) value(at *node, n *unstable.Node) bool {
	switch n.Kind {
	case unstable.Array:
		for it := n.Children(); it.Next(); {
			e := at.addElem()
			d.mark(e, it.Node().Raw)
			if !d.bounded(e) || !d.value(e, it.Node()) {
				return false
			}
			if !at.place.known() { // an array in an array
				at.place = e.place
			}
		}
	case unstable.InlineTable:
		for it := n.Children(); it.Next(); {
			if !d.pair(at, it.Node()) {
				return false
			}
		}
	}
	return true
}

// twice reports a key or table that stands in the file a second time, in the
// expression or pair e.
func (d *document) twice(at *node, e *unstable.Node) {
	var where place
	for it := e.Key(); it.Next(); {
		where = d.cursor.place(int(it.Node().Raw.Offset))
	}
	d.report(Diagnostic{Code: CodeDuplicate, Line: where.line, Col: where.col, Key: at.String(),
		Message: fmt.Sprintf("%s is already there, in line %d", at, at.where().line), Hint: "remove one of them, or join them"})
}

// notTOML reports what the library refuses although the syntax is right, such
// as a number that does not fit or a table and a value of one name.
func (d *document) notTOML(src []byte, err error) {
	at := place{}
	var de *toml.DecodeError
	if errors.As(err, &de) {
		at.line, at.col = de.Position()
		at.col = charColumn(src, at)
	}
	key := d.root
	for _, n := range d.order {
		if n.place.after(at) {
			break
		}
		key = n
	}
	d.badTOML(at, key, err.Error())
}

func (d *document) badTOML(at place, key *node, message string) {
	d.report(Diagnostic{Code: CodeTOML, Line: at.line, Col: at.col, Key: key.String(),
		Message: "this is not valid TOML: " + strings.TrimPrefix(message, "toml: "),
		Hint:    "correct it there; texts are quoted, numbers plain, tables [named]"})
}

// charColumn makes a column counted in bytes one counted in characters.
func charColumn(src []byte, at place) int {
	for line := 1; line < at.line; line++ {
		_, src, _ = bytes.Cut(src, []byte("\n"))
	}
	return 1 + utf8.RuneCount(src[:min(max(at.col-1, 0), len(src))])
}

// full reports whether enough problems were found.
func (d *document) full() bool { return len(d.diags) >= maxDiagnostics }

func (d *document) report(g Diagnostic) {
	g.File = d.name
	if g.Severity == "" {
		g.Severity = Error
	}
	if !d.full() {
		d.diags = append(d.diags, g)
	}
}

// bad reports an error at a node.
func (d *document) bad(at *node, code, hint, format string, args ...any) {
	d.say(Error, at, code, hint, format, args...)
}

func (d *document) say(sev Severity, at *node, code, hint, format string, args ...any) {
	where := at.where()
	d.report(Diagnostic{Code: code, Severity: sev, Line: where.line, Col: where.col, Key: at.String(),
		Message: fmt.Sprintf(format, args...), Hint: hint})
}
