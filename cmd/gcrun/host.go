package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/gcrun/gcrun/effects"
	"github.com/gcrun/gcrun/effects/host/args"
	"github.com/gcrun/gcrun/effects/host/clock"
	"github.com/gcrun/gcrun/effects/host/console"
	"github.com/gcrun/gcrun/effects/host/files"
	"github.com/gcrun/gcrun/effects/host/random"
	"github.com/gcrun/gcrun/effects/policy"
	"github.com/gcrun/gcrun/fspolicy"
	"github.com/gcrun/gcrun/internal/escape"
)

// host is every power a run has: the handlers and the directories they hold.
// Reading openHost shows all of them.
type host struct {
	handlers map[string]effects.Handler
	roots    map[string]*fspolicy.Root // by absolute directory
	out      *countingWriter
}

// openHost opens what a policy grants, and nothing else: no grant, no handler.
func (a *app) openHost(pol *policy.Policy, capsFile string, programArgs []string) (*host, error) {
	h := &host{handlers: map[string]effects.Handler{}, roots: map[string]*fspolicy.Root{}, out: &countingWriter{w: a.consoleOut()}}
	argList, err := args.New(programArgs)
	if err != nil {
		return nil, usage("the arguments after --: %v", err)
	}
	fsRoots, err := h.openDirs(pol, capsFile)
	if err != nil {
		h.Close()
		return nil, err
	}
	fsHandler, err := files.New(fsRoots)
	if err != nil {
		h.Close()
		return nil, err
	}
	for _, family := range []interface {
		effects.Handler
		Ops() []string
	}{
		clock.New(clock.System()), random.New(random.System()), argList, console.New(h.out, a.stderr), fsHandler,
	} {
		for _, op := range family.Ops() {
			if pol.Decide(op).Allow {
				h.handlers[op] = family
			}
		}
	}
	return h, nil
}

// openDirs opens the directories of the file operations that are granted. All
// that cannot be opened are told of together, each once.
func (h *host) openDirs(pol *policy.Policy, capsFile string) (map[string]fspolicy.FS, error) {
	roots := map[string]fspolicy.FS{}
	var failed []*failure
	for _, g := range pol.Grants() {
		if !slices.Contains(files.Ops(), g.Op()) {
			continue
		}
		dir, fromFile := g.Dir()
		root, err := h.open(dir, fromFile, capsFile)
		if err == nil {
			roots[g.Op()] = root
			continue
		}
		fail := asFailure(err)
		if _, at := pol.FileDir(g.Op()); fromFile && at.Line > 0 {
			fail.message = fmt.Sprintf("%s (%s)", fail.message, fail.file)
			fail.file, fail.line, fail.col, fail.key = at.File, at.Line, at.Col, at.Key
		}
		if !slices.ContainsFunc(failed, func(f *failure) bool { return f.where() == fail.where() && f.message == fail.message }) {
			failed = append(failed, fail)
		}
	}
	return roots, together(failed)
}

// open opens a directory once for all ops that have it.
func (h *host) open(dir string, fromFile bool, capsFile string) (*fspolicy.Root, error) {
	full := dir
	if fromFile && !filepath.IsAbs(dir) {
		full = filepath.Join(filepath.Dir(capsFile), dir)
	}
	abs, err := filepath.Abs(full)
	if err != nil {
		return nil, hostFailure(dir, err)
	}
	if r := h.roots[abs]; r != nil {
		return r, nil
	}
	r, err := fspolicy.OpenRoot(abs)
	if err != nil {
		f := &failure{exit: exitInput, code: "policy/base-dir", file: full, offset: -1, message: "the directory a grant names cannot be opened",
			hint: "make it, or name another one"}
		var pe *fspolicy.Error
		if errors.As(err, &pe) {
			f.message += ": " + string(pe.Kind)
		}
		return nil, f
	}
	h.roots[abs] = r
	return r, nil
}

// protect puts the evidence out of the program's reach: log and what belongs to
// it altogether, policy and source against changes.
func (h *host) protect(log *logFile, prog, capsFile string) error {
	hidden := []string{log.path, log.path + ".side", log.path + ".lock", log.path + ".torn"}
	readOnly := []string{}
	if prog != "-" {
		readOnly = append(readOnly, prog)
	}
	if capsFile != "" {
		readOnly = append(readOnly, capsFile)
	}
	for _, root := range h.roots {
		if err := root.Protect(log.File, fspolicy.Hidden); err != nil {
			return hostFailure(log.name, err)
		}
		for _, p := range hidden {
			if err := root.ProtectPath(p, fspolicy.Hidden); err != nil {
				return hostFailure(log.name, err)
			}
		}
		for _, p := range readOnly {
			if err := root.ProtectPath(p, fspolicy.ReadOnly); err != nil {
				return hostFailure(p, err)
			}
		}
	}
	return nil
}

func (h *host) wroteOut() bool { return h.out.n > 0 }

// Close closes the directories.
func (h *host) Close() {
	for _, r := range h.roots {
		_ = r.Close()
	}
}

// countingWriter notes whether the program wrote anything.
type countingWriter struct {
	w io.Writer
	n int64
}

func (c *countingWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

// policies is the policy of a run, and the part of it that is in its file. Both
// are nil where there is none.
type policies struct{ run, file *policy.Policy }

// loadPolicy reads the policy file and the flags. With neither, nothing is
// granted; ./caps.toml is used only when it is named.
func (a *app) loadPolicy(capsFile string, flags []string) (*policies, error) {
	p := &policies{}
	var file *policy.File
	var warnings policy.Diagnostics
	if capsFile != "" {
		src, err := a.readInput(capsFile)
		if err != nil {
			return nil, err
		}
		var diags policy.Diagnostics
		file, diags = policy.Parse(capsFile, src)
		if diags.Failed() {
			return nil, policyFailure(diags, src)
		}
		p.file, warnings = policy.New(file), diags
	}
	var allows []policy.Allow
	for _, f := range flags {
		allow, err := policy.ParseAllow(f)
		if err != nil {
			fail := usage("%s", err)
			var fe *policy.FlagError
			if errors.As(err, &fe) {
				fail.hint = fe.Hint
			}
			return nil, fail
		}
		allows = append(allows, allow)
	}
	if file != nil || len(allows) > 0 {
		p.run = policy.New(file, allows...)
	}
	for _, d := range warnings {
		if !effective(d, allows) {
			a.note("%s", escape.Line(fmt.Sprintf("warning: %s:%d:%d: %s; %s", d.File, d.Line, d.Col, d.Message, d.Hint)))
		}
	}
	return p, nil
}

// effective reports whether a table that the file alone gives no effect has one
// by a flag.
func effective(d policy.Diagnostic, flags []policy.Allow) bool {
	return d.Code == policy.CodeNotGranted && slices.ContainsFunc(flags, func(a policy.Allow) bool {
		return slices.ContainsFunc(a.Ops, func(op string) bool { return d.Key == `op."`+op+`"` })
	})
}

// policyFailure is the first problem of a policy, with the others after it.
func policyFailure(diags policy.Diagnostics, src []byte) error {
	var all []*failure
	for _, d := range diags {
		if d.Severity == policy.Error {
			all = append(all, &failure{exit: exitInput, code: d.Code, message: d.Message, file: d.File, line: d.Line, col: d.Col,
				key: d.Key, hint: d.Hint, offset: -1, text: lineOf(src, d.Line)})
		}
	}
	return together(all)
}

// together is one failure of several, the first in full; nil of none.
func together(all []*failure) error {
	if len(all) == 0 {
		return nil
	}
	all[0].also = all[1:]
	return all[0]
}

func lineOf(src []byte, line int) string {
	for i := 0; i < len(src); line-- {
		end := i
		for end < len(src) && src[end] != '\n' {
			end++
		}
		if line == 1 {
			return string(src[i:end])
		}
		i = end + 1
	}
	return ""
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}
