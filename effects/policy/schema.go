package policy

import (
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gcrun/gcrun/effects/ops"
	"github.com/gcrun/gcrun/internal/digest"
)

// Settings are checked values: bool, int64, string, []string, or a nested
// table. Keys are those of the file.
type settings map[string]any

// form is what a key may hold. It checks a raw TOML value and returns the
// setting.
type form func(d *document, at path, raw any) (any, bool)

// keyForms are the keys of [op."…"] and [family."…"]. Which op accepts which is
// in the catalogue of ops.
var keyForms = map[string]form{
	"allow": boolForm, "timeout_ms": durationForm, "max_bytes": sizeForm, "log": enumForm("full", "hash", "redact"),
	"base_dir": textForm, "label": labelForm, "paths": listForm(patternForm), "create_dirs": boolForm,
	"hosts": listForm(textForm), "methods": listForm(textForm), "allow_http": boolForm, "allow_private": boolForm,
	"redirects": countForm, "ca_file": textForm, "redact_headers": listForm(textForm), "keep_headers": listForm(textForm),
	"idempotency_header": textForm,
	"programs":           programsForm, "names": listForm(textForm), "dir": textForm,
	"algorithms": listForm(textForm), "keys": listForm(textForm), "allow_eval": boolForm,
}

var runtimeForms = map[string]form{
	"max_effect_ops": countForm, "max_payload_bytes_per_op": sizeForm, "max_payload_bytes_per_run": sizeForm,
	"max_response_bytes_per_op": sizeForm, "max_response_bytes_per_run": sizeForm, "max_wall_ms": durationForm,
}

var logForms = map[string]form{"inline_max_bytes": sizeForm, "max_bytes": sizeForm, "sync": enumForm("none", "commit", "always")}
var storeForms = map[string]form{"dir": textForm, "max_run_bytes": sizeForm}
var taskForms = map[string]form{"max_workers": countForm, "max_tasks": countForm}
var secretForms = map[string]form{"env": textForm, "file": textForm, "ops": listForm(textForm), "hosts": listForm(textForm),
	"headers": listForm(textForm), "vars": listForm(textForm)}
var programForms = map[string]form{"path": textForm, "sha256": sha256Form, "args": argsForm, "env": listForm(textForm),
	"unsafe_env": listForm(textForm), "cwd": textForm}

func wrong(d *document, at path, want string) (any, bool) {
	d.bad(at, "policy/type", "", "%s must be %s", at, want)
	return nil, false
}

func boolForm(d *document, at path, raw any) (any, bool) {
	if b, ok := raw.(bool); ok {
		return b, true
	}
	return wrong(d, at, "true or false")
}

func textForm(d *document, at path, raw any) (any, bool) {
	s, ok := raw.(string)
	if !ok {
		return wrong(d, at, "a string")
	}
	if strings.TrimSpace(s) == "" || strings.ContainsRune(s, 0) {
		d.bad(at, "policy/value", "write a value, or leave the key out", "%s is blank", at)
		return nil, false
	}
	return s, true
}

func enumForm(values ...string) form {
	return func(d *document, at path, raw any) (any, bool) {
		s, ok := raw.(string)
		if ok && slices.Contains(values, s) {
			return s, true
		}
		if ok {
			d.bad(at, "policy/value", didYouMean(s, values, ""), "%s must be one of %s", at, strings.Join(values, ", "))
			return nil, false
		}
		return wrong(d, at, "one of "+strings.Join(values, ", "))
	}
}

var labelRE = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

func labelForm(d *document, at path, raw any) (any, bool) {
	if s, ok := raw.(string); ok && labelRE.MatchString(s) {
		return s, true
	}
	return wrong(d, at, `a name of letters, digits, ".", "_" and "-", at most 64`)
}

func sha256Form(d *document, at path, raw any) (any, bool) {
	s, _ := raw.(string)
	if _, err := digest.Parse(s); err == nil {
		return s, true
	}
	return wrong(d, at, "64 lower-case hexadecimal digits")
}

func countForm(d *document, at path, raw any) (any, bool) {
	if n, ok := raw.(int64); ok && n >= 0 {
		return n, true
	}
	return wrong(d, at, "an integer that is not negative")
}

var unitRE = regexp.MustCompile(`^([0-9]{1,19})([A-Za-z]+)$`)

// scaled reads an integer or a string with one of the units.
func scaled(d *document, at path, raw any, want string, units map[string]int64) (any, bool) {
	if n, ok := raw.(int64); ok && n >= 0 {
		return n, true
	}
	s, _ := raw.(string)
	m := unitRE.FindStringSubmatch(s)
	if m == nil || units[m[2]] == 0 {
		return wrong(d, at, want)
	}
	n, err := strconv.ParseInt(m[1], 10, 64)
	if err != nil || n > math.MaxInt64/units[m[2]] {
		d.bad(at, "policy/value", "", "%s is larger than can be counted", at)
		return nil, false
	}
	return n * units[m[2]], true
}

var byteUnits = map[string]int64{"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}
var timeUnits = map[string]int64{"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000}

func sizeForm(d *document, at path, raw any) (any, bool) {
	return scaled(d, at, raw, `a number of bytes, or a string such as "8MiB"`, byteUnits)
}

// maxDurationMs is what fits the host's clock arithmetic: 292 years.
const maxDurationMs = math.MaxInt64 / 1_000_000

func durationForm(d *document, at path, raw any) (any, bool) {
	v, ok := scaled(d, at, raw, `a number of milliseconds, or a string such as "30s"`, timeUnits)
	if ok && v.(int64) > maxDurationMs {
		d.bad(at, "policy/value", "", "%s is longer than can be counted", at)
		return nil, false
	}
	return v, ok
}

func listForm(one form) form {
	return func(d *document, at path, raw any) (any, bool) {
		list, ok := raw.([]any)
		if !ok {
			return wrong(d, at, "an array of strings")
		}
		out, seen := make([]string, 0, len(list)), map[string]bool{}
		for i, e := range list {
			v, fine := one(d, at.index(i), e)
			if !fine {
				ok = false
				continue
			}
			s := v.(string)
			if seen[s] {
				d.bad(at.index(i), "policy/duplicate", "remove one of them", "%s has %q twice", at, s)
				ok = false
			}
			seen[s] = true
			out = append(out, s)
		}
		return out, ok
	}
}

// patternForm is a path pattern: components, of which ** stands for any number
// and * within one for any characters.
func patternForm(d *document, at path, raw any) (any, bool) {
	v, ok := textForm(d, at, raw)
	if !ok {
		return nil, false
	}
	for c := range strings.SplitSeq(v.(string), "/") {
		if c == "" || c == ".." || strings.Contains(c, `\`) || strings.Contains(c, "**") && c != "**" {
			d.bad(at, "policy/value", `write it like "in/**" or "data/*.txt"`, "%s is not a pattern of relative paths", at)
			return nil, false
		}
	}
	return v, true
}

// tableOf checks a table against the forms of its keys.
func tableOf(d *document, at path, raw any, forms map[string]form) (settings, bool) {
	t, ok := raw.(map[string]any)
	if !ok {
		wrong(d, at, "a table")
		return nil, false
	}
	out := settings{}
	for _, k := range slices.Sorted(maps.Keys(t)) {
		f := forms[k]
		if f == nil {
			d.bad(at.key(k), "policy/unknown-key", didYouMean(k, slices.Sorted(maps.Keys(forms)), "the keys are "+strings.Join(slices.Sorted(maps.Keys(forms)), " ")),
				"there is no key %s here", at.key(k))
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

// programsForm is [op."sys/process::exec".programs.NAME].
func programsForm(d *document, at path, raw any) (any, bool) {
	t, ok := raw.(map[string]any)
	if !ok {
		return wrong(d, at, "a table of programs by name")
	}
	out := settings{}
	for _, name := range slices.Sorted(maps.Keys(t)) {
		p, fine := tableOf(d, at.key(name), t[name], programForms)
		if fine && (p["path"] == nil || !strings.HasPrefix(p["path"].(string), "/")) {
			d.bad(at.key(name), "policy/value", `add path = "/absolute/path/of/the/program"`, "program %s needs an absolute path", name)
			fine = false
		}
		ok = ok && fine
		out[name] = p
	}
	return out, ok
}

// argsForm is the list of rules for the arguments of a program, by position.
func argsForm(d *document, at path, raw any) (any, bool) {
	list, ok := raw.([]any)
	if !ok {
		return wrong(d, at, "an array of rules such as { exact = \"-c\" }")
	}
	out := []settings{}
	for i, e := range list {
		r, fine := tableOf(d, at.index(i), e, map[string]form{"exact": anyTextForm, "enum": listForm(anyTextForm), "re": regexpForm, "rest": regexpForm})
		if fine && len(r) != 1 {
			d.bad(at.index(i), "policy/value", "", "an argument rule has exactly one of exact, enum, re, rest")
			fine = false
		}
		if fine && r["rest"] != nil && i != len(list)-1 {
			d.bad(at.index(i), "policy/value", "move it to the end", "rest must be the last rule")
			fine = false
		}
		ok = ok && fine
		out = append(out, r)
	}
	return out, ok
}

func anyTextForm(d *document, at path, raw any) (any, bool) {
	if s, ok := raw.(string); ok && !strings.ContainsRune(s, 0) {
		return s, true
	}
	return wrong(d, at, "a string without NUL")
}

func regexpForm(d *document, at path, raw any) (any, bool) {
	s, ok := raw.(string)
	if !ok {
		return wrong(d, at, "a regular expression")
	}
	if _, err := regexp.Compile(`^(?:` + s + `)$`); err != nil {
		d.bad(at, "policy/value", "RE2 syntax; it must match the whole argument", "%s is not a regular expression", at)
		return nil, false
	}
	return s, true
}

// formsFor are the keys a table of some ops may have.
func formsFor(accepts func(key string) bool) map[string]form {
	out := map[string]form{}
	for k, f := range keyForms {
		if accepts(k) {
			out[k] = f
		}
	}
	return out
}

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

func familyOps(family string) []*ops.Op {
	var out []*ops.Op
	for _, op := range ops.All() {
		if op.Family == family {
			out = append(out, op)
		}
	}
	return out
}
