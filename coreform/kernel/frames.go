package kernel

// frame is one activation. A frame without code belongs to a native that called
// a function and waits for its value with the resumer on top of Machine.waits; fn
// is that native.
// Endless recursion is made of frames, so they are kept small.
type frame struct {
	p    *proto
	fn   *Fn
	site site
	pc   int32
	base int32 // first slot
	ret  int32 // where on the stack the value goes
	top  int32 // how high the stack is after that
}

// name is the definition a frame belongs to.
func (f *frame) name() string { return f.fn.proto.name }

// site is a call in user source.
type site struct {
	p  *proto
	pc int32
}

// frameUnits is what a frame charges, and freeRoom how many variables and
// pending values that includes: code that keeps more pays for each, or a wide
// function that recurses would take far more memory than is counted.
// (spec LIM-MEM-1)
const (
	frameUnits = 4
	freeRoom   = 8
)

// frameChunk is how many frames lie in one piece. A stack in pieces is never
// copied, so that recursion which ends in its limit never holds it twice.
const frameChunk = 1 << 10

// frameStack is a stack of frames. The last piece is empty only if the whole
// stack is.
type frameStack struct {
	last  []frame
	below [][]frame // full pieces
	spare []frame   // an empty piece, kept for a stack that goes up and down
}

func (s *frameStack) len() int { return len(s.below)*frameChunk + len(s.last) }

// top returns the innermost frame. There must be one.
func (s *frameStack) top() *frame { return &s.last[len(s.last)-1] }

// at returns frame i, counted from the outermost.
func (s *frameStack) at(i int) *frame {
	if piece := i / frameChunk; piece < len(s.below) {
		return &s.below[piece][i%frameChunk]
	}
	return &s.last[i%frameChunk]
}

func (s *frameStack) push(f frame) {
	if len(s.last) == cap(s.last) {
		s.extend()
	}
	s.last = append(s.last, f)
}

// extend makes room for one frame more in the last piece.
func (s *frameStack) extend() {
	if len(s.last) == frameChunk {
		s.below = append(s.below, s.last)
		s.last, s.spare = s.spare, nil
	}
	if s.last == nil {
		s.last = make([]frame, 0, frameChunk)
	}
}

func (s *frameStack) pop() {
	s.last = s.last[:len(s.last)-1]
	if n := len(s.below); len(s.last) == 0 && n > 0 {
		s.spare = s.last
		s.last, s.below[n-1] = s.below[n-1], nil
		s.below = s.below[:n-1]
	}
}

// reset empties the stack.
func (s *frameStack) reset() { s.last, s.below = s.last[:0], nil }
