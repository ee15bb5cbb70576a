package gclog

import (
	"bytes"
	"io"
	"testing"

	"github.com/fxamacker/cbor/v2"
)

// The file is what the specification says in the words of CBOR: a sequence of
// items, the first one tagged, each an array of two byte strings, the second of
// which is one item of deterministic CBOR, which an independent implementation
// writes back byte for byte.
// spec: LOG-FRAME-1 LOG-FRAME-3 LOG-HEADER-1 LOG-ENTRY-1
func TestFileIsACBORSequence(t *testing.T) {
	for name, s := range map[string]script{"small": small(), "many": many(70)} {
		data := s.bytes(t)
		if !bytes.HasPrefix(data, []byte{0xD9, 0xD9, 0xF7, 0x82}) { // the module skips this tag
			t.Fatalf("%s begins with %x", name, data[:4])
		}
		dec := cbor.NewDecoder(bytes.NewReader(data))
		n := 0
		for ; ; n++ {
			var raw cbor.RawMessage
			if err := dec.Decode(&raw); err == io.EOF {
				break
			} else if err != nil {
				t.Fatalf("%s: item %d: %v", name, n, err)
			}
			var pair [][]byte
			if err := cbor.Unmarshal(raw, &pair); err != nil || len(pair) != 2 || len(pair[0]) != 20 {
				t.Fatalf("%s: item %d is no frame: %v", name, n, err)
			}
			sameInCBOR(t, pair[1])
			var items []any
			if err := cbor.Unmarshal(pair[1], &items); err != nil || len(items) == 0 {
				t.Fatalf("%s: body %d: %v", name, n, err)
			}
			if items[0] == uint64(kindEntry) {
				sameInCBOR(t, items[10].([]byte))
			}
		}
		if n != len(framesOf(t, data)) {
			t.Errorf("%s: %d items", name, n)
		}
	}
}

func sameInCBOR(t *testing.T, body []byte) {
	t.Helper()
	var v any
	if err := cbor.Unmarshal(body, &v); err != nil {
		t.Fatalf("%x: %v", body, err)
	}
	if again := detCBOR(t, v); !bytes.Equal(again, body) {
		t.Fatalf("%x is written by another encoder as %x", body, again)
	}
}
