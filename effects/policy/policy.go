package policy

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/effects/ops"
	"github.com/gcrun/gcrun/internal/digest"
)

// Allow is one --allow flag: an op, or a family. ParseAllow makes it.
type Allow struct {
	Name string   // op or family as written
	Ops  []string // ops it grants, sorted
	Dir  string   // "" if none; relative to the current directory
}

// FlagError is a flag that cannot be understood: as it was written, what is
// wrong with it, and what to write instead.
type FlagError struct{ Flag, Message, Hint string }

func (e *FlagError) Error() string { return "--allow " + shown(e.Flag) + ": " + e.Message }

// ParseAllow reads OP, OP=DIR, FAMILY::* or FAMILY=DIR. The error is a
// *FlagError. (spec/policy.md POL-FLAG-1)
func ParseAllow(s string) (Allow, error) {
	name, dir, hasDir := strings.Cut(s, "=")
	bad := func(message, hint string) (Allow, error) { return Allow{}, &FlagError{s, message, hint} }
	switch {
	case hasDir && strings.TrimSpace(dir) == "":
		return bad("the directory is blank", "write --allow "+shown(name)+"=DIR, with . for this directory")
	case !utf8.ValidString(dir) || strings.ContainsRune(dir, 0):
		return bad("the directory is not a text", "give it a name in UTF-8")
	}
	a := Allow{Name: name, Dir: dir}
	family, star := strings.CutSuffix(name, "::*")
	switch op, isOp := ops.Lookup(name); {
	case isOp:
		a.Ops = []string{op.Name}
	case (star || hasDir) && len(familyOps(family)) > 0:
		a.Ops = ops.FamilyOps(family, ops.PolicyVersion)
	case len(familyOps(name)) > 0 && dirKey(familyOps(name)[0]) != "":
		return bad("a family needs a directory", "write --allow "+name+"=DIR, with . for this directory")
	case len(familyOps(name)) > 0:
		return bad(name+" is a family", "write --allow "+name+"::* to grant all of it")
	default:
		return bad("there is no operation or family "+shown(name),
			didYouMean(name, append(ops.Names(), ops.Families()...), "operations are named family::verb, such as io/fs::read"))
	}
	for _, n := range a.Ops {
		op, _ := ops.Lookup(n)
		for _, key := range op.Requires {
			if key != dirKey(op) {
				return bad(n+" needs "+key+", which a flag cannot give", "grant it in a policy file and use --caps")
			}
		}
		switch {
		case dirKey(op) == "" && hasDir:
			return bad(n+" takes no directory", "write --allow "+n)
		case dirKey(op) != "" && !hasDir:
			return bad(n+" needs a directory", "write --allow "+name+"=DIR, with . for this directory")
		}
	}
	return a, nil
}

// dirKey is the key that names an op's directory, "" if it has none.
func dirKey(op *ops.Op) string {
	for _, k := range op.Requires {
		if k == "base_dir" || k == "dir" {
			return k
		}
	}
	return ""
}

// Policy is what a run may do. It is immutable and safe for concurrent use; a
// nil Policy denies everything and has the default limits.
type Policy struct {
	file   *File // nil if there is none
	flags  []Allow
	grants map[string]*Grant
	term   coreform.Value
	sum    digest.Digest
}

// New joins a file (may be nil) and flags into one policy. Flags add grants and
// override the directory of what the file grants; of two flags for one op the
// later one counts. What the file forbids with allow = false stays forbidden.
// (spec/policy.md POL-FLAG-2, POL-FLAG-3)
func New(file *File, flags ...Allow) *Policy {
	p := &Policy{file: file, flags: slices.Clone(flags), grants: map[string]*Grant{}}
	if file != nil {
		for _, name := range file.granted() {
			if file.forbids(name) {
				continue // in the term of a file and flags; a file alone is refused
			}
			op, _ := ops.Lookup(name)
			p.grants[name] = newGrant(op, file.merged(op), true)
		}
	}
	for _, a := range flags {
		for _, name := range a.Ops {
			if !p.forbidden(name) {
				p.grants[name] = p.flagGrant(name, a.Dir)
			}
		}
	}
	for _, g := range p.grants {
		g.cap(p)
	}
	p.term = p.build()
	p.sum = digestOf(p.term)
	return p
}

// FileDir returns the directory that the policy's file names for an op, granted
// or not, as written, and where; "" if it names none.
func (p *Policy) FileDir(name string) (dir string, at Place) {
	op, ok := ops.Lookup(name)
	if p == nil || p.file == nil || !ok || dirKey(op) == "" {
		return "", Place{}
	}
	dir, _ = p.file.merged(op)[dirKey(op)].(string)
	for _, table := range [...]string{"op " + op.Name, "family " + op.Family} {
		if at, ok := p.file.places[table+" "+dirKey(op)]; ok {
			return dir, at
		}
	}
	return dir, Place{}
}

func (p *Policy) forbidden(op string) bool { return p.file != nil && p.file.forbids(op) }

func (p *Policy) flagGrant(name, dir string) *Grant {
	op, _ := ops.Lookup(name)
	set := settings{}
	if p.file != nil {
		set = p.file.merged(op)
	}
	if dir != "" {
		set[dirKey(op)] = dir
		delete(set, "label")
		if !insideDir(dir) {
			set["label"] = labelOf(dir)
		}
	}
	return newGrant(op, set, dir == "")
}

// labelOf is what stands for a flag's directory outside the current one: its
// base name as far as a label can say it. Names above it tell of the host and
// are not used.
func labelOf(dir string) string {
	base := dir[strings.LastIndexAny(strings.TrimRight(dir, `/\`), `/\`)+1:]
	base = strings.TrimRight(base, `/\`)
	label := strings.Map(func(r rune) rune {
		if r < 0x80 && labelRE().MatchString("a"+string(r)) {
			return r
		}
		return '_'
	}, base)
	label = strings.TrimLeft(label, "._-")
	if label = label[:min(len(label), maxLabel)]; label == "" {
		return "dir"
	}
	return label
}

// Reasons of a denial, which enter the log and not the program.
const (
	ReasonNoPolicy   = "no-policy"
	ReasonNotGranted = "not-granted"
	ReasonForbidden  = "forbidden"
)

// Decision is what a policy says of an op.
type Decision struct {
	Allow  bool
	Reason string // one of the reasons, "" on allow
	Grant  *Grant // nil on deny
}

// Decide says whether an op is granted. Everything that is not is denied.
// (spec/policy.md POL-ALLOW-1)
func (p *Policy) Decide(op string) Decision {
	if p == nil || p.file == nil && len(p.flags) == 0 {
		return Decision{Reason: ReasonNoPolicy}
	}
	if g := p.grants[op]; g != nil {
		return Decision{Allow: true, Grant: g}
	}
	if p.forbidden(op) {
		return Decision{Reason: ReasonForbidden}
	}
	return Decision{Reason: ReasonNotGranted}
}

// Grants returns the grants by op name, sorted.
func (p *Policy) Grants() []*Grant {
	if p == nil {
		return nil
	}
	var out []*Grant
	for _, name := range slices.Sorted(maps.Keys(p.grants)) {
		out = append(out, p.grants[name])
	}
	return out
}

// Default limits of a run: operations, bytes.
const (
	DefaultEffectOps          = 1_000_000
	DefaultPayloadBytesPerOp  = 8 << 20
	DefaultResponseBytesPerOp = 64 << 20
	DefaultBytesPerRun        = 1 << 30
	DefaultLogBytes           = 4 << 30
)

// Runtime returns the limits of [runtime] by name, defaults filled in, as a new
// map; max_wall_ms is absent when there is none. (spec/policy.md POL-LIMIT-1)
func (p *Policy) Runtime() map[string]int64 {
	out := map[string]int64{
		"max_effect_ops":            DefaultEffectOps,
		"max_payload_bytes_per_op":  DefaultPayloadBytesPerOp,
		"max_payload_bytes_per_run": DefaultBytesPerRun,
		"max_response_bytes_per_op": DefaultResponseBytesPerOp, "max_response_bytes_per_run": DefaultBytesPerRun,
	}
	if p != nil && p.file != nil {
		for k, v := range p.file.runtime {
			out[k] = v.(int64)
		}
	}
	return out
}

func (p *Policy) explicit(section func(*File) settings, key string) (int64, bool) {
	if p == nil || p.file == nil {
		return 0, false
	}
	n, ok := section(p.file)[key].(int64)
	return n, ok
}

// LogMaxBytes is the size in bytes a log may reach.
func (p *Policy) LogMaxBytes() int64 {
	if n, ok := p.explicit(func(f *File) settings { return f.log }, "max_bytes"); ok {
		return n
	}
	return DefaultLogBytes
}

// LogInlineMax is the size in bytes up to which values stand in their entry, 0
// for the default.
func (p *Policy) LogInlineMax() int64 {
	n, _ := p.explicit(func(f *File) settings { return f.log }, "inline_max_bytes")
	return n
}

// LogSync is the durability the policy asks for: "none", "commit" or "always", ""
// for the default.
func (p *Policy) LogSync() string {
	if p == nil || p.file == nil {
		return ""
	}
	s, _ := p.file.log["sync"].(string)
	return s
}

// Term is the policy as data: what a log embeds. Directories enter as written
// when they lie inside, else by their label. (spec/policy.md POL-DIGEST-1)
func (p *Policy) Term() coreform.Value {
	if p == nil {
		return emptyPolicy.term
	}
	return p.term
}

// Digest identifies the policy: equal exactly for equal terms.
func (p *Policy) Digest() digest.Digest {
	if p == nil {
		return emptyPolicy.sum
	}
	return p.sum
}

var emptyPolicy = New(nil)
