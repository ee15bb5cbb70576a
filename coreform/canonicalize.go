package coreform

import (
	"errors"
	"fmt"
)

// ErrNotTerm is returned for values that have no canonical text: those that
// hold functions or other things that are not data, or improper pairs. (spec
// CF-TERM-1)
var ErrNotTerm = errors.New("not a term: functions, seals and improper pairs have no canonical text")

// CanonError says why and where a source term is no code.
type CanonError struct {
	// Form is the zero-based number of the top-level form in its module.
	Form int
	// Off is the byte offset of the offending term in the source, or -1 if the
	// term was not read from one.
	Off int
	// Message says what is wrong, Hint what to do about it.
	Message, Hint string
	// Limit is set if the form is not malformed but too deep or too large.
	Limit *LimitError
}

// Code returns "core/bad-form", or the code of Limit.
func (e *CanonError) Code() string {
	if e.Limit != nil {
		return e.Limit.Code()
	}
	return "core/bad-form"
}

func (e *CanonError) Error() string {
	if e.Off < 0 {
		return fmt.Sprintf("form %d: %s", e.Form, e.Message)
	}
	return fmt.Sprintf("form %d, byte %d: %s", e.Form, e.Off, e.Message)
}

// Unwrap returns Limit, if set.
func (e *CanonError) Unwrap() error {
	if e.Limit == nil {
		return nil
	}
	return e.Limit
}

// Canonicalize reduces a source term in code position to the forms the
// evaluator knows: one-element lists vanish, n-ary calls and functions become
// nested binary ones, several body expressions become a begin. Nodes made on
// the way have the range of the source list they come from. Canonicalizing
// what is canonical changes nothing. n must come from the reader or from here.
//
// Errors are *[CanonError], the first in the order of spec CF-CANON-2 … 7, or
// [ErrNotTerm] if n holds something that is not data. The result nests at most
// Limits.MaxDepth deep; a call or function of n arguments counts n. A form has
// at most Limits.MaxTerms terms. Recursion is bounded by the depth limit.
func Canonicalize(n Node, lim Limits) (Node, error) {
	c := newCanonicalizer(lim)
	c.pairs = new(pairs)
	return c.topLevel(&n)
}

// CanonicalizeModule canonicalizes every form of a module, up to the first
// error.
func CanonicalizeModule(forms []Node, lim Limits) ([]Node, error) {
	out := make([]Node, len(forms))
	c := newCanonicalizer(lim)
	c.pairs = new(pairs)
	for i := range forms {
		c.form, c.terms = i, 0
		n, err := c.topLevel(&forms[i])
		if err != nil {
			return nil, err
		}
		out[i] = n
	}
	return out, nil
}

// CanonicalizeTerm is [Canonicalize] for a term without positions, whoever
// made it: improper pairs in code position are errors, in data they stay.
func CanonicalizeTerm(v Value, lim Limits) (Value, error) {
	n, err := newCanonicalizer(lim).topLevel(&Node{Term: v, Off: -1, End: -1})
	return n.Term, err
}

func newCanonicalizer(lim Limits) *canonicalizer {
	lim = lim.withDefaults()
	return &canonicalizer{maxDepth: lim.MaxDepth, maxTerms: lim.MaxTerms}
}

func (c *canonicalizer) topLevel(n *Node) (Node, error) {
	if !n.Term.IsData() {
		return Node{}, ErrNotTerm
	}
	if d := n.Term.Depth(); d > c.maxDepth {
		return Node{}, c.tooDeep(n, d)
	}
	var out Node
	if err := c.code(n, &out); err != nil {
		return Node{}, err
	}
	return out, nil
}

type canonicalizer struct {
	form     int
	maxDepth int
	// maxTerms bounds terms: a value that shares its parts can be
	// exponentially larger as a tree than in memory.
	maxTerms, terms int64
	nodes           slab[Node]
	// pairs is nil where a program made the term: see slab.
	pairs *pairs
}

// listOf returns the proper list of the terms of kids.
func (c *canonicalizer) listOf(kids []Node) Value {
	if c.pairs != nil {
		return c.pairs.listOf(kids)
	}
	l := Value{}
	for i := len(kids) - 1; i >= 0; i-- {
		l = Cons(kids[i].Term, l)
	}
	return l
}

// copied returns a copy of kids.
func (c *canonicalizer) copied(kids []Node) []Node {
	out := c.nodes.take(len(kids))
	copy(out, kids)
	return out
}

func (c *canonicalizer) bad(at *Node, hint, format string, args ...any) error {
	return &CanonError{Form: c.form, Off: at.Off, Message: fmt.Sprintf(format, args...), Hint: hint}
}

func (c *canonicalizer) tooDeep(at *Node, depth int) error {
	return &CanonError{Form: c.form, Off: at.Off,
		Message: fmt.Sprintf("nested more than %d deep in canonical form", c.maxDepth),
		Hint:    "a call or fn of n arguments counts n; pass a list or give inner parts a name, or raise the limit on depth",
		Limit:   &LimitError{Dimension: DimDepth, Observed: int64(depth), Limit: int64(c.maxDepth)}}
}

// count counts n more terms in code position.
func (c *canonicalizer) count(at *Node, n int) error {
	if c.terms += int64(n); c.terms <= c.maxTerms {
		return nil
	}
	return &CanonError{Form: c.form, Off: at.Off,
		Message: fmt.Sprintf("the form holds more than %d terms", c.maxTerms),
		Hint:    "split it, or raise the limit on terms",
		Limit:   &LimitError{Dimension: DimTerms, Observed: c.terms, Limit: c.maxTerms}}
}

// kidsOf returns the kids of a node, making them for a node that has only a
// term. It reports false for an improper pair.
func kidsOf(n *Node) ([]Node, bool) {
	if n.Kids != nil {
		return n.Kids, true
	}
	var parts []Value
	switch r := n.Term.ref.(type) {
	case *Pair:
		var ok bool
		if parts, ok = ListElems(n.Term); !ok {
			return nil, false
		}
	case *Map:
		for k, v := range r.All() {
			parts = append(parts, k, v)
		}
	default: // the elements of a vector are data: nobody looks at them here
		return nil, n.Term.IsNil()
	}
	kids := make([]Node, len(parts))
	for i, v := range parts {
		kids[i] = Node{Term: v, Off: n.Off, End: n.End}
	}
	return kids, true
}

// code canonicalizes a node in code position into dst. dst is equal to n, Kids
// included, if nothing changed.
func (c *canonicalizer) code(n, dst *Node) error {
	switch n.Term.ref.(type) {
	case *Pair:
		return c.list(n, dst)
	case *Map:
		return c.mapping(n, dst)
	}
	*dst = *n
	return nil
}

func (c *canonicalizer) list(n, dst *Node) error {
	kids, ok := kidsOf(n)
	if !ok {
		return c.bad(n, "code is made of proper lists", "a list that does not end in nil is no code")
	}
	if err := c.count(n, len(kids)); err != nil {
		return err
	}
	if head, ok := kids[0].Term.ref.(*symbol); ok {
		if form := formOf(head.name); form != nil {
			return form(c, n, dst, kids)
		}
	}
	if len(kids) == 1 {
		return c.code(&kids[0], dst)
	}
	canon, err := c.each(kids, 0)
	if err != nil {
		return err
	}
	if len(canon) == 2 {
		return c.rebuilt(n, dst, kids, canon)
	}
	return c.apply(n, dst, canon)
}

// apply nests a call of several arguments to the left.
func (c *canonicalizer) apply(n, dst *Node, parts []Node) error {
	acc := parts[0]
	nested := c.nodes.take(2 * (len(parts) - 1))
	for i := range parts[1:] {
		kids := nested[2*i : 2*i+2 : 2*i+2]
		kids[0], kids[1] = acc, parts[i+1]
		acc = Node{Term: c.listOf(kids), Off: n.Off, End: n.End, Kids: kids}
		if d := acc.Term.Depth(); d > c.maxDepth {
			return c.tooDeep(n, d)
		}
	}
	*dst = acc
	return nil
}

// each canonicalizes the nodes from an index on, which are in code position. It
// returns kids itself if nothing changed.
func (c *canonicalizer) each(kids []Node, from int) ([]Node, error) {
	out := kids
	var k Node
	for i := from; i < len(kids); i++ {
		if !hasKids(kids[i].Term) {
			continue
		}
		if err := c.code(&kids[i], &k); err != nil {
			return nil, err
		}
		out = c.replaceKid(out, kids, i, &k)
	}
	return out, nil
}

// replaceKid sets out[i] to k, where out is kids or already a copy of it.
func (c *canonicalizer) replaceKid(out, kids []Node, i int, k *Node) []Node {
	if sameNode(k, &kids[i]) {
		return out
	}
	if &out[0] == &kids[0] {
		out = c.copied(kids)
	}
	out[i] = *k
	return out
}

// hasKids reports whether a term in code position needs a look.
func hasKids(v Value) bool {
	switch v.ref.(type) {
	case *Pair, *Map:
		return true
	}
	return false
}

// sameNode reports whether two nodes are the same objects, not only equal.
func sameNode(a, b *Node) bool {
	return a.Term.ref == b.Term.ref && a.Term.num == b.Term.num && a.Off == b.Off && sameKids(a.Kids, b.Kids)
}

func sameKids(a, b []Node) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }

// rebuilt makes dst the list of canon, which is n itself if canon is kids, n's
// own.
func (c *canonicalizer) rebuilt(n, dst *Node, kids, canon []Node) error {
	if sameKids(kids, canon) {
		*dst = Node{Term: n.Term, Off: n.Off, End: n.End, Kids: kids}
		return nil
	}
	return c.make(n, dst, canon)
}

// make makes dst the list of kids in the place of n.
func (c *canonicalizer) make(n, dst *Node, kids []Node) error {
	*dst = Node{Term: c.listOf(kids), Off: n.Off, End: n.End, Kids: kids}
	if d := dst.Term.Depth(); d > c.maxDepth {
		return c.tooDeep(n, d)
	}
	return nil
}

// mapping canonicalizes the values of a map, in key order; keys are data. Of
// equal keys only the last value exists.
func (c *canonicalizer) mapping(n, dst *Node) error {
	kids, _ := kidsOf(n)
	if err := c.count(n, len(kids)); err != nil {
		return err
	}
	kids = entriesInOrder(kids)
	out := kids
	var k Node
	for i := 1; i < len(kids); i += 2 {
		if err := c.code(&kids[i], &k); err != nil {
			return err
		}
		out = c.replaceKid(out, kids, i, &k)
	}
	*dst = Node{Term: n.Term, Off: n.Off, End: n.End, Kids: kids}
	if sameKids(out, kids) {
		return nil
	}
	es := make([]Entry, 0, len(out)/2)
	for i := 0; i < len(out); i += 2 {
		es = append(es, Entry{out[i].Term, out[i+1].Term})
	}
	dst.Term, dst.Kids = MapOf(es...), out
	if d := dst.Term.Depth(); d > c.maxDepth {
		return c.tooDeep(n, d)
	}
	return nil
}
