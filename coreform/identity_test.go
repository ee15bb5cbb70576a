package coreform_test

import (
	"bytes"
	"errors"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/internal/digest"
)

// Values that share their parts are exponentially large as trees. Everything
// must end.
//
// spec: CF-ORDER-5 CF-PRINT-9
func TestSharedParts(t *testing.T) {
	build := func(leaf coreform.Value) coreform.Value {
		v := leaf
		for range 60 {
			v = coreform.Vec(v, v)
		}
		return v
	}
	a, b, c := build(coreform.Int(1)), build(coreform.Int(1)), build(coreform.Int(2))
	if !coreform.Equal(a, b) || coreform.Equal(a, c) || coreform.Compare(a, b) != 0 || coreform.Compare(a, c) != -1 {
		t.Error("comparing")
	}
	s, u := build(coreform.FromOther(&token{id: 1})), build(coreform.FromOther(&token{id: 1}))
	if !coreform.Equal(s, u) || coreform.Equal(s, build(coreform.FromOther(&token{id: 2}))) {
		t.Error("comparing what is not data")
	}
	var limit *coreform.LimitError
	if _, err := coreform.PrintTerm(a, coreform.Limits{MaxBytes: 100_000}); !errors.As(err, &limit) {
		t.Errorf("printing: %v", err)
	}
	if _, err := coreform.PrintTerm(a, coreform.Limits{MaxTerms: 100_000}); !errors.As(err, &limit) || limit.Dimension != coreform.DimTerms {
		t.Errorf("printing: %v", err)
	}
}

// token is comparable by its parts.
type token struct {
	id   byte
	held []coreform.Value
	cell coreform.DigestCell
}

func (*token) TypeName() string                    { return "token" }
func (*token) Equality() coreform.Equality         { return coreform.EqualParts }
func (k *token) Parts() ([]byte, []coreform.Value) { return []byte{k.id}, k.held }
func (k *token) Cell() *coreform.DigestCell        { return &k.cell }

// Something comparable that holds a function is not even equal to itself,
// shared or not.
//
// spec: CF-ORDER-5
func TestHeldFunctionsAreNeverEqual(t *testing.T) {
	held := coreform.FromOther(&token{id: 4, held: []coreform.Value{coreform.FromOther(&testOther{})}})
	if coreform.Equal(held, held) || coreform.Equal(coreform.Vec(held), coreform.Vec(held)) {
		t.Error("equal")
	}
}

// Bytes in blobs compare by content without being loaded.
//
// spec: CF-ORDER-2
func TestBlobOrder(t *testing.T) {
	content := bytes.Repeat([]byte("0123456789"), 20_000)
	changed := slices.Clone(content)
	changed[150_000]++
	memory := coreform.BytesOf(content)
	for _, c := range []struct {
		data []byte
		want int
	}{{content, 0}, {changed, -1}, {content[:199_999], 1}, {append(slices.Clone(content), 0), -1}} {
		blob := &memBlob{data: c.data}
		v := coreform.BlobBytes(blob)
		if got := coreform.Compare(memory, v); got != c.want || coreform.Compare(v, memory) != -c.want || coreform.Equal(memory, v) != (c.want == 0) {
			t.Errorf("%d, want %d", got, c.want)
		}
		if blob.largest > 64<<10 {
			t.Errorf("a read of %d bytes", blob.largest)
		}
	}
}

// The layout of the state hash, written out by hand.
//
// spec: SH-VAL-4
func TestStateHashLayout(t *testing.T) {
	d := digest.NewDomain("gcrun 2026-12 state hash, profile 1")
	eight := func(n byte) []byte { return []byte{0, 0, 0, 0, 0, 0, 0, n} }
	one := append([]byte{3}, eight(1)...)
	pair := d.Sum([]byte{0x11}, one, []byte{0})
	leaf := d.Sum([]byte{0x13}, one, []byte{7, 1, 'a'})
	long := strings.Repeat("x", 41)
	text := d.Sum([]byte{0x10, 5}, []byte(long))
	octets := digest.Sum([]byte{9})
	for _, c := range []struct {
		v    coreform.Value
		want digest.Digest
	}{
		{coreform.Value{}, d.Sum([]byte{0})},
		{coreform.Bool(true), d.Sum([]byte{2})},
		{coreform.Int(1), d.Sum(one)},
		{coreform.BigInt(new(big.Int).Neg(new(big.Int).Lsh(big.NewInt(1), 64))), d.Sum([]byte{4, 1, 0, 0, 0, 9, 1}, make([]byte, 8))},
		{coreform.Str("ab"), d.Sum([]byte{5, 2, 'a', 'b'})},
		{coreform.Str(long), d.Sum([]byte{5, 0xFF}, text[:])},
		{coreform.BytesOf([]byte{9}), d.Sum([]byte{6}, eight(1), octets[:])},
		{coreform.List(coreform.Int(1)), pair},
		{coreform.Vec(coreform.Int(1), coreform.Sym("a")), d.Sum([]byte{0x12}, eight(2), leaf[:])},
		{coreform.Vec(), d.Sum([]byte{0x12}, eight(0))},
		{coreform.MapOf(coreform.Entry{Key: coreform.Int(1), Value: coreform.List(coreform.Int(1))}), d.Sum([]byte{0x15, 1}, one, []byte{8}, pair[:])},
		{coreform.FromOther(&token{id: 4}), d.Sum([]byte{0x19, 0, 0, 0, 5}, []byte("token"), []byte{0, 0, 0, 1, 4})},
	} {
		if got := coreform.StateHash(c.v); got != c.want {
			t.Errorf("%s: %s, want %s", coreform.FormatLossy(c.v, 60), got, c.want)
		}
	}
}
