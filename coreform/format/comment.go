package format

import (
	"bytes"
	"unicode/utf8"
)

// comment is a comment of the source, from its semicolon to its last byte that
// is not blank.
type comment struct {
	off, end int32
	kind     commentKind
	blank    bool // an empty line stands before it
}

type commentKind uint8

const (
	ownLine   commentKind = iota // alone on its line
	trailing                     // behind code
	continued                    // alone on its line, in the column of the trailing comment before it
)

// before is what stands before a gap, which decides what a comment on the same
// line is.
type before uint8

const (
	fileStart before = iota
	code             // a term or an opening delimiter
	prefix           // a quote prefix
	carried          // a term of which a trailing comment is still to be written
)

// spacing is how many line ends there are between the last comment of a gap, or
// its beginning, and its end.
type spacing struct{ newline, blank bool }

// scan appends the comments of src[from:to], which holds white space and
// comments only.
func (b *builder) scan(from, to int, prev before) spacing {
	lines, column, first := 0, -1, true
	for i := from; i < to; {
		switch b.src[i] {
		case '\n':
			lines++
			i++
		case ';':
			end := to
			if n := bytes.IndexByte(b.src[i:to], '\n'); n >= 0 {
				end = i + n
			}
			c := comment{off: int32(i), end: int32(i + len(bytes.TrimRight(b.src[i:end], " \t\r")))}
			switch {
			case first && lines == 0 && prev == code:
				c.kind, column = trailing, b.column(i)
			case column >= 0 && lines == 1 && b.column(i) == column:
				c.kind = continued
			default:
				c.blank, column = lines > 1, -1
			}
			b.comments = append(b.comments, c)
			i, lines, first = end, 0, false
		default:
			i++
		}
	}
	return spacing{newline: lines > 0 || !first, blank: lines > 1}
}

// column counts the characters before an offset in its line.
func (b *builder) column(off int) int {
	start := bytes.LastIndexByte(b.src[:off], '\n') + 1
	return utf8.RuneCount(b.src[start:off])
}

// isTrailing reports whether comments are one remark behind code and nothing
// else.
func isTrailing(cs []comment) bool {
	if len(cs) == 0 || cs[0].kind != trailing {
		return false
	}
	for _, c := range cs[1:] {
		if c.kind != continued {
			return false
		}
	}
	return true
}
