package prelude_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/coreform/kernel"
	"github.com/gcrun/gcrun/coreform/prelude"
	"github.com/gcrun/gcrun/effects/guest"
	"github.com/gcrun/gcrun/effects/ops"
	"github.com/gcrun/gcrun/internal/testkit"
)

// first steps a program to its first request or end.
func first(t *testing.T, src string) guest.Step {
	t.Helper()
	p, err := loadWith(src, kernel.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := p.Step(context.Background(), 0, nil)
	if err != nil {
		t.Fatalf("%s: %v", src, err)
	}
	return s
}

// A request made by a library function is the user's: its place is the call in
// the user's source, and its payload one the operation accepts.
//
// spec: LANG-LIB-3
func TestWrappersAskForTheUser(t *testing.T) {
	for _, call := range []string{
		`(core/fs::read "a")`, `(core/fs::write "a" b"x")`, `(core/fs::append "a" "x")`, `(core/fs::stat "a")`,
		`(core/fs::list ".")`, `(core/time::now nil)`, `(core/time::sleep 5)`, `(core/random::bytes 16)`,
		`(core/args::list nil)`, `(core/console::write :err "x")`, `(core/console::print "x")`,
	} {
		src := "(def go (fn (x)\n  " + call + "))\n(core/effect::map (go 1) (fn (x) x))"
		r := first(t, src).Request
		if got := src[r.Span.Off:r.Span.End]; got != call {
			t.Errorf("%s: asked at %q", call, got)
		}
		op, ok := ops.Lookup(r.Op)
		if !ok || !op.Implemented {
			t.Errorf("%s: asks for %s, which is not there", call, r.Op)
			continue
		}
		if fault := ops.CheckPayload(op, r.Payload); fault != nil {
			t.Errorf("%s: %v", call, fault)
		}
	}
}

// An error remembers the user's call that made it, through library code too.
//
// spec: LANG-ERR-4
func TestErrorsRememberThePlace(t *testing.T) {
	for _, c := range []struct{ src, at string }{
		{`(begin 1 (core/int::add 1 "x"))`, `(core/int::add 1 "x")`},
		{`(begin 1 (prim int/add 1 "x"))`, `(prim int/add 1 "x")`},
		{`(def f (fn (x) (core/error::make "c" "m" x)))` + "\n" + `(f 1)`, `(core/error::make "c" "m" x)`},
		{`(def f (fn (x) (core/error::make2 "c" x)))` + "\n" + `(f 1)`, `(core/error::make2 "c" x)`},
		{`(core/list::type-error "m")`, `(core/list::type-error "m")`},
		{`(begin 1 (core/list::len [1]))`, `(core/list::len [1])`},
		{`(begin 1 (core/list::map '(1 a) (core/int::add 1)))`, `(core/list::map '(1 a) (core/int::add 1))`},
		{`(core/list::map '(1 a) (fn (x) (core/int::add 1 x)))`, `(core/int::add 1 x)`},
		{`(begin 1 (core/coreform::parse-term "("))`, `(core/coreform::parse-term "(")`},
		{`(begin 1 (core/protocol::error 1))`, `(core/protocol::error 1)`},
		{`(begin 1 (core/fs::read (fn (x) x)))`, `(core/fs::read (fn (x) x))`},
	} {
		v, _, err := eval(c.src, kernel.Limits{})
		if err != nil {
			t.Fatalf("%s: %v", c.src, err)
		}
		s := kernel.ErrorSite(v)
		if !s.Known() || c.src[s.Off:s.End] != c.at {
			t.Errorf("%s: made at %q, want %q", c.src, c.src[s.Off:s.End], c.at)
		}
	}
	// The place is beside the value: errors made at two places are equal.
	v, _, err := eval(`(core/eq? (core/int::add 1 nil) (prim int/add 1 nil))`, kernel.Limits{})
	if err != nil || show(v) != "true" {
		t.Errorf("errors made at two places: %s %v", show(v), err)
	}
}

// A fatal error in a function that library code calls has the user's place.
func TestFatalPlace(t *testing.T) {
	src := "(core/list::map '(1 2) (fn (x) (nope x)))"
	_, _, err := eval(src, kernel.Limits{})
	f, ok := errors.AsType[*guest.Fatal](err)
	if !ok || src[f.Span.Off:f.Span.End] != "nope" {
		t.Errorf("%v", err)
	}
}

// Every error that natives and primitives make has its text, fixed per code.
//
// spec: LANG-ERR-2
func TestErrorTexts(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range readCases(t) {
		v, _, err := eval(c.src, c.limits)
		if err != nil {
			continue
		}
		payload, isError := kernel.IsError(v)
		m, isMap := payload.AsMap()
		if !isError || !isMap {
			continue
		}
		code, _ := m.Get(coreform.Sym(":error/code"))
		message, _ := m.Get(coreform.Sym(":error/message"))
		s, _ := code.AsStr()
		if !strings.HasPrefix(s, "core/") || strings.HasPrefix(c.src, "(core/list::type-error") {
			continue
		}
		seen[s] = true
		if text, _ := message.AsStr(); text == "" || text != kernel.ErrorText(s) {
			t.Errorf("%s: %s has the text %q", c.at, s, text)
		}
	}
	for _, code := range kernel.ErrorCodes() {
		if !seen[code] && code != "core/parse/size" && code != "core/resource-exhausted" {
			t.Errorf("no case gives %s", code)
		}
	}
}

// One library serves programs that run at the same time.
func TestLibraryIsShared(t *testing.T) {
	lib := prelude.NewLibrary() // nothing of it is compiled yet
	done := make(chan error)
	for range 8 {
		go func() {
			p, err := kernel.Load("t.gc", []byte(`(core/list::foldl '(1 2 3) 0 core/int::add)`), lib, kernel.Limits{})
			if err == nil {
				_, err = p.Eval(context.Background())
			}
			done <- err
		}()
	}
	for range 8 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// The specification has a row for every primitive, the library's page has every
// name (TestLibraryPage), and the limits it gives are those of the code.
func TestSpecificationIsComplete(t *testing.T) {
	read := func(name string) string {
		data, err := os.ReadFile(filepath.Join(testkit.Root(t), "spec", name))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	text := read("language.md") + read("library.md")
	for _, name := range append(kernel.PrimitiveNames(), prelude.Library().Names()...) {
		if !strings.Contains(text, "`"+name+"`") {
			t.Errorf("neither spec/language.md nor spec/library.md says anything of %s", name)
		}
	}
	limits := strings.ReplaceAll(read("limits.md"), "\u00a0", " ")
	for _, name := range kernel.LimitNames() {
		flag := "--" + strings.ReplaceAll(name, "_", "-")
		if !strings.Contains(limits, "| `"+flag+"`, `"+name+"` |") {
			t.Errorf("spec/limits.md has no row for %s", name)
		}
	}
	for _, n := range []int64{kernel.DefaultSteps, kernel.DefaultLiveUnits, coreform.DefaultDepth, coreform.MaximumDepth, coreform.DefaultTerms, coreform.DefaultDigits} {
		if !strings.Contains(limits, grouped(n)) {
			t.Errorf("spec/limits.md does not give %s", grouped(n))
		}
	}
}

// grouped writes a number with a space every three digits.
func grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + " " + s[i:]
	}
	return s
}
