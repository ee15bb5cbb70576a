package prelude_test

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/coreform/kernel"
	"github.com/gcrun/gcrun/effects/guest"
)

// million is how deep the values and sources of these tests are.
const million = 1_000_000

// stackRoom is the host stack these tests have: far less than one that recurses
// on what is a million deep would need, however small its frames.
const stackRoom = 16 << 20

// bounded runs f, which must do with stackRoom, and allocate no more than mib MiB
// in all. How long it takes is logged; only what takes an absurd time fails.
func bounded(t *testing.T, name string, mib uint64, f func()) {
	t.Helper()
	defer debug.SetMaxStack(debug.SetMaxStack(stackRoom))
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	start := time.Now()
	f()
	took := time.Since(start)
	runtime.ReadMemStats(&after)
	allocated, heap := (after.TotalAlloc-before.TotalAlloc)>>20, after.HeapSys>>20
	t.Logf("%s: %d MiB allocated, heap of %d MiB, %v", name, allocated, heap, took.Round(time.Millisecond))
	if allocated > mib && !raceDetector {
		t.Errorf("%s: %d MiB were allocated, allowed are %d", name, allocated, mib)
	}
	if took > 2*time.Minute {
		t.Errorf("%s: took %v", name, took)
	}
}

// wrapped is n times open, then middle, then n times closing.
func wrapped(open, middle, closing string, n int) string {
	return strings.Repeat(open, n) + middle + strings.Repeat(closing, n)
}

// calls are calls of 600 arguments nested 100 deep, the inner one as the first or
// as the last argument.
func calls(inFirst bool) string {
	src := "x"
	for range 100 {
		args := slices.Repeat([]string{"x"}, 600)
		if inFirst {
			args[0] = src
		} else {
			args[599] = src
		}
		src = "(f " + strings.Join(args, " ") + ")"
	}
	return src
}

// deepSources are sources without end or sense, each with the codes that loading
// it may give; "" stands for a source that is taken.
func deepSources() map[string]struct{ src, code string } {
	const unexpected, eof, depth = "core/parse/unexpected", "core/parse/eof", "core/parse/depth"
	const reduced = "core/resource-exhausted" // too deep after reduction
	type source = struct{ src, code string }
	return map[string]source{
		"quotes":                  {strings.Repeat("'", million) + "x", depth},
		"only quotes":             {strings.Repeat("'", million), depth},
		"quotes, few":             {strings.Repeat("'", 900) + "x", ""},
		"only quotes, few":        {strings.Repeat("'", 900), eof},
		"lists":                   {wrapped("(", "", ")", million), depth},
		"open lists":              {strings.Repeat("(", million), depth},
		"open lists, few":         {strings.Repeat("(", 900), unexpected},
		"closing only":            {strings.Repeat(")", million), unexpected},
		"quoted lists":            {"'" + wrapped("(", "", ")", million), depth},
		"lists in second place":   {"'" + wrapped("(x ", "", ")", million), depth},
		"vectors":                 {wrapped("[", "", "]", million), depth},
		"open vectors":            {strings.Repeat("[", million), depth},
		"quoted vectors":          {"'" + wrapped("[", "", "]", million), depth},
		"maps in values":          {wrapped("{1 ", "2", "}", million), depth},
		"maps in keys":            {wrapped("{", "1", " 2}", million), depth},
		"open maps":               {strings.Repeat("{", million), depth},
		"quoted maps":             {"'" + wrapped("{1 ", "2", "}", million), depth},
		"mixed":                   {wrapped("([{1 '", "2", "}])", million/4), depth},
		"long quotes":             {wrapped("(quote ", "x", ")", million), depth},
		"begin":                   {wrapped("(begin ", "x", ")", million), depth},
		"fn":                      {wrapped("(fn (x) ", "x", ")", million), depth},
		"let":                     {wrapped("(let ((x ", "1", ")) x)", million), depth},
		"let in bodies":           {wrapped("(let ((x 1)) ", "x", ")", million), depth},
		"if":                      {wrapped("(if 1 ", "2", " 3)", million), depth},
		"prim":                    {wrapped("(prim int/add 1 ", "2", ")", million), depth},
		"heads":                   {wrapped("(", "f", " x)", million), depth},
		"seals":                   {wrapped("(seal ", "1", " t)", million), depth},
		"comments":                {strings.Repeat("; (\n", million), ""},
		"a call of many":          {"(f" + strings.Repeat(" x", million) + ")", reduced},
		"a function of many":      {"(fn (" + manyNames(million) + ") 1)", reduced},
		"600 arguments, in first": {calls(true), reduced},
		"600 arguments, in last":  {calls(false), ""},
		"a long list":             {"'(" + strings.Repeat("x ", million) + ")", ""},
		"a long vector":           {"[" + strings.Repeat("x ", million) + "]", ""},
		"a long begin":            {"(begin " + strings.Repeat("1 ", million) + ")", ""},
		"many forms":              {strings.Repeat("1 ", million), ""},
		"many quotes":             {"[" + strings.Repeat("'x ", million) + "]", ""},
	}
}

func manyNames(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "x%d ", i)
	}
	return b.String()
}

// inputCode is the code of an error that loading or reading gives; another error
// is a fault.
func inputCode(t *testing.T, err error) string {
	t.Helper()
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[*coreform.ReadError](err); ok {
		return e.Code()
	}
	if e, ok := errors.AsType[*coreform.CanonError](err); ok {
		return e.Code()
	}
	if e, ok := errors.AsType[*kernel.LoadError](err); ok {
		return e.Code
	}
	t.Errorf("%T: %v", err, err)
	return ""
}

// Source nested without bound is refused or taken, at the top and behind a
// quote, in bounded memory.
//
// spec: LIM-DEPTH-1, LANG-EVAL-6, CF-READ-8
func TestDeepSource(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for name, source := range deepSources() {
		mib := uint64(96)
		if source.code == "" || source.code == "core/resource-exhausted" {
			mib = 1536 // a million nodes with places, canonical form, code
		}
		bounded(t, name, mib, func() {
			_, _, err := eval(source.src, kernel.Limits{})
			if code := inputCode(t, errorOfInput(err)); code != source.code {
				t.Errorf("%s: %q (%v), want %q", name, code, err, source.code)
			}
		})
	}
}

// errorOfInput is err if it is about the source, and not about its evaluation.
func errorOfInput(err error) error {
	if _, ok := errors.AsType[*guest.Fatal](err); ok {
		return nil
	}
	return err
}

// With the largest depth that can be asked for it is the same.
//
// spec: CF-LIMIT-1
func TestDeepSourceAtTheLargestDepth(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	largest := coreform.Limits{MaxDepth: 1 << 30}
	for name, source := range deepSources() {
		bounded(t, name, 1500, func() {
			forms, err := coreform.ReadModule([]byte(source.src), largest)
			if err == nil {
				_, err = coreform.CanonicalizeModule(forms, largest)
			}
			if code := inputCode(t, err); code != source.code {
				t.Errorf("%s: %q, want %q", name, code, source.code)
			}
			if _, err := coreform.DecodeCanonical([]byte(source.src), largest); err == nil && source.code != "" {
				t.Errorf("%s: canonical", name)
			}
		})
	}
}

// The same texts inside the language: an error of the program, or a value.
//
// spec: LANG-NAT-1
func TestDeepTextInsideTheLanguage(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for open, closing := range map[string]string{"'": " ", "(": ")", "[": "]", "{1 ": "}", "(f ": ")", "(begin ": ")", "(fn (x) ": ")"} {
		text := fmt.Sprintf(`(def s (core/str::concat (core/str::concat (core/str::repeat %q 1000000) "1") (core/str::repeat %q 1000000)))`, open, closing)
		for _, native := range []string{"parse-term", "parse-module", "fmt-module", "hash-module-src"} {
			bounded(t, native+" "+open, 512, func() {
				v, _, err := eval(text+"(core/coreform::"+native+" s)", kernel.Limits{})
				got := show(v)
				if err != nil {
					got = failureText(err) // the charge for reading comes first
				}
				if got != "error core/parse/depth" && got != "limit live-units" {
					t.Errorf("%s of many %q: %.100s", native, open, got)
				}
			})
		}
	}
}

// What the defaults are meant to allow.
//
// spec: LANG-EVAL-3, LIM-STEP-1, LIM-MEM-1
func TestOrdinaryWorkFitsTheDefaults(t *testing.T) {
	if testing.Short() || raceDetector {
		t.Skip("takes seconds, and minutes under the race detector, which one goroutine does not need")
	}
	for name, c := range map[string]struct {
		src, want string
		mib       uint64
	}{
		"recursion a million deep": {`(def f (fn (n) (if (core/int::eq? n 0) 0 (core/int::add 1 (f (core/int::sub n 1)))))) (f 1000000)`, "1000000", 1024},
		"a map of a million entries": {`(def f (fn (m n) (if (core/int::eq? n 0) m (f (core/map::put m n n) (core/int::sub n 1)))))
			(let ((m (f {} 1000000))) [m])`, "[m]", 4096},
		"and what is in it": {`(def f (fn (m n) (if (core/int::eq? n 0) m (f (core/map::put m (core/int::mod (core/int::mul n 7919) 1000003) n) (core/int::sub n 1)))))
			(let ((m (f {} 1000000))) (core/int::add (core/map::len m) (core/map::get m 7919)))`, "1000001", 8192},
		"a text of 1 MiB in pieces": {`(def piece (core/str::repeat "x" 64)) (def f (fn (s n) (if (core/int::eq? n 0) s (f (core/str::concat s piece) (core/int::sub n 1)))))
			(core/str::len (f "" 16384))`, "1048576", 16384},
		"a text of 1 MiB one by one": {`(def f (fn (s n) (if (core/int::eq? n 0) s (f (core/str::concat s "x") (core/int::sub n 1)))))
			(core/str::len (core/str::nfc (f "" 1048576)))`, "1048576", 2048},
		"a text of 1 MiB by doubling": {`(def f (fn (s n) (if (core/int::eq? n 0) s (f (core/str::concat s s) (core/int::sub n 1)))))
			(core/str::len (f "x" 20))`, "1048576", 64},
		"fib(30)": {`(def fib (fn (n) (if (core/int::lt? n 2) n (core/int::add (fib (core/int::sub n 1)) (fib (core/int::sub n 2)))))) (fib 30)`, "832040", 512},
	} {
		bounded(t, name, c.mib, func() {
			v, p, err := eval(c.src, kernel.Limits{})
			if err != nil || show(v) != c.want {
				t.Errorf("%s: %.100s %v, want %s", name, show(v), err, c.want)
				return
			}
			t.Logf("%s: %+v", name, p.Usage())
		})
	}
}
