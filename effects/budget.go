package effects

import (
	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/effects/guest"
	"github.com/gcrun/gcrun/effects/ops"
)

// budget counts what a whole run may use. A budget that is exhausted stops the
// run before anything more is performed. (spec EFF-BUDGET-1)
type budget struct {
	limits                   map[string]int64
	ops, payloads, responses int64
}

func newBudget(limits map[string]int64) *budget { return &budget{limits: limits} }

// spend adds to a counter and reports the end of the run if that is too much.
func (b *budget) spend(counter *int64, n int64, name, dimension string) error {
	*counter += n
	limit, bounded := b.limits[name]
	if !bounded || *counter <= limit {
		return nil
	}
	return &guest.Fatal{
		Code:    "core/limit/" + dimension,
		Message: "the run has used up its budget of " + budgetNoun[dimension],
		Hint:    "raise " + name + " under [runtime] in the policy, or ask for less",
		Limit:   &guest.Limit{Dimension: dimension, Observed: *counter, Limit: limit},
	}
}

var budgetNoun = map[string]string{
	"effect-ops": "operations", "payload-bytes": "payload bytes", "response-bytes": "response bytes",
}

func (b *budget) request(req *guest.Request) error {
	if err := b.spend(&b.ops, 1, "max_effect_ops", "effect-ops"); err != nil {
		return place(err, req)
	}
	op, _ := ops.Lookup(req.Op)
	size := ops.PayloadBytes(op, req.Payload)
	return place(b.spend(&b.payloads, size, "max_payload_bytes_per_run", "payload-bytes"), req)
}

func place(err error, req *guest.Request) error {
	if f, ok := err.(*guest.Fatal); ok {
		f.Span = req.Span
	}
	return err
}

func (b *budget) response(r guest.Response) error {
	return b.spend(&b.responses, ResponseBytes(r.Value), "max_response_bytes_per_run", "response-bytes")
}

// ResponseBytes is the size of a response against the budgets: the raw length
// of a bytes value, else the bytes of the canonical text.
func ResponseBytes(v coreform.Value) int64 {
	if b, ok := v.AsBytes(); ok {
		return b.Len()
	}
	var n counter
	if err := coreform.WriteTerm(&n, v); err != nil {
		return int64(n) // what has no text is refused elsewhere
	}
	return int64(n)
}

// counter is a writer that only counts.
type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}
