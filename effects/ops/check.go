package ops

import (
	"slices"
	"strconv"
	"strings"

	"github.com/gcrun/gcrun/coreform"
)

// FaultReason says what is wrong with a payload, from a closed list.
type FaultReason string

// The reasons of core/caps/bad-payload, in the order they are looked for.
const (
	FaultNotAMap    FaultReason = "not-a-map"
	FaultUnknownKey FaultReason = "unknown-key"
	FaultMissingKey FaultReason = "missing-key"
	FaultType       FaultReason = "type"
	FaultValue      FaultReason = "value"
)

// Fault is the first thing wrong with a payload.
type Fault struct {
	Reason FaultReason
	// Key is the key at fault: "" for FaultNotAMap and for unknown keys that
	// are not short symbols or strings.
	Key coreform.Value
	// Expected says what would be accepted, in words that depend on the
	// catalogue only.
	Expected string
}

// Error returns one line for a person.
func (f *Fault) Error() string {
	if key := text(f.Key); key != "" {
		return "bad payload: " + string(f.Reason) + " " + key + "; expected " + f.Expected
	}
	return "bad payload: " + string(f.Reason) + "; expected " + f.Expected
}

// maxEchoedKey bounds, in bytes, the unknown keys that are named in an answer.
const maxEchoedKey = 256

// CheckPayload checks the shape of a payload: exactly the keys of the op,
// required ones present, types, values. Unknown keys are looked for first,
// then missing ones, then types, then values, each in term order of keys; the
// first fault is returned, nil if there is none. An op without fields takes nil
// or {}. A path that the path rules refuse is not a fault: the handler answers
// core/path-error. It takes time linear in the payload's two outer levels.
// (spec/policy.md POL-PAYLOAD-1 … 4)
func CheckPayload(op *Op, payload coreform.Value) *Fault {
	if len(op.Fields) == 0 && payload.IsNil() {
		return nil
	}
	m, ok := payload.AsMap()
	if !ok {
		return &Fault{Reason: FaultNotAMap, Expected: op.expectedKeys()}
	}
	if f := checkUnknown(op, m); f != nil {
		return f
	}
	if f := checkMissing(op, m); f != nil {
		return f
	}
	return checkValues(op, m)
}

func checkUnknown(op *Op, m *coreform.Map) *Fault {
	for k := range m.All() {
		name, ok := k.AsSym()
		if ok && op.Field(name) != nil {
			continue
		}
		f := &Fault{Reason: FaultUnknownKey, Expected: op.expectedKeys()}
		if t := text(k); t != "" && len(t) <= maxEchoedKey {
			f.Key = k
		}
		return f
	}
	return nil
}

func checkMissing(op *Op, m *coreform.Map) *Fault {
	has := func(key string) bool {
		_, ok := m.Get(coreform.Sym(key))
		return ok
	}
	for i := range op.Fields {
		f := &op.Fields[i]
		missing := f.Required
		if len(op.OneOf) > 0 && f.Key == op.OneOf[0] {
			missing = !slices.ContainsFunc(op.OneOf, has)
		}
		if missing && !has(f.Key) {
			return &Fault{Reason: FaultMissingKey, Key: coreform.Sym(f.Key), Expected: f.expected()}
		}
	}
	return nil
}

func checkValues(op *Op, m *coreform.Map) *Fault {
	var bad *Fault
	for i := range op.Fields {
		f := &op.Fields[i]
		v, ok := m.Get(coreform.Sym(f.Key))
		if !ok {
			continue
		}
		switch f.fit(v) {
		case wrongType:
			return &Fault{Reason: FaultType, Key: coreform.Sym(f.Key), Expected: f.expected()}
		case wrongValue:
			if bad == nil {
				bad = &Fault{Reason: FaultValue, Key: coreform.Sym(f.Key), Expected: f.expected()}
			}
		}
		if bad == nil {
			bad = checkExclusive(op, m, f.Key)
		}
	}
	return bad
}

// checkExclusive faults a key that may not stand beside an earlier one.
func checkExclusive(op *Op, m *coreform.Map, key string) *Fault {
	for _, group := range [][]string{op.OneOf, op.AtMostOne} {
		at := slices.Index(group, key)
		for _, earlier := range group[:max(at, 0)] {
			if _, ok := m.Get(coreform.Sym(earlier)); ok {
				return &Fault{Reason: FaultValue, Key: coreform.Sym(key),
					Expected: "only one of " + strings.Join(group, " ")}
			}
		}
	}
	return nil
}

// fit judges v against the field: the best verdict of its types, then the
// allowed values and the range.
func (f *Field) fit(v coreform.Value) verdict {
	best := wrongType
	for _, t := range f.Types {
		best = max(best, t.fit(v))
	}
	if best != fits {
		return best
	}
	if f.Values != nil && !slices.Contains(f.Values, text(v)) {
		return wrongValue
	}
	if f.Max > 0 && v.IsInt() {
		if n, ok := v.AsInt64(); !ok || n < f.Min || n > f.Max {
			return wrongValue
		}
	}
	return fits
}

// expected describes what the field accepts.
func (f *Field) expected() string {
	var b strings.Builder
	for i, t := range f.Types {
		if i > 0 {
			b.WriteString(" or ")
		}
		b.WriteString(string(t))
		if t == TypeInt && f.Max > 0 {
			b.WriteString(" from " + strconv.FormatInt(f.Min, 10) + " to " + strconv.FormatInt(f.Max, 10))
		}
	}
	if f.Values != nil {
		quoted := slices.Clone(f.Values)
		if slices.Contains(f.Types, TypeString) {
			for i, s := range quoted {
				quoted[i] = strconv.Quote(s)
			}
		}
		b.WriteString(", one of " + strings.Join(quoted, " "))
	}
	return b.String()
}

// expectedKeys describes the payload's keys, optional ones marked with "?".
func (o *Op) expectedKeys() string {
	if len(o.Fields) == 0 {
		return "nil or {}"
	}
	var keys []string
	for i := range o.Fields {
		key := o.Fields[i].Key
		if !o.Fields[i].Required {
			key += "?"
		}
		keys = append(keys, key)
	}
	return "a map with the keys " + strings.Join(keys, " ")
}

// ExceededBefore returns the first limit known beforehand that the payload, which
// CheckPayload has accepted, goes over: the key at fault and the limit. maxBytes
// is the effective response limit of the grant in bytes.
func ExceededBefore(op *Op, payload coreform.Value, maxBytes int64) (key string, limit int64, over bool) {
	m, ok := payload.AsMap()
	if !ok {
		return "", 0, false
	}
	for _, l := range op.Before {
		v, ok := m.Get(coreform.Sym(l.Key))
		if !ok {
			continue
		}
		if n, ok := v.AsInt64(); ok && n > maxBytes {
			return l.Key, maxBytes, true
		}
	}
	return "", 0, false
}
