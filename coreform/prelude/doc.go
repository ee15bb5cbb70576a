// Package prelude is the library every program sees: the core/… names.
//
// [Library] is all of it: the natives of package kernel (seals, messages,
// contracts, effect programs), the natives written here (core/error::make and
// core/coreform::*, which read, canonicalize, print and hash), the constant
// core/contract::genesis, and functions written in CoreForm (the *.gc files),
// most of them thin wrappers around primitives or around effect operations.
//
// Nothing here has any authority: a wrapper such as core/fs::read gives a
// program that asks, and the policy of a run decides. The normative text is
// spec/language.md.
package prelude
