package project

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gcrun/gcrun/internal/testkit"
)

// folders are those that may be at the top. Another one needs a reason in
// RATIONALE.md, and a line here.
var folders = []string{
	".ci", "cmd", "coreform", "docs", "effects", "evidence", "examples", "fspolicy",
	"gclog", "internal", "pkgmgr", "scripts", "spec", "testdata",
}

func TestTopLevelFolders(t *testing.T) {
	for _, name := range files(t) {
		if top, _, nested := strings.Cut(name, "/"); nested && !slices.Contains(folders, top) {
			t.Errorf("%s: the folder %s is not one of %q", name, top, folders)
		}
	}
}

// needles are what no file of the project contains: where packages are fetched
// from, and the paths of the machine it happened to be written on. They are
// written in pieces, or this file would contain them.
var needles = regexp.MustCompile(strings.Join([]string{
	`proxy\.` + `golang\.org`, `sum\.` + `golang\.org`, `registry\.` + `npmjs`, `(files\.)?` + `python` + `hosted\.org`,
	`pypi` + `\.org`, `crates` + `\.io`, `repo1?\.maven` + `\.(org|apache)`, `deb\.` + `debian\.org`,
	`(^|[^\w./-])/` + `work/`, `(^|[^\w./-])/` + `root/`, `(^|[^\w./-])/` + `tmp/bash`,
}, "|"))

func TestNoMachineNames(t *testing.T) {
	root := testkit.Root(t)
	for _, name := range files(t) {
		info, err := os.Lstat(filepath.Join(root, name))
		if err != nil || !info.Mode().IsRegular() {
			continue // removed but still tracked, or a link
		}
		data, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Error(err)
			continue
		}
		for i, line := range bytes.Split(data, []byte("\n")) {
			if found := needles.Find(line); found != nil {
				t.Errorf("%s:%d: contains %q", name, i+1, found)
			}
		}
	}
}

func TestNeedles(t *testing.T) {
	for _, s := range []string{
		"GOPROXY=https://proxy." + "golang.org", "see pypi" + ".org", `"/` + `work/main"`, "/" + "root/x", "cd /" + "work/x",
	} {
		if !needles.MatchString(s) {
			t.Errorf("%q is not found", s)
		}
	}
	for _, s := range []string{"transcript/root/x", "./work/x", "https://golang.org/x", "a/work/b", "/rooted/x", "workbench"} {
		if needles.MatchString(s) {
			t.Errorf("%q is found", s)
		}
	}
}

// files returns the tracked files, with slashes, or all files where there is no
// git (an unpacked archive holds only what was tracked, and what was built).
func files(t *testing.T) []string {
	t.Helper()
	root := testkit.Root(t)
	var names []string
	if _, err := os.Stat(filepath.Join(root, ".git")); err == nil {
		cmd := exec.Command("git", "-c", "safe.directory=*", "ls-files", "-z")
		cmd.Dir = root
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("git ls-files: %v", err)
		}
		names = strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	} else {
		names = walk(t, root)
	}
	if len(names) < 10 {
		t.Fatalf("found only %d files", len(names))
	}
	return names
}

func walk(t *testing.T, root string) []string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		switch {
		case err != nil:
			return err
		case name == "bin" && d.IsDir():
			return filepath.SkipDir
		case !d.IsDir():
			names = append(names, filepath.ToSlash(name))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}
