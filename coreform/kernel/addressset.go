package kernel

// addressSet is a set of addresses of heap objects: a bitmap for each block of
// addresses that has a member. Objects made one after the other lie close
// together, so that a walk over millions of them stays in the processor's
// caches. Nothing but membership is asked: where objects lie cannot be seen.
//
// Roads not taken: a Go map of pointers and a hash table of addresses, which
// both spent most of a count on cache misses, and marks in the objects, which
// programs that share values would have to share.
type addressSet struct {
	blocks []addressBlock // open addressing; the number is a power of two
	n      int
	last   *addressBlock // where the last address was
}

// addressBlock says which of the addresses in one block are members.
type addressBlock struct {
	number uintptr // address >> blockBits, 0 for an empty place
	bits   *[1 << (blockBits - wordBits - 6)]uint64
}

const (
	blockBits = 16
	wordBits  = 3 // objects are at least words apart
)

// add reports whether a was not in the set.
func (s *addressSet) add(a uintptr) bool {
	b := s.last
	if b == nil || b.number != a>>blockBits {
		b = s.block(a >> blockBits)
		s.last = b
	}
	at := a >> wordBits & (1<<(blockBits-wordBits) - 1)
	word, bit := &b.bits[at>>6], uint64(1)<<(at&63)
	if *word&bit != 0 {
		return false
	}
	*word |= bit
	return true
}

// block finds the block of a number, making it if there is none.
func (s *addressSet) block(number uintptr) *addressBlock {
	if 2*s.n >= len(s.blocks) {
		old := s.blocks
		s.blocks = make([]addressBlock, max(64, 2*len(old)))
		for _, b := range old {
			if b.number != 0 {
				*s.place(b.number) = b
			}
		}
	}
	b := s.place(number)
	if b.number == 0 {
		s.n++
		b.number, b.bits = number, new([1 << (blockBits - wordBits - 6)]uint64)
	}
	return b
}

// place finds where the block of a number is or belongs.
func (s *addressSet) place(number uintptr) *addressBlock {
	mask := len(s.blocks) - 1
	i := int(uint64(number)*0x9E3779B97F4A7C15>>32) & mask
	for s.blocks[i].number != 0 && s.blocks[i].number != number {
		i = (i + 1) & mask
	}
	return &s.blocks[i]
}
