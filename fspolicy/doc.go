// Package fspolicy is the only way from a program to files: checked paths, and
// file systems confined to one base directory.
//
// ParsePath makes a Path, the proof that a string obeys the path rules. FS is
// what can be done with one. Two implementations exist, and a program cannot
// tell them apart: Root, on an *os.Root opened at the base directory and held
// for the whole run, and Memory, for tests and simulations, with links, modes
// and faults that its owner injects.
//
// Both are a small set of single-directory steps (backend.go) under the same
// rules (walk.go and the files named for the operations). A call walks the path
// from the base one component at a time, holding the directory it is in; links
// are read and resolved by the walk itself, so an absolute one, or one that
// leads out of the base at any point, is refused the same way everywhere. What
// is opened is checked after opening, by its descriptor: kind, mode, and
// whether it is one of the run's own files (protect.go).
//
// Errors are *Error: a Kind from a closed list and a base-relative path.
// Nothing of the host, no system text and no absolute path, is in one.
//
// Not stopped: a hard link to a file outside the base that someone else put
// inside it is that file; a mount point below the base is followed; another
// process that may write in the base can swap entries between two calls, and
// during one can make it act on another entry of the base, though never on one
// outside.
//
// Clauses: spec/paths.md.
package fspolicy
