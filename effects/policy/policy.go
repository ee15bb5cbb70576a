package policy

import (
	"maps"
	"slices"
	"strings"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/effects/ops"
	"github.com/gcrun/gcrun/internal/digest"
)

// Allow is one --allow flag: an op, or with a directory also a family.
type Allow struct {
	Name string   // op or family as written
	Ops  []string // ops it grants, sorted
	Dir  string   // "" if none; relative to the current directory
}

// FlagError is a flag that cannot be understood.
type FlagError struct{ Flag, Message, Hint string }

func (e *FlagError) Error() string { return "--allow " + e.Flag + ": " + e.Message }

// ParseAllow reads OP, OP=DIR or FAMILY=DIR. The error is a *FlagError.
func ParseAllow(s string) (Allow, error) {
	name, dir, hasDir := strings.Cut(s, "=")
	bad := func(message, hint string) (Allow, error) { return Allow{}, &FlagError{s, message, hint} }
	if hasDir && strings.TrimSpace(dir) == "" {
		return bad("the directory is blank", "write --allow "+name+"=DIR, with . for this directory")
	}
	a := Allow{Name: name, Dir: dir}
	family, star := strings.CutSuffix(name, "::*")
	switch op, isOp := ops.Lookup(name); {
	case isOp:
		a.Ops = []string{op.Name}
	case (star || hasDir) && len(familyOps(family)) > 0:
		a.Ops = ops.FamilyOps(family, ops.PolicyVersion)
	case len(familyOps(name)) > 0:
		return bad("a family needs a directory", "write --allow "+name+"=DIR, or "+name+"::* to grant all of it")
	default:
		return bad("there is no operation or family "+name, didYouMean(name, append(ops.Names(), ops.Families()...), "operations are named family::verb"))
	}
	for _, n := range a.Ops {
		op, _ := ops.Lookup(n)
		switch {
		case dirKey(op) == "" && hasDir:
			return bad(n+" takes no directory", "write --allow "+n)
		case dirKey(op) != "" && !hasDir:
			return bad(n+" needs a directory", "write --allow "+name+"=DIR, with . for this directory")
		}
		for _, key := range op.Requires {
			if key != dirKey(op) {
				return bad(n+" needs "+key+", which a flag cannot give", "grant it in a policy file and use --caps")
			}
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
// override the directory of what the file grants.
func New(file *File, flags ...Allow) *Policy {
	p := &Policy{file: file, flags: slices.Clone(flags), grants: map[string]*Grant{}}
	if file != nil {
		for name := range file.granted() {
			op, _ := ops.Lookup(name)
			p.grants[name] = &Grant{op: op, set: file.merged(op), fromFile: true}
		}
	}
	for _, a := range flags {
		for _, name := range a.Ops {
			op, _ := ops.Lookup(name)
			g := &Grant{op: op, set: settings{}}
			if file != nil {
				g.set = file.merged(op)
			}
			g.fromFile = a.Dir == ""
			if a.Dir != "" {
				g.set[dirKey(op)] = a.Dir
				delete(g.set, "label")
				if !insideDir(a.Dir) {
					g.set["label"] = labelOf(a.Dir)
				}
			}
			p.grants[name] = g
		}
	}
	for _, g := range p.grants {
		g.cap(p)
	}
	p.term = p.build()
	p.sum = digestOf(p.term)
	return p
}

// labelOf is what stands for a flag's directory outside the current one.
func labelOf(dir string) string {
	parts := strings.FieldsFunc(dir, func(r rune) bool { return r == '/' || r == '\\' })
	for i := len(parts) - 1; i >= 0; i-- {
		if labelRE.MatchString(parts[i]) && parts[i] != ".." {
			return parts[i]
		}
	}
	return "dir"
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
func (p *Policy) Decide(op string) Decision {
	if p == nil || p.file == nil && len(p.flags) == 0 {
		return Decision{Reason: ReasonNoPolicy}
	}
	if g := p.grants[op]; g != nil {
		return Decision{Allow: true, Grant: g}
	}
	if p.file != nil && p.file.ops[op]["allow"] == false {
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
// map; max_wall_ms is absent when there is none.
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

// LogMaxBytes is the size a log may reach.
func (p *Policy) LogMaxBytes() int64 {
	if n, ok := p.explicit(func(f *File) settings { return f.log }, "max_bytes"); ok {
		return n
	}
	return DefaultLogBytes
}

// LogInlineMax is the size up to which values stand in their entry, 0 for the
// default.
func (p *Policy) LogInlineMax() int64 {
	n, _ := p.explicit(func(f *File) settings { return f.log }, "inline_max_bytes")
	return n
}

// LogSync is the durability the policy asks for, "" for the default.
func (p *Policy) LogSync() string {
	if p == nil || p.file == nil {
		return ""
	}
	s, _ := p.file.log["sync"].(string)
	return s
}

// Term is the policy as data: what a log embeds. Directories enter as written
// when they lie inside, else by their label. (spec POL-DIGEST-1)
func (p *Policy) Term() coreform.Value {
	if p == nil {
		return emptyPolicy.term
	}
	return p.term
}

// Digest identifies the policy.
func (p *Policy) Digest() digest.Digest {
	if p == nil {
		return emptyPolicy.sum
	}
	return p.sum
}

var emptyPolicy = New(nil)
