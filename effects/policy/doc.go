// Package policy is caps.toml: what a run may do. It parses strictly, collects
// every problem with its place, and decides deny by default. It opens no files:
// directories stay as written, and whoever opens them resolves them.
//
// The main types are [File] (one parsed caps.toml), [Allow] (one --allow flag),
// [Policy] (what a run has, immutable, nil denies everything), [Grant] (what one
// granted op may do) and [Diagnostic].
//
// The way through:
//
//	Parse       bytes → *File, Diagnostics
//	ParseAllow  "io/fs=./data" → Allow
//	New         file and flags → *Policy
//	Decide      op → allow with a Grant, or deny with a reason
//	Term, Digest  the policy as data, and its identity
//	FromTerm    the policy as data → *Policy, to show it
//	FlagsFor, FileFor  denied ops → what to type to allow them
//
// Inside, a file goes through three layers: document is TOML with a place for
// every key (place.go, document.go), forms say what a key may hold (schema.go,
// form.go), and check.go looks at what single values cannot tell.
//
// A policy never grants by accident: an unknown key or op, a wrong type, an
// empty entry, a zero that could be read as "no limit" or a missing directory is
// an error. A file is bounded in size, depth and keys before anything is made of
// it. The normative text is spec/policy.md.
package policy
