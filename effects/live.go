package effects

import (
	"context"
	"errors"
	"time"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/effects/guest"
	"github.com/gcrun/gcrun/effects/ops"
	"github.com/gcrun/gcrun/effects/policy"
)

// Intender is told of an act before it is performed, so that after a crash one
// can see which outcome is unknown. An error is a fault of the host.
type Intender interface {
	Intend(ask *Ask, class ops.Class) error
}

// Live answers from policy and handlers.
type Live struct {
	Policy   *policy.Policy // nil denies everything
	Handlers map[string]Handler
	Intents  Intender // nil: none are kept
	Blobs    BlobSink
	// PayloadMax and ResponseMax are the most bytes of one payload and one
	// response; 0 means no limit.
	PayloadMax, ResponseMax int64

	caps map[*policy.Grant]coreform.Value // made once, so that the log can tell them by identity
}

// capOf is the grant as it enters the log.
func (l *Live) capOf(g *policy.Grant) coreform.Value {
	v, ok := l.caps[g]
	if !ok {
		if l.caps == nil {
			l.caps = map[*policy.Grant]coreform.Value{}
		}
		v = g.Cap()
		l.caps[g] = v
	}
	return v
}

// Answer decides, checks and performs, in the order of spec EFF-ORDER-1.
func (l *Live) Answer(ctx context.Context, ask *Ask) (Answer, error) {
	name := ask.Req.Op
	d := l.Policy.Decide(name)
	if !d.Allow {
		return Answer{Reason: d.Reason, Response: Fail(ops.Denied(name))}, nil
	}
	ans := Answer{Allow: true, Cap: l.capOf(d.Grant), Log: LogMode(d.Grant.Log())}
	op, known := ops.Lookup(name)
	h := l.Handlers[name]
	if !known || h == nil {
		ans.Response = Fail(ops.UnknownOp(name))
		return ans, nil
	}
	max := l.responseMax(d.Grant)
	if refusal, ok := l.refuse(op, ask.Req.Payload, max); ok {
		ans.Response = Fail(refusal)
		return ans, nil
	}
	if l.Intents != nil {
		if err := l.Intents.Intend(ask, op.ClassOf(ask.Req.Payload)); err != nil {
			return Answer{}, &Failure{Op: name, Err: err}
		}
	}
	resp, err := l.perform(ctx, op, h, Call{Op: name, Payload: ask.Req.Payload, Grant: d.Grant, MaxBytes: max, Blobs: l.Blobs})
	if err != nil {
		return Answer{}, err
	}
	if resp.Kind == guest.RespOK && ResponseBytes(resp.Value) > max {
		resp = Fail(ops.ResourceLimit(name, "max_bytes", max, true))
	}
	ans.Response = resp
	return ans, nil
}

// responseMax is the effective response limit of a grant.
func (l *Live) responseMax(g *policy.Grant) int64 {
	max := l.ResponseMax
	if max == 0 {
		max = 1<<63 - 1
	}
	if g.MaxBytes() > 0 {
		max = g.MaxBytes()
	}
	return max
}

// refuse looks at what is known before anything is performed.
func (l *Live) refuse(op *ops.Op, payload coreform.Value, max int64) (coreform.Value, bool) {
	if f := ops.CheckPayload(op, payload); f != nil {
		return ops.BadPayload(op.Name, f), true
	}
	if l.PayloadMax > 0 && ops.PayloadBytes(op, payload) > l.PayloadMax {
		return ops.ResourceLimit(op.Name, "max_payload_bytes_per_op", l.PayloadMax, false), true
	}
	if key, limit, over := ops.ExceededBefore(op, payload, max); over {
		return ops.ResourceLimit(op.Name, key, limit, false), true
	}
	return coreform.Value{}, false
}

var errOpTimeout = errors.New("the operation's own time is over")

// perform runs the handler under the op's timeout. A handler that panics is a
// fault of gcrun, not the end of the process: the log must be closed.
func (l *Live) perform(ctx context.Context, op *ops.Op, h Handler, call Call) (resp guest.Response, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &Failure{Op: op.Name, Err: errors.New("BUG: the handler panicked")}
			if f, ok := p.(coreform.Fault); ok {
				err = &Failure{Op: op.Name, Err: f}
			}
		}
	}()
	opCtx, timeout := ctx, call.Grant.TimeoutMs()
	if timeout == 0 {
		timeout = op.DefaultTimeoutMs
	}
	if timeout > 0 {
		var cancel context.CancelFunc
		opCtx, cancel = context.WithTimeoutCause(ctx, time.Duration(timeout)*time.Millisecond, errOpTimeout)
		defer cancel()
	}
	resp, err = h.Handle(opCtx, call)
	switch {
	case ctx.Err() != nil:
		// An act that ended before the cut is an answer; one that was stopped by
		// it is left in doubt, as the intent says.
		if err != nil {
			return resp, context.Cause(ctx)
		}
		return resp, nil
	case context.Cause(opCtx) == errOpTimeout && err != nil:
		return Fail(ops.Timeout(op.Name, timeout)), nil
	case err != nil:
		var f *Failure
		if errors.As(err, &f) || errors.Is(err, ErrInterrupted) {
			return resp, err
		}
		return resp, &Failure{Op: op.Name, Err: err}
	}
	return resp, nil
}
