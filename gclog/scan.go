package gclog

import (
	"errors"
	"fmt"
	"io"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/effects/guest"
	"github.com/gcrun/gcrun/internal/digest"
)

// Scanner reads a log from front to back and checks every byte of it: frames,
// checksums, links, numbering, the content of blobs, commit counts and roots,
// end root, index and locator. It does not compare payloads and responses with
// their digests; [Log.Check] does. It is owned by one goroutine.
//
//	s := log.Scan()
//	for s.Next() {
//		use(s.Entry())
//	}
//	if err := s.Err(); err != nil { … incomplete or damaged: the entries before were whole … }
//
// Memory is bounded but for what grows with the log by a few bytes each: the
// names of blobs, and the offsets of entries.
type Scanner struct {
	fr  frameReader
	dec entryDecoder
	set *blobSet
	hdr *Header

	entry   Entry
	outcome *Outcome
	err     error
	phase   phase
	frame   frame // the one at hand

	tree    frontier
	leaf    []byte
	buf     []byte // for reading blobs
	offs    []int64
	commits uint64
	want    uint64 // number of entries of the last commit
	have    bool   // there was a commit
	blobs   map[digest.Digest]int64
	parts   map[int64]int // length of the part frames no blob has named yet
	embed   [2]Ref        // program and policy, until they were met
	intents map[guest.TaskID]Intent

	endOff, indexOff int64
	index            [][]byte // what the index frames must hold, from the end frame on
	indexID          []int
}

// phase is where in the order of frames the scanner is. (spec LOG-ORDER-1)
type phase uint8

const (
	phaseEmbed  phase = iota // program and policy
	phaseRun                 // blobs, intents, entries, commits
	phaseCommit              // a commit is due
	phaseEnd                 // the end frame is due
	phaseIndex               // index frames, then the locator
	phaseDone                // nothing may follow
)

// Scan returns a scanner at the first entry.
func (l *Log) Scan() *Scanner {
	s := &Scanner{hdr: &l.header,
		fr:      frameReader{window: window{r: l.r, size: l.size}, next: l.first},
		blobs:   map[digest.Digest]int64{},
		parts:   map[int64]int{},
		intents: map[guest.TaskID]Intent{},
		embed:   [2]Ref{l.program, l.policy},
	}
	s.set = &blobSet{r: l.r, size: l.size, checked: map[digest.Digest]bool{}, find: func(d digest.Digest) (int64, error) {
		if off, ok := s.blobs[d]; ok {
			return off, nil
		}
		return 0, ErrNotKept
	}}
	s.leaf = l.header.leaf(s.leaf[:0])
	s.tree.add(s.leaf)
	return s
}

// Next moves to the next entry. At the end of the log, and where it is cut or
// damaged, it returns false.
func (s *Scanner) Next() bool {
	for s.err == nil {
		f, err := s.fr.read()
		if err != nil {
			s.stop(err)
			return false
		}
		s.frame = f
		isEntry, err := s.take(&f)
		if err != nil {
			s.damaged(&f, err)
			return false
		}
		if isEntry {
			return true
		}
	}
	return false
}

// Entry returns the current entry. It is overwritten by the next call of Next;
// a copy stays valid.
func (s *Scanner) Entry() *Entry { return &s.entry }

// Err returns why Next returned false: nil at the end of a complete log, a
// *FormatError wrapping ErrIncomplete, ErrDamaged or ErrVersion, or the error
// of the file.
func (s *Scanner) Err() error {
	if errors.Is(s.err, io.EOF) {
		return nil
	}
	return s.err
}

// Outcome returns how the run ended, nil if its frame was not met.
func (s *Scanner) Outcome() *Outcome { return s.outcome }

// Entries returns how many entries were met.
func (s *Scanner) Entries() uint64 { return uint64(len(s.offs)) }

// Root returns the transcript root over header and the entries so far, and the
// outcome once it was met.
func (s *Scanner) Root() digest.Digest { return s.tree.root() }

// Whole returns the offset behind the last whole frame. In an incomplete log
// the bytes from there on are torn.
func (s *Scanner) Whole() int64 { return s.fr.next.off }

// OpenIntents returns the intents met so far whose entry was not, by task.
func (s *Scanner) OpenIntents() []Intent {
	out := make([]Intent, 0, len(s.intents))
	for _, in := range s.intents {
		out = append(out, in)
	}
	sortIntents(out)
	return out
}

// stop ends the scan with the error of a read.
func (s *Scanner) stop(err error) {
	var fe *FormatError
	switch {
	case errors.As(err, &fe):
		fe.Entries = s.Entries()
		if s.phase == phaseDone {
			fe.Err, fe.Reason = ErrDamaged, "bytes follow the locator"
		}
		s.err = fe
	case errors.Is(err, io.EOF) && s.phase != phaseDone:
		s.err = &FormatError{Err: ErrIncomplete, Off: s.fr.next.off, Frame: s.fr.next.number,
			Entries: s.Entries(), Reason: "the file ends before its locator"}
	default:
		s.err = err
	}
}

// damaged ends the scan at a whole frame that must not be there.
func (s *Scanner) damaged(f *frame, err error) {
	var fe *FormatError
	var host hostError
	var fault coreform.Fault
	switch {
	case errors.As(err, &host):
		s.err = host.error
		return
	case errors.As(err, &fault):
		s.err = fault
		return
	case !errors.As(err, &fe):
		fe = &FormatError{Err: ErrDamaged, Reason: f.kind.String() + ": " + err.Error()}
	}
	fe.Off, fe.Frame, fe.Entries = f.off, f.number, s.Entries()
	s.fr.next = place{number: f.number, off: f.off}
	s.err = fe
}

// hostError marks an error of the file among those of its content.
type hostError struct{ error }

// take checks a frame against the order of frames and takes it in.
func (s *Scanner) take(f *frame) (isEntry bool, err error) {
	switch f.kind {
	case kindNote, kindRecovered, kindReopened, kindPolicyChange:
		return false, unsupported(f)
	case kindHeader:
		return false, errors.New("a second header")
	}
	if s.phase == phaseDone {
		return false, errors.New("it follows the locator")
	}
	if f.kind <= kindLocator && !s.due(f.kind) {
		return false, errors.New("a frame of this kind is not due here")
	}
	switch f.kind {
	case kindPart:
		return false, s.takePart(f)
	case kindBlob:
		return false, s.takeBlob(f)
	case kindIntent:
		return false, s.takeIntent(f)
	case kindEntry:
		return true, s.takeEntry(f)
	case kindCommit:
		return false, s.takeCommit(f)
	case kindEnd:
		return false, s.takeEnd(f)
	case kindIndex:
		return false, s.takeIndex(f)
	case kindLocator:
		return false, s.takeLocator(f)
	}
	return false, unsupported(f)
}

func unsupported(f *frame) error {
	return newerVersion(fmt.Sprintf("unsupported kind of frame: %d (%v)", uint64(f.kind), f.kind))
}

// due reports whether a frame of a kind may come now.
func (s *Scanner) due(k frameKind) bool {
	running := s.phase == phaseRun
	switch k {
	case kindPart, kindBlob:
		return running || s.phase == phaseEmbed
	case kindIntent, kindEntry:
		return running
	case kindCommit:
		return running || s.phase == phaseCommit
	case kindEnd:
		return s.phase == phaseEnd || (running && s.have && s.want == s.Entries())
	}
	return s.phase == phaseIndex // index and locator
}

func (s *Scanner) takePart(f *frame) error {
	p, err := takePart(f)
	if err == nil {
		s.parts[f.off] = len(p)
	}
	return err
}

func (s *Scanner) takeBlob(f *frame) error {
	ref, parts, err := takeBlob(f)
	if err != nil {
		return err
	}
	if _, twice := s.blobs[ref.Digest]; twice {
		return errors.New("the same content is kept twice")
	}
	for i, off := range parts {
		if n, ok := s.parts[off]; !ok || int64(n) != partLen(ref.Size, i) {
			return errors.New("it names a part that is not there")
		}
		delete(s.parts, off)
	}
	ok, err := newFileBlob(s.fr.r, ref, parts).verify(&s.buf)
	if err != nil {
		return hostError{err}
	}
	if !ok {
		return errors.New(blobDiffers)
	}
	s.set.mu.Lock() // values of earlier entries may be read meanwhile
	s.blobs[ref.Digest] = f.off
	s.set.checked[ref.Digest] = true
	s.set.mu.Unlock()
	if s.phase == phaseEmbed {
		return s.takeEmbedded(ref)
	}
	return nil
}

// takeEmbedded checks that program and policy come first and in this order.
func (s *Scanner) takeEmbedded(ref Ref) error {
	due := &s.embed[0]
	if due.Digest.IsZero() {
		due = &s.embed[1]
	}
	if ref != *due {
		return errors.New("it is not the program or policy that the header names")
	}
	*due = Ref{}
	if s.embed == [2]Ref{} {
		s.phase = phaseRun
	}
	return nil
}

func (s *Scanner) takeIntent(f *frame) error {
	in, err := s.dec.intent(f)
	if err != nil {
		return err
	}
	if _, open := s.intents[in.Task]; open || len(s.intents) >= maxIntents {
		return fmt.Errorf("an intent of task %d before the entry of its last one", in.Task)
	}
	s.intents[in.Task] = in
	return nil
}

func (s *Scanner) takeEntry(f *frame) error {
	grant, err := s.dec.entry(f, s.set, &s.entry)
	if err != nil {
		return err
	}
	e := &s.entry
	if e.I != s.Entries() {
		return fmt.Errorf("entry %d where entry %d is due", e.I, s.Entries())
	}
	for _, d := range [...]*Datum{&e.Payload, &e.Resp} {
		if d.where != placeBlob {
			continue
		}
		if _, ok := s.blobs[d.ref.Digest]; !ok {
			return errors.New("it refers to a blob that was not met")
		}
	}
	if open, ok := s.intents[e.Task]; ok {
		if open.R != e.R || open.ReqHash != e.ReqHash() {
			return errors.New("it is not the entry that was intended")
		}
		delete(s.intents, e.Task)
	}
	s.offs = append(s.offs, f.off)
	s.leaf = e.leaf(s.leaf[:0], grant)
	s.tree.add(s.leaf)
	if s.Entries()%commitEvery == 0 {
		s.phase = phaseCommit
	}
	return nil
}
