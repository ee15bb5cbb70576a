package format

import (
	"math"

	"github.com/gcrun/gcrun/coreform"
)

// Source returns src laid out: lines that end in LF, of at most 80 columns
// where atoms allow it, and no text for a source without terms and comments.
// Whether the terms are valid code does not matter. src is not changed, and the
// result shares no memory with it.
//
// Errors are *[coreform.ReadError] for what cannot be read under the limits, and
// *[coreform.LimitError] with [coreform.DimBytes] if the result would be longer
// than MaxBytes. MaxBytes beyond 2 GiB means 2 GiB. (spec FMT-TEXT-1 … 5)
func Source(src []byte, lim coreform.Limits) ([]byte, error) {
	out, _, err := source(src, lim)
	return out, err
}

// source is [Source] and tells how much work it was: items looked at and bytes
// written.
func source(src []byte, lim coreform.Limits) ([]byte, int64, error) {
	if lim.MaxBytes < 1 {
		lim.MaxBytes = coreform.DefaultBytes
	}
	lim.MaxBytes = min(lim.MaxBytes, math.MaxInt32)
	nodes, err := coreform.ReadModule(src, lim)
	if err != nil {
		return nil, 0, err
	}
	p := printer{builder: builder{src: src, carry: -1}, max: int(lim.MaxBytes)}
	p.module(nodes)
	out, err := p.aligned()
	return out, p.work + p.looks + int64(len(out)), err
}

// module prints top-level forms and the comments around them.
func (p *printer) module(nodes []coreform.Node) {
	from, before := 0, fileStart
	for i := range nodes {
		n := &nodes[i]
		p.forget()
		before = p.add(n, from, before, roleCode)
		from = n.End
		p.gap(&p.items[0], len(p.out) == 0, true, 0)
		p.lay(0, 0)
		if p.over {
			return
		}
	}
	p.forget()
	start := p.gapStart()
	p.scan(from, len(p.src), before)
	p.remarks(p.comments[start:], len(p.out) == 0, 0)
	if len(p.out) > 0 {
		p.byte('\n')
	}
}
