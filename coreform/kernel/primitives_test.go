package kernel_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/gcrun/gcrun/coreform/kernel"
)

// A run whose context is done ends soon, whatever the program does.
func TestInterrupt(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	for _, src := range []string{
		"(def f (fn (x) (f x))) (f 1)",
		"(def f (fn (p) (core/effect::bind (core/effect::pure p) f))) (f 1)",
	} {
		p := load(t, src, kernel.Limits{Steps: -1, LiveUnits: -1})
		if _, err := p.Eval(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", src, err)
		}
	}
}
