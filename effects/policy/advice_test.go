package policy

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gcrun/gcrun/effects/ops"
)

// What is shown to allow an operation is true: flags that parse, a file that
// loads without any problem, and both grant it and nothing else.
// spec: POL-FLAG-4
func TestAdviceLoads(t *testing.T) {
	all := ops.Names()
	sets := [][]string{all, nil, {"io/fs::read", "io/fs::read"}, {"no/such::op"}, {"io/fs::read", "x", "sys/time::now", "io/db::exec", "io/kv::get"}}
	for _, op := range all {
		sets = append(sets, []string{op}, []string{op, "io/fs::read"}, []string{"sys/process::exec", op})
	}
	for _, set := range sets {
		known := slices.DeleteFunc(slices.Compact(slices.Sorted(slices.Values(set))), func(n string) bool { _, ok := ops.Lookup(n); return !ok })
		src := FileFor(set)
		if (src == "") != (len(known) == 0) {
			t.Errorf("%v: file %q", set, src)
		}
		f, ds := Parse("caps.toml", []byte(src))
		if f == nil || len(ds) > 0 {
			t.Fatalf("%v: %v\n%s", set, ds, src)
		}
		if got := grantNames(New(f)); got != strings.Join(known, " ") {
			t.Errorf("%v: the file grants %s", set, got)
		}
		if src != "" && strings.Count(strings.SplitN(src, "\n", 2)[0], `"`) != 2*len(known) {
			t.Errorf("%v: allow is not in one line:\n%s", set, src)
		}
		words := FlagsFor(set)
		granted := grantNames(New(nil, flags(t, words...)...))
		for _, op := range known {
			o, _ := ops.Lookup(op)
			byFlag := len(o.Requires) == 0 || dirKey(o) != ""
			if byFlag != slices.Contains(strings.Fields(granted), op) {
				t.Errorf("%v: the flags %v grant %s: %v", set, words, op, !byFlag)
			}
		}
		if len(strings.Fields(granted)) > len(known) || !slices.IsSorted(words) {
			t.Errorf("%v: flags %v", set, words)
		}
	}
}

// spec: POL-FLAG-4
func TestAdviceTexts(t *testing.T) {
	for _, c := range []struct {
		names []string
		flags string
		file  string
	}{
		{[]string{"io/fs::read"}, "[io/fs::read=.]", "allow = [\"io/fs::read\"]\n[family.\"io/fs\"]\nbase_dir = \".\"\n"},
		{[]string{"sys/time::now", "io/fs::read", "io/fs::list", "io/fs::read"}, "[io/fs::list=. io/fs::read=. sys/time::now]",
			"allow = [\"io/fs::list\", \"io/fs::read\", \"sys/time::now\"]\n[family.\"io/fs\"]\nbase_dir = \".\"\n"},
		{[]string{"sys/env::get", "sys/process::exec"}, "[]",
			"allow = [\"sys/env::get\", \"sys/process::exec\"]\n[family.\"sys/env\"]\nnames = []\n[family.\"sys/process\"]\nprograms = {}\n"},
		{[]string{"core/crypto::sign", "core/crypto::hash"}, "[]",
			"allow = [\"core/crypto::hash\", \"core/crypto::sign\"]\n[family.\"core/crypto\"]\nalgorithms = []\nkeys = []\n"},
		{[]string{"sys/time::now"}, "[sys/time::now]", "allow = [\"sys/time::now\"]\n"},
		{[]string{"evil\"\n::op"}, "[]", ""},
		{nil, "[]", ""},
	} {
		before := fmt.Sprint(c.names)
		if got := fmt.Sprint(FlagsFor(c.names)); got != c.flags {
			t.Errorf("%v: flags %s", c.names, got)
		}
		if got := FileFor(c.names); got != c.file {
			t.Errorf("%v: file\n%s", c.names, got)
		}
		if fmt.Sprint(c.names) != before {
			t.Errorf("the names were changed: %v", c.names)
		}
	}
}
