package files

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/effects"
	"github.com/gcrun/gcrun/effects/guest"
	"github.com/gcrun/gcrun/effects/ops"
	"github.com/gcrun/gcrun/fspolicy"
)

// operations are what this package can do, by op name.
var operations = map[string]func(*request, context.Context) (coreform.Value, error){
	"io/fs::append": (*request).append,
	"io/fs::list":   (*request).list,
	"io/fs::read":   (*request).read,
	"io/fs::stat":   (*request).stat,
	"io/fs::write":  (*request).write,
}

// Ops returns the names of all ops this package can answer, sorted, as a new
// slice.
func Ops() []string { return slices.Sorted(maps.Keys(operations)) }

// Handler answers the operations it was given a file system for. It holds no
// state of its own and is safe for concurrent use as far as each call's
// BlobSink is.
type Handler struct{ roots map[string]fspolicy.FS }

// New returns a handler that performs each op on its FS. The file systems stay
// the caller's, who closes them after the run; several ops may share one. Ops
// that are not among those Ops returns are left out: a policy may grant ones
// this version has no handler for. An op with a nil FS is an error.
func New(roots map[string]fspolicy.FS) (*Handler, error) {
	h := &Handler{roots: map[string]fspolicy.FS{}}
	for _, op := range Ops() {
		root, ok := roots[op]
		if !ok {
			continue
		}
		if root == nil {
			return nil, fmt.Errorf("%s has no file system", op)
		}
		h.roots[op] = root
	}
	return h, nil
}

// Ops returns the names of the ops the handler answers, sorted.
func (h *Handler) Ops() []string { return slices.Sorted(maps.Keys(h.roots)) }

// Handle implements [effects.Handler]. It answers
//
//   - core/path-error for a :path that the path rules refuse, that the grant's
//     `paths` leave out (reason [ReasonNotGranted]), or that leads where it may not;
//   - core/io-error, core/path-encoding-error and core/path-collision-error as
//     the FS says;
//   - core/caps/resource-limit naming max_bytes when the answer has more than
//     call.MaxBytes bytes, without having read it all. For a listing this counts
//     its text without line breaks and escapes, so that one a little over the
//     limit is left to the loop, which gives the same answer.
//
// The error is ctx.Err() when ctx ended the call: a write has then not
// happened, an append may have in part. Any other error is a fault of the host
// (a blob that cannot be read or written) or a payload the catalogue refuses.
func (h *Handler) Handle(ctx context.Context, call effects.Call) (guest.Response, error) {
	return h.handle(ctx, call, call.Grant)
}

// grant is what this package asks of a *policy.Grant.
type grant interface {
	// AllowsPath reports whether the policy's paths let the op at a path.
	AllowsPath(p string) bool
	// CreateDirs reports whether missing parents of a file are made.
	CreateDirs() bool
}

func (h *Handler) handle(ctx context.Context, call effects.Call, g grant) (guest.Response, error) {
	root, ok := h.roots[call.Op]
	if !ok {
		return guest.Response{}, fmt.Errorf("handler for files was asked for %s", call.Op)
	}
	fields, ok := call.Payload.AsMap()
	if !ok {
		return guest.Response{}, uncheckedError(call.Op)
	}
	r := &request{Call: call, fields: fields, root: root, grant: g}
	text, ok := r.str(":path")
	if !ok {
		return guest.Response{}, uncheckedError(call.Op)
	}
	path, err := fspolicy.ParsePath(text)
	if err != nil {
		return r.failed(ctx, err)
	}
	if !g.AllowsPath(path.String()) {
		return effects.Fail(ops.PathRefused(call.Op, ReasonNotGranted, path.String())), nil
	}
	r.path = path
	answer, err := operations[call.Op](r, ctx)
	if err != nil {
		return r.failed(ctx, err)
	}
	return effects.OK(answer), nil
}

// request is one call with its path checked. A method that performs an
// operation returns the answer or an error that failed tells apart.
type request struct {
	effects.Call
	fields *coreform.Map
	root   fspolicy.FS
	grant  grant
	path   fspolicy.Path
}

func uncheckedError(op string) error {
	return errors.New(op + ": the payload was not checked against the catalogue")
}

// str returns a string of the payload, "" when the key is absent.
func (r *request) str(key string) (string, bool) {
	v, _ := r.fields.Get(coreform.Sym(key))
	return v.AsStr()
}

// flag returns a Boolean of the payload, false when the key is absent.
func (r *request) flag(key string) bool {
	v, _ := r.fields.Get(coreform.Sym(key))
	return v.Truthy()
}

// size returns an integer of the payload, or absent when there is none.
func (r *request) size(key string, absent int64) (int64, error) {
	v, ok := r.fields.Get(coreform.Sym(key))
	if !ok {
		return absent, nil
	}
	n, ok := v.AsInt64()
	if !ok || n < 0 {
		return 0, uncheckedError(r.Op)
	}
	return n, nil
}
