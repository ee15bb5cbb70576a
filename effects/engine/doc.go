// Package engine joins programs, effects and logs: it records a run into a log
// and replays a run from one.
//
// The main functions are [Record] and [Replay]. Both drive the same loop
// (effects.Run); what differs is where answers come from. Record is given
// handlers by its caller. Replay has no way to reach one: it reads the log and
// nothing else, and never writes to it. [Divergence] says where and how a
// replay first differs from its log.
//
// The package opens no files: logs come as gclog.File and io.ReaderAt. The
// normative text is spec/effects.md and spec/gclog.md.
package engine
