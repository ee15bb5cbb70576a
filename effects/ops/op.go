package ops

import (
	"slices"
	"strings"

	"github.com/gcrun/gcrun/coreform"
)

// Class says what performing an operation twice would mean. It drives intents
// and what resume may do again.
type Class uint8

// The classes of operations.
const (
	// Pure operations only ask: performing one again changes nothing.
	Pure Class = iota
	// Repeatable operations change the world, but twice is the same as once.
	Repeatable
	// Once operations must not be performed again unasked.
	Once
)

// String returns "pure", "repeatable" or "once".
func (c Class) String() string {
	switch c {
	case Pure:
		return "pure"
	case Repeatable:
		return "repeatable"
	case Once:
		return "once"
	}
	return "invalid"
}

// Op describes one operation.
type Op struct {
	// Name is the qualified symbol, Family the part before "::".
	Name, Family string
	// Class is the class of a request of this op; see ClassOf.
	Class Class
	// Since is the policy version whose "family::*" first grants this op.
	Since int
	// Fields are the keys of the payload in term order. An op without fields
	// takes nil or {}.
	Fields []Field
	// OneOf are keys of which a payload has exactly one, AtMostOne keys of
	// which it has no more than one; in term order, nil if there is no such rule.
	OneOf, AtMostOne []string
	// PureWhen makes a request pure although Class says otherwise.
	PureWhen *Condition
	// Before lists limits that a request can be held to before it is performed.
	Before []LimitBefore
	// Response describes the answer.
	Response string
	// Errors are the codes of its own that the op answers with, sorted. Every
	// op can also answer those of CommonErrors.
	Errors []string
	// Keys are the policy keys the op accepts beside the common ones, and
	// Requires those of them without which it cannot be granted. Both sorted.
	Keys, Requires []string
	// DefaultTimeoutMs bounds the op in milliseconds when the policy says
	// nothing; 0 is no bound.
	DefaultTimeoutMs int64
	// Doc says in a sentence or two what the op does.
	Doc string
	// Implemented is false when this version has no handler for the op.
	Implemented bool
}

// Field is one key of a payload.
type Field struct {
	Key      string // a keyword such as ":path"
	Types    []Type // any of these
	Required bool
	Values   []string // allowed strings or symbols; nil allows all
	Min, Max int64    // inclusive range of an integer, checked when Max > 0
	Default  string   // canonical text of the default, "" if there is none
	Doc      string
}

// Condition holds for a payload whose field is one of the values.
type Condition struct {
	Key    string
	Values []string
}

// LimitBefore says that an integer field may not exceed a limit of the grant.
type LimitBefore struct {
	Key     string // field of the payload
	Setting string // "max_bytes"
}

// PolicyVersion is the newest version of policies this catalogue knows.
const PolicyVersion = 1

// Mutates reports whether a request of the op can change the world.
func (o *Op) Mutates() bool { return o.Class != Pure }

// ClassOf returns the class of a request with this payload: Class, unless the
// payload makes it pure.
func (o *Op) ClassOf(payload coreform.Value) Class {
	if o.PureWhen == nil {
		return o.Class
	}
	if m, ok := payload.AsMap(); ok {
		if v, ok := m.Get(coreform.Sym(o.PureWhen.Key)); ok && slices.Contains(o.PureWhen.Values, text(v)) {
			return Pure
		}
	}
	return o.Class
}

// text returns the text of a string or symbol, else "".
func text(v coreform.Value) string {
	if s, ok := v.AsStr(); ok {
		return s
	}
	s, _ := v.AsSym()
	return s
}

// Field returns the field of a key, or nil.
func (o *Op) Field(key string) *Field {
	for i := range o.Fields {
		if o.Fields[i].Key == key {
			return &o.Fields[i]
		}
	}
	return nil
}

// AcceptsKey reports whether the op's policy table may hold the key.
func (o *Op) AcceptsKey(key string) bool {
	return slices.Contains(commonKeys, key) || slices.Contains(o.Keys, key)
}

// commonKeys are the policy keys of every op.
var commonKeys = []string{"allow", "log", "max_bytes", "timeout_ms"}

// CommonKeys returns the policy keys every op accepts, sorted.
func CommonKeys() []string { return slices.Clone(commonKeys) }

// CommonErrors returns the codes every op can answer with, sorted.
func CommonErrors() []string {
	return []string{
		CodeBadPayload, CodeDenied, CodePolicyError, CodeResourceLimit, CodeTimeout, CodeUnknownOp,
		CodeOutcomeUnknown,
	}
}

var (
	catalogue = assemble(fsOps, sysOps, netOps, dataOps, cryptoOps, taskOps)
	byName    = index(catalogue)
	families  = familyNames(catalogue)
)

// assemble joins the families into one list sorted by name and fills in what
// follows from the name.
func assemble(groups ...[]Op) []*Op {
	var all []*Op
	for _, g := range groups {
		for i := range g {
			op := &g[i]
			op.Family, _, _ = strings.Cut(op.Name, "::")
			op.Since = 1
			slices.SortFunc(op.Fields, func(a, b Field) int { return strings.Compare(a.Key, b.Key) })
			slices.Sort(op.Errors)
			slices.Sort(op.Keys)
			all = append(all, op)
		}
	}
	slices.SortFunc(all, func(a, b *Op) int { return strings.Compare(a.Name, b.Name) })
	return all
}

func index(all []*Op) map[string]*Op {
	m := make(map[string]*Op, len(all))
	for _, op := range all {
		m[op.Name] = op
	}
	return m
}

func familyNames(all []*Op) []string {
	var names []string
	for _, op := range all {
		names = append(names, op.Family)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Lookup returns the op of that exact name.
func Lookup(name string) (*Op, bool) {
	op, ok := byName[name]
	return op, ok
}

// All returns every op, sorted by name, as a new slice of shared ops.
func All() []*Op { return slices.Clone(catalogue) }

// Names returns the name of every op, sorted, as a new slice.
func Names() []string {
	names := make([]string, len(catalogue))
	for i, op := range catalogue {
		names[i] = op.Name
	}
	return names
}

// Families returns the names of all families, sorted, as a new slice.
func Families() []string { return slices.Clone(families) }

// FamilyOps returns the names, sorted, of the ops that "family::*" grants in a
// policy of the given version; nil if there is no such family. What it returns
// for a released version never changes. (spec/policy.md POL-ALLOW-3)
func FamilyOps(family string, version int) []string {
	var names []string
	for _, op := range catalogue {
		if op.Family == family && op.Since <= version {
			names = append(names, op.Name)
		}
	}
	return names
}
