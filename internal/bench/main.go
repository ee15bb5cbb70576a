// Command bench compares gcrun's evaluator with go.starlark.net on the same work
// in one process: alternating runs, medians of ten, ratios. It is a module of its
// own, so that the peer is no dependency of gcrun. `make bench-vs` runs it; no
// test depends on what it prints.
package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"time"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/coreform/kernel"
	"github.com/gcrun/gcrun/coreform/prelude"
)

const runs = 10

// work is one row: the same algorithm in both languages. Both programs give the
// same value, which is compared, so that neither does less.
type work struct {
	name     string
	bar      float64 // the ratio that is wanted
	gcrun    string
	starlark string
	want     string
}

var table = []work{
	{"fib(25)", 0.8, `
(def fib (fn (n) (if (core/int::lt? n 2) n (core/int::add (fib (core/int::sub n 1)) (fib (core/int::sub n 2))))))
(fib 25)`, `
def fib(n):
    if n < 2:
        return n
    return fib(n - 1) + fib(n - 2)
value = fib(25)
`, "75025"},
	{"1 000 000 additions", 0.8, `
(def loop (fn (n sum) (if (core/int::eq? n 0) sum (loop (core/int::sub n 1) (core/int::add sum n)))))
(def rounds (fn (k sum) (if (core/int::eq? k 0) sum (rounds (core/int::sub k 1) (core/int::add sum (loop 1000 0))))))
(rounds 1000 0)`, `
def loop(n):
    sum = 0
    while n != 0:
        sum = sum + n
        n = n - 1
    return sum
def rounds(k):
    sum = 0
    while k != 0:
        sum = sum + loop(1000)
        k = k - 1
    return sum
value = rounds(1000)
`, "500500000"},
	{"100 000-entry map, sum of values", 2.5, `
(def build (fn (i m) (if (core/int::eq? i 100000) m (build (core/int::add i 1) (core/map::put m i i)))))
(def total (fn (es i sum) (if (core/int::eq? i 100000) sum (total es (core/int::add i 1) (core/int::add sum (core/vec::get (core/vec::get es i) 1))))))
(total (core/map::entries (build 0 {})) 0 0)`, `
def build():
    m = {}
    for i in range(100000):
        m[i] = i
    return m
def total(m):
    sum = 0
    for k, v in m.items():
        sum = sum + v
    return sum
value = total(build())
`, "4999950000"},
	{"join of 100 000 strings", 1.0, `
(def build (fn (i v) (if (core/int::eq? i 0) v (build (core/int::sub i 1) (core/vec::push v "word")))))
(def parts (build 100000 []))
(def again (fn (k n) (if (core/int::eq? k 0) n (again (core/int::sub k 1) (core/int::add n (core/str::len (core/str::join parts ",")))))))
(again 100 0)`, `
parts = []
def build():
    for i in range(100000):
        parts.append("word")
build()
def again():
    n = 0
    for k in range(100):
        n = n + len(",".join(parts))
    return n
value = again()
`, "49999900"},
	{"100 000 concatenations of one character", 0.1, `
(def f (fn (s n) (if (core/int::eq? n 0) (core/str::len (core/str::nfc s)) (f (core/str::concat s "x") (core/int::sub n 1)))))
(f "" 100000)`, `
def f():
    s = ""
    for i in range(100000):
        s = s + "x"
    return len(s)
value = f()
`, "100000"},
}

func main() {
	if err := compare(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func compare() error {
	debug.SetGCPercent(200) // as the command does; for both
	fmt.Printf("%s %s/%s, %d CPUs, medians of %d\n\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runs)
	fmt.Printf("| %-40s | %10s | %10s | %6s | %5s |\n|---|---|---|---|---|\n", "work", "gcrun", "starlark", "ratio", "bar")
	for _, w := range table {
		var ours, theirs []time.Duration
		for range runs {
			for _, side := range []struct {
				run   func(string) (string, time.Duration, error)
				src   string
				times *[]time.Duration
			}{{runGcrun, w.gcrun, &ours}, {runStarlark, w.starlark, &theirs}} {
				runtime.GC()
				got, took, err := side.run(side.src)
				if err != nil {
					return fmt.Errorf("%s: %w", w.name, err)
				}
				if got != w.want {
					return fmt.Errorf("%s: %s, want %s", w.name, got, w.want)
				}
				*side.times = append(*side.times, took)
			}
		}
		a, b := median(ours), median(theirs)
		fmt.Printf("| %-40s | %10s | %10s | %6.2f | %5.2f |\n", w.name, a.Round(10*time.Microsecond), b.Round(10*time.Microsecond), float64(a)/float64(b), w.bar)
	}
	return alone()
}

// alone prints the rows that have no peer: reading the library's own source over
// and over, and a process that evaluates an empty module.
func alone() error {
	one, err := os.ReadFile("../../coreform/prelude/core.gc")
	if err != nil {
		return err
	}
	text := bytes.Repeat(one, 1+2_000_000/len(one))
	var times []time.Duration
	for range runs {
		start := time.Now()
		nodes, err := coreform.ReadModule(text, coreform.Limits{})
		if err == nil {
			_, err = coreform.CanonicalizeModule(nodes, coreform.Limits{})
		}
		if err != nil {
			return err
		}
		times = append(times, time.Since(start))
	}
	speed := float64(len(text)) / 1e6 / median(times).Seconds()
	fmt.Printf("\nread and canonicalize source: %.0f MB/s (bar 30)\n", speed)
	return process()
}

func process() error {
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	empty, bin := filepath.Join(dir, "empty.gc"), filepath.Join(dir, "gcrun")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		return err
	}
	build := exec.Command("go", "build", "-o", bin, "./cmd/gcrun")
	build.Dir, build.Stderr = "../..", os.Stderr
	if err := build.Run(); err != nil {
		return err
	}
	var times []time.Duration
	for range runs {
		start := time.Now()
		if err := exec.Command(bin, "eval", empty).Run(); err != nil {
			return err
		}
		times = append(times, time.Since(start))
	}
	fmt.Printf("gcrun eval of an empty module, whole process: %.1f ms (bar 15)\n", float64(median(times).Microseconds())/1000)
	return nil
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return (d[len(d)/2] + d[(len(d)-1)/2]) / 2
}

func runGcrun(src string) (string, time.Duration, error) {
	start := time.Now()
	p, err := kernel.Load("bench.gc", []byte(src), prelude.Library(), kernel.Limits{})
	if err != nil {
		return "", 0, err
	}
	v, err := p.Eval(context.Background())
	return v.IntText(), time.Since(start), err
}

func runStarlark(src string) (string, time.Duration, error) {
	start := time.Now()
	thread := &starlark.Thread{Name: "bench"}
	globals, err := starlark.ExecFileOptions(&syntax.FileOptions{Recursion: true, While: true, TopLevelControl: true}, thread, "bench.star", src, nil)
	if err != nil {
		return "", 0, err
	}
	return globals["value"].String(), time.Since(start), nil
}
