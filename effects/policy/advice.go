package policy

import (
	"slices"
	"strings"

	"github.com/gcrun/gcrun/effects/ops"
)

// FlagsFor returns the --allow values that would grant the given ops, with the
// current directory where one is needed. Ops that no flag can grant, and names
// that are no ops, are left out. The result is sorted, without duplicates.
func FlagsFor(names []string) []string {
	var out []string
	for _, n := range names {
		op, ok := ops.Lookup(n)
		if !ok {
			continue
		}
		flag := n
		if dirKey(op) != "" {
			flag += "=."
		}
		if _, err := ParseAllow(flag); err == nil {
			out = append(out, flag)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// FileFor returns the text of the smallest caps.toml that grants the given ops
// and loads as it is; names that are no ops are left out. It is "" when nothing
// is left. What a person must fill in (hosts, names) is empty, which grants the
// op and lets nothing through.
func FileFor(names []string) string {
	var granted []*ops.Op
	for _, n := range slices.Compact(slices.Sorted(slices.Values(names))) {
		if op, ok := ops.Lookup(n); ok {
			granted = append(granted, op)
		}
	}
	if len(granted) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("allow = [")
	families, keys := []string{}, map[string][]string{}
	for i, op := range granted {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(`"` + op.Name + `"`)
		for _, k := range op.Requires {
			if !slices.Contains(families, op.Family) {
				families = append(families, op.Family)
			}
			if !slices.Contains(keys[op.Family], k) {
				keys[op.Family] = append(keys[op.Family], k)
			}
		}
	}
	b.WriteString("]\n")
	for _, f := range families {
		b.WriteString("[family.\"" + f + "\"]\n")
		for _, k := range keys[f] {
			b.WriteString(k + " = " + emptySetting(k) + "\n")
		}
	}
	return b.String()
}

// emptySetting is the narrowest value of a key that loads.
func emptySetting(key string) string {
	switch key {
	case "base_dir", "dir":
		return `"."`
	case "programs":
		return "{}"
	}
	return "[]"
}
