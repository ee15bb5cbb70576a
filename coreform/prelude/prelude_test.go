package prelude_test

import (
	"context"
	"testing"

	"github.com/gcrun/gcrun/coreform/kernel"
	"github.com/gcrun/gcrun/coreform/prelude"
)

func loadWith(src string, limits kernel.Limits) (*kernel.Program, error) {
	return kernel.Load("t.gc", []byte(src), prelude.Library(), limits)
}

func eval(src string, limits kernel.Limits) (kernel.Value, *kernel.Program, error) {
	p, err := loadWith(src, limits)
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
