package kernel

// instr is one instruction. steps is charged before it runs: the visits of all
// expressions whose evaluation begins here (spec LANG-STEP-1), so that straight
// code pays its steps without instructions of its own.
type instr struct {
	op    opcode
	of    opcode // of opIntLocals and opIntConst: what they compute
	x     uint16 // of these: slot of the first operand
	steps int32
	a, b  int32
}

// opcode names an instruction. The stack picture is: before → after, the top on
// the right. "frame" is the running function's slots; parameters come first.
type opcode uint8

const (
	opConst      opcode = iota // a: constant          → v
	opLocal                    // a: slot              → v
	opMove                     // a: slot, read for the last time   → v
	opBorrow                   // a: slot, for a primitive that does not keep it   → v
	opCapture                  // a: capture           → v
	opGlobal                   // a: cell of the unit  → v
	opDefinition               // a: library reference → v
	opStore                    // a: slot            v →
	opPop                      //                    v →
	opJump                     // a: target
	opJumpFalse                // a: target          v →
	opClosure                  // a: proto             → f
	opMap                      // a: constant map, b: entries    v1 … vb → map
	opArg                      // a: arguments so far, b: of the call; may call early
	opCall                     // a: arguments       f v1 … va → v
	opTailCall                 // a: arguments       f v1 … va → (returns)
	opReturn                   //                    v → (returns)
	opPrim                     // a: primitive, b: arguments     v1 … vb → v
	opInline                   // a: primitive, b: inlined call  v1 … vn → v
	opBadPrim                  // a: constant name, b: arguments: fatal
	opBranch                   //                    v → v; before opJumpFalse of code that is watched
	opNewToken                 //                      → token
	opSeal                     //                 v t  → sealed
	opUnseal                   //                 v t  → v
	opDefine                   // a: cell         v    → nil
	opIntAdd                   // as opInline, for the commonest primitives
	opIntSub
	opIntMul
	opIntLt
	opIntEq
	opIntLocals // the same with operands in slots x and b     → v
	opIntConst  // the same with operands in slot x, constant b → v
)
