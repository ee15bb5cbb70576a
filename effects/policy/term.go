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

// build makes the normalized term: tables that are absent stay absent, defaults
// are not filled in, [log] and [store] do not enter.
func (p *Policy) build() coreform.Value {
	es := []coreform.Entry{{Key: coreform.Sym(":version"), Value: coreform.Int(1)}}
	add := func(key string, v coreform.Value, present bool) {
		if present {
			es = append(es, coreform.Entry{Key: coreform.Sym(key), Value: v})
		}
	}
	families, perOp := map[string]settings{}, map[string]settings{}
	allow := map[string]bool{}
	if f := p.file; f != nil {
		for _, a := range f.allow {
			allow[a] = true
		}
		maps.Copy(families, f.families)
		for name, s := range f.ops {
			perOp[name] = maps.Clone(s)
		}
		add(":runtime", settingsTerm(f.runtime), f.runtime != nil)
		add(":task", settingsTerm(f.task), f.task != nil)
		add(":secrets", tablesTerm(f.secrets, secretTerm), len(f.secrets) > 0)
	}
	for _, a := range p.flags {
		for _, name := range a.Ops {
			allow[name] = true
			if a.Dir == "" {
				continue
			}
			if perOp[name] == nil {
				perOp[name] = settings{}
			}
			key := dirKey(p.grants[name].op)
			perOp[name][key] = p.grants[name].set[key]
			delete(perOp[name], "label")
			if l := p.grants[name].set["label"]; l != nil {
				perOp[name]["label"] = l
			}
		}
	}
	names := []coreform.Value{}
	for _, n := range slices.Sorted(maps.Keys(allow)) {
		names = append(names, coreform.Sym(n))
	}
	add(":allow", coreform.Vec(names...), true)
	add(":family", tablesTerm(families, settingsTerm), len(families) > 0)
	add(":op", tablesTerm(perOp, settingsTerm), len(perOp) > 0)
	return coreform.MapOf(es...)
}

func tablesTerm(tables map[string]settings, one func(settings) coreform.Value) coreform.Value {
	es := []coreform.Entry{}
	for name, s := range tables {
		es = append(es, coreform.Entry{Key: coreform.Sym(name), Value: one(s)})
	}
	return coreform.MapOf(es...)
}

// settingsTerm is a table as a term. A directory that leads outside enters by
// its label alone.
func settingsTerm(s settings) coreform.Value {
	es := []coreform.Entry{}
	for k, v := range s {
		if dir, ok := v.(string); ok && (k == "base_dir" || k == "dir") && !insideDir(dir) {
			continue
		}
		if k == "ca_file" {
			continue // a name on the host
		}
		if k == "programs" {
			es = append(es, coreform.Entry{Key: keyword(k), Value: programsTerm(v.(settings))})
			continue
		}
		es = append(es, coreform.Entry{Key: keyword(k), Value: settingTerm(v)})
	}
	return coreform.MapOf(es...)
}

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
		delete(s, "cwd")
		if s["sha256"] == nil {
			s["sha256"] = "unpinned"
		}
		es = append(es, coreform.Entry{Key: coreform.Str(name), Value: settingsTerm(s)})
	}
	return coreform.MapOf(es...)
}

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
		for i, s := range x {
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
