package policy

import (
	"maps"
	"slices"
	"strings"

	"github.com/gcrun/gcrun/effects/ops"
)

// Settings are checked values: bool, int64, string, []string, []settings, or a
// nested table. Keys are those of the file.
type settings map[string]any

// form is what a key may hold. It checks a raw TOML value and returns the
// setting; what it refuses it has reported.
type form func(d *document, at *node, raw any) (any, bool)

// keyForms are the keys of [op."…"] and [family."…"]. Which op accepts which is
// in the catalogue of ops.
var keyForms = map[string]form{
	"allow": boolForm, "timeout_ms": durationForm, "max_bytes": sizeForm, "log": enumForm("full", "hash", "redact"),
	"base_dir": textForm, "label": labelForm, "paths": listForm(patternForm), "create_dirs": boolForm,
	"hosts": listForm(hostForm), "methods": listForm(methodForm), "allow_http": boolForm, "allow_private": boolForm,
	"redirects": countForm(0), "ca_file": textForm, "redact_headers": listForm(headerForm), "keep_headers": listForm(headerForm),
	"programs": programsForm, "names": listForm(varForm), "dir": textForm,
	"algorithms": listForm(algorithmForm), "keys": listForm(textForm), "allow_eval": boolForm,
}

var runtimeForms = map[string]form{
	"max_effect_ops": countForm(0), "max_payload_bytes_per_op": sizeForm, "max_payload_bytes_per_run": sizeForm,
	"max_response_bytes_per_op": sizeForm, "max_response_bytes_per_run": sizeForm, "max_wall_ms": durationForm,
}

var logForms = map[string]form{"inline_max_bytes": inlineForm, "max_bytes": sizeForm, "sync": enumForm("none", "commit", "always")}
var storeForms = map[string]form{"dir": textForm, "max_run_bytes": sizeForm}
var taskForms = map[string]form{"max_workers": countForm(1), "max_tasks": countForm(0)}
var secretForms = map[string]form{"env": varForm, "file": textForm, "ops": listForm(textForm), "hosts": listForm(hostForm),
	"headers": listForm(headerForm), "vars": listForm(varForm)}
var programForms = map[string]form{"path": textForm, "sha256": sha256Form, "args": argsForm, "env": listForm(varForm),
	"unsafe_env": listForm(varForm), "cwd": textForm}

// opForms are the keys a table of an op may have.
func opForms(op *ops.Op) map[string]form { return formsFor(op.AcceptsKey) }

// familyForms are the keys that some op of the family accepts, but for allow:
// a family grants nothing.
func familyForms(family string) map[string]form {
	f := formsFor(func(key string) bool {
		return slices.ContainsFunc(familyOps(family), func(op *ops.Op) bool { return op.AcceptsKey(key) })
	})
	delete(f, "allow")
	return f
}

func formsFor(accepts func(key string) bool) map[string]form {
	out := map[string]form{}
	for k, f := range keyForms {
		if accepts(k) {
			out[k] = f
		}
	}
	return out
}

func familyOps(family string) []*ops.Op {
	var out []*ops.Op
	for _, op := range ops.All() {
		if op.Family == family {
			out = append(out, op)
		}
	}
	return out
}

// tableOf checks a table against the forms of its keys. What it accepted it
// returns also when there was something else to report, nil if it is no table.
func tableOf(d *document, at *node, raw any, forms map[string]form) (settings, bool) {
	t, ok := raw.(map[string]any)
	if !ok {
		hint := "write [" + at.String() + "] above the settings"
		if at.index >= 0 {
			hint = "write it like { key = value }"
		}
		wrong(d, at, "a table", hint)
		return nil, false
	}
	out, known := settings{}, slices.Sorted(maps.Keys(forms))
	for _, k := range slices.Sorted(maps.Keys(t)) {
		if d.full() {
			return out, false
		}
		f := forms[k]
		if f == nil {
			d.bad(at.key(k), CodeUnknownKey, didYouMean(k, known, "the keys are "+strings.Join(known, " ")), "there is no key %s", at.key(k))
			ok = false
			continue
		}
		v, fine := f(d, at.key(k), t[k])
		if !fine {
			ok = false
			continue
		}
		out[k] = v
	}
	return out, ok
}

// listForm is an array of texts without duplicates. What it accepted it returns
// also when there was something else to report.
func listForm(one form) form {
	return func(d *document, at *node, raw any) (any, bool) {
		list, ok := raw.([]any)
		if !ok {
			return wrong(d, at, "an array of texts", `write ["…", "…"]`)
		}
		out, seen := make([]string, 0, len(list)), map[string]bool{}
		for i, e := range list {
			if d.full() {
				return out, false
			}
			v, fine := one(d, at.elem(i), e)
			if !fine {
				ok = false
				continue
			}
			s := v.(string)
			if seen[s] {
				d.bad(at.elem(i), CodeDuplicate, "remove one of them", "%s has %s twice", at, shown(s))
				ok = false
				continue
			}
			seen[s] = true
			out = append(out, s)
		}
		return out, ok
	}
}

// programsForm is [op."sys/process::exec".programs.NAME].
func programsForm(d *document, at *node, raw any) (any, bool) {
	t, ok := raw.(map[string]any)
	if !ok {
		return wrong(d, at, "a table of programs by name", "write ["+at.String()+".NAME] above the settings")
	}
	out := settings{}
	for _, name := range slices.Sorted(maps.Keys(t)) {
		if d.full() {
			return nil, false
		}
		if strings.TrimSpace(name) == "" || strings.ContainsRune(name, 0) {
			d.bad(at.key(name), CodeValue, "give the program a name", "the name of a program is blank")
			ok = false
			continue
		}
		p, fine := tableOf(d, at.key(name), t[name], programForms)
		if fine {
			fine = checkProgramPath(d, at.key(name), name, p)
		}
		ok = ok && fine
		out[name] = p
	}
	return out, ok
}

func checkProgramPath(d *document, at *node, name string, p settings) bool {
	const hint = `write path = "/absolute/path/of/the/program"`
	switch path, _ := p["path"].(string); {
	case path == "":
		d.bad(at, CodeMissingKey, hint, "program %s has no path", shown(name))
		return false
	case !strings.HasPrefix(path, "/"):
		d.bad(at.key("path"), CodeValue, hint, "the path of program %s is not absolute", shown(name))
		return false
	}
	return true
}

var argForms = map[string]form{"exact": argTextForm, "enum": listForm(argTextForm), "re": regexpForm, "rest": regexpForm}

// argsForm is the list of rules for the arguments of a program, by position.
func argsForm(d *document, at *node, raw any) (any, bool) {
	list, ok := raw.([]any)
	if !ok {
		return wrong(d, at, "an array of rules", `write [{ exact = "-c" }, { re = ".*" }]`)
	}
	out := []settings{}
	for i, e := range list {
		if d.full() {
			return nil, false
		}
		r, fine := tableOf(d, at.elem(i), e, argForms)
		if fine && len(r) != 1 {
			d.bad(at.elem(i), CodeValue, `write two rules as { exact = "a" }, { exact = "b" }`, "a rule for an argument has exactly one of exact, enum, re, rest")
			fine = false
		}
		if fine && r["rest"] != nil && i != len(list)-1 {
			d.bad(at.elem(i), CodeValue, "move it to the end", "rest must be the last rule")
			fine = false
		}
		ok = ok && fine
		out = append(out, r)
	}
	return out, ok
}
