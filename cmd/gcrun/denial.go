package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/effects"
	"github.com/gcrun/gcrun/effects/policy"
	"github.com/gcrun/gcrun/internal/escape"
)

// denialText tells which operations were denied, and then once, for all of them,
// what to type to allow them: lines that can be pasted as they are.
func (a *app) denialText(p *program, denials []effects.Denial, pol *policies, o recordFlags) string {
	var b strings.Builder
	grantable := []string{}
	for _, d := range denials {
		b.WriteString(denialHead(p, d, o))
		switch {
		case d.Reason == policy.ReasonForbidden:
		case policy.FileFor([]string{d.Op}) == "":
			b.WriteString("  there is no operation of that name in this version: gcrun cannot be made to allow it\n")
		default:
			grantable = append(grantable, d.Op)
		}
	}
	if len(grantable) == 0 {
		return b.String()
	}
	it := "it"
	if len(grantable) > 1 {
		it = "them"
	}
	if len(policy.FlagsFor(grantable)) == len(grantable) {
		where := " for this directory"
		for _, f := range pol.flagsFor(grantable, o.caps) {
			if _, dir, ok := strings.Cut(f, "="); ok && dir != "." {
				where = ""
			}
		}
		fmt.Fprintf(&b, "to allow %s%s:\n  %s\nor in ", it, where, recordCommandLine(p.arg, o, pol, grantable))
	} else { // some need more than a flag can say
		fmt.Fprintf(&b, "to allow %s in ", it)
	}
	if pol.file == nil {
		b.WriteString("caps.toml:\n")
	} else {
		fmt.Fprintf(&b, "%s, in place of what it has for allow:\n", escape.Line(o.caps))
	}
	for line := range strings.Lines(pol.advice(grantable)) {
		b.WriteString("  " + line)
	}
	return b.String()
}

// denialHead is what was denied, where, and why.
func denialHead(p *program, d effects.Denial, o recordFlags) string {
	ask := "denied: " + escape.LineMax(d.Op, 100) + " " + escape.LineMax(oneLine(coreform.FormatLossy(d.First.Payload, 400)), 200)
	if d.Count > 1 {
		ask += fmt.Sprintf(" (%d times)", d.Count)
	}
	at := (&failure{offset: -1}).placeSpan(d.First.Span, p.Info())
	return fmt.Sprintf("%-60s  %s\n%s  %s\n", ask, escape.Line(at.where()), caret(at.text, at.col), denialReason(d, o))
}

func denialReason(d effects.Denial, o recordFlags) string {
	switch {
	case d.Reason == policy.ReasonNoPolicy && exists("caps.toml"):
		return "no policy was given (./caps.toml exists but is used only with --caps)"
	case d.Reason == policy.ReasonNoPolicy:
		return "no policy was given, so everything is denied"
	case d.Reason == policy.ReasonForbidden:
		return fmt.Sprintf("the policy %s forbids it, whatever the flags say: allow = false under [op.%q]", escape.Line(o.caps), d.Op)
	case o.caps != "":
		return "the policy " + escape.Line(o.caps) + " does not grant it"
	}
	return "the flags do not grant it"
}

// recordCommandLine is the command that records a program again with some more
// operations allowed.
func recordCommandLine(prog string, o recordFlags, pol *policies, ops []string) string {
	words := []string{"gcrun", "record", shellWord(prog)}
	if o.caps != "" {
		words = append(words, "--caps", shellWord(o.caps))
	}
	for _, f := range append(slices.Clone(o.allow), pol.flagsFor(ops, o.caps)...) {
		words = append(words, "--allow", shellWord(f))
	}
	if len(o.args) > 0 {
		words = append(words, "--")
	}
	for _, arg := range o.args {
		words = append(words, shellWord(arg))
	}
	return escape.LineMax(strings.Join(words, " "), 2000)
}

// allowHint is the command that would allow what was denied, "" if no flags can.
func allowHint(prog string, o recordFlags, pol *policies, denials []effects.Denial) string {
	names := []string{}
	for _, d := range denials {
		if d.Reason != policy.ReasonForbidden {
			names = append(names, d.Op)
		}
	}
	if len(policy.FlagsFor(names)) == 0 {
		return ""
	}
	return recordCommandLine(prog, o, pol, names)
}

// flagsFor is policy.FlagsFor, with the directory that the policy file names for
// an operation, where it does: a flag with another one would replace it.
func (p *policies) flagsFor(ops []string, capsFile string) []string {
	flags := policy.FlagsFor(ops)
	for i, f := range flags {
		op, _, hasDir := strings.Cut(f, "=")
		if dir, _ := p.file.FileDir(op); hasDir && dir != "" {
			if !filepath.IsAbs(dir) {
				dir = filepath.Join(filepath.Dir(capsFile), dir)
			}
			flags[i] = op + "=" + dir
		}
	}
	return flags
}

// advice is the text of a policy file that grants what the one at hand grants,
// and some more operations. Tables that file must have already are left out.
func (p *policies) advice(ops []string) string {
	granted, families := []string{}, map[string]bool{}
	for _, g := range p.file.Grants() {
		granted = append(granted, g.Op())
		family, _, _ := strings.Cut(g.Op(), "::")
		families[family] = true
	}
	allow, _, _ := strings.Cut(policy.FileFor(append(granted, ops...)), "\n")
	missing := slices.DeleteFunc(slices.Clone(ops), func(op string) bool {
		family, _, _ := strings.Cut(op, "::")
		return families[family]
	})
	_, tables, _ := strings.Cut(policy.FileFor(missing), "\n")
	return allow + "\n" + tables
}
