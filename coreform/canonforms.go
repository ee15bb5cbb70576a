package coreform

import (
	"slices"
	"strconv"
)

// formFunc canonicalizes the special form n with the elements kids into dst.
type formFunc func(c *canonicalizer, n, dst *Node, kids []Node) error

// formOf returns what canonicalizes the special form of a name, else nil. A
// special form is recognised by its name, whatever is bound to that name.
func formOf(name string) formFunc {
	switch name {
	case "quote":
		return (*canonicalizer).quote
	case "def":
		return (*canonicalizer).def
	case "fn":
		return (*canonicalizer).fn
	case "if":
		return (*canonicalizer).ifForm
	case "begin":
		return (*canonicalizer).begin
	case "let":
		return (*canonicalizer).let
	case "prim":
		return (*canonicalizer).prim
	case "seal":
		return (*canonicalizer).seal
	case "unseal":
		return (*canonicalizer).unseal
	}
	return nil
}

// IsSpecialForm reports whether name is that of one of the nine special forms:
// quote, def, fn, if, begin, let, prim, seal, unseal.
func IsSpecialForm(name string) bool { return formOf(name) != nil }

// arity is the error of a special form with a wrong number of parts.
func (c *canonicalizer) arity(n *Node, kids []Node, usage string) error {
	name, _ := kids[0].Term.AsSym()
	return c.bad(n, "write "+usage, "malformed %s: %d given", name, len(kids)-1)
}

// tail canonicalizes the elements from an index on, all of them code.
func (c *canonicalizer) tail(n, dst *Node, kids []Node, from int) error {
	canon, err := c.each(kids, from)
	if err != nil {
		return err
	}
	return c.rebuilt(n, dst, kids, canon)
}

func (c *canonicalizer) quote(n, dst *Node, kids []Node) error {
	if len(kids) != 2 {
		return c.arity(n, kids, "(quote datum)")
	}
	return c.rebuilt(n, dst, kids, kids)
}

func (c *canonicalizer) def(n, dst *Node, kids []Node) error {
	if len(kids) != 3 {
		return c.arity(n, kids, "(def name expression)")
	}
	if kids[1].Term.Kind() != KindSym {
		return c.bad(&kids[1], "write (def name expression)", "the name in def is not a symbol")
	}
	return c.tail(n, dst, kids, 2)
}

func (c *canonicalizer) ifForm(n, dst *Node, kids []Node) error {
	if len(kids) != 4 {
		return c.arity(n, kids, "(if condition then else)")
	}
	return c.tail(n, dst, kids, 1)
}

func (c *canonicalizer) begin(n, dst *Node, kids []Node) error {
	if len(kids) < 2 {
		return c.arity(n, kids, "(begin expression ...)")
	}
	return c.tail(n, dst, kids, 1)
}

func (c *canonicalizer) prim(n, dst *Node, kids []Node) error {
	if len(kids) < 2 {
		return c.arity(n, kids, "(prim name argument ...)")
	}
	if kids[1].Term.Kind() != KindSym {
		return c.bad(&kids[1], "write (prim name argument ...)", "the name in prim is not a symbol")
	}
	return c.tail(n, dst, kids, 2)
}

func (c *canonicalizer) seal(n, dst *Node, kids []Node) error {
	if len(kids) != 1 && len(kids) != 3 {
		return c.arity(n, kids, "(seal) for a new token, or (seal value token)")
	}
	return c.tail(n, dst, kids, 1)
}

func (c *canonicalizer) unseal(n, dst *Node, kids []Node) error {
	if len(kids) != 3 {
		return c.arity(n, kids, "(unseal value token)")
	}
	return c.tail(n, dst, kids, 1)
}

// body canonicalizes the body of fn or let into one expression.
func (c *canonicalizer) body(n, dst *Node, exprs []Node) error {
	if len(exprs) == 1 {
		return c.code(&exprs[0], dst)
	}
	canon, err := c.each(exprs, 0)
	if err != nil {
		return err
	}
	at := Node{Off: exprs[0].Off, End: exprs[len(exprs)-1].End}
	kids := append(make([]Node, 0, len(exprs)+1), Node{Term: Sym("begin"), Off: n.Off, End: n.End})
	return c.make(&at, dst, append(kids, canon...))
}

func (c *canonicalizer) fn(n, dst *Node, kids []Node) error {
	const usage = "(fn (name ...) body ...)"
	if len(kids) < 3 {
		return c.arity(n, kids, usage)
	}
	var body Node
	if err := c.body(n, &body, kids[2:]); err != nil {
		return err
	}
	params, err := c.params(&kids[1], usage)
	if err != nil {
		return err
	}
	if len(params) == 1 && len(kids) == 3 && sameNode(&body, &kids[2]) {
		return c.rebuilt(n, dst, kids, kids)
	}
	for i := len(params) - 1; i >= 0; i-- {
		list := kids[1]
		if len(params) > 1 {
			one := params[i : i+1 : i+1]
			list = Node{Term: c.listOf(one), Off: one[0].Off, End: one[0].End, Kids: one}
		}
		if err := c.make(n, dst, []Node{kids[0], list, body}); err != nil {
			return err
		}
		body = *dst
	}
	return nil
}

// params checks the parameter list of fn.
func (c *canonicalizer) params(list *Node, usage string) ([]Node, error) {
	params, ok := kidsOf(list)
	if kind := list.Term.Kind(); !ok || (kind != KindPair && kind != KindNil) {
		return nil, c.bad(list, "write "+usage, "the parameters of fn are not a list")
	}
	if len(params) == 0 {
		return nil, c.bad(list, "add a parameter; a function takes at least one", "fn without parameters")
	}
	names := nameSet{}
	for i := range params {
		name, ok := params[i].Term.AsSym()
		if !ok {
			return nil, c.bad(&params[i], "write "+usage, "a parameter of fn is not a symbol")
		}
		if !names.add(name, i) {
			return nil, c.bad(&params[i], "rename one of them", "two parameters named %s", shown(name))
		}
	}
	return params, nil
}

func (c *canonicalizer) let(n, dst *Node, kids []Node) error {
	const usage = "(let ((name expression) ...) body ...)"
	if len(kids) < 3 {
		return c.arity(n, kids, usage)
	}
	var list, body Node
	if err := c.bindings(&kids[1], &list, usage); err != nil {
		return err
	}
	if err := c.body(n, &body, kids[2:]); err != nil {
		return err
	}
	if len(kids) == 3 && sameNode(&list, &kids[1]) && sameNode(&body, &kids[2]) {
		return c.rebuilt(n, dst, kids, kids)
	}
	return c.make(n, dst, []Node{kids[0], list, body})
}

// bindings canonicalizes the binding list of let, left to right.
func (c *canonicalizer) bindings(list, dst *Node, usage string) error {
	binds, ok := kidsOf(list)
	if kind := list.Term.Kind(); !ok || (kind != KindPair && kind != KindNil) {
		return c.bad(list, "write "+usage, "the bindings of let are not a list")
	}
	names := nameSet{}
	out := binds
	for i := range binds {
		b := &binds[i]
		parts, err := c.binding(b, &names, i, usage)
		if err != nil {
			return err
		}
		var k Node
		if err := c.tail(b, &k, parts, 1); err != nil {
			return err
		}
		out = c.replaceKid(out, binds, i, &k)
	}
	return c.rebuilt(list, dst, binds, out)
}

// binding checks the shape of one binding of let and returns its two parts.
func (c *canonicalizer) binding(b *Node, names *nameSet, i int, usage string) ([]Node, error) {
	parts, ok := kidsOf(b)
	if kind := b.Term.Kind(); !ok || (kind != KindPair && kind != KindNil) {
		return nil, c.bad(b, "write "+usage, "a binding of let is not a list")
	}
	if len(parts) != 2 {
		return nil, c.bad(b, "write "+usage, "a binding of let has %d parts instead of a name and an expression", len(parts))
	}
	name, ok := parts[0].Term.AsSym()
	if !ok {
		return nil, c.bad(&parts[0], "write "+usage, "the name in a binding of let is not a symbol")
	}
	if !names.add(name, i) {
		return nil, c.bad(&parts[0], "rename one of them", "two bindings named %s in one let", shown(name))
	}
	return parts, nil
}

// shown is a name in a message, cut if long.
func shown(name string) string {
	const most = 60
	if r := []rune(name); len(r) > most {
		return string(r[:most]) + "…" + " (" + strconv.Itoa(len(name)) + " bytes)"
	}
	return name
}

// nameSet holds the names seen so far: a few in an array, many in a map.
type nameSet struct {
	few  [8]string
	many map[string]struct{}
}

// add adds the name number i, and reports false if it is there already.
func (s *nameSet) add(name string, i int) bool {
	if i < len(s.few) {
		if slices.Contains(s.few[:i], name) {
			return false
		}
		s.few[i] = name
		return true
	}
	if s.many == nil {
		s.many = map[string]struct{}{}
		for _, n := range s.few {
			s.many[n] = struct{}{}
		}
	}
	if _, ok := s.many[name]; ok {
		return false
	}
	s.many[name] = struct{}{}
	return true
}

// entriesInOrder returns the kids of a map node in key order, the last of equal
// keys only. It returns kids itself if they are so already.
func entriesInOrder(kids []Node) []Node {
	ordered := true
	for i := 2; i < len(kids) && ordered; i += 2 {
		ordered = Compare(kids[i-2].Term, kids[i].Term) < 0
	}
	if ordered {
		return kids
	}
	type entry struct{ key, value Node }
	es := make([]entry, 0, len(kids)/2)
	for i := 0; i < len(kids); i += 2 {
		es = append(es, entry{kids[i], kids[i+1]})
	}
	slices.SortStableFunc(es, func(a, b entry) int { return Compare(a.key.Term, b.key.Term) })
	out := make([]Node, 0, len(kids))
	for i, e := range es {
		if i+1 < len(es) && Compare(e.key.Term, es[i+1].key.Term) == 0 {
			continue
		}
		out = append(out, e.key, e.value)
	}
	return out
}
