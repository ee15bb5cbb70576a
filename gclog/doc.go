// Package gclog is the log of a run: one append-only file that holds the
// program, the policy, every request with its answer, and how the run ended,
// so that the run can be replayed from the file alone.
//
// The main types are [Writer] (one run's log while it grows), [Log] (a log that
// is read), [Scanner] (a log from front to back in bounded memory), [Entry],
// [Intent], [Outcome] and [Datum] (a term as the log keeps it: inline, as a
// blob, or withheld).
//
// The way through:
//
//	NewWriter     header, program and policy blobs
//	Intent        before an act that must not be repeated unasked
//	Append        one answered request, with one write call
//	Close         commit, end, index, locator
//	Open          header, and the locator if the file ends with one
//	Log.Scan      entries in order, every byte checked
//	Log.Check     the same, and every digest recomputed from what it is of
//
// The file is a CBOR sequence of frames. Each frame has a head of 20 bytes with
// its own checksum, a checksum of the body, and a link to the frame before, so
// that every bit of the file is pinned and a torn tail can be told from damage:
// a log is complete, incomplete ([ErrIncomplete]), damaged ([ErrDamaged]), of
// another version ([ErrVersion]), or no log ([ErrNotLog]).
//
// What the log identifies is apart from how it is stored: the transcript root
// is a Merkle root over leaves of digests only, so that a value inline, in a
// blob or withheld gives one root.
//
// The package opens no file, knows no clock and does not evaluate programs. It
// refuses whatever its writer would not have written. The normative text is
// spec/gclog.md.
package gclog
