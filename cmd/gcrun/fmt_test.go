package main

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A file that is not the one that was read, or not as it was, is left alone, and
// nothing stays beside it.
//
// spec: FMT-CLI-2
func TestReplaceOnlyWhatWasRead(t *testing.T) {
	for name, change := range map[string]func(path string) error{
		"another file": func(path string) error {
			if err := os.WriteFile(path+".new", []byte("(a)"), 0o644); err != nil {
				return err
			}
			return os.Rename(path+".new", path)
		},
		"longer": func(path string) error { return os.WriteFile(path, []byte("(a  )"), 0o644) },
		"later":  func(path string) error { return os.Chtimes(path, time.Time{}, time.Now().Add(time.Hour)) },
		"gone":   os.Remove,
	} {
		path := filepath.Join(t.TempDir(), "a.gc")
		if err := os.WriteFile(path, []byte("(b)"), 0o644); err != nil {
			t.Fatal(err)
		}
		before, err := replaceable(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := change(path); err != nil {
			t.Fatal(err)
		}
		was, _ := os.ReadFile(path)
		var f *failure
		if err := replaceSource(path, []byte("(c)\n"), before); !errors.As(err, &f) || f.code != "file/changed" || f.exit != exitHost {
			t.Errorf("%s: %v", name, err)
		}
		if is, _ := os.ReadFile(path); string(is) != string(was) {
			t.Errorf("%s: %q became %q", name, was, is)
		}
		if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) > 1 {
			t.Errorf("%s: left %v", name, entries)
		}
	}
}
