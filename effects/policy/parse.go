package policy

import (
	"maps"
	"slices"
	"strings"

	"github.com/gcrun/gcrun/effects/ops"
)

// File is one parsed caps.toml. It is immutable.
type File struct {
	name     string
	allow    []string // as written, sorted
	families map[string]settings
	ops      map[string]settings
	runtime  settings
	log      settings
	store    settings
	task     settings
	secrets  map[string]settings
	version  int

	places map[string]Place // of directories, by table and key
}

// Place is where a setting stands in its file.
type Place struct {
	File string
	Line int // from 1
	Col  int // from 1, in characters
	Key  string
}

// Parse reads the bytes of a caps.toml; name is how it is called in messages.
// It finds all problems at once, up to a thousand: those of the syntax alone
// first, then those of what the file says. The diagnostics are sorted by place.
// The file is nil iff one of them is an error. src is not kept.
// (spec/policy.md POL-FILE-1 … 5)
func Parse(name string, src []byte) (*File, Diagnostics) {
	d := parseDocument(name, src)
	if d.values == nil {
		return nil, d.diags.sorted()
	}
	f := newFile(name)
	for _, k := range slices.Sorted(maps.Keys(d.values)) {
		f.section(d, k, d.values[k])
	}
	f.crossCheck(d)
	if d.diags.Failed() {
		return nil, d.diags.sorted()
	}
	f.notePlaces(d)
	return f, d.diags.sorted()
}

func newFile(name string) *File {
	return &File{name: name, version: ops.PolicyVersion, families: map[string]settings{}, ops: map[string]settings{}, secrets: map[string]settings{}}
}

// notePlaces remembers where directories are named, for whoever opens them.
func (f *File) notePlaces(d *document) {
	f.places = map[string]Place{}
	note := func(table, name string) {
		for _, key := range [...]string{"base_dir", "dir"} {
			if at := d.root.key(table).key(name).key(key); at.present() {
				f.places[table+" "+name+" "+key] = Place{f.name, at.place.line, at.place.col, at.String()}
			}
		}
	}
	for name := range f.families {
		note("family", name)
	}
	for name := range f.ops {
		note("op", name)
	}
}

// forbids reports whether the table of an op says allow = false.
func (f *File) forbids(op string) bool { return f.ops[op]["allow"] == false }

var topLevel = []string{"allow", "family", "log", "op", "refs", "runtime", "secrets", "store", "task", "version"}

func (f *File) section(d *document, k string, raw any) {
	at := d.root.key(k)
	switch k {
	case "version":
		f.parseVersion(d, at, raw)
	case "allow":
		if v, _ := listForm(textForm)(d, at, raw); v != nil {
			f.allow = slices.Sorted(slices.Values(v.([]string)))
		}
		f.checkAllow(d, at, raw)
	case "family":
		f.tables(d, at, raw, ops.Families(), "family", familyForms, f.families)
	case "op":
		f.tables(d, at, raw, ops.Names(), "operation", func(n string) map[string]form { op, _ := ops.Lookup(n); return opForms(op) }, f.ops)
	case "runtime":
		f.runtime, _ = tableOf(d, at, raw, runtimeForms)
	case "log":
		f.log, _ = tableOf(d, at, raw, logForms)
	case "store":
		f.store, _ = tableOf(d, at, raw, storeForms)
	case "task":
		f.task, _ = tableOf(d, at, raw, taskForms)
	case "secrets":
		f.parseSecrets(d, at, raw)
	case "refs": // of the reference, without use here
		if _, ok := raw.(map[string]any); !ok {
			wrong(d, at, "a table", "leave it out, it has no use")
		}
	default:
		d.bad(at, CodeUnknownKey, didYouMean(k, topLevel, "the top level has "+strings.Join(topLevel, " ")),
			"there is no key %s at the top level", at)
	}
}

func (f *File) parseVersion(d *document, at *node, raw any) {
	const hint = "write version = 1, or leave it out"
	switch n, ok := raw.(int64); {
	case !ok:
		wrong(d, at, "an integer", hint)
	case n < 1 || n > ops.PolicyVersion:
		d.bad(at, CodeValue, hint, "this version of gcrun knows policy version 1, not %d", n)
	default:
		f.version = int(n)
	}
}

// checkAllow looks up the entries that are texts.
func (f *File) checkAllow(d *document, at *node, raw any) {
	list, _ := raw.([]any)
	for i, e := range list {
		n, ok := e.(string)
		if !ok || strings.TrimSpace(n) == "" {
			continue // listForm said so
		}
		if family, all := strings.CutSuffix(n, "::*"); all {
			if len(familyOps(family)) == 0 {
				d.bad(at.elem(i), CodeUnknownOp, didYouMean(family, ops.Families(), "the families are "+strings.Join(ops.Families(), " ")),
					"there is no family %s", shown(family))
			}
			continue
		}
		if _, ok := ops.Lookup(n); !ok {
			otherwise := "operations are named family::verb, such as io/fs::read"
			if len(familyOps(n)) > 0 {
				otherwise = "write " + n + "::* to grant the whole family"
			}
			d.bad(at.elem(i), CodeUnknownOp, didYouMean(n, ops.Names(), otherwise), "there is no operation %s", shown(n))
		}
	}
}

// tables reads [family."X"] or [op."X"] for known X.
func (f *File) tables(d *document, at *node, raw any, known []string, what string, forms func(string) map[string]form, into map[string]settings) {
	t, ok := raw.(map[string]any)
	if !ok {
		wrong(d, at, "a table of tables", "write ["+at.String()+`."`+known[0]+`"] above the settings`)
		return
	}
	for _, name := range slices.Sorted(maps.Keys(t)) {
		if d.full() {
			return
		}
		if !slices.Contains(known, name) {
			d.bad(at.key(name), CodeUnknownOp, didYouMean(name, known, "write it in quotes, such as ["+at.String()+`."`+known[0]+`"]`),
				"there is no %s %s", what, shown(name))
			continue
		}
		if s, _ := tableOf(d, at.key(name), t[name], forms(name)); s != nil {
			into[name] = s
		}
	}
}

// entries are the allow entries a file grants an op by: its name, its family.
func entries(op *ops.Op) []string { return []string{op.Name, op.Family + "::*"} }

// granted returns the ops the file grants, sorted.
func (f *File) granted() []string {
	out := map[string]bool{}
	for _, n := range f.allow {
		if family, all := strings.CutSuffix(n, "::*"); all {
			for _, op := range ops.FamilyOps(family, f.version) {
				out[op] = true
			}
		} else if _, ok := ops.Lookup(n); ok {
			out[n] = true
		}
	}
	for name, s := range f.ops {
		if s["allow"] == true {
			out[name] = true
		}
	}
	return slices.Sorted(maps.Keys(out))
}

// merged are the settings of an op: those of its family, overridden key by key.
func (f *File) merged(op *ops.Op) settings {
	out := settings{}
	for k, v := range f.families[op.Family] {
		if op.AcceptsKey(k) {
			out[k] = v
		}
	}
	maps.Copy(out, f.ops[op.Name])
	delete(out, "allow")
	return out
}
