package coreform

// Pair is a cons cell. A proper list is a chain of pairs that ends in nil; the
// reader makes only those. Improper chains exist inside the evaluator but have
// no canonical text (spec CF-TERM-1).
type Pair struct {
	car, cdr Value
	shape    shape
	cell     DigestCell
}

// Cons returns the pair of car and cdr.
func Cons(car, cdr Value) Value {
	p := new(Pair)
	p.init(car, cdr)
	return Value{ref: p}
}

// init makes p, which nobody else has seen yet, the pair of car and cdr.
func (p *Pair) init(car, cdr Value) {
	p.car, p.cdr = car, cdr
	p.shape = car.shape().outer() // of which inline and hasObjects mean nothing here
	switch t := cdr.ref.(type) {
	case nil:
	case *Pair:
		p.shape.merge(t.shape)
	default:
		p.shape.merge(cdr.shape().outer())
		p.shape.flags |= hasImproper
	}
}

// Car returns the first component.
func (p *Pair) Car() Value { return p.car }

// Cdr returns the second component.
func (p *Pair) Cdr() Value { return p.cdr }

// List returns the proper list of the given values.
func List(vs ...Value) Value {
	l := Value{}
	for i := len(vs) - 1; i >= 0; i-- {
		l = Cons(vs[i], l)
	}
	return l
}

// ListLen returns the number of elements of a proper list, or false if v is
// neither nil nor a chain of pairs that ends in nil.
func ListLen(v Value) (int, bool) {
	n := 0
	for {
		p, ok := v.ref.(*Pair)
		if !ok {
			return n, v.IsNil()
		}
		n++
		v = p.cdr
	}
}

// ListElems returns the elements of a proper list, or false if v is none.
func ListElems(v Value) ([]Value, bool) {
	n, ok := ListLen(v)
	if !ok || n == 0 {
		return nil, ok
	}
	out := make([]Value, 0, n)
	for p, ok := v.ref.(*Pair); ok; p, ok = p.cdr.ref.(*Pair) {
		out = append(out, p.car)
	}
	return out, true
}
