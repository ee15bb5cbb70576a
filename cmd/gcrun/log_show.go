package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/effects/guest"
	"github.com/gcrun/gcrun/gclog"
	"github.com/gcrun/gcrun/internal/digest"
	"github.com/gcrun/gcrun/internal/escape"
)

func (a *app) logCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "log", Short: "Look into logs", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.logShowCommand())
	return cmd
}

type logShowFlags struct {
	entry int64
	lines bool
}

func (a *app) logShowCommand() *cobra.Command {
	o := logShowFlags{entry: -1}
	var cmd *cobra.Command
	cmd = &cobra.Command{
		Use: "show LOG", Short: "Print the entries of a log", Args: cobra.ExactArgs(1),
		Long: `Print header, entries and outcome of a log, checking every byte on the way. Of a
log that was cut off or damaged, every whole entry is printed and the exit code
is 60.`,
		Example: "  gcrun log show prog.gclog\n  gcrun log show prog.gclog --entry 3\n  gcrun log show prog.gclog --json",
		RunE: verb(func(_ context.Context, args []string) error {
			if cmd.Flags().Changed("entry") && o.entry < 0 {
				return usage("--entry takes the number of an entry, from 0, not %d", o.entry)
			}
			return a.logShow(args[0], o)
		}),
	}
	cmd.Flags().Int64Var(&o.entry, "entry", -1, "print only this entry, in full")
	cmd.Flags().BoolVar(&o.lines, "jsonl", false, "print one JSON object a line: header, entries, outcome")
	return cmd
}

// shownValue is the size in bytes up to which JSON holds a value itself.
const shownValue = 64 << 10

func (a *app) logShow(name string, o logShowFlags) error {
	f, log, err := openLog(name)
	if err != nil {
		return err
	}
	defer f.Close()
	h := log.Header()
	show := &logPrinter{a: a, name: name, entry: o.entry, lines: o.lines}
	if o.entry < 0 {
		show.header(h)
	}
	s := log.Scan()
	for s.Next() {
		if e := s.Entry(); o.entry < 0 || e.I == uint64(o.entry) {
			show.one(e)
		}
	}
	if o.entry >= 0 && show.count == 0 && s.Err() == nil {
		return usage("the log has %s, none is number %d", counted(s.Entries(), "entry", "entries"), o.entry)
	}
	return show.end(s)
}

// logPrinter prints a log as text, as one JSON object, or as JSON lines.
type logPrinter struct {
	a       *app
	name    string
	entry   int64
	lines   bool
	count   int
	head    map[string]any
	entries []any
}

func (p *logPrinter) header(h gclog.Header) {
	limits := map[string]any{}
	for k, v := range h.Limits {
		limits[k] = v
	}
	p.head = map[string]any{"version": h.Version, "program_kind": string(h.Kind), "program": h.Program.String(), "name": h.Name,
		"language": h.LanguageProfile, "state_hash": h.StateHashProfile, "unicode": h.UnicodeProfile, "limits": limits,
		"policy": h.PolicyDigest.String(), "sync": h.Sync.String(), "tool": h.Tool}
	switch {
	case p.lines:
		p.a.printJSON(map[string]any{"header": p.head})
	case !p.a.asJSON:
		fmt.Fprintf(p.a.stdout, "log %s of %s %s\nprogram %s\npolicy  %s\n\n%5s  %-5s  %-20s %s\n", h.Version, h.Kind,
			escape.Line(h.Name), h.Program, h.PolicyDigest, "i", "", "operation", "payload → answer")
	}
}

func (p *logPrinter) one(e *gclog.Entry) {
	p.count++
	switch {
	case p.lines:
		p.a.printJSON(map[string]any{"entry": entryJSON(e)})
	case p.a.asJSON:
		p.entries = append(p.entries, entryJSON(e))
	case p.entry >= 0:
		p.full(e)
	default:
		answer := datumText(e.Resp, 200)
		if e.RespKind == guest.RespError {
			answer = "error " + errorCode(e.Resp, answer)
		}
		fmt.Fprintf(p.a.stdout, "%5d  %-5s  %-20s %s → %s\n", e.I, e.Decision, escape.LineMax(e.Op, 60),
			escape.LineMax(oneLine(datumText(e.Payload, 200)), 80), escape.LineMax(oneLine(answer), 60))
	}
}

// full prints everything of one entry.
func (p *logPrinter) full(e *gclog.Entry) {
	w := p.a.stdout
	fmt.Fprintf(w, "entry     %d (task %d, request %d)\nop        %s\ndecision  %s %s\n", e.I, e.Task, e.R, escape.Line(e.Op), e.Decision, escape.Line(e.Reason))
	fmt.Fprintf(w, "cap       %s\npayload   %s\n", escape.Line(oneLine(coreform.FormatLossy(e.Cap, 1000))), escape.Lines(datumText(e.Payload, shownValue)))
	fmt.Fprintf(w, "answer    %s\n%s\n", e.RespKind, escape.Lines(datumText(e.Resp, shownValue)))
	fmt.Fprintf(w, "payload-h %s\ncont-h    %s\nreq-h     %s\nresp-d    %s\n", e.PayloadHash, e.ContHash, e.ReqHash(), e.RespDigest)
	if e.Span.Known() {
		fmt.Fprintf(w, "asked at  %s, byte %d\n", escape.Line(e.Span.File), e.Span.Off)
	}
}

// errorCode is the code of an error answer, or its text if it has none.
func errorCode(d gclog.Datum, text string) string {
	if v, err := d.Value(); err == nil {
		if m, ok := v.AsMap(); ok {
			code, _ := m.Get(coreform.Sym(":error/code"))
			if s, ok := code.AsStr(); ok {
				return s
			}
		}
	}
	return text
}

// datumText is the canonical text of what an entry holds, or what stands for it.
func datumText(d gclog.Datum, max int) string {
	if ref, ok := d.Ref(); ok {
		if _, inline := d.Inline(); !inline && (ref.Size > int64(max) || d.Withheld()) {
			what := "blob"
			if d.Withheld() {
				what = "withheld"
			}
			return fmt.Sprintf("#<%s %s, %d bytes, %s>", what, ref.Form, ref.Size, ref.Digest)
		}
	}
	v, err := d.Value()
	if err != nil {
		return "#<unreadable: " + err.Error() + ">"
	}
	return coreform.FormatLossy(v, max)
}

func entryJSON(e *gclog.Entry) map[string]any {
	return map[string]any{
		"i": e.I, "task": uint64(e.Task), "r": e.R, "op": e.Op, "decision": e.Decision.String(), "reason": orNull(e.Reason),
		"cap": coreform.FormatLossy(e.Cap, shownValue), "payload": datumJSON(e.Payload), "payload_h": e.PayloadHash.String(),
		"cont_h": e.ContHash.String(), "req_h": e.ReqHash().String(), "resp_kind": e.RespKind.String(),
		"resp": datumJSON(e.Resp), "resp_h": respHash(e), "resp_d": e.RespDigest.String(), "span": spanJSON(e.Span),
	}
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func spanJSON(s guest.Span) any {
	if !s.Known() {
		return nil
	}
	return map[string]any{"file": s.File, "off": s.Off, "end": s.End}
}

// datumJSON is canonical text, or digest and length of what is larger.
func datumJSON(d gclog.Datum) any {
	ref, named := d.Ref()
	if _, inline := d.Inline(); named && !inline && (d.Withheld() || ref.Size > shownValue) {
		return map[string]any{"form": ref.Form.String(), "digest": ref.Digest.String(), "length": ref.Size, "withheld": d.Withheld()}
	}
	v, err := d.Value()
	if err != nil {
		return nil
	}
	if b, err := coreform.PrintTerm(v, coreform.Limits{MaxDepth: coreform.MaximumDepth}); err == nil && len(b) <= shownValue {
		return string(b)
	}
	if h, err := coreform.TermHash(v); err == nil {
		return map[string]any{"form": "term", "digest": h.String(), "length": nil, "withheld": false}
	}
	return nil
}

// respHash is the exchange hash of a response (the reference's resp-h).
func respHash(e *gclog.Entry) any {
	v, err := e.Resp.Value()
	if err != nil {
		return nil
	}
	var h digest.Digest
	if e.RespKind == guest.RespError {
		h, err = coreform.ErrorValueHash(v)
	} else {
		h, err = coreform.ValueHash(v)
	}
	if err != nil {
		return nil
	}
	return h.String()
}

func outcomeJSON(o *gclog.Outcome) any {
	if o == nil {
		return nil
	}
	m := map[string]any{"kind": string(o.Kind), "code": orNull(o.Code), "entries": o.Entries, "root": o.Root.String(), "value_d": nil}
	if o.Value != nil {
		m["value_d"] = o.Value.String()
	}
	return m
}

// end prints the outcome, or what is wrong with the log.
func (p *logPrinter) end(s *gclog.Scanner) error {
	o, err := s.Outcome(), s.Err()
	var fail *failure
	if err != nil {
		fail = logFailure(p.name, err)
		switch {
		case errors.Is(err, gclog.ErrIncomplete):
			fail.hint = "gcrun replay --allow-incomplete " + shellWord(p.name) + " replays what is whole"
		case errors.Is(err, gclog.ErrDamaged):
			fail.hint = "what stands before it is as it was written; find an undamaged copy for the rest"
		}
	}
	switch {
	case p.lines, p.a.asJSON:
		p.json(o, fail, s.Root())
	case fail != nil:
		return fail
	case p.entry < 0:
		fmt.Fprintf(p.a.stdout, "\n%s, outcome %s\nroot    %s\n", counted(s.Entries(), "entry", "entries"),
			strings.TrimSpace(string(o.Kind)+" "+escape.Line(o.Code)), o.Root)
	}
	return nil
}

func (p *logPrinter) json(o *gclog.Outcome, fail *failure, root digest.Digest) {
	m := map[string]any{"kind": "gcrun/log/1", "ok": fail == nil, "outcome": outcomeJSON(o), "root": root.String()}
	if fail != nil {
		m["error"] = fail.json()
		p.a.exit = fail.exit
	}
	if !p.lines {
		if p.entries == nil {
			p.entries = []any{}
		}
		m["entries"] = p.entries
		if p.head != nil {
			m["header"] = p.head
		}
	}
	p.a.printJSON(m)
}
