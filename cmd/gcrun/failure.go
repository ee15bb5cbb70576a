package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/coreform/kernel"
	"github.com/gcrun/gcrun/effects"
	"github.com/gcrun/gcrun/effects/engine"
	"github.com/gcrun/gcrun/effects/guest"
	"github.com/gcrun/gcrun/evidence/canonjson"
	"github.com/gcrun/gcrun/gclog"
	"github.com/gcrun/gcrun/internal/escape"
)

// failure is an error as a person and a script are told of it: what, where, and
// what to do next. Everything in it may hold text a program controls; it is
// escaped where it is shown.
type failure struct {
	exit    int
	code    string // stable
	message string
	file    string
	line    int // 1-based, 0 if unknown
	col     int
	offset  int64 // byte offset, -1 if unknown
	key     string
	hint    string
	text    string     // source line
	stack   []*failure // calls around the place, innermost first; message is the definition
	also    []*failure // further problems of the same input
}

func (f *failure) Error() string { return f.code + ": " + f.message }

func usage(format string, args ...any) *failure {
	return &failure{exit: exitUsage, code: "usage", message: fmt.Sprintf(format, args...), offset: -1,
		hint: "gcrun help lists the commands and their flags"}
}

// place puts a failure at a byte of a source.
func (f *failure) place(file string, src []byte, off int) *failure {
	f.file, f.offset = file, int64(off)
	if src != nil && off >= 0 && off <= len(src) {
		f.line, f.col = coreform.Position(src, off)
		f.text = string(coreform.SourceLine(src, off))
	}
	return f
}

// sourceFailure is the failure of reading, canonicalizing or compiling a source.
func sourceFailure(file string, src []byte, err error) *failure {
	f := &failure{exit: exitInput, code: "source", message: err.Error(), file: file, offset: -1}
	var read *coreform.ReadError
	var canon *coreform.CanonError
	var load *kernel.LoadError
	switch {
	case errors.As(err, &read):
		f.code, f.message, f.hint = read.Code(), read.Message, read.Hint
		f.place(file, src, read.Offset)
	case errors.As(err, &canon):
		f.code, f.message, f.hint = canon.Code(), canon.Message, canon.Hint
		f.place(file, src, canon.Off)
	case errors.As(err, &load):
		f.code, f.message, f.hint = load.Code, load.Message, load.Hint
		f.place(file, src, load.Span.Off)
	}
	if f.hint == "" {
		f.hint = "correct the source there and run the command again"
	}
	return f
}

// fatalFailure is the failure of a program that ended fatally.
func fatalFailure(fatal *guest.Fatal, info guest.Info) *failure {
	f := &failure{exit: exitError, code: fatal.Code, message: fatal.Message, hint: fatal.Hint, offset: -1}
	if fatal.Limit != nil {
		f.exit = exitLimit
		f.message += fmt.Sprintf(" (%s: %d needed, limit %d)", fatal.Limit.Dimension, fatal.Limit.Observed, fatal.Limit.Limit)
	}
	return f.placeSpan(fatal.Span, info).calls(fatal.Stack, info)
}

// calls adds the calls under which something happened.
func (f *failure) calls(stack []guest.Frame, info guest.Info) *failure {
	for _, fr := range stack {
		at := &failure{message: fr.Name, offset: -1}
		f.stack = append(f.stack, at.placeSpan(fr.Span, info))
	}
	return f
}

func (f *failure) placeSpan(s guest.Span, info guest.Info) *failure {
	if !s.Known() {
		return f
	}
	f.file = s.File
	for _, src := range info.Sources {
		if src.Path == s.File {
			f.place(s.File, src.Bytes, s.Off)
		}
	}
	return f
}

// logFailure is the failure of a log that cannot be used as it is.
func logFailure(file string, err error) *failure {
	f := &failure{exit: exitLog, code: "log/damaged", message: err.Error(), file: file, offset: -1}
	var format *gclog.FormatError
	var stale *engine.StaleError
	var host *effects.Failure
	switch {
	case errors.As(err, &format):
		f.offset, f.hint = format.Off, format.Hint
		f.message = fmt.Sprintf("%s: %s", format.Err, format.Reason)
		if format.Entries > 0 {
			f.message += " (whole before it: " + counted(format.Entries, "entry", "entries") + ")"
		}
		switch {
		case errors.Is(err, gclog.ErrIncomplete):
			f.code = "log/incomplete"
		case errors.Is(err, gclog.ErrVersion):
			f.code, f.exit = "log/version", exitInput
		case errors.Is(err, gclog.ErrNotLog):
			f.code, f.hint = "log/not-a-log", "name a .gclog file that gcrun record wrote"
		}
	case errors.Is(err, gclog.ErrWithheld):
		f.code, f.message = "log/response-withheld", "the log keeps only the digest of a response that the program needs"
		f.hint = "replay can go no further than this entry; record again without redaction to see more"
	case errors.As(err, &stale):
		f.code, f.exit = "log/program", exitDiverged
		f.hint = "the log was recorded by another version of gcrun, or its program was changed"
	case errors.As(err, &host), isHostError(err):
		return hostFailure(file, err)
	}
	if f.hint == "" {
		f.hint = "gcrun log show " + shellWord(file) + " prints what is whole"
	}
	return f
}

func isHostError(err error) bool {
	var p *fs.PathError
	return errors.As(err, &p)
}

// hostFailure is a file or device of the host that failed.
func hostFailure(file string, err error) *failure {
	f := &failure{exit: exitHost, code: "host", message: plainHostError(err), file: file, offset: -1,
		hint: "check that it exists and that you may use it"}
	if errors.Is(err, fs.ErrNotExist) {
		f.exit, f.code = exitInput, "file/not-found"
		f.hint = "check the spelling of the name"
	}
	return f
}

// plainHostError drops the path an os error repeats.
func plainHostError(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	var l *os.LinkError
	if errors.As(err, &l) {
		return l.Err.Error()
	}
	return err.Error()
}

// asFailure makes a failure of any error.
func asFailure(err error) *failure {
	var f *failure
	if errors.As(err, &f) {
		return f
	}
	var cj *canonjson.Error
	switch {
	case errors.As(err, &cj):
		return &failure{exit: exitInput, code: string(cj.Code), message: cj.Detail, offset: int64(cj.Offset), hint: cj.Hint}
	case errors.Is(err, effects.ErrInterrupted), errors.Is(err, context.Canceled):
		return &failure{exit: exitInterrupted, code: "interrupted", message: "interrupted", offset: -1}
	case isHostError(err):
		return hostFailure("", err)
	}
	return &failure{exit: exitInternal, code: "internal", message: err.Error(), offset: -1,
		hint: "this is a fault in gcrun; please report it with the command and its input"}
}

func (f *failure) where() string {
	switch {
	case f.line > 0:
		return fmt.Sprintf("%s:%d:%d", f.file, f.line, f.col)
	case f.file != "" && f.offset >= 0:
		return fmt.Sprintf("%s: byte %d", f.file, f.offset)
	case f.offset >= 0:
		return fmt.Sprintf("byte %d", f.offset)
	}
	return f.file
}

// text is the failure for a person.
func (f *failure) render() string {
	var b strings.Builder
	b.WriteString("error: ")
	if w := f.where(); w != "" {
		b.WriteString(escape.LineMax(w, 300) + ": ")
	}
	b.WriteString(escape.LineMax(f.message, 1000))
	if f.key != "" {
		b.WriteString(" (" + escape.LineMax(f.key, 200) + ")")
	}
	fmt.Fprintf(&b, " [%s]\n", escape.Line(f.code))
	b.WriteString(caret(f.text, f.col))
	for _, s := range stackLines(f.stack) {
		b.WriteString("  " + escape.LineMax(s, 300) + "\n")
	}
	if f.hint != "" {
		b.WriteString("  next: " + escape.LineMax(f.hint, 500) + "\n")
	}
	for _, p := range f.also {
		line := "also " + p.where() + ": " + p.message + " [" + p.code + "]"
		if p.hint != "" {
			line += "; " + p.hint
		}
		b.WriteString("  " + escape.LineMax(line, 600) + "\n")
	}
	return b.String()
}

// mostStackLines is how many calls a person is shown.
const mostStackLines = 12

// stackLines is a call stack for a person. Calls from one place that follow each
// other, as in recursion, are one line.
func stackLines(stack []*failure) []string {
	var lines []string
	for i := 0; i < len(stack); {
		at, n := stack[i], 1
		for i+n < len(stack) && sameCall(stack[i+n]) == sameCall(at) {
			n++
		}
		i += n
		line := fmt.Sprintf("in %s at %s", cmp.Or(at.message, "(top level)"), at.where())
		if n > 1 {
			line += fmt.Sprintf(" (%d times)", n)
		}
		if lines = append(lines, line); len(lines) == mostStackLines && i < len(stack) {
			return append(lines, fmt.Sprintf("and %s more", counted(uint64(len(stack)-i), "call", "calls")))
		}
	}
	return lines
}

type callPlace struct {
	name, file string
	offset     int64
}

func sameCall(f *failure) callPlace { return callPlace{f.message, f.file, f.offset} }

// caret shows a source line and points at a column of it.
func caret(line string, col int) string {
	if line == "" || col < 1 {
		return ""
	}
	r := []rune(line)
	start := 0
	if col > 80 { // keep the place on the screen
		start = col - 40
	}
	end := min(len(r), start+100)
	if start >= end {
		return ""
	}
	before := escape.Line(string(r[start:min(col-1, end)]))
	return "  " + before + escape.Line(string(r[min(col-1, end):end])) + "\n  " +
		strings.Repeat(" ", len([]rune(before))) + "^\n"
}

// json is the failure as the error member of a --json object.
func (f *failure) json() map[string]any {
	m := map[string]any{"code": jsonText(f.code), "message": jsonText(f.message)}
	for k, v := range map[string]string{"file": f.file, "key": f.key, "hint": f.hint} {
		if v != "" {
			m[k] = jsonText(v)
		}
	}
	if f.line > 0 {
		m["line"], m["col"] = f.line, f.col
	}
	if f.offset >= 0 {
		m["offset"] = f.offset
	}
	if len(f.stack) > 0 {
		stack := []any{}
		for _, at := range f.stack {
			call := map[string]any{"in": jsonText(at.message), "file": jsonText(at.file)}
			if at.line > 0 {
				call["line"], call["col"] = at.line, at.col
			}
			stack = append(stack, call)
		}
		m["stack"] = stack
	}
	if len(f.also) > 0 {
		also := []any{}
		for _, p := range f.also {
			also = append(also, p.json())
		}
		m["also"] = also
	}
	return m
}

// jsonText is text as JSON can hold it: names of files need not be UTF-8.
func jsonText(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return escape.Line(s)
}

// shellWord quotes a word for pasting into a shell, if it needs that.
func shellWord(s string) string {
	plain := s != "" && strings.IndexFunc(s, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/:=@%+,", r)
	}) < 0
	if plain {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
