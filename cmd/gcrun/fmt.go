package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/coreform/format"
	"github.com/gcrun/gcrun/internal/atomicfile"
	"github.com/gcrun/gcrun/internal/escape"
)

// exitUnformatted is the exit code of fmt --check when a source is not formatted
// (spec ERR-EXIT-1).
const exitUnformatted = 11

// fmtMode is what gcrun fmt is to do; at most one is set.
type fmtMode struct{ canonical, write, check, source bool }

func (a *app) fmtCommand() *cobra.Command {
	var mode fmtMode
	cmd := &cobra.Command{
		Use: "fmt [-w|--check|--canonical] FILE…", Short: "Lay out sources, with their comments",
		Long: `Print the source in FILE laid out, with its comments: what it means, its canonical
text and its hash stay. With -w files are replaced by their formatted text, with
--check those that are not formatted are named, and the exit code is 11 if there
are any; a directory then stands for all .gc files below it. With --canonical, and
for - alone, canonical text is printed: the bytes that gcrun hash hashes.`,
		Example: "  gcrun fmt prog.gc\n  gcrun fmt -w .\n  gcrun fmt --check src prog.gc\n  gcrun fmt --source - < prog.gc\n" +
			"  gcrun fmt --canonical prog.gc\n  gcrun fmt - < prog.gc",
		Args: cobra.MinimumNArgs(1),
		RunE: verb(func(ctx context.Context, args []string) error {
			switch {
			case mode.write || mode.check:
				return a.fmtFiles(ctx, args, mode)
			case mode.canonical, len(args) == 1 && args[0] == "-" && !mode.source:
				return a.fmtCanonical(args)
			case len(args) > 1:
				return usage("fmt prints the text of one file: say -w to replace several, or --check to look at them")
			}
			return a.fmtOne(args[0])
		}),
	}
	f := cmd.Flags()
	f.BoolVarP(&mode.write, "write", "w", false, "replace files that are not formatted")
	f.BoolVar(&mode.check, "check", false, "name files that are not formatted; exit code 11 if there are any")
	f.BoolVar(&mode.canonical, "canonical", false, "print canonical text")
	f.BoolVar(&mode.source, "source", false, "lay out the source, also when it is standard input")
	cmd.MarkFlagsMutuallyExclusive("write", "check", "canonical", "source")
	return cmd
}

// fmtCanonical prints canonical texts.
func (a *app) fmtCanonical(args []string) error {
	files := []any{}
	for _, name := range args {
		forms, err := a.canonicalForms(name)
		if err != nil {
			return err
		}
		text, err := coreform.PrintModule(forms, coreform.Limits{})
		if err != nil {
			return tooLong(name, err)
		}
		if a.asJSON {
			files = append(files, map[string]any{"file": jsonText(name), "text": string(text)})
			continue
		}
		if _, err := a.stdout.Write(text); err != nil {
			return hostFailure("", err)
		}
	}
	if a.asJSON {
		a.printJSON(map[string]any{"kind": "gcrun/fmt/1", "ok": true, "files": files})
	}
	return nil
}

// fmtOne prints the formatted text of one file.
func (a *app) fmtOne(name string) error {
	if st, err := os.Stat(name); name != "-" && err == nil && st.IsDir() {
		return usage("fmt prints the text of one file: say -w to replace the files of a directory, or --check to look at them")
	}
	_, text, err := a.formatted(name)
	if err != nil {
		return err
	}
	if a.asJSON {
		a.printJSON(map[string]any{"kind": "gcrun/fmt/1", "ok": true,
			"files": []any{map[string]any{"file": jsonText(name), "text": string(text)}}})
		return nil
	}
	if _, err := a.stdout.Write(text); err != nil {
		return hostFailure("", err)
	}
	return nil
}

// formatted reads a source and lays it out.
func (a *app) formatted(name string) (src, text []byte, err error) {
	if src, err = a.readInput(name); err != nil {
		return nil, nil, err
	}
	text, err = format.Source(src, coreform.Limits{})
	var limit *coreform.LimitError
	switch {
	case errors.As(err, &limit):
		return nil, nil, &failure{exit: exitInput, code: limit.Code(), file: shownName(name), message: err.Error(), offset: -1,
			hint: "split the module; indentation makes what nests deep longer"}
	case err != nil:
		return nil, nil, sourceFailure(shownName(name), src, err)
	}
	return src, text, nil
}

// fmtFiles checks or replaces files. It looks at all of them, whatever happens
// to one.
func (a *app) fmtFiles(ctx context.Context, args []string, mode fmtMode) error {
	if mode.write && slices.Contains(args, "-") {
		return usage("-w replaces files, and - is standard input; fmt --source - prints its formatted text")
	}
	names, failures := sourcesIn(args)
	files := []any{}
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return err
		}
		changed, err := a.fmtFile(name, mode)
		if err != nil {
			failures = append(failures, asFailure(err))
			continue
		}
		files = append(files, map[string]any{"file": jsonText(name), "changed": changed})
		switch {
		case !changed:
		case mode.write:
			a.note("formatted %s", escape.Line(name))
		default:
			a.exit = exitUnformatted
			if !a.asJSON {
				fmt.Fprintln(a.stdout, escape.Line(shownName(name)))
			}
		}
	}
	if len(names) == 0 && len(failures) == 0 {
		a.note("no .gc files found")
	}
	return a.fmtResult(files, failures)
}

// fmtResult reports how it went, all failures in one.
func (a *app) fmtResult(files []any, failures []*failure) error {
	var first *failure
	if len(failures) > 0 {
		first = failures[0]
		first.also = append(first.also, failures[1:]...)
		a.exit = first.exit
	}
	if !a.asJSON {
		if first != nil {
			return first
		}
		return nil
	}
	out := map[string]any{"kind": "gcrun/fmt/1", "ok": a.exit == exitOK, "files": files}
	if first != nil {
		out["error"] = first.json()
	}
	a.printJSON(out)
	return nil
}

// fmtFile checks or replaces one file and reports whether it was not formatted.
func (a *app) fmtFile(name string, mode fmtMode) (bool, error) {
	var before fs.FileInfo
	if mode.write {
		var err error
		if before, err = replaceable(name); err != nil {
			return false, err
		}
	}
	src, text, err := a.formatted(name)
	if err != nil || bytes.Equal(src, text) {
		return false, err
	}
	if mode.write {
		err = replaceSource(name, text, before)
	}
	return true, err
}

// replaceable refuses what cannot be replaced as a file.
func replaceable(name string) (fs.FileInfo, error) {
	st, err := os.Lstat(name)
	switch {
	case err != nil:
		return nil, hostFailure(name, err)
	case st.Mode()&fs.ModeSymlink != 0:
		return nil, &failure{exit: exitInput, code: "file/symlink", file: name, message: "this is a symbolic link", offset: -1,
			hint: "name the file it leads to"}
	case !st.Mode().IsRegular():
		return nil, &failure{exit: exitInput, code: "file/not-regular", file: name, message: "this is no regular file", offset: -1,
			hint: "only regular files can be replaced; without -w the text is printed"}
	}
	return st, nil
}

// replaceSource puts text in the place of a file, unless it is not the file any
// more that was read.
func replaceSource(name string, text []byte, before fs.FileInfo) error {
	f, err := atomicfile.Create(name, atomicfile.Replace, before.Mode().Perm())
	if err != nil {
		return hostFailure(name, err)
	}
	defer f.Abort()
	if _, err := f.Write(text); err != nil {
		return hostFailure(name, err)
	}
	now, err := os.Lstat(name)
	if err != nil || !os.SameFile(before, now) || now.Size() != before.Size() || !now.ModTime().Equal(before.ModTime()) {
		return &failure{exit: exitHost, code: "file/changed", file: name, message: "the file changed meanwhile and was left as it is", offset: -1,
			hint: "run the command again"}
	}
	if err := f.Commit(); err != nil {
		return hostFailure(name, err)
	}
	return nil
}

// sourcesIn returns the files that arguments stand for, each once: a directory
// for the sources below it, sorted.
func sourcesIn(args []string) (names []string, failures []*failure) {
	seen := map[string]bool{}
	add := func(name string) {
		if clean := filepath.Clean(name); !seen[clean] {
			seen[clean] = true
			names = append(names, name)
		}
	}
	for _, arg := range args {
		if st, err := os.Stat(arg); arg == "-" || err != nil || !st.IsDir() {
			add(arg) // what is wrong with it is told when it is read
			continue
		}
		found, failed := sourcesBelow(arg)
		failures = append(failures, failed...)
		for _, name := range found {
			add(name)
		}
	}
	return names, failures
}

// sourcesBelow returns the .gc files below a directory. It follows no links and
// passes over names that begin with a point.
func sourcesBelow(dir string) (names []string, failures []*failure) {
	root := dir + string(filepath.Separator) + "." // dir may be a link
	_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			failures = append(failures, hostFailure(filepath.Clean(path), err))
			if d != nil && d.IsDir() {
				return fs.SkipDir
			}
		case path != root && strings.HasPrefix(d.Name(), "."):
			if d.IsDir() {
				return fs.SkipDir
			}
		case d.Type().IsRegular() && strings.HasSuffix(path, ".gc"):
			names = append(names, path)
		}
		return nil
	})
	slices.Sort(names)
	return names, failures
}
