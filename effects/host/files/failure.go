package files

import (
	"context"
	"errors"
	"fmt"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/effects"
	"github.com/gcrun/gcrun/effects/guest"
	"github.com/gcrun/gcrun/effects/ops"
	"github.com/gcrun/gcrun/fspolicy"
)

// ReasonNotGranted is the reason of core/path-error for a path that obeys the
// path rules but matches none of the policy's `paths`. The other reasons are
// kinds of package fspolicy. The patterns are held against the text of the path:
// a link below a granted path leads wherever it does within the base. No op
// makes links.
const ReasonNotGranted = "not-granted"

// limitSetting is the name of the limit on answers, in policy and in answers.
const limitSetting = "max_bytes"

// errOverLimit: the answer has more than MaxBytes bytes.
var errOverLimit = errors.New("answer over the limit")

// hostError is a failure of something other than the file system of the call.
// It does not unwrap, so that it is never taken for one of the file system.
type hostError struct {
	what string
	err  error
}

func (e *hostError) Error() string { return fmt.Sprintf("%s: %v", e.what, e.err) }

// failed turns the error of an operation into what Handle returns. An FS is
// given ctx and content, so its errors are its own (*fspolicy.Error), those of
// ctx, or those of the content; which one it is decides who hears of it.
func (r *request) failed(ctx context.Context, err error) (guest.Response, error) {
	if errors.Is(err, errOverLimit) {
		return effects.Fail(ops.ResourceLimit(r.Op, limitSetting, r.MaxBytes, true)), nil
	}
	var host *hostError
	var refused *fspolicy.Error
	switch {
	case errors.As(err, &host):
		return guest.Response{}, fmt.Errorf("%s: %w", r.Op, err)
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		return guest.Response{}, ctx.Err()
	case errors.As(err, &refused):
		return effects.Fail(answerTo(r.Op, refused)), nil
	}
	return guest.Response{}, err
}

// answerTo is the payload of the sealed error for a failure of the file system.
// It is the only place where one becomes an answer. (spec/paths.md PATH-3)
func answerTo(op string, e *fspolicy.Error) coreform.Value {
	switch e.Kind.Class() {
	case fspolicy.ClassPath:
		return ops.PathRefused(op, string(e.Kind), e.Path)
	case fspolicy.ClassEncoding:
		return ops.ErrorPayload(ops.CodePathEncoding, op, pathContext(op, e.Path,
			coreform.Entry{Key: coreform.Sym(":count"), Value: coreform.Int(int64(e.Count))}))
	case fspolicy.ClassCollision:
		return ops.ErrorPayload(ops.CodePathCollision, op, pathContext(op, e.Path))
	}
	return ops.IOFailed(op, string(e.Kind), e.Path)
}

// pathContext is the context {:op op :path path …}.
func pathContext(op, path string, more ...coreform.Entry) coreform.Value {
	return coreform.MapOf(append(more,
		coreform.Entry{Key: coreform.Sym(":op"), Value: coreform.Sym(op)},
		coreform.Entry{Key: coreform.Sym(":path"), Value: coreform.Str(path)})...)
}
