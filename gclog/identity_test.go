package gclog

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/fxamacker/cbor/v2"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/effects/guest"
	"github.com/gcrun/gcrun/internal/digest"
)

// naiveRoot is the definition of RFC 6962, section 2.1, word for word, with the
// two domains of this format.
func naiveRoot(leaves [][]byte) digest.Digest {
	if len(leaves) == 1 {
		return digest.NewDomain("gcrun 2026-11 transcript leaf").Sum(leaves[0])
	}
	k := 1
	for 2*k < len(leaves) {
		k *= 2
	}
	l, r := naiveRoot(leaves[:k]), naiveRoot(leaves[k:])
	return digest.NewDomain("gcrun 2026-11 transcript node").Sum(l[:], r[:])
}

// spec: LOG-ID-1
func TestRootHasTheShapeOfRFC6962(t *testing.T) {
	var tree frontier
	var leaves [][]byte
	for n := 1; n <= 200; n++ {
		leaf := bytesOf(n%50, byte(n))
		leaves = append(leaves, leaf)
		tree.add(leaf)
		if got, want := tree.root(), naiveRoot(leaves); got != want {
			t.Fatalf("%d leaves: root %v, want %v", n, got, want)
		}
	}
}

// detCBOR encodes by an independent implementation of core-deterministic CBOR.
func detCBOR(t testing.TB, v any) []byte {
	t.Helper()
	em, err := cbor.CoreDetEncOptions().EncMode()
	if err != nil {
		t.Fatal(err)
	}
	b, err := em.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The root of a log is the one that the text of the specification gives, worked
// out from values by other means.
// spec: LOG-ID-1 LOG-ID-2 LOG-ID-3 LOG-ID-4 LOG-ID-5
func TestRootFromFirstPrinciples(t *testing.T) {
	s := small()
	ctx := kw("dimension", coreform.Str("steps"))
	s.out = guest.Outcome{Kind: guest.OutcomeLimit, Code: "core/limit", Context: ctx, Steps: 7}
	out, err := s.write(t, newMemFile())
	if err != nil {
		t.Fatal(err)
	}
	h := testHeader()
	leaves := [][]byte{detCBOR(t, []any{0, 4, "module", h.Program[:], "gcrun/language/1", "gcrun/state-hash/0",
		map[string]int64{"step_limit": 1000, "max_vec_len": 5, "max_effect_ops": 1_000_000}, h.PolicyDigest[:], nil})}
	entries := s.entries(t)
	for i, e := range entries {
		var reason any
		if e.Reason != "" {
			reason = e.Reason
		}
		grant, err := coreform.TermHash(e.Cap)
		if err != nil {
			t.Fatal(err)
		}
		leaves = append(leaves, detCBOR(t, []any{1, i, e.Task, e.R, e.Op, e.PayloadHash[:], e.ContHash[:],
			e.Decision.String(), reason, grant[:], e.RespKind.String(), e.RespDigest[:]}))
	}
	cd := coreform.StateHash(ctx)
	leaves = append(leaves, detCBOR(t, []any{3, "limit", "core/limit", cd[:], nil, len(entries)}))
	if want := naiveRoot(leaves); out.Root != want {
		t.Errorf("root %v, want %v", out.Root, want)
	}
	data := s.bytes(t)
	if rep, err := check(data); err != nil || rep.Root != out.Root {
		t.Errorf("read back: %v, %v", rep.Root, err)
	}
}

// How values are kept is no part of the identity: inline, in a blob, withheld
// by limit or on request give one root.
// spec: LOG-ID-5
func TestRootDoesNotDependOnStorage(t *testing.T) {
	build := func(inline int, withhold bool) digest.Digest {
		s := small()
		s.opt.InlineMax = inline
		plain := s.entries
		s.entries = func(t testing.TB) []*Entry {
			es := plain(t)
			for _, e := range es {
				if withhold {
					p, _ := e.Payload.Value()
					r, _ := e.Resp.Value()
					e.Payload, e.Resp = WithheldDatum(p), WithheldDatum(r)
				}
			}
			return es
		}
		f := newMemFile()
		out, err := s.write(t, f)
		if err != nil {
			t.Fatal(err)
		}
		rep, err := check(f.data)
		if err != nil {
			t.Fatal(err)
		}
		if withhold != (rep.Withheld == 8) {
			t.Errorf("%d values withheld", rep.Withheld)
		}
		return out.Root
	}
	want := build(100, false)
	for _, inline := range []int{1, 20, 4096, maxInline} {
		if got := build(inline, false); got != want {
			t.Errorf("inline limit %d: another root", inline)
		}
	}
	if got := build(100, true); got != want {
		t.Error("withheld: another root")
	}
}

// Every field that is of the identity changes the root, and nothing else does.
// spec: LOG-ID-2 LOG-ID-3 LOG-ID-4 LOG-ID-6
func TestRootCoversWhatItShould(t *testing.T) {
	type parts struct {
		h Header
		e *Entry
		o guest.Outcome
	}
	root := func(change func(*parts)) digest.Digest {
		p := &parts{testHeader(), entryOf(t, 0, pathPayload(0), coreform.Int(1)), okOutcome()}
		change(p)
		f := newMemFile()
		w, err := NewWriter(f, p.h, Options{Sync: SyncNone})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Append(p.e); err != nil {
			t.Fatal(err)
		}
		out, err := w.Close(p.o)
		if err != nil {
			t.Fatal(err)
		}
		_, sc, err := readAll(f.data)
		if err != nil || sc.Root() != out.Root {
			t.Fatalf("read back: %v", err)
		}
		return out.Root
	}
	base := root(func(*parts) {})
	d := digest.Sum([]byte("other"))
	for name, change := range map[string]func(*parts){
		"kind": func(p *parts) { p.h.Kind = guest.KindPackage }, "program": func(p *parts) { p.h.Program = d },
		"language": func(p *parts) { p.h.LanguageProfile += "x" }, "state hash": func(p *parts) { p.h.StateHashProfile += "x" },
		"limit": func(p *parts) { p.h.Limits["step_limit"]++ }, "limit name": func(p *parts) { p.h.Limits["x"] = 1 },
		"policy": func(p *parts) { p.h.PolicyDigest = d }, "fork": func(p *parts) { p.h.ForkOf = &d },
		"task": func(p *parts) { p.e.Task++ }, "r": func(p *parts) { p.e.R++ }, "op": func(p *parts) { p.e.Op = "io/fs::stat" },
		"payload": func(p *parts) { p.e.PayloadHash = d }, "cont": func(p *parts) { p.e.ContHash = d },
		"decision": func(p *parts) { p.e.Decision = Deny },
		"reason":   func(p *parts) { p.e.Decision, p.e.Reason = Deny, "x" },
		"cap":      func(p *parts) { p.e.Cap = coreform.Value{} }, "resp kind": func(p *parts) { p.e.RespKind = guest.RespError },
		"resp": func(p *parts) { p.e.RespDigest = d }, "outcome": func(p *parts) { p.o.Kind = guest.OutcomeError },
		"code": func(p *parts) { p.o.Code = "x" }, "value": func(p *parts) { p.o.Value = &d },
		"context": func(p *parts) { p.o.Context = coreform.Int(1) },
	} {
		if root(change) == base {
			t.Errorf("%s does not change the root", name)
		}
	}
	for name, change := range map[string]func(*parts){
		"name": func(p *parts) { p.h.Name = "other.gc" }, "tool": func(p *parts) { p.h.Tool = "other" },
		"span": func(p *parts) { p.e.Span.Off = 99 }, "steps": func(p *parts) { p.o.Steps = 99 },
		"place": func(p *parts) { p.o.Place = guest.Span{File: "a.gc", Off: 1, End: 2} },
	} {
		if root(change) != base {
			t.Errorf("%s changes the root", name)
		}
	}
}

// spec: LOG-ENTRY-3
func TestReqHashVectors(t *testing.T) {
	data, err := os.ReadFile("testdata/vectors/effect-hash.json")
	if err != nil {
		t.Fatal(err)
	}
	var v struct {
		Requests []struct {
			Op       string
			Payload  string
			PayloadH string `json:"payload_h"`
			ContH    string `json:"cont_h"`
			ReqH     string `json:"req_h"`
		}
	}
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	if len(v.Requests) == 0 {
		t.Fatal("no vectors")
	}
	for _, r := range v.Requests {
		term, err := coreform.DecodeCanonical([]byte(r.Payload), coreform.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		h, err := coreform.TermHash(term)
		if err != nil || h.String() != r.PayloadH {
			t.Errorf("%s: payload hash %v, %v", r.Op, h, err)
		}
		cont, err := digest.Parse(r.ContH)
		if err != nil {
			t.Fatal(err)
		}
		e := Entry{Op: r.Op, PayloadHash: h, ContHash: cont}
		if got := e.ReqHash().String(); got != r.ReqH {
			t.Errorf("%s: request hash %s, want %s", r.Op, got, r.ReqH)
		}
	}
}

// Two writers given the same give the same bytes, whatever order maps have, and
// the bytes of a known log do not change unnoticed.
// spec: LOG-ID-6
func TestEqualInputEqualBytes(t *testing.T) {
	for range 10 {
		if !bytes.Equal(small().bytes(t), small().bytes(t)) {
			t.Fatal("two writers wrote different logs")
		}
	}
}
