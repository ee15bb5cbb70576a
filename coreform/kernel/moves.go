package kernel

import "github.com/gcrun/gcrun/coreform"

// A map or vector that a program builds piece by piece is mostly held by nobody but
// the call that adds the next one. Such a one is changed in place (coreform.Map.Take).
// Who else may hold a value is kept track of by three rules:
//
//   - a variable that is read for the last time gives its value away (opMove);
//     every other read shares it;
//   - whatever is stored (in a container, closure, seal, program, definition, or
//     with a native) is shared, and what leaves the machine or enters it;
//   - all else only moves a value along the stack.
//
// Nothing that a program can see depends on it: charges are those of the update.

// share says that somebody else may hold a value from now on.
func share(v Value) {
	switch r := v.Ref().(type) {
	case *coreform.Map:
		r.Share()
	case *coreform.Vector:
		r.Share()
	}
}

// markMoves turns the reads of variables after which nothing reads them again
// into moves. All jumps go forward, so one pass from the end sees for every
// instruction what is read after it. Functions with many variables are left.
func (p *proto) markMoves() {
	if p.slots > 64 {
		return
	}
	live := make([]uint64, len(p.code)+1)
	for pc := len(p.code) - 1; pc >= 0; pc-- {
		in := &p.code[pc]
		after := live[pc+1]
		switch in.op {
		case opReturn:
			after = 0
		case opJump:
			after = live[in.a]
		case opJumpFalse:
			after |= live[in.a]
		case opBorrow:
			after |= 1 << in.a
		case opLocal:
			bit := uint64(1) << in.a
			if after&bit == 0 {
				in.op = opMove
			}
			after |= bit
		case opStore:
			after &^= 1 << in.a
		case opIntLocals:
			after |= 1<<in.x | 1<<in.b
		case opIntConst:
			after |= 1 << in.x
		case opClosure:
			for _, c := range p.protos[in.a].captures {
				if c.local {
					after |= 1 << c.index
				}
			}
		}
		live[pc] = after
	}
}
