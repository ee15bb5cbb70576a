package coreform

import "strings"

// StrPart returns the bytes of a string from one position up to another, which
// must be in order and inside the string. It does not bring a string that was
// joined into one piece, so that looking at parts of it costs the parts and
// O(log n) of the whole. The result may share memory with the string.
func (v Value) StrPart(from, to int) string {
	j, ok := v.ref.(*joined)
	if !ok {
		s, _ := v.AsStr()
		return s[from:to]
	}
	j.mu.Lock()
	root, text := j.root, j.text
	j.mu.Unlock()
	if root == nil {
		return text[from:to]
	}
	return root.part(from, to)
}

// part goes down to where the range is divided, and collects from there on. The
// stack holds at most one node for each level.
func (r *rope) part(from, to int) string {
	for r.left != nil {
		switch {
		case to <= r.left.n:
			r = r.left
		case from >= r.left.n:
			from, to, r = from-r.left.n, to-r.left.n, r.right
		default:
			return r.collect(from, to)
		}
	}
	return r.text[from:to]
}

func (r *rope) collect(from, to int) string {
	var b strings.Builder
	b.Grow(to - from)
	stack := []*rope{r}
	at := 0 // where the node on top begins
	for len(stack) > 0 && at < to {
		r = stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		switch {
		case at+r.n <= from:
			at += r.n
		case r.left != nil:
			stack = append(stack, r.right, r.left)
		default:
			b.WriteString(r.text[max(from-at, 0):min(to-at, r.n)])
			at += r.n
		}
	}
	return b.String()
}
