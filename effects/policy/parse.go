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
	version  int64
}

// Parse reads the bytes of a caps.toml; name is how it is called in messages.
// The diagnostics are sorted; the file is nil iff one of them is an error.
func Parse(name string, src []byte) (*File, Diagnostics) {
	d := parseDocument(name, src)
	if d.values == nil && len(d.diags) > 0 {
		return nil, d.diags
	}
	f := &File{name: name, version: 1, families: map[string]settings{}, ops: map[string]settings{}, secrets: map[string]settings{}}
	for _, k := range slices.Sorted(maps.Keys(d.values)) {
		f.section(d, k, d.values[k])
	}
	f.crossCheck(d)
	if d.diags.Failed() {
		return nil, d.diags.sorted()
	}
	return f, d.diags.sorted()
}

var topLevel = []string{"allow", "family", "log", "op", "refs", "runtime", "secrets", "store", "task", "version"}

func (f *File) section(d *document, k string, raw any) {
	at := path("").key(k)
	switch k {
	case "version":
		if n, ok := raw.(int64); !ok || n < 1 || n > ops.PolicyVersion {
			d.bad(at, "policy/value", "write version = 1", "this version of gcrun knows policy version 1")
		}
	case "allow":
		if v, ok := listForm(textForm)(d, at, raw); ok {
			f.allow = slices.Sorted(slices.Values(v.([]string)))
			f.checkAllow(d, at, v.([]string))
		}
	case "family":
		f.tables(d, at, raw, ops.Families(), "family", familyForms, f.families)
	case "op":
		f.tables(d, at, raw, ops.Names(), "op", func(n string) map[string]form { op, _ := ops.Lookup(n); return opForms(op) }, f.ops)
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
			wrong(d, at, "a table")
		}
	default:
		d.bad(at, "policy/unknown-key", didYouMean(k, topLevel, "the top level has "+strings.Join(topLevel, " ")),
			"there is no key %s at the top level", at)
	}
}

// checkAllow looks the entries up.
func (f *File) checkAllow(d *document, at path, names []string) {
	for i, n := range names {
		if family, all := strings.CutSuffix(n, "::*"); all {
			if len(familyOps(family)) == 0 {
				d.bad(at.index(i), "policy/unknown-op", didYouMean(family, ops.Families(), "gcrun knows the families "+strings.Join(ops.Families(), " ")),
					"there is no family %s", family)
			}
			continue
		}
		if _, ok := ops.Lookup(n); !ok {
			d.bad(at.index(i), "policy/unknown-op", didYouMean(n, ops.Names(), "operations are named family::verb, such as io/fs::read"),
				"there is no operation %s", n)
		}
	}
}

// tables reads [family."X"] or [op."X"] for known X.
func (f *File) tables(d *document, at path, raw any, known []string, what string, forms func(string) map[string]form, into map[string]settings) {
	t, ok := raw.(map[string]any)
	if !ok {
		wrong(d, at, "a table of tables")
		return
	}
	for _, name := range slices.Sorted(maps.Keys(t)) {
		if !slices.Contains(known, name) {
			d.bad(at.key(name), "policy/unknown-op", didYouMean(name, known, "quote it: ["+what+`."io/fs`+map[bool]string{true: `::read`}[what == "op"]+`"]`),
				"there is no %s %s", map[string]string{"op": "operation", "family": "family"}[what], name)
			continue
		}
		if s, fine := tableOf(d, at.key(name), t[name], forms(name)); fine {
			into[name] = s
		}
	}
}

func (f *File) parseSecrets(d *document, at path, raw any) {
	t, ok := raw.(map[string]any)
	if !ok {
		wrong(d, at, "a table of secrets by name")
		return
	}
	for _, name := range slices.Sorted(maps.Keys(t)) {
		p := at.key(name)
		if !ops.ValidSecretName(name) {
			d.bad(p, "policy/value", "use letters, digits, _ and -", "%q cannot name a secret", name)
			continue
		}
		s, fine := tableOf(d, p, t[name], secretForms)
		if !fine {
			continue
		}
		if (s["env"] == nil) == (s["file"] == nil) {
			d.bad(p, "policy/value", `write env = "VARIABLE" or file = "path"`, "secret %s needs exactly one of env and file", name)
		}
		f.secretOps(d, p, name, s)
		f.secrets[name] = s
	}
}

func (f *File) secretOps(d *document, at path, name string, s settings) {
	list, _ := s["ops"].([]string)
	if len(list) == 0 {
		d.bad(at, "policy/value", "add ops = [\"io/net::http-request\"]", "secret %s needs the ops it may be used in", name)
		return
	}
	for i, op := range list {
		if _, ok := ops.Lookup(op); !ok {
			d.bad(at.key("ops").index(i), "policy/unknown-op", didYouMean(op, ops.Names(), ""), "there is no operation %s", op)
		}
	}
	hosts, _ := s["hosts"].([]string)
	if slices.Contains(list, "io/net::http-request") && len(hosts) == 0 {
		d.bad(at, "policy/value", "add hosts = [\"api.example\"]", "secret %s needs the hosts it may be sent to", name)
	}
}

// granted returns the ops the file grants.
func (f *File) granted() map[string]bool {
	out := map[string]bool{}
	for _, n := range f.allow {
		if family, all := strings.CutSuffix(n, "::*"); all {
			for _, op := range ops.FamilyOps(family, int(f.version)) {
				out[op] = true
			}
		} else {
			out[n] = true
		}
	}
	for name, s := range f.ops {
		if s["allow"] == true {
			out[name] = true
		}
	}
	return out
}

// crossCheck looks at what single values cannot tell.
func (f *File) crossCheck(d *document) {
	granted := f.granted()
	for _, name := range slices.Sorted(maps.Keys(f.ops)) {
		at := path("").key("op").key(name)
		switch {
		case f.ops[name]["allow"] == false && granted[name]:
			d.bad(at.key("allow"), "policy/contradiction", "remove it from allow, or this line",
				"%s is granted by allow and forbidden here", name)
		case f.ops[name]["allow"] == nil && !granted[name]:
			d.say(Warning, at, "policy/not-granted", `add "`+name+`" to allow`, "the table for %s has no effect: the operation is not granted", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(granted)) {
		op, ok := ops.Lookup(name)
		if !ok {
			continue
		}
		merged := f.merged(op)
		for _, key := range op.Requires {
			if merged[key] == nil {
				d.bad(path("").key("allow"), "policy/missing-key", f.howToAdd(op, key), "%s is granted but has no %s", name, key)
			}
		}
		f.checkDir(d, op, merged)
	}
	f.checkEnvSecrets(d, granted)
}

func (f *File) howToAdd(op *ops.Op, key string) string {
	value := `"…"`
	switch key {
	case "base_dir", "dir":
		value = `"."`
	case "hosts", "names", "keys", "algorithms":
		value = `["…"]`
	case "programs":
		return `add [op."` + op.Name + `".programs.NAME] with path = "/…"`
	}
	return `add [family."` + op.Family + `"] with ` + key + " = " + value
}

// checkDir asks for a label where a directory must not enter digest and log as
// written.
func (f *File) checkDir(d *document, op *ops.Op, merged settings) {
	for _, key := range []string{"base_dir", "dir"} {
		dir, ok := merged[key].(string)
		if ok && !insideDir(dir) && merged["label"] == nil {
			at := path("").key("family").key(op.Family).key(key)
			if f.ops[op.Name][key] != nil {
				at = path("").key("op").key(op.Name).key(key)
			}
			d.bad(at, "policy/missing-key", `add label = "name" beside it`,
				"%s leads out of the policy's directory, so a label must stand for it", key)
		}
	}
}

// insideDir reports whether a directory as written stays in the directory it is
// relative to, by its text alone.
func insideDir(dir string) bool {
	if strings.HasPrefix(dir, "/") || strings.Contains(dir, `\`) || len(dir) > 1 && dir[1] == ':' {
		return false
	}
	depth := 0
	for c := range strings.SplitSeq(dir, "/") {
		switch c {
		case "", ".":
		case "..":
			if depth--; depth < 0 {
				return false
			}
		default:
			depth++
		}
	}
	return true
}

// checkEnvSecrets keeps a secret's variable from being read openly.
func (f *File) checkEnvSecrets(d *document, granted map[string]bool) {
	if !granted["sys/env::get"] {
		return
	}
	op, _ := ops.Lookup("sys/env::get")
	names, _ := f.merged(op)["names"].([]string)
	for _, secret := range slices.Sorted(maps.Keys(f.secrets)) {
		if env, ok := f.secrets[secret]["env"].(string); ok && slices.Contains(names, env) {
			d.bad(path("").key("secrets").key(secret), "policy/contradiction", "take it from names of sys/env::get",
				"variable %s is a secret and may not be granted to sys/env::get", env)
		}
	}
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
