package fspolicy

import (
	"errors"
	"os"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// twinNames are few, so that random operations meet; one is only reachable by
// its form C, one is a link's name, one is protected.
var twinNames = []string{"a", "b", "\u00e9", "K", "l", "log", "a/b", "a/\u00e9", "b/a", "l/a", "a/b/K", "m/x", "."}

// twinStep is one operation; its error and answer are compared.
type twinStep struct {
	Call int
	A, B string
	Over bool
}

func (s twinStep) run(t testing.TB, f FS) (answer any, err error) {
	a, b := mustPath(t, s.A), mustPath(t, s.B)
	switch s.Call {
	case 0:
		return read(t, f, s.A)
	case 1:
		return nil, f.Write(bg, a, strings.NewReader(s.B), WriteMode(len(s.B)%3))
	case 2:
		return nil, f.Append(bg, a, strings.NewReader(s.B))
	case 3:
		return f.Stat(bg, a)
	case 4:
		return f.List(bg, a, ListOptions{Recursive: s.Over})
	case 5:
		return nil, f.Mkdir(bg, a, s.Over)
	case 6:
		return nil, f.Remove(bg, a, s.Over)
	case 7:
		return nil, f.Rename(bg, a, b, s.Over)
	}
	return nil, f.Copy(bg, a, b, s.Over)
}

const twinCalls = 9

// Whatever a program does, it cannot tell the implementations apart.
// spec: PATH-3 PATH-6 PATH-13
func TestTwins(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		onDisk, inMemory := newRootRig(t), newMemoryRig(t)
		defer os.RemoveAll(onDisk.base)
		for _, r := range []rig{onDisk, inMemory} {
			r.addDir("a", 0o755)
			r.addFile("e\u0301", "decomposed", 0o644)
			r.addFile("\u212a", "kelvin", 0o600)
			r.addSymlink("a", "l")
			r.addSymlink("a/../../out", "m")
			r.addSymlink("../\u0065\u0301", "a/b")
			r.addFile("log", "log", 0o600)
			r.protect("log", Hidden)
		}
		for range rapid.IntRange(1, 15).Draw(rt, "steps") {
			s := twinStep{
				Call: rapid.IntRange(0, twinCalls-1).Draw(rt, "call"),
				A:    rapid.SampledFrom(twinNames).Draw(rt, "a"),
				B:    rapid.SampledFrom(twinNames).Draw(rt, "b"),
				Over: rapid.Bool().Draw(rt, "over"),
			}
			want, wantErr := s.run(t, inMemory.fs())
			got, gotErr := s.run(t, onDisk.fs())
			if !reflect.DeepEqual(gotErr, wantErr) || gotErr == nil && !reflect.DeepEqual(got, want) {
				rt.Fatalf("%+v: the host gives %v, %v, memory %v, %v", s, got, gotErr, want, wantErr)
			}
			if g, w := onDisk.hostNames("."), inMemory.hostNames("."); !reflect.DeepEqual(g, w) {
				rt.Fatalf("%+v: the host holds %q, memory %q", s, g, w)
			}
		}
		if onDisk.content("log") != "log" || inMemory.content("log") != "log" {
			rt.Fatal("the log was changed")
		}
	})
}

// No operation keeps a descriptor, whatever it ends in.
func TestDescriptorsAreReleased(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("counts /proc/self/fd")
	}
	count := func() int {
		names, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(names)
	}
	r := newRootRig(t)
	picture(r)
	r.addDir("dir/sub", 0o755)
	before := count()
	for _, row := range table {
		for _, c := range calls {
			if err := c.do(t, r.fs(), row.path); err != nil {
				var e *Error
				if !errors.As(err, &e) {
					t.Fatal(err)
				}
			}
		}
	}
	if after := count(); after != before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}
