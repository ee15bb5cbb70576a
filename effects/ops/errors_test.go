package ops

import (
	"strings"
	"testing"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/internal/testkit"
)

// The denial, byte for byte, hashes to what GenesisCode's tools give for it.
// spec: ERR-1, ERR-3
func TestDeniedVector(t *testing.T) {
	var vectors struct {
		SealedError []struct {
			Payload string `json:"payload"`
			Hash    string `json:"value_h"`
		} `json:"sealed_error"`
	}
	testkit.Vectors(t, "testdata/vectors/effect-hash.json", &vectors)
	want := vectors.SealedError[0]
	got := Denied("io/fs::read")
	if !coreform.Equal(got, term(t, want.Payload)) {
		t.Errorf("payload %s, want %s", coreform.FormatLossy(got, 1000), want.Payload)
	}
	h, err := coreform.ErrorValueHash(got)
	if err != nil || h.String() != want.Hash {
		t.Errorf("hash %s, want %s (%v)", h, want.Hash, err)
	}
	if other, _ := coreform.ErrorValueHash(Denied("io/fs::write")); other == h {
		t.Error("the op is not in the denial")
	}
}

// spec: ERR-1, ERR-2, ERR-5
func TestErrorPayloads(t *testing.T) {
	for _, c := range []struct {
		got  coreform.Value
		want string
	}{
		{UnknownOp("a::b"), `{:error/code "core/caps/unknown-op" :error/context {:op a::b} :error/message "operation has no handler" :error/op a::b}`},
		{BadPayload("a::b", &Fault{Reason: FaultType, Key: coreform.Sym(":path"), Expected: "string"}),
			`{:error/code "core/caps/bad-payload" :error/context {:expected "string" :key :path :op a::b :reason type} :error/message "payload not accepted" :error/op a::b}`},
		{BadPayload("a::b", &Fault{Reason: FaultNotAMap, Expected: "nil or {}"}),
			`{:error/code "core/caps/bad-payload" :error/context {:expected "nil or {}" :op a::b :reason not-a-map} :error/message "payload not accepted" :error/op a::b}`},
		{ResourceLimit("a::b", "max_bytes", 1<<63-1, true),
			`{:error/code "core/caps/resource-limit" :error/context {:dimension "max_bytes" :limit 9223372036854775807 :op a::b :performed true} :error/message "resource limit exceeded" :error/op a::b}`},
		{Timeout("a::b", 30), `{:error/code "core/caps/timeout" :error/context {:op a::b :timeout-ms 30} :error/message "capability timed out" :error/op a::b}`},
		{PathRefused("a::b", "absolute", "<outside-base>"),
			`{:error/code "core/path-error" :error/context {:op a::b :path "<outside-base>" :reason absolute} :error/message "path refused" :error/op a::b}`},
		{IOFailed("a::b", "not-found", "x/y"),
			`{:error/code "core/io-error" :error/context {:io-kind not-found :op a::b :path "x/y"} :error/message "input or output failed" :error/op a::b}`},
		{IOFailed("a::b", "other", ""), `{:error/code "core/io-error" :error/context {:io-kind other :op a::b} :error/message "input or output failed" :error/op a::b}`},
		{ErrorPayload(CodeType, "", coreform.MapOf()), `{:error/code "core/type-error" :error/context {} :error/message "value of the wrong type"}`},
	} {
		if !coreform.Equal(c.got, term(t, c.want)) {
			t.Errorf("%s\nwant %s", coreform.FormatLossy(c.got, 1000), c.want)
		}
		code, ok := ErrorCode(c.got)
		if !ok || !strings.Contains(c.want, `"`+code+`"`) {
			t.Errorf("code %q of %s", code, c.want)
		}
	}
	for _, v := range []string{"nil", "1", "{}", `{:error/code 1}`, `{"error/code" "x"}`, "[:error/code]"} {
		if code, ok := ErrorCode(term(t, v)); ok {
			t.Errorf("%s has code %s", v, code)
		}
	}
}

// A code that is not in the table cannot leave gcrun. spec: ERR-4
func TestUnknownCodesPanic(t *testing.T) {
	for _, code := range []string{"", "core/caps/deny", "core/caps/denied "} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%q is given to programs", code)
				}
			}()
			ErrorPayload(code, "a::b", coreform.MapOf())
		}()
	}
}

// spec: ERR-2, ERR-4
func TestCodes(t *testing.T) {
	var names []string
	messages := map[string]string{}
	for i, c := range Codes() {
		names = append(names, c.Name)
		if codes[i] != c {
			t.Errorf("the table is not sorted at %s", c.Name)
		}
		if found, ok := LookupCode(c.Name); !ok || found != c {
			t.Errorf("%s is not found", c.Name)
		}
		if other, twice := messages[c.Message]; twice {
			t.Errorf("%s and %s have one message", c.Name, other)
		}
		messages[c.Message] = c.Name
		if c.Message == "" || strings.HasSuffix(c.Message, ".") || !strings.HasSuffix(c.Meaning, ".") {
			t.Errorf("%+v", c)
		}
		keys := strings.Fields(c.Context)
		if !sortedUnique(keys) {
			t.Errorf("%s: context %v", c.Name, keys)
		}
		for _, k := range keys {
			if !strings.HasPrefix(k, ":") {
				t.Errorf("%s: context %s", c.Name, k)
			}
		}
	}
	if !sortedUnique(names) {
		t.Errorf("%v", names)
	}
	if _, ok := LookupCode("core/caps"); ok {
		t.Error("core/caps is a code")
	}
	used := map[string]bool{}
	for _, op := range All() {
		for _, code := range append(op.Errors, CommonErrors()...) {
			used[code] = true
		}
	}
	for _, n := range names {
		ofLanguage := n == CodeType || n == CodeNumeric || n == CodeTextRange || n == CodeTaskEmptyRace || n == CodeTaskBadLimit
		if used[n] == ofLanguage {
			t.Errorf("%s: given by an operation: %v", n, used[n])
		}
	}
}
