package ops

import "github.com/gcrun/gcrun/coreform"

// PayloadBytes is the size of a payload against the budgets: the raw length of
// a bytes value, and of a map the canonical text with each member that is bytes
// counted raw instead of escaped. op may be nil. A payload whose text cannot be
// made counts what was counted until then. (spec EFF-BUDGET-2)
func PayloadBytes(_ *Op, payload coreform.Value) int64 {
	if b, ok := payload.AsBytes(); ok {
		return b.Len()
	}
	raw := int64(0)
	if m, ok := payload.AsMap(); ok {
		for k, v := range m.All() {
			if b, isBytes := v.AsBytes(); isBytes {
				raw += b.Len()
				// Its text is left out by standing in for it with the empty one.
				payload = put(payload, k)
			}
		}
	}
	var n textLength
	_ = coreform.WriteTerm(&n, payload)
	return int64(n) + raw
}

func put(m coreform.Value, k coreform.Value) coreform.Value {
	x, _ := m.AsMap()
	return x.Put(k, coreform.BytesOf(nil))
}

// textLength is a writer that only counts.
type textLength int64

func (c *textLength) Write(p []byte) (int, error) {
	*c += textLength(len(p))
	return len(p), nil
}
