package canonjson

import (
	"errors"
	"math"
	"strings"
	"testing"
)

// spec: CJ-GO-1
func TestMarshal(t *testing.T) {
	type entry struct {
		Op      string  `json:"op"`
		I       int     `json:"i"`
		Cap     *string `json:"cap,omitzero"`
		Hash    []byte  `json:"hash"`
		private int
	}
	value := map[string]any{
		"ok":   true,
		"kind": "gcrun/log/1",
		"entries": []entry{
			{Op: "io/fs::read", I: 1, Hash: []byte{1, 2}, private: 3},
			{Op: "<&>\u2028"},
		},
		"\U0001f9ea": 1.5, "\ue000": 1e21, "z": nil, "none": []int(nil), "empty": map[string]int(nil),
	}
	want := `{"empty":{},"entries":[{"hash":"AQI=","i":1,"op":"io/fs::read"},{"hash":"","i":0,"op":"<&>` + "\u2028" +
		`"}],"kind":"gcrun/log/1","none":[],"ok":true,"z":null,"🧪":1.5,"` + "\ue000" + `":1e+21}`
	for range 20 { // Go's map order differs from run to run
		got, err := Marshal(value)
		if err != nil || string(got) != want {
			t.Fatalf("got  %s, %v\nwant %s", got, err, want)
		}
	}
}

// twice writes an object with one name in two members.
type twice struct{}

func (twice) MarshalJSON() ([]byte, error) { return []byte(`{"a":1,"a":2}`), nil }

// spec: CJ-GO-2
func TestMarshalRefuses(t *testing.T) {
	deep := any("x")
	for range 513 {
		deep = []any{deep}
	}
	for name, c := range map[string]struct {
		v    any
		code Code
	}{
		"large integer":   {map[string]any{"n": int64(1<<53 + 1)}, CodeNumberInexact},
		"largest uint":    {uint64(math.MaxUint64), CodeNumberInexact},
		"smallest int":    {int64(math.MinInt64 + 1), CodeNumberInexact},
		"not a number":    {map[string]any{"n": math.NaN()}, CodeEncode},
		"infinity":        {math.Inf(1), CodeEncode},
		"bytes in string": {map[string]any{"s": "a\xff"}, CodeEncode},
		"function":        {func() {}, CodeEncode},
		"channel":         {map[string]any{"c": make(chan int)}, CodeEncode},
		"too deep":        {deep, CodeDepth},
		"same name":       {twice{}, CodeEncode},
	} {
		got, err := Marshal(c.v)
		var e *Error
		if !errors.As(err, &e) || e.Code != c.code || got != nil {
			t.Errorf("%s: %s, %v; want %s", name, got, err, c.code)
		}
	}
	for _, v := range []any{int64(1 << 53), int64(-1 << 53), uint8(255), math.MaxFloat64, float32(0.1)} {
		if _, err := Marshal(v); err != nil {
			t.Errorf("%v: %v", v, err)
		}
	}
}

// encoding/json/v2 words its errors differently from build to build; ours may
// not differ.
func TestMarshalErrorWording(t *testing.T) {
	_, err := Marshal(map[string]any{"a": map[string]any{"b": func() {}}})
	want := "byte 0: the value at /a/b (Go type func()) has no JSON form (json/encode)"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	_, err = Marshal(map[string]any{"a": "x\xff"})
	if err == nil || !strings.HasPrefix(err.Error(), "byte 0: the value at /a has no JSON form: ") ||
		strings.Contains(err.Error(), "cannot") || strings.Contains(err.Error(), "unable") {
		t.Errorf("got %v", err)
	}
}
