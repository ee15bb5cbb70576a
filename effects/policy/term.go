package policy

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/internal/digest"
)

var policyDomain = digest.NewDomain("gcrun 2026-11 policy")

func digestOf(term coreform.Value) digest.Digest {
	h := policyDomain.New()
	if err := coreform.WriteTerm(h, term); err != nil {
		panic(fmt.Sprintf("BUG: policy: the policy has no canonical text: %v", err))
	}
	return h.Digest()
}

// keyword is the key of a setting in a term: :base-dir for base_dir.
func keyword(key string) coreform.Value {
	return coreform.Sym(":" + strings.ReplaceAll(key, "_", "-"))
}

// build makes the normalized term: tables that are absent or empty stay absent,
// defaults are not filled in, [log] and [store] do not enter.
// (spec/policy.md POL-DIGEST-1 … 4)
func (p *Policy) build() coreform.Value {
	es := []coreform.Entry{{Key: coreform.Sym(":version"), Value: coreform.Int(1)}}
	add := func(key string, v coreform.Value, present bool) {
		if present {
			es = append(es, coreform.Entry{Key: coreform.Sym(key), Value: v})
		}
	}
	allow, families, perOp := []string{}, map[string]settings{}, map[string]settings{}
	if f := p.file; f != nil {
		allow = slices.Clone(f.allow)
		families = f.families
		for name, s := range f.ops {
			perOp[name] = maps.Clone(s)
		}
		add(":runtime", settingsTerm(f.runtime), len(f.runtime) > 0)
		add(":task", settingsTerm(f.task), len(f.task) > 0)
		secrets, any := tablesTerm(f.secrets, coreform.Str, secretTerm)
		add(":secrets", secrets, any)
	}
	allow = p.addFlags(allow, perOp)
	slices.Sort(allow)
	names := []coreform.Value{}
	for _, n := range slices.Compact(allow) {
		names = append(names, coreform.Sym(n))
	}
	add(":allow", coreform.Vec(names...), true)
	term, any := tablesTerm(families, coreform.Sym, settingsTerm)
	add(":family", term, any)
	term, any = tablesTerm(perOp, coreform.Sym, settingsTerm)
	add(":op", term, any)
	return coreform.MapOf(es...)
}

// addFlags adds the flags as a file would say them: to allow, and each op's
// directory to its table.
func (p *Policy) addFlags(allow []string, perOp map[string]settings) []string {
	for _, a := range p.flags {
		if strings.HasSuffix(a.Name, "::*") {
			allow = append(allow, a.Name)
		}
		for _, name := range a.Ops {
			if p.forbidden(name) {
				continue
			}
			if !strings.HasSuffix(a.Name, "::*") {
				allow = append(allow, name)
			}
			if a.Dir == "" {
				continue
			}
			if perOp[name] == nil {
				perOp[name] = settings{}
			}
			g := p.grants[name]
			perOp[name][dirKey(g.op)] = g.set[dirKey(g.op)]
			delete(perOp[name], "label")
			if l := g.set["label"]; l != nil {
				perOp[name]["label"] = l
			}
		}
	}
	return allow
}

// tablesTerm leaves out tables without keys; it reports whether any is left.
func tablesTerm(tables map[string]settings, key func(string) coreform.Value, one func(settings) coreform.Value) (coreform.Value, bool) {
	es := []coreform.Entry{}
	for name, s := range tables {
		if len(s) > 0 {
			es = append(es, coreform.Entry{Key: key(name), Value: one(s)})
		}
	}
	return coreform.MapOf(es...), len(es) > 0
}

// settingsTerm is a table as a term. What names something outside of the
// policy's directory does not enter: a directory has a label beside it, for
// anything else stands the symbol "outside".
func settingsTerm(s settings) coreform.Value {
	es := []coreform.Entry{}
	for k, v := range s {
		term := settingTerm(v)
		if name, ok := v.(string); ok && slices.Contains(hostNames, k) && !insideDir(name) {
			if slices.Contains(labelled, k) {
				continue
			}
			term = coreform.Sym(outside)
		}
		if programs, ok := v.(settings); ok && k == "programs" {
			term = programsTerm(programs)
		}
		es = append(es, coreform.Entry{Key: keyword(k), Value: term})
	}
	return coreform.MapOf(es...)
}

// What stands for a name on the host, and for the digest a program has not.
const (
	outside  = "outside"
	unpinned = "unpinned"
)

// hostNames are the keys that name something on the host, labelled those that
// have a label when it is outside.
var (
	labelled  = []string{"base_dir", "dir"}
	hostNames = []string{"base_dir", "dir", "ca_file", "cwd"}
)

// secretTerm is a secret without where its value comes from.
func secretTerm(s settings) coreform.Value {
	s = maps.Clone(s)
	delete(s, "env")
	delete(s, "file")
	return settingsTerm(s)
}

// programsTerm has name and hash of each program, and its rules, not its path.
func programsTerm(programs settings) coreform.Value {
	es := []coreform.Entry{}
	for name, v := range programs {
		s := maps.Clone(v.(settings))
		delete(s, "path")
		if s["sha256"] == nil {
			s["sha256"] = unpinned
		}
		es = append(es, coreform.Entry{Key: coreform.Str(name), Value: settingsTerm(s)})
	}
	return coreform.MapOf(es...)
}

// settingTerm is one setting as a term. Lists of texts say what is among them and
// not in which order, so they are sorted; the rules for arguments go by order.
func settingTerm(v any) coreform.Value {
	switch x := v.(type) {
	case bool:
		return coreform.Bool(x)
	case int64:
		return coreform.Int(x)
	case string:
		return coreform.Str(x)
	case []string:
		out := make([]coreform.Value, len(x))
		for i, s := range slices.Sorted(slices.Values(x)) {
			out[i] = coreform.Str(s)
		}
		return coreform.Vec(out...)
	case []settings:
		out := make([]coreform.Value, len(x))
		for i, s := range x {
			out[i] = settingsTerm(s)
		}
		return coreform.Vec(out...)
	case settings:
		return settingsTerm(x)
	}
	panic(fmt.Sprintf("BUG: policy: a setting of type %T", v))
}
