package prelude_test

import (
	"context"
	"errors"
	"runtime"
	"testing"

	"github.com/gcrun/gcrun/coreform/kernel"
	"github.com/gcrun/gcrun/coreform/prelude"
	"github.com/gcrun/gcrun/effects/guest"
)

// Case CF-11: few steps, huge memory. The limit is hit before the memory is
// taken, after the same number of steps each time.
// spec: LIM-MEM-2
func TestCF11(t *testing.T) {
	for name, src := range map[string]string{
		"30 doublings": `(def double (fn (n s) (if (core/int::eq? n 0) s (double (core/int::sub n 1) (core/str::concat s s)))))
			(core/str::len (double 30 "x"))`,
		"repeat": `(core/str::repeat "x" 1000000000)`,
	} {
		var steps int64
		for range 3 {
			p, err := kernel.Load("t.gc", []byte(src), prelude.Library(), kernel.Limits{LiveUnits: 4 << 20}) // 64 MiB
			if err != nil {
				t.Fatal(err)
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err = p.Eval(context.Background())
			runtime.ReadMemStats(&after)
			var f *guest.Fatal
			if !errors.As(err, &f) || f.Limit == nil || f.Limit.Dimension != "live-units" {
				t.Fatalf("%s: %v", name, err)
			}
			if got := after.TotalAlloc - before.TotalAlloc; got > 256<<20 {
				t.Errorf("%s: %d MiB were allocated under a limit of 64 MiB", name, got>>20)
			}
			if used := p.Usage().Steps; steps == 0 {
				steps = used
			} else if used != steps {
				t.Errorf("%s: %d steps, then %d", name, steps, used)
			}
		}
	}
}
