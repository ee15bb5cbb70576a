// Package testkit is what the tests of several packages share: golden files,
// vectors that may not be empty, the module's root, and a proof that a command
// left a directory alone. Only tests import it; a test of internal/project holds
// that.
//
// Every helper fails the test it is given and never returns an error. It imports
// nothing of the project, so tests of every level can use it.
package testkit

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write golden files instead of comparing with them")

// Updating reports whether the tests run with -update.
func Updating() bool { return *update }

// Golden compares got with the file at path, byte for byte, and says where they
// part. With -update it writes the file. A golden file that is missing fails.
func Golden(t testing.TB, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("golden file: %v (run the test with -update to make it)", err)
	}
	if d := Difference(want, got); d != "" {
		t.Errorf("%s differs (run the test with -update if that is right):\n%s", path, d)
	}
}

// Difference describes the first line in which two texts differ, or returns ""
// when they are equal.
func Difference(want, got []byte) string {
	if bytes.Equal(want, got) {
		return ""
	}
	w, g := bytes.SplitAfter(want, []byte("\n")), bytes.SplitAfter(got, []byte("\n"))
	for i := 0; ; i++ {
		var a, b []byte
		if i < len(w) {
			a = w[i]
		}
		if i < len(g) {
			b = g[i]
		}
		if !bytes.Equal(a, b) {
			return fmt.Sprintf("line %d\nwant %.400q\n got %.400q", i+1, a, b)
		}
	}
}

// Files returns the files that match a glob pattern, sorted, and fails when
// there is none: a test over nothing proves nothing.
func Files(t testing.TB, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatalf("no file matches %s", pattern)
	}
	return files
}

// Vectors decodes the JSON file at path into v, a pointer to a struct, map or
// slice. It fails when any list or map that v declares at its top level is
// missing or empty.
func Vectors(t testing.TB, path string, v any) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, v); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	for _, name := range emptyLists(reflect.ValueOf(v).Elem()) {
		t.Fatalf("%s: no vectors in %s", path, name)
	}
}

func emptyLists(v reflect.Value) []string {
	var empty []string
	check := func(name string, v reflect.Value) {
		if (v.Kind() == reflect.Slice || v.Kind() == reflect.Map) && v.Len() == 0 {
			empty = append(empty, name)
		}
	}
	check("the file", v)
	if v.Kind() == reflect.Struct {
		for i := range v.NumField() {
			if field := v.Type().Field(i); field.IsExported() {
				check(field.Name, v.Field(i))
			}
		}
	}
	return empty
}

// ModulePath is the path of this module.
const ModulePath = "github.com/gcrun/gcrun"

// Root returns the directory of the module's go.mod, looking upwards from the
// working directory.
func Root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		data, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && strings.HasPrefix(string(data), "module "+ModulePath+"\n") {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Fatal("the module's go.mod is not in any directory above this one")
		}
		dir = parent
	}
}

// Unchanged runs command and fails if anything under dir is not as before:
// names, types, permissions, times of change, contents, link targets. Contents
// are held in memory, so dir should be small.
func Unchanged(t testing.TB, dir string, command func()) {
	t.Helper()
	before := snapshot(t, dir)
	command()
	for _, change := range changes(before, snapshot(t, dir)) {
		t.Errorf("%s: %s", filepath.Base(dir), change)
	}
}

type entry struct{ info, content string }

func snapshot(t testing.TB, dir string) map[string]entry {
	t.Helper()
	found := map[string]entry{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		e := entry{info: fmt.Sprintf("%v, changed %v", info.Mode(), info.ModTime().UTC())}
		switch {
		case info.Mode().IsRegular():
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			e.content = string(data)
		case info.Mode()&fs.ModeSymlink != 0:
			if e.content, err = os.Readlink(path); err != nil {
				return err
			}
		}
		found[filepath.ToSlash(name)] = e
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// changes lists what differs, in the order of names.
func changes(before, after map[string]entry) []string {
	var out []string
	names := slices.AppendSeq(slices.Collect(maps.Keys(before)), maps.Keys(after))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		old, was := before[name]
		now, is := after[name]
		switch {
		case !was:
			out = append(out, fmt.Sprintf("%s appeared", name))
		case !is:
			out = append(out, fmt.Sprintf("%s is gone", name))
		case old.content != now.content:
			out = append(out, fmt.Sprintf("%s has other content: %s", name, Difference([]byte(old.content), []byte(now.content))))
		case old.info != now.info:
			out = append(out, fmt.Sprintf("%s was %s, is %s", name, old.info, now.info))
		}
	}
	return out
}

// RequireUnix skips a test that needs file modes, links or signals as Unix has
// them.
func RequireUnix(t testing.TB) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("needs file modes, links or signals as Unix has them")
	}
}
