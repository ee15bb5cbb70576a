package coreform

// Origin is a mark on a value that says where it came from. What marks mean is
// known to who sets them; 0 is no mark. A mark goes wherever the value goes, in
// whatever holds it, and nothing but [Value.Origin] sees it: values that differ
// in marks alone are equal, print and hash alike. It lives in words that a Value
// has anyway, so values that are not marked cost nothing.
type Origin uint32

// Origin returns the mark of v itself, not those of its parts.
func (v Value) Origin() Origin {
	switch r := v.ref.(type) {
	case *intTag:
		if r != nil {
			return r.origin
		}
		return 0
	case *boolTag:
		if r != nil {
			return r.origin
		}
		return 0
	}
	return Origin(v.num)
}

// WithOrigin returns v with another mark.
func (v Value) WithOrigin(o Origin) Value {
	if v.Origin() == o {
		return v
	}
	switch v.ref.(type) {
	case *intTag:
		return Value{ref: tagOf[*intTag](o, &intTag{o}), num: v.num}
	case *boolTag:
		return Value{ref: tagOf[*boolTag](o, &boolTag{o}), num: v.num}
	}
	return Value{ref: v.ref, num: int64(o)}
}

// tagOf is the tag for a mark: that of unmarked values is nil.
func tagOf[T any](o Origin, tag T) T {
	if o == 0 {
		var none T
		return none
	}
	return tag
}
