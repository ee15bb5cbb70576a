package ops

import (
	"slices"
	"strings"
	"testing"

	"github.com/gcrun/gcrun/coreform"
)

func term(t testing.TB, src string) coreform.Value {
	t.Helper()
	v, err := coreform.ReadTerm([]byte(src), coreform.Limits{})
	if err != nil {
		t.Fatalf("%s: %v", src, err)
	}
	return v
}

func sortedUnique(s []string) bool {
	return slices.IsSorted(s) && len(slices.Compact(slices.Clone(s))) == len(s)
}

// What every entry of the catalogue must be. spec: POL-OPS-1, POL-OPS-2
func TestCatalogue(t *testing.T) {
	all := All()
	if len(all) < 40 || !sortedUnique(Names()) || !sortedUnique(Families()) {
		t.Fatalf("%d operations: %v", len(all), Names())
	}
	for i, op := range all {
		if op.Name != Names()[i] {
			t.Errorf("%s is not in order", op.Name)
		}
		family, verb, ok := strings.Cut(op.Name, "::")
		if !ok || family != op.Family || verb == "" || !slices.Contains(Families(), family) {
			t.Errorf("%s: family %s", op.Name, op.Family)
		}
		if found, ok := Lookup(op.Name); !ok || found != op {
			t.Errorf("%s is not found", op.Name)
		}
		if !coreform.Sym(op.Name).IsTerm() || term(t, op.Name).Kind() != coreform.KindSym {
			t.Errorf("%s is no symbol", op.Name)
		}
		if op.Doc == "" || op.Response == "" || !strings.HasSuffix(op.Doc, ".") {
			t.Errorf("%s: doc %q, response %q", op.Name, op.Doc, op.Response)
		}
		if op.Since != 1 || op.Class > Once || op.Class.String() == "invalid" || op.DefaultTimeoutMs < 0 {
			t.Errorf("%s: since %d, class %s", op.Name, op.Since, op.Class)
		}
		if op.Mutates() != (op.Class != Pure) {
			t.Errorf("%s: mutates %v", op.Name, op.Mutates())
		}
		if !sortedUnique(op.Errors) || !sortedUnique(op.Keys) {
			t.Errorf("%s: errors %v, keys %v", op.Name, op.Errors, op.Keys)
		}
		for _, c := range op.Errors {
			if _, ok := LookupCode(c); !ok || slices.Contains(CommonErrors(), c) {
				t.Errorf("%s: code %s", op.Name, c)
			}
		}
		for _, k := range op.Requires {
			if !slices.Contains(op.Keys, k) {
				t.Errorf("%s requires %s", op.Name, k)
			}
		}
		for _, k := range append(CommonKeys(), op.Keys...) {
			if !op.AcceptsKey(k) {
				t.Errorf("%s does not accept %s", op.Name, k)
			}
		}
		if op.AcceptsKey("no_such_key") || op.AcceptsKey("") {
			t.Errorf("%s accepts what is no key", op.Name)
		}
	}
	if !sortedUnique(CommonErrors()) || !sortedUnique(CommonKeys()) {
		t.Error("common errors or keys out of order")
	}
	if _, ok := Lookup("io/fs::READ"); ok {
		t.Error("names fold case")
	}
}

// What every field must be. spec: POL-PAYLOAD-1
func TestCatalogueFields(t *testing.T) {
	fields := 0
	for _, op := range All() {
		var keys []string
		for i := range op.Fields {
			f := &op.Fields[i]
			fields++
			keys = append(keys, f.Key)
			if !strings.HasPrefix(f.Key, ":") || f.Doc == "" || len(f.Types) == 0 || op.Field(f.Key) != f {
				t.Errorf("%s %s: %+v", op.Name, f.Key, f)
			}
			if f.Required && f.Default != "" || f.Min > f.Max && f.Max > 0 || f.Min < 0 || (f.Min > 0 && f.Max == 0) {
				t.Errorf("%s %s: default %s, %d to %d", op.Name, f.Key, f.Default, f.Min, f.Max)
			}
			if f.Default != "" && f.fit(term(t, f.Default)) != fits {
				t.Errorf("%s %s: its default %s does not fit", op.Name, f.Key, f.Default)
			}
			for _, v := range f.Values {
				if f.fit(coreform.Str(v)) != fits && f.fit(coreform.Sym(v)) != fits {
					t.Errorf("%s %s: %s does not fit", op.Name, f.Key, v)
				}
			}
		}
		if !sortedUnique(keys) {
			t.Errorf("%s: keys %v", op.Name, keys)
		}
		for _, group := range [][]string{op.OneOf, op.AtMostOne} {
			if !sortedUnique(group) {
				t.Errorf("%s: group %v", op.Name, group)
			}
			for _, k := range group {
				if f := op.Field(k); f == nil || f.Required {
					t.Errorf("%s: %s in a group", op.Name, k)
				}
			}
		}
		for _, l := range op.Before {
			if f := op.Field(l.Key); f == nil || !slices.Contains(f.Types, TypeInt) || l.Setting != "max_bytes" {
				t.Errorf("%s: limit %+v", op.Name, l)
			}
		}
		if c := op.PureWhen; c != nil && (op.Field(c.Key) == nil || op.Class == Pure || len(c.Values) == 0) {
			t.Errorf("%s: pure when %+v", op.Name, c)
		}
		if op.Field(":no-such") != nil || op.Field("") != nil {
			t.Errorf("%s has what is no field", op.Name)
		}
	}
	if fields < 60 {
		t.Errorf("only %d fields", fields)
	}
}

// What the catalogue hands out can be changed without changing it.
func TestCatalogueIsImmutable(t *testing.T) {
	All()[0], Names()[0], Families()[0], CommonKeys()[0], CommonErrors()[0], Codes()[0] = nil, "", "", "", "", Code{}
	FamilyOps("io/fs", 1)[0] = ""
	if All()[0] == nil || Names()[0] == "" || Families()[0] == "" || CommonKeys()[0] == "" || CommonErrors()[0] == "" || Codes()[0].Name == "" ||
		FamilyOps("io/fs", 1)[0] == "" {
		t.Error("the catalogue has changed")
	}
}

// spec: POL-ALLOW-3
func TestFamilyOps(t *testing.T) {
	if got := strings.Join(FamilyOps("sys/time", 1), " "); got != "sys/time::monotonic sys/time::now sys/time::sleep" {
		t.Errorf("sys/time: %s", got)
	}
	n := 0
	for _, f := range Families() {
		list := FamilyOps(f, PolicyVersion)
		n += len(list)
		if !sortedUnique(list) || len(list) == 0 {
			t.Errorf("%s: %v", f, list)
		}
		if FamilyOps(f, 0) != nil {
			t.Errorf("%s has operations before version 1", f)
		}
	}
	if n != len(All()) {
		t.Errorf("families have %d of %d operations", n, len(All()))
	}
	for _, f := range []string{"", "io", "io/fs::", "io/fs::read", "IO/FS"} {
		if FamilyOps(f, 1) != nil {
			t.Errorf("%q is a family", f)
		}
	}
}

// spec: POL-OPS-2
func TestClasses(t *testing.T) {
	for _, c := range []struct {
		op, payload string
		want        Class
	}{
		{"io/fs::read", `{:path "a"}`, Pure}, {"io/fs::write", `{:data "" :path "a"}`, Repeatable}, {"io/fs::append", `{:data "" :path "a"}`, Once},
		{"io/fs::rename", `{:from "a" :to "b"}`, Once}, {"io/fs::copy", `{:from "a" :to "b"}`, Repeatable},
		{"io/net::http-request", `{:method "GET" :url "http://a"}`, Pure}, {"io/net::http-request", `{:method "HEAD" :url "http://a"}`, Pure},
		{"io/net::http-request", `{:method "POST" :url "http://a"}`, Once}, {"io/net::http-request", `{:method "get" :url "http://a"}`, Once},
		{"io/net::http-request", `{"method" "GET"}`, Once}, {"io/net::http-request", `nil`, Once}, {"io/net::http-request", `{:method 1}`, Once},
		{"sys/time::now", "nil", Pure}, {"sys/process::exec", `{:program "a"}`, Once}, {"io/console::write", "nil", Repeatable}, {"io/console::read", "{}", Once},
	} {
		op, ok := Lookup(c.op)
		if !ok {
			t.Fatal(c.op)
		}
		if got := op.ClassOf(term(t, c.payload)); got != c.want {
			t.Errorf("%s %s: %s, want %s", c.op, c.payload, got, c.want)
		}
	}
	if Pure.String() != "pure" || Repeatable.String() != "repeatable" || Once.String() != "once" || Class(3).String() != "invalid" {
		t.Error("names of classes")
	}
}
