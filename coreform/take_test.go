package coreform_test

import (
	"maps"
	"testing"

	"pgregory.net/rapid"

	"github.com/gcrun/gcrun/coreform"
)

// Maps that are changed in place while nobody else holds them are as maps that
// are not: every version that was shared stays what it was, and equals, hashes
// and counts like one that was made at once.
//
// spec: LANG-VAL-2, SH-VAL-2
func TestTake(t *testing.T) {
	type version struct {
		v     coreform.Value
		model map[int64]coreform.Value
	}
	rapid.Check(t, func(t *rapid.T) {
		versions := []version{{coreform.MapOf(), map[int64]coreform.Value{}}}
		key := rapid.Int64Range(0, 60)
		value := rapid.OneOf(rapid.Map(rapid.Int64Range(0, 9), coreform.Int),
			rapid.Just(coreform.Vec(coreform.Vec(coreform.Int(1)))), rapid.Just(coreform.Str("short")),
			rapid.Just(coreform.Cons(coreform.Int(1), coreform.Int(2))))
		for range rapid.IntRange(1, 12).Draw(t, "lines") {
			from := rapid.SampledFrom(versions).Draw(t, "from")
			model := maps.Clone(from.model)
			at := from.v
			for range rapid.IntRange(1, 40).Draw(t, "updates") {
				m, _ := at.AsMap()
				k, x := key.Draw(t, "key"), value.Draw(t, "value")
				switch rapid.IntRange(0, 9).Draw(t, "how") {
				case 0:
					at = m.Put(coreform.Int(k), x)
				case 1:
					m.Share()
					versions = append(versions, version{at, maps.Clone(model)})
					continue
				case 2:
					at = m.Remove(coreform.Int(k))
					delete(model, k)
					continue
				default:
					at = m.Take(coreform.Int(k), x)
				}
				model[k] = x
			}
			if m, _ := at.AsMap(); m != nil {
				m.Share()
			}
			versions = append(versions, version{at, model})
		}
		for _, v := range versions {
			var es []coreform.Entry
			for k, x := range v.model {
				es = append(es, coreform.Entry{Key: coreform.Int(k), Value: x})
			}
			want := coreform.MapOf(es...)
			got, _ := v.v.AsMap()
			made, _ := want.AsMap()
			if got.Len() != made.Len() || !coreform.Equal(v.v, want) || coreform.StateHash(v.v) != coreform.StateHash(want) ||
				got.InlineUnits() != made.InlineUnits() || v.v.Depth() != want.Depth() || v.v.IsTerm() != want.IsTerm() {
				t.Fatalf("%s, want %s", coreform.FormatLossy(v.v, 1000), coreform.FormatLossy(want, 1000))
			}
			for k := range int64(61) {
				x, ok := got.Get(coreform.Int(k))
				y, has := v.model[k]
				if ok != has || ok && !coreform.Equal(x, y) {
					t.Fatalf("key %d", k)
				}
			}
			objects := func(m *coreform.Map) (n int) {
				for range m.Objects() {
					n++
				}
				return n
			}
			if objects(got) != objects(made) {
				t.Fatal("objects")
			}
		}
	})
}

// spec: LANG-VAL-2, SH-VAL-2
func TestTakeOfVectors(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type version struct {
			v     coreform.Value
			model []coreform.Value
		}
		versions := []version{{coreform.Vec(), nil}}
		value := rapid.OneOf(rapid.Map(rapid.Int64Range(0, 9), coreform.Int), rapid.Just(coreform.Vec(coreform.Vec(coreform.Int(1)))), rapid.Just(coreform.Str("short")))
		for range rapid.IntRange(1, 10).Draw(t, "lines") {
			from := rapid.SampledFrom(versions).Draw(t, "from")
			at, model := from.v, append([]coreform.Value{}, from.model...)
			for range rapid.IntRange(1, 3).Draw(t, "runs") {
				for range rapid.SampledFrom([]int{1, 3, 31, 32, 33, 70, 1100}).Draw(t, "pushes") {
					v, _ := at.AsVec()
					x := value.Draw(t, "value")
					if at, model = v.Take(x), append(model, x); len(model) > 2500 {
						break
					}
				}
				v, _ := at.AsVec()
				v.Share()
				versions = append(versions, version{at, append([]coreform.Value{}, model...)})
				switch rapid.IntRange(0, 2).Draw(t, "then") {
				case 0:
					at = v.Set(len(model)/2, coreform.Int(-1))
					model[len(model)/2] = coreform.Int(-1)
				case 1:
					at, model = v.Push(coreform.Int(-2)), append(model, coreform.Int(-2))
				}
			}
		}
		for _, v := range versions {
			want := coreform.Vec(append([]coreform.Value{}, v.model...)...)
			got, _ := v.v.AsVec()
			made, _ := want.AsVec()
			if got.Len() != made.Len() || !coreform.Equal(v.v, want) || coreform.StateHash(v.v) != coreform.StateHash(want) ||
				got.InlineUnits() != made.InlineUnits() || v.v.Depth() != want.Depth() {
				t.Fatalf("%d elements, want %d", got.Len(), made.Len())
			}
		}
	})
}
