package gclog

import (
	"bytes"
	"errors"
	"fmt"
)

// What a Scanner does with the frames that sum up what was before them.

func (s *Scanner) takeCommit(f *frame) error {
	c := f.cursor(3)
	count, root := c.uint(), c.digest()
	switch err := c.done(); {
	case err != nil:
		return err
	case count != s.Entries():
		return fmt.Errorf("a commit of %d entries after %d", count, s.Entries())
	case s.have && s.want == count:
		return errors.New("a second commit of the same entries")
	case root != s.Root():
		return errors.New("the root of the entries so far differs")
	}
	s.want, s.have = count, true
	s.commits++
	s.phase = phaseRun
	if count%commitEvery != 0 || count == 0 {
		s.phase = phaseEnd
	}
	return nil
}

func (s *Scanner) takeEnd(f *frame) error {
	o, err := takeOutcome(f, &s.dec.terms, s.set)
	if err != nil {
		return err
	}
	if o.Entries != s.Entries() {
		return fmt.Errorf("an outcome of %d entries after %d", o.Entries, s.Entries())
	}
	s.leaf = o.leaf(s.leaf[:0])
	s.tree.add(s.leaf)
	if o.Root != s.Root() {
		return errors.New("the transcript root differs")
	}
	s.outcome, s.phase = o, phaseIndex
	s.endOff, s.indexOff = f.off, f.end
	return eachIndexBody(entryRecords(s.offs), blobRecords(s.blobs), func(id int, records []byte) error {
		s.index = append(s.index, records)
		s.indexID = append(s.indexID, id)
		return nil
	})
}

func (s *Scanner) takeIndex(f *frame) error {
	c := f.cursor(3)
	id, records := c.uint(), c.bytes()
	switch err := c.done(); {
	case err != nil:
		return err
	case len(s.index) == 0:
		return errors.New("more index than the log has entries and blobs")
	case id != uint64(s.indexID[0]) || !bytes.Equal(records, s.index[0]):
		return errors.New("the index does not agree with the frames")
	}
	s.index, s.indexID = s.index[1:], s.indexID[1:]
	return nil
}

func (s *Scanner) takeLocator(f *frame) error {
	l, err := takeLocator(f)
	if err != nil {
		return err
	}
	if len(s.index) > 0 {
		return errors.New("the index has fewer frames than it needs")
	}
	if l != (locator{s.indexOff, s.endOff, s.Entries(), uint64(len(s.blobs))}) {
		return errors.New("the locator does not agree with the frames")
	}
	s.phase = phaseDone
	return nil
}
