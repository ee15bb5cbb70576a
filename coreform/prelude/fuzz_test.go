package prelude_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/coreform/kernel"
	"github.com/gcrun/gcrun/effects/guest"
)

// denied runs a program that is refused everything and describes all that can
// be observed of it.
func denied(src []byte, lim kernel.Limits) string {
	p, err := loadWith(string(src), lim)
	if err != nil {
		return "refused: " + err.Error()
	}
	out := p.Info().Hash.String()
	var answer *guest.Response
	for range 50 {
		s, err := p.Step(context.Background(), 0, answer)
		if err != nil {
			return out + fmt.Sprint(" ", err, p.Usage())
		}
		if s.Done != nil {
			return out + fmt.Sprint(" ", s.Done.Digest, coreform.FormatLossy(s.Done.Value, 1000), p.Usage())
		}
		out += fmt.Sprint(" ", s.Request.Op, s.Request.ContHash, coreform.StateHash(s.Request.Payload))
		answer = &guest.Response{Kind: guest.RespError, Value: kernel.ErrorPayload("core/caps/denied", coreform.Value{})}
	}
	return out
}

// Whatever a source says, it does not crash the machine, and a second run with
// the same answers is the same in value, steps, units and hashes.
//
// spec: LANG-EVAL-6
func FuzzPrograms(f *testing.F) {
	for _, c := range readCases(f) {
		f.Add([]byte(c.src))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		lim := kernel.Limits{Steps: 200_000, LiveUnits: 1 << 18, AllocUnits: 1 << 22}
		if a, b := denied(src, lim), denied(src, lim); a != b {
			t.Errorf("two runs differ:\n%s\n%s", a, b)
		}
	})
}
