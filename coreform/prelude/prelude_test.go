package prelude_test

import (
	"context"
	"testing"

	"github.com/gcrun/gcrun/coreform/kernel"
	"github.com/gcrun/gcrun/coreform/prelude"
)

func load(t testing.TB, src string, limits kernel.Limits) *kernel.Program {
	t.Helper()
	p, err := kernel.Load("t.gc", []byte(src), prelude.Library(), limits)
	if err != nil {
		t.Fatalf("%s: %v", src, err)
	}
	return p
}

func eval(src string, limits kernel.Limits) (kernel.Value, *kernel.Program, error) {
	p, err := kernel.Load("t.gc", []byte(src), prelude.Library(), limits)
	if err != nil {
		return kernel.Value{}, nil, err
	}
	v, err := p.Eval(context.Background())
	return v, p, err
}

// Every definition of the library compiles and has no unbound name.
func TestLibraryCompiles(t *testing.T) {
	if err := prelude.Library().Check(); err != nil {
		t.Fatal(err)
	}
}

func BenchmarkNewLibrary(b *testing.B) {
	for b.Loop() {
		prelude.NewLibrary()
	}
}
