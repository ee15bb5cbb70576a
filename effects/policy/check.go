package policy

import (
	"maps"
	pathpkg "path"
	"slices"
	"strings"

	"github.com/gcrun/gcrun/effects/ops"
)

// crossCheck looks at what single values cannot tell.
func (f *File) crossCheck(d *document) {
	granted := f.granted()
	for _, name := range slices.Sorted(maps.Keys(f.ops)) {
		at := d.root.key("op").key(name)
		listed := slices.Contains(granted, name)
		switch {
		case f.ops[name]["allow"] == false && listed:
			d.bad(at.key("allow"), CodeContradiction, "take it out of allow, or remove this line",
				"%s is granted by allow and forbidden here", name)
		case f.ops[name]["allow"] == nil && !listed:
			d.say(Warning, at, CodeNotGranted, `add "`+name+`" to allow, or allow = true here`,
				"this table has no effect: %s is not granted", name)
		}
	}
	f.checkRequired(d, granted)
	for _, family := range slices.Sorted(maps.Keys(f.families)) {
		checkLabel(d, d.root.key("family").key(family), f.families[family])
	}
	for _, op := range slices.Sorted(maps.Keys(f.ops)) {
		checkLabel(d, d.root.key("op").key(op), f.ops[op])
	}
	f.checkSecrets(d, granted)
}

// checkRequired asks for the keys without which an op cannot be granted, at
// what grants it. One entry for a family is told once of each key.
func (f *File) checkRequired(d *document, granted []string) {
	told := map[*node]map[string]bool{}
	for _, name := range granted {
		op, _ := ops.Lookup(name)
		merged := f.merged(op)
		for _, key := range op.Requires {
			if merged[key] != nil || tried(d, op, key) {
				continue
			}
			at := grantedAt(d, op)
			if told[at] == nil {
				told[at] = map[string]bool{}
			}
			if !told[at][key] {
				d.bad(at, CodeMissingKey, howToAdd(op, key), "%s is granted but has no %s", name, key)
			}
			told[at][key] = true
		}
	}
}

// tried reports whether the file has the key for the op, but with a value that
// was refused and reported.
func tried(d *document, op *ops.Op, key string) bool {
	return d.root.key("op").key(op.Name).key(key).present() || d.root.key("family").key(op.Family).key(key).present()
}

// grantedAt is what in the file grants an op.
func grantedAt(d *document, op *ops.Op) *node {
	list, _ := d.values["allow"].([]any)
	for _, entry := range entries(op) {
		if i := slices.Index(list, any(entry)); i >= 0 {
			return d.root.key("allow").elem(i)
		}
	}
	return d.root.key("op").key(op.Name).key("allow")
}

func howToAdd(op *ops.Op, key string) string {
	if key == "programs" {
		return `add [op."` + op.Name + `".programs.NAME] with path = "/…"`
	}
	value := emptySetting(key)
	if value == "[]" {
		value = `["…"]`
	}
	return `add [family."` + op.Family + `"] with ` + key + " = " + value
}

// checkLabel asks for a label where a directory may not enter digest and log as
// written, in the table that names the directory.
func checkLabel(d *document, at *node, s settings) {
	for _, key := range [...]string{"base_dir", "dir"} {
		dir, ok := s[key].(string)
		if ok && !insideDir(dir) && s["label"] == nil && !at.key("label").present() {
			d.bad(at.key(key), CodeMissingKey, `add label = "name" beside it`,
				"%s leads out of the policy's directory, so a label must stand for it", at.key(key))
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

func (f *File) parseSecrets(d *document, at *node, raw any) {
	t, ok := raw.(map[string]any)
	if !ok {
		wrong(d, at, "a table of secrets by name", "write [secrets.NAME] above the settings")
		return
	}
	for _, name := range slices.Sorted(maps.Keys(t)) {
		if d.full() {
			return
		}
		p := at.key(name)
		if !ops.ValidSecretName(name) {
			d.bad(p, CodeValue, "use letters, digits, _ and -, at most 64, not beginning with a digit or -", "%s cannot name a secret", shown(name))
			continue
		}
		s, fine := tableOf(d, p, t[name], secretForms)
		if !fine {
			continue
		}
		if (s["env"] == nil) == (s["file"] == nil) {
			d.bad(p, CodeValue, `write env = "VARIABLE" or file = "path"`, "secret %s needs exactly one of env and file", name)
		}
		checkSecretOps(d, p, name, s)
		f.secrets[name] = s
	}
}

// checkSecretOps keeps a secret from being one for everything.
func checkSecretOps(d *document, at *node, name string, s settings) {
	list, _ := s["ops"].([]string)
	if len(list) == 0 {
		d.bad(at, CodeMissingKey, `add ops = ["io/net::http-request"]`, "secret %s needs the ops it may be used in", name)
	}
	for i, op := range list {
		if _, ok := ops.Lookup(op); !ok {
			d.bad(at.key("ops").elem(i), CodeUnknownOp, didYouMean(op, ops.Names(), "operations are named family::verb, such as io/net::http-request"),
				"there is no operation %s", shown(op))
		}
	}
	hosts, _ := s["hosts"].([]string)
	if slices.Contains(list, "io/net::http-request") && len(hosts) == 0 {
		d.bad(at, CodeMissingKey, `add hosts = ["api.example"]`, "secret %s needs the hosts it may be sent to", name)
	}
}

// checkSecrets keeps secrets out of reach of what the file grants.
func (f *File) checkSecrets(d *document, granted []string) {
	readable := []string{}
	if op, ok := ops.Lookup("sys/env::get"); ok && slices.Contains(granted, op.Name) {
		readable, _ = f.merged(op)["names"].([]string)
	}
	for _, name := range slices.Sorted(maps.Keys(f.secrets)) {
		at := d.root.key("secrets").key(name)
		if env, ok := f.secrets[name]["env"].(string); ok && slices.Contains(readable, env) {
			d.bad(at.key("env"), CodeContradiction, "take it out of the names of sys/env::get",
				"variable %s is a secret and may not be granted to sys/env::get", shown(env))
		}
		file, ok := f.secrets[name]["file"].(string)
		if !ok {
			continue
		}
		for _, g := range granted {
			op, _ := ops.Lookup(g)
			if dir, ok := f.merged(op)[dirKey(op)].(string); ok && liesIn(file, dir) {
				d.bad(at.key("file"), CodeContradiction, "keep the secret outside of what a program can reach",
					"the file of secret %s lies in the directory of %s", name, g)
				break
			}
		}
	}
}

// liesIn reports whether a file as written lies in a directory as written, both
// relative to the same place or both absolute. Whether a relative one lies in
// an absolute one cannot be told from the text: whoever opens them looks.
func liesIn(file, dir string) bool {
	if strings.HasPrefix(file, "/") != strings.HasPrefix(dir, "/") {
		return false
	}
	f, d := components(file), components(dir)
	for len(f) > 0 && len(d) > 0 && f[0] == d[0] {
		f, d = f[1:], d[1:]
	}
	if slices.ContainsFunc(d, func(c string) bool { return c != ".." }) {
		return false
	}
	return len(f) == 0 || f[0] != ".."
}

func components(p string) []string {
	if p = pathpkg.Clean(p); p == "." || p == "/" {
		return nil
	}
	return strings.Split(strings.TrimPrefix(p, "/"), "/")
}
