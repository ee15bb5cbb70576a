package prelude_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/coreform/kernel"
	"github.com/gcrun/gcrun/effects/guest"
	"github.com/gcrun/gcrun/internal/digest"
)

// pureOrder is set in the processes TestEvaluationIsPure starts: the seed of the
// order in which they evaluate.
const pureOrder = "GCRUN_TEST_PURE_ORDER"

// pureProgram is what such a process is given to evaluate, as JSON.
type pureProgram struct {
	At     string
	Src    string
	Limits kernel.Limits
}

// heavier programs for the same test, beside the cases of testdata/language.
var heavier = map[string]string{
	"merge sort": `
		(def random (fn (n seed l) (if (core/int::eq? n 0) l (random (core/int::sub n 1) (core/int::mod (core/int::add (core/int::mul seed 1103515245) 12345) 2147483648) (core/list::cons seed l)))))
		(def split (fn (l a b) (if (core/list::is-nil? l) (core/list::cons a b) (split (core/list::cdr l) b (core/list::cons (core/list::car l) a)))))
		(def merge (fn (a b acc) (if (core/list::is-nil? a) (core/list::reverse2 acc b) (if (core/list::is-nil? b) (core/list::reverse2 acc a)
			(if (core/int::lt? (core/list::car b) (core/list::car a)) (merge a (core/list::cdr b) (core/list::cons (core/list::car b) acc)) (merge (core/list::cdr a) b (core/list::cons (core/list::car a) acc)))))))
		(def sort (fn (l) (if (core/list::is-nil? l) l (if (core/list::is-nil? (core/list::cdr l)) l
			(let ((halves (split l nil nil))) (merge (sort (core/pair::car halves)) (sort (core/pair::cdr halves)) nil))))))
		(sort (random 600 42 nil))`,
	"map of 5 000 keys": `
		(def fill (fn (m n) (if (core/int::eq? n 0) m (fill (core/map::put m (core/str::concat "key " (core/int::to-str (core/int::mod (core/int::mul n 7919) 5003))) n) (core/int::sub n 1)))))
		(def m (fill {} 5000))
		{:again (core/eq? m (core/map::from-entries (core/map::entries m))) :len (core/map::len m) :merged (core/map::len (core/map::merge m (fill {"x" 1} 10))) :m m}`,
	"contracts": `
		(def counter (fn (n) (core/contract::extend core/contract::genesis {get (fn (m) n) add (fn (m) (counter (core/int::add n (core/msg::payload m))))} {:n n})))
		(def times (fn (c k) (if (core/int::eq? k 0) c (times (core/contract::call c 'add k) (core/int::sub k 1)))))
		(def chain (fn (c k) (if (core/int::eq? k 0) c (chain (core/contract::extend c {} {:k k}) (core/int::sub k 1)))))
		{:c (times (counter 0) 50) :explain (core/contract::explain (chain (times (counter 0) 50) 20) (core/msg::make 'get nil)) :shape (core/contract::shape (chain (counter 1) 20))
		 :same (core/eq? (chain (counter 1) 20) (chain (counter 1) 20))}`,
	"requests": `
		(def loop (fn (n seen) (if (core/int::eq? n 0) (core/effect::pure seen)
			(core/effect::bind (core/effect::ask 'a/b {:n n}) (fn (r) (loop (core/int::sub n 1) (core/map::put seen n r)))))))
		(core/effect::bind (loop 30 {}) (fn (m) (core/effect::then (core/effect::catch (core/effect::ask 'a/c m) (fn (e) e)) (core/effect::pure (core/vec::push [] m)))))`,
	"decimals": `
		(def sum (fn (n d) (if (core/int::eq? n 0) d (sum (core/int::sub n 1) (prim dec/add (prim dec/mul d (prim dec/parse "1.0001")) (prim dec/parse (core/str::concat "0.00" (core/int::to-str n))))))))
		(prim dec/to-str (sum 100 (prim dec/from-int 1)))`,
	"seals": `
		(def seals (fn (n v) (if (core/int::eq? n 0) v (seals (core/int::sub n 1) (core/vec::push v (seal n (seal)))))))
		(def t (seal)) (def v (seals 100 []))
		{:eq (core/eq? v (seals 100 [])) :t t :v v}`,
	"big integers":  `(def fact (fn (n) (if (core/int::eq? n 0) 1 (core/int::mul n (fact (core/int::sub n 1)))))) (core/int::div (fact 400) (fact 300))`,
	"deep":          `(def f (fn (n) (if (core/int::eq? n 0) 0 (core/int::add 1 (f (core/int::sub n 1)))))) (f 20000)`,
	"growing":       `(def f (fn (m i) (f (core/map::put m i (core/str::repeat "x" i)) (core/int::add i 1)))) (f {} 0)`,
	"growing calls": `(def f (fn (x) (core/vec::push (f (core/int::add x 1)) x))) (f 0)`,
	"text": `(core/coreform::print-term {:hash (core/coreform::hash-module-src "(def f (fn (x y) {:k [x y] \"a\" b\"\\xFF\"})) (f 1 2)")
			:parts (core/str::join (core/vec::push (core/vec::push [] (core/str::grapheme-slice (core/str::repeat "🇩🇪e\u0301" 500) 500 3)) (core/str::nfc (core/str::repeat "e\u0301" 500))) "|")})`,
	"functions": `(def a (fn (x) (b x))) (def b (fn (x) (a x))) (def c (fn (x y z) (a y))) {:c (c 1 {:k 2}) :f a :g core/int::add :h (core/int::add 1) :p (core/effect::bind (core/effect::perform 'a/b 1 a) (c 1))}`,
}

// pureLine is the line of the program with number i.
func pureLine(i int, p pureProgram) string {
	seen := observe(p)
	return fmt.Sprintf("case %d %s: %.600q %v\n", i, p.At, seen, digest.Sum([]byte(seen)))
}

// observe runs a program and tells all that can be observed of it.
func observe(p pureProgram) string {
	var out strings.Builder
	prog, err := loadWith(p.Src, p.Limits)
	if err != nil {
		return fmt.Sprintf("%T %+v", err, err)
	}
	fmt.Fprint(&out, "program ", prog.Info().Hash)
	var answer *guest.Response
	for n := range 100 {
		s, err := prog.Step(context.Background(), 0, answer)
		fmt.Fprintf(&out, " usage %+v", prog.Usage())
		if f, ok := errors.AsType[*guest.Fatal](err); ok {
			limit := guest.Limit{}
			if f.Limit != nil {
				limit = *f.Limit
			}
			fmt.Fprintf(&out, " fatal %s %q %q %v %v %v", f.Code, f.Message, f.Hint, f.Span, f.Stack, limit)
			return out.String()
		}
		if err != nil {
			fmt.Fprintf(&out, " failed %v", err)
			return out.String()
		}
		if d := s.Done; d != nil {
			fmt.Fprintf(&out, " done %v %v error %v %v %v %s", d.Digest, coreform.StateHash(d.Value), d.IsError,
				coreform.StateHash(d.Payload), d.Span, coreform.FormatLossy(d.Value, 1<<16))
			return out.String()
		}
		r := s.Request
		fmt.Fprintf(&out, " asks %s %v %v %v", r.Op, coreform.StateHash(r.Payload), r.ContHash, r.Span)
		answer = &guest.Response{Value: r.Payload}
		if n%3 == 2 {
			answer = &guest.Response{Kind: guest.RespError, Value: kernel.ErrorPayload("core/caps/denied", coreform.Value{})}
		}
	}
	return out.String()
}

// evaluatePure is the part of the process that TestEvaluationIsPure starts: it
// reads programs and writes a line for each. Programs are evaluated in an order
// of its own, by as many goroutines as there are processors.
func evaluatePure(t *testing.T, order string) {
	var programs []pureProgram
	if err := json.NewDecoder(os.Stdin).Decode(&programs); err != nil {
		t.Fatal(err)
	}
	seed, err := strconv.ParseUint(order, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	lines := make([]string, len(programs))
	todo := make(chan int, len(programs))
	for _, i := range rand.New(rand.NewPCG(seed, 0)).Perm(len(programs)) {
		todo <- i
	}
	close(todo)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := range todo {
				lines[i] = pureLine(i, programs[i])
			}
		})
	}
	workers.Wait()
	os.Stdout.WriteString(strings.Join(lines, ""))
}

// surroundings are what a process can be started in; the lists have lengths
// without common divisors, so that all kinds of combinations occur.
var surroundings = []struct {
	name   string
	values []string
}{
	{"GOGC", []string{"100", "off", "1", "10", "400"}},
	{"GOMAXPROCS", []string{"1", "2", "4"}},
	{"TZ", []string{"", "UTC", "Asia/Kathmandu", "America/St_Johns", "Pacific/Kiritimati", "nonsense", ":/dev/null"}},
	{"LANG", []string{"C", "de_DE.UTF-8", "tr_TR.UTF-8", "ja_JP.eucJP", "", "POSIX", "fr_FR", "ar_EG.UTF-8"}},
	{"LC_ALL", []string{"", "tr_TR.UTF-8", "C", "hi_IN.UTF-8", "de_CH", "C.UTF-8", "xx", "sv_SE", "lt_LT", "az_AZ", "en_US"}},
	{"HOME", []string{"", ".", "/nonexistent"}},
}

// inSurroundings evaluates programs in a process of its own and returns its lines.
func inSurroundings(run int, dir string, programs []pureProgram) (lines []string, described string, err error) {
	input, err := json.Marshal(programs)
	if err != nil {
		return nil, "", err
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestEvaluationIsPure$")
	cmd.Dir, cmd.Stdin = dir, bytes.NewReader(input)
	cmd.Env = []string{pureOrder + "=" + strconv.Itoa(run), "GOMEMLIMIT=1GiB"}
	for _, s := range surroundings {
		cmd.Env = append(cmd.Env, s.name+"="+s.values[run%len(s.values)])
	}
	described = fmt.Sprint(cmd.Env[2:], " in ", filepath.Base(dir))
	out, err := cmd.Output()
	if err != nil {
		return nil, described, fmt.Errorf("%w: %s", err, out)
	}
	for line := range strings.Lines(string(out)) {
		if strings.HasPrefix(line, "case ") {
			lines = append(lines, line)
		}
	}
	if len(lines) != len(programs) {
		return nil, described, fmt.Errorf("%d lines for %d programs", len(lines), len(programs))
	}
	return lines, described, nil
}

// differences returns the lines that are not equal, at most ten pairs.
func differences(want, got []string) (pairs []string) {
	for i := range want {
		if len(pairs) < 10 && want[i] != got[i] {
			pairs = append(pairs, want[i]+got[i])
		}
	}
	return pairs
}

// pureCorpus returns what is evaluated, and how much of it in every process: the
// rest takes much memory, and is left to every tenth.
func pureCorpus(t *testing.T) (programs []pureProgram, light int) {
	var heavy []pureProgram
	add := func(p pureProgram) {
		if _, prog, err := eval(p.Src, p.Limits); err == nil && prog.Usage().AllocUnits > 2<<20 {
			heavy = append(heavy, p)
		} else {
			programs = append(programs, p)
		}
	}
	for _, c := range readCases(t) {
		add(pureProgram{c.at, c.src, c.limits})
	}
	for _, name := range slices.Sorted(maps.Keys(heavier)) {
		limits := kernel.Limits{}
		if strings.HasPrefix(name, "growing") {
			limits.LiveUnits = 1 << 16
		}
		add(pureProgram{name, heavier[name], limits})
	}
	return append(programs, heavy...), len(programs)
}

// Evaluation is a pure function: in 100 processes that differ in all that a
// process is given, everything that can be observed of every case is the same as
// in this one, whatever was evaluated before and at the same time.
//
// spec: LANG-EVAL-1
func TestEvaluationIsPure(t *testing.T) {
	if order, ok := os.LookupEnv(pureOrder); ok {
		evaluatePure(t, order)
		return
	}
	if testing.Short() {
		t.Skip("takes seconds")
	}
	runs := 100
	if raceDetector {
		runs = 10
	}
	programs, light := pureCorpus(t)
	want := make([]string, len(programs))
	for i, p := range programs {
		want[i] = pureLine(i, p)
	}
	dirs := []string{t.TempDir(), t.TempDir(), os.TempDir(), string(filepath.Separator)}
	problems := make([][]string, runs)
	slots := make(chan struct{}, max(1, runtime.NumCPU()))
	var wait sync.WaitGroup
	for run := range runs {
		wait.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			n := light
			if run%10 == 0 {
				n = len(programs)
			}
			got, described, err := inSurroundings(run, dirs[run%len(dirs)], programs[:n])
			if err != nil {
				problems[run] = []string{described + ": " + err.Error()}
				return
			}
			for _, pair := range differences(want[:n], got) {
				problems[run] = append(problems[run], described+" makes a difference:\n"+pair)
			}
		})
	}
	wait.Wait()
	for _, found := range problems {
		for _, problem := range found {
			t.Error(problem)
		}
	}

	// A program that is another one is noticed and named.
	changed := slices.Clone(programs[:light])
	changed[7].Src = "(begin " + changed[7].Src + ")"
	got, _, err := inSurroundings(0, dirs[0], changed)
	if err != nil {
		t.Fatal(err)
	}
	pairs := differences(want[:light], got)
	if len(pairs) != 1 || !strings.HasPrefix(pairs[0], "case 7 "+programs[7].At+": ") {
		t.Errorf("a changed program gave %q", pairs)
	}
}
