package format

import "github.com/gcrun/gcrun/coreform"

// mark is a comment in the text that does not have its indentation yet.
type mark struct {
	at     int32 // where it begins in the text
	line   int32
	column int32 // trailing: where the code before it ends; else where it would stand alone
	kind   commentKind
}

// alignWidth is where code ends too far right to have its comment in a column with
// others. Only so much is put before a comment, whatever its neighbours are.
const alignWidth = 60

// aligned returns the text with all comments in place: trailing comments of
// lines that follow each other begin in one column.
func (p *printer) aligned() ([]byte, error) {
	total := len(p.out)
	for i := 0; i < len(p.marks); {
		n, column := p.group(i)
		for k := range p.marks[i : i+n] {
			p.work++
			switch m := &p.marks[i+k]; {
			case m.kind == trailing:
				m.column = column - m.column
			case m.kind == continued && column <= lineWidth:
				m.column = column
			}
			total += int(p.marks[i+k].column)
		}
		i += n
	}
	if p.over || total > p.max {
		return nil, &coreform.LimitError{Dimension: coreform.DimBytes, Observed: int64(max(total, p.max+1)), Limit: int64(p.max)}
	}
	if total == len(p.out) {
		return p.out, nil
	}
	out, from := make([]byte, 0, total), int32(0)
	for _, m := range p.marks { // column is what stands before it now
		out = append(out, p.out[from:m.at]...)
		for range m.column {
			out = append(out, ' ')
		}
		from = m.at
	}
	return append(out, p.out[from:]...), nil
}

// group returns how many marks from i on share a column, and which.
func (p *printer) group(i int) (n int, column int32) {
	first := p.marks[i]
	if first.kind == ownLine {
		return 1, first.column
	}
	column, n = first.column+1, 1
	for p.follows(i+n, trailing) && column <= alignWidth && p.marks[i+n].column < alignWidth {
		column = max(column, p.marks[i+n].column+1)
		n++
	}
	for p.follows(i+n, continued) {
		n++
	}
	// A comment alone on its line must not seem to continue this one.
	if p.follows(i+n, ownLine) && p.marks[i+n].column == column {
		column++
	}
	return n, column
}

// follows reports whether mark i is of a kind, on the line after mark i-1.
func (p *printer) follows(i int, k commentKind) bool {
	return i < len(p.marks) && p.marks[i].kind == k && p.marks[i].line == p.marks[i-1].line+1
}
