package effects

import (
	"context"
	"io"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/effects/guest"
	"github.com/gcrun/gcrun/effects/policy"
)

// Handler carries out operations against the host. Production passes handlers
// that hold real resources (an opened directory, a clock), tests and
// simulations pass others: a capability is a value. A handler is used by one
// goroutine at a time.
type Handler interface {
	// Handle performs one call and returns what the program gets: an answer, or
	// the payload of a sealed error (made with ops.ErrorPayload, no text from
	// the host in it). It respects ctx, which carries the op's timeout, and
	// stops at call.MaxBytes rather than discovering afterwards that there was
	// more. The error is a fault of the host that no program can be told of:
	// the run stops with outcome host-failure.
	Handle(ctx context.Context, call Call) (guest.Response, error)
}

// Call is one permitted request.
type Call struct {
	Op       string
	Payload  coreform.Value // of the shape the catalogue demands
	Grant    *policy.Grant
	MaxBytes int64 // most bytes the response may have
	Blobs    BlobSink
}

// BlobSink keeps large content out of memory while a handler produces it.
type BlobSink interface {
	// InlineMax is the size in bytes up to which content had better stay in
	// memory.
	InlineMax() int64
	// NewBlob starts content that is written piece by piece. One blob is open
	// at a time; the handler ends it with Finish or Abort.
	NewBlob() (BlobWriter, error)
}

// BlobWriter takes the content of one blob. A write error is a host fault.
type BlobWriter interface {
	io.Writer
	// Finish ends the content and returns it as a blob.
	Finish() (coreform.Blob, error)
	// Abort drops the content.
	Abort() error
}

// OK is a plain answer.
func OK(v coreform.Value) guest.Response { return guest.Response{Value: v} }

// Fail is an answer the program sees as a sealed error.
func Fail(payload coreform.Value) guest.Response {
	return guest.Response{Kind: guest.RespError, Value: payload}
}
