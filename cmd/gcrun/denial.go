package main

import (
	"fmt"
	"strings"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/effects"
	"github.com/gcrun/gcrun/effects/policy"
	"github.com/gcrun/gcrun/internal/escape"
)

// denialText tells of one denied operation what to type to allow it.
func (a *app) denialText(p *program, d effects.Denial, o recordFlags) string {
	var b strings.Builder
	ask := "denied: " + escape.LineMax(d.Op, 100) + " " + escape.LineMax(oneLine(coreform.FormatLossy(d.First.Payload, 400)), 200)
	if d.Count > 1 {
		ask += fmt.Sprintf(" (%d times)", d.Count)
	}
	at := (&failure{offset: -1}).placeSpan(d.First.Span, p.Info())
	fmt.Fprintf(&b, "%-60s  %s\n%s", ask, escape.Line(at.where()), caret(at.text, at.col))
	fmt.Fprintf(&b, "  %s\n", denialReason(d.Reason, o))
	flags := policy.FlagsFor([]string{d.Op})
	if len(flags) > 0 {
		fmt.Fprintf(&b, "to allow it for this directory:\n  gcrun record %s", shellWord(p.arg))
		if o.caps != "" {
			b.WriteString(" --caps " + shellWord(o.caps))
		}
		for _, f := range append(append([]string(nil), o.allow...), flags...) {
			b.WriteString(" --allow " + shellWord(f))
		}
		if len(o.args) > 0 {
			b.WriteString(" --")
		}
		for _, arg := range o.args {
			b.WriteString(" " + escape.LineMax(shellWord(arg), 200))
		}
		b.WriteString("\n")
	}
	if text := policy.FileFor([]string{d.Op}); text != "" {
		b.WriteString("or in caps.toml:\n")
		for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
			b.WriteString("  " + line + "\n")
		}
	} else {
		fmt.Fprintf(&b, "there is no operation of that name in this version: gcrun cannot be made to allow it\n")
	}
	return b.String()
}

func denialReason(reason string, o recordFlags) string {
	switch {
	case reason == policy.ReasonNoPolicy && exists("caps.toml"):
		return "no policy was given (./caps.toml exists but is used only with --caps)"
	case reason == policy.ReasonNoPolicy:
		return "no policy was given, so everything is denied"
	case reason == policy.ReasonForbidden:
		return "the policy forbids it with allow = false"
	case o.caps != "":
		return "the policy " + escape.Line(o.caps) + " does not grant it"
	}
	return "the flags do not grant it"
}
