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
//
// A policy never grants by accident: an unknown key or op, a wrong type, an
// empty entry or a missing directory is an error. The normative text is
// spec/policy.md.
package policy
