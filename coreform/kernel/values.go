package kernel

import (
	"encoding/binary"

	"github.com/gcrun/gcrun/coreform"
)

// Value is a CoreForm value; see package coreform.
type Value = coreform.Value

// Token is a seal: an unforgeable name. Two tokens are equal iff their ids are.
//
// What it hashes as is its origin: the definition that was loading when it was
// made and how many seals that had made before, or how many the run had made
// since loading. So a seal does not change when an unrelated one is added.
type Token struct {
	id      uint64
	origin  tokenOrigin
	def     string // of the definition that was loading
	ordinal uint64
	cell    coreform.DigestCell
}

type tokenOrigin uint8

const (
	tokenProtocol tokenOrigin = iota
	tokenLoading
	tokenRunning
)

// The protocol tokens. Programs cannot get hold of them, only mint values
// sealed with them through core/protocol::*. User tokens start at firstUserToken.
var (
	tokenUnhandled = &Token{id: 1}
	tokenEffect    = &Token{id: 2}
	tokenError     = &Token{id: 3}
)

const firstUserToken = 4

// TypeName returns "seal-token".
func (t *Token) TypeName() string { return "seal-token" }

// Equality says that tokens are compared by id.
func (t *Token) Equality() coreform.Equality { return coreform.EqualParts }

// Parts returns the origin, which no two tokens of a run share.
func (t *Token) Parts() ([]byte, []Value) { return t.label(), nil }

func (t *Token) label() []byte {
	n := t.ordinal
	if t.origin == tokenProtocol {
		n = t.id
	}
	b := binary.BigEndian.AppendUint64([]byte{byte(t.origin)}, n)
	return append(b, t.def...)
}

// Cell holds the state hash.
func (t *Token) Cell() *coreform.DigestCell { return &t.cell }

// Sealed is a value under a token. Values sealed with the ERROR token are the
// errors a program can see.
type Sealed struct {
	token   *Token
	payload Value
	cell    coreform.DigestCell

	// trace is where an error was made. It is a side channel for people;
	// equality, hashes and the program never see it.
	trace *trace
}

// TypeName returns "sealed".
func (s *Sealed) TypeName() string { return "sealed" }

// Equality says that sealed values are compared by token and payload.
func (s *Sealed) Equality() coreform.Equality { return coreform.EqualParts }

// Parts returns the token's label and the payload.
func (s *Sealed) Parts() ([]byte, []Value) { return s.token.label(), []Value{s.payload} }

// Cell holds the state hash.
func (s *Sealed) Cell() *coreform.DigestCell { return &s.cell }

func seal(t *Token, payload Value) Value {
	return coreform.FromOther(&Sealed{token: t, payload: payload})
}

// unseal returns the payload of a value sealed with t.
func unseal(v Value, t *Token) (Value, bool) {
	if s, ok := v.Ref().(*Sealed); ok && s.token.id == t.id {
		return s.payload, true
	}
	return Value{}, false
}

// IsError reports whether v is sealed with the ERROR token, and returns the
// payload.
func IsError(v Value) (payload Value, ok bool) { return unseal(v, tokenError) }

func isError(v Value) bool {
	s, ok := v.Ref().(*Sealed)
	return ok && s.token.id == tokenError.id
}

// Contract is a handler with an optional prototype to fall back to.
type Contract struct {
	handler   Value
	proto     *Contract
	meta      Value
	overrides Value // a map from op symbols to functions, nil if made by make
	cell      coreform.DigestCell
}

// TypeName returns "contract".
func (c *Contract) TypeName() string { return "contract" }

// Equality says that contracts are compared by state hash.
func (c *Contract) Equality() coreform.Equality { return coreform.EqualHash }

// Parts returns handler, prototype, meta and override table.
func (c *Contract) Parts() ([]byte, []Value) {
	kids := []Value{c.handler, c.meta, c.overrides}
	if c.proto == nil {
		return []byte{0}, kids
	}
	return []byte{1}, append(kids, coreform.FromOther(c.proto))
}

// Cell holds the state hash.
func (c *Contract) Cell() *coreform.DigestCell { return &c.cell }

// Effect is an effect program: a value, or a request with its continuation and
// the functions bound after it.
type Effect struct {
	value Value    // the value of a pure program
	req   *request // what a program that asks asks first, nil for a pure one
	binds *bound   // what bind added, last first
	cell  coreform.DigestCell
}

// request is shared by a program and those that bind made of it.
type request struct {
	op      string
	payload Value
	k       Value
	site    site
}

// TypeName returns "effect-program".
func (e *Effect) TypeName() string { return "effect-program" }

// Equality says that effect programs are never equal.
func (e *Effect) Equality() coreform.Equality { return coreform.EqualNever }

// Op returns the operation of a program that asks, else "".
func (e *Effect) Op() string {
	if e.req == nil {
		return ""
	}
	return e.req.op
}

// Parts returns the value, or the request and everything bound to it.
func (e *Effect) Parts() ([]byte, []Value) {
	if e.req == nil {
		return []byte{0}, []Value{e.value}
	}
	kids := []Value{e.req.payload, e.req.k}
	if e.binds != nil {
		kids = append(kids, coreform.FromOther(e.binds))
	}
	return append([]byte{1}, e.req.op...), kids
}

// Cell holds the state hash.
func (e *Effect) Cell() *coreform.DigestCell { return &e.cell }

func pure(v Value) Value { return coreform.FromOther(&Effect{value: v}) }

// lift makes a program of any value: a program is itself, the rest is pure.
func lift(v Value) *Effect {
	if e, ok := v.Ref().(*Effect); ok {
		return e
	}
	return &Effect{value: v}
}

// bound is a persistent list of functions. In an Effect it grows at the end
// (next is what was bound before); as the pending binds of a task it is a stack
// (next is what runs after). Each node remembers its state hash, so hashing a
// continuation costs what changed, however many binds are pending.
type bound struct {
	f    *Fn
	next *bound
	cell coreform.DigestCell
}

// TypeName returns "binds".
func (b *bound) TypeName() string { return "binds" }

// Equality says that functions are never equal.
func (b *bound) Equality() coreform.Equality { return coreform.EqualNever }

// Parts returns the function and the rest.
func (b *bound) Parts() ([]byte, []Value) {
	if b.next == nil {
		return []byte{0}, []Value{coreform.FromOther(b.f)}
	}
	return []byte{1}, []Value{coreform.FromOther(b.f), coreform.FromOther(b.next)}
}

// Cell holds the state hash.
func (b *bound) Cell() *coreform.DigestCell { return &b.cell }
