// Package files answers the operations of the family io/fs: read, write,
// append, stat and list.
//
// [Handler] holds one opened [fspolicy.FS] for each operation it answers and
// nothing else of the host. A call goes this way:
//
//	payload's :path → fspolicy.ParsePath → the grant's `paths` → the FS → answer
//
// so a path is refused (core/path-error) before the host is asked anything.
// What an FS refuses or fails at becomes an answer in one place (failure.go),
// made of a word from a closed list and a base-relative path: equal causes give
// equal bytes whatever implements the FS, and no text of the host is in them.
//
// Content is moved in pieces of 64 KiB with a look at the context between them.
// Reading stops at the limit of the call, and what is too large for memory goes
// into a blob; content to write comes out of its blob the same way (read.go,
// content.go, write.go). Listings are bounded in rows before the FS is asked
// (list.go).
//
// The rules of paths and of what the FS does are in spec/paths.md.
package files
