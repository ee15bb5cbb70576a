package ops

import (
	"bytes"
	"strings"
	"testing"

	"github.com/gcrun/gcrun/coreform"
	"pgregory.net/rapid"
)

// Bytes count raw, at the top and as a member; everything else as its text.
// spec: EFF-BUDGET-2
func TestPayloadBytes(t *testing.T) {
	long := strings.Repeat(`\xFF`, 1000)
	for _, c := range []struct {
		payload string
		want    int64
	}{
		{"nil", 3}, {"42", 2}, {`""`, 2}, {`"é"`, 4}, {"{}", 2}, {`b""`, 0}, {`b"abc"`, 3}, {`b"` + long + `"`, 1000},
		{`{:data "abc"}`, 13},
		// The text of an empty bytes value, b"", is three bytes.
		{`{:data b""}`, 11}, {`{:data b"abc"}`, 14}, {`{:data b"` + long + `"}`, 1011},
		{`{:a b"` + long + `" :b b"` + long + `"}`, int64(len(`{:a b"" :b b""}`)) + 2000},
		// Bytes deeper inside count as text.
		{`{:a [b"\xFF"]}`, int64(len("{\n  :a [b\"\\xFF\"]}"))}, {`[b"\xFF\xFF"]`, int64(len(`[b"\xFF\xFF"]`))},
		{`{b"\xFF" 1}`, int64(len(`{b"\xFF" 1}`))},
	} {
		v := term(t, c.payload)
		if got := PayloadBytes(nil, v); got != c.want {
			t.Errorf("%.40s: %d, want %d", c.payload, got, c.want)
		}
		if !coreform.Equal(v, term(t, c.payload)) {
			t.Errorf("%.40s: the payload was changed", c.payload)
		}
	}
}

// spec: EFF-BUDGET-2
func TestPayloadBytesLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "data")
		text := rapid.StringMatching(`[a-z\n"]{0,20}`).Draw(t, "text")
		with := func(v coreform.Value) coreform.Value {
			return coreform.MapOf(coreform.Entry{Key: coreform.Sym(":data"), Value: v}, coreform.Entry{Key: coreform.Sym(":text"), Value: coreform.Str(text)})
		}
		var empty bytes.Buffer
		if err := coreform.WriteTerm(&empty, with(coreform.BytesOf(nil))); err != nil {
			t.Fatal(err)
		}
		if got, want := PayloadBytes(nil, with(coreform.BytesOf(data))), int64(empty.Len()+len(data)); got != want {
			t.Fatalf("%d, want %d", got, want)
		}
	})
}

// What has no text is counted as far as it goes, without a panic.
func TestPayloadBytesOfNoTerm(t *testing.T) {
	improper := coreform.Cons(coreform.Int(1), coreform.Int(2))
	for _, v := range []coreform.Value{improper, coreform.Vec(improper), coreform.MapOf(coreform.Entry{Key: coreform.Sym(":a"), Value: improper})} {
		if n := PayloadBytes(nil, v); n < 0 {
			t.Errorf("%d", n)
		}
	}
}
