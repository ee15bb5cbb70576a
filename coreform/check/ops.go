package check

import (
	"fmt"
	"maps"
	"slices"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/effects/ops"
)

// uses notes that a library definition is named, which counts as performing the
// operations it performs.
func (a *analysis) uses(name string, at coreform.Node) {
	u := a.libUses[name]
	for _, op := range u.ops {
		a.usesOp(op, at)
	}
	a.changed = a.current.add(uses{dynamic: u.dynamic}) || a.changed
}

// usesOp notes that an operation is performed.
func (a *analysis) usesOp(op string, at coreform.Node) {
	a.changed = a.current.add(uses{ops: []string{op}}) || a.changed
	if a.silent {
		return
	}
	u, ok := a.used[op]
	if !ok {
		u.at = at
	}
	u.times++
	a.used[op] = u
}

// meta is the name whose definition says what the module declares.
const meta = "::meta"

// checkOps compares the operations that are performed with the catalogue and
// with those that are declared. (spec CHK-OP-1 to 3)
func (a *analysis) checkOps() {
	for _, op := range slices.Sorted(maps.Keys(a.used)) {
		a.unknownOp(a.used[op].at, op)
	}
	caps, ok := a.declared()
	if !ok {
		return
	}
	declared := map[string]bool{}
	for _, c := range caps.Kids {
		op, isSym := c.Term.AsSym()
		if !isSym {
			a.problem(c, Warning, "check/meta", "write the name of the operation, such as io/fs::read", "an entry of :caps is not a symbol")
			continue
		}
		declared[op] = true
		if a.unknownOp(c, op) {
			continue
		}
		if _, used := a.used[op]; !used && !a.current.dynamic {
			a.problem(c, Warning, "check/op-unused", "leave it out of :caps", "the operation %s is declared and never performed", shown(op))
		}
	}
	for _, op := range slices.Sorted(maps.Keys(a.used)) {
		u := a.used[op]
		if declared[op] {
			continue
		}
		here := "here"
		if u.times > 1 {
			here = fmt.Sprintf("here and at %s", counted(u.times-1, "other place"))
		}
		a.problem(u.at, Error, "check/op-undeclared", fmt.Sprintf("add %s to :caps of ::meta", shown(op)),
			"the operation %s is performed %s and not declared", shown(op), here)
	}
}

// unknownOp reports an operation that is in no catalogue.
func (a *analysis) unknownOp(at coreform.Node, op string) bool {
	if _, known := ops.Lookup(op); known {
		return false
	}
	a.problem(at, Warning, "check/op-unknown", a.didYouMean(op, ops.Names(), "gcrun answers it with core/caps/unknown-op"),
		"there is no operation %s", shown(op))
	return true
}

// declared returns the vector of operations that ::meta declares, and false if
// it declares none. Of several definitions the last counts.
func (a *analysis) declared() (coreform.Node, bool) {
	defs := a.defs[meta]
	if len(defs) == 0 {
		return coreform.Node{}, false
	}
	m := defs[len(defs)-1].expr
	if head(m) == "quote" {
		m = m.Kids[1]
	}
	if m.Term.Kind() != coreform.KindMap {
		a.problem(m, Warning, "check/meta", "write (def ::meta '{:caps [io/fs::read]})", "::meta is not a map that is written out")
		return coreform.Node{}, false
	}
	var caps coreform.Node
	found := false
	for i := 0; i+1 < len(m.Kids); i += 2 { // of equal keys the last counts
		if m.Kids[i].Term.IsSym(":caps") {
			caps, found = m.Kids[i+1], true
		}
	}
	if found && caps.Term.Kind() != coreform.KindVec {
		a.problem(caps, Warning, "check/meta", "write :caps [io/fs::read]", ":caps is not a vector of operations")
		return coreform.Node{}, false
	}
	return caps, found
}
