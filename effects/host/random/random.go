// Package random answers sys/random::bytes from a source it is given as a
// value: the host's generator in production, a seeded one in tests and
// simulations.
//
// The length is held to the limit of the call before anything is drawn. Content
// too large for memory goes piece by piece into a blob.
package random

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/effects"
	"github.com/gcrun/gcrun/effects/guest"
	"github.com/gcrun/gcrun/effects/ops"
)

const opBytes = "sys/random::bytes"

// pieceBytes is how much is drawn between looks at the context.
const pieceBytes = 64 << 10

// System returns the host's generator of bytes fit for keys.
func System() io.Reader { return rand.Reader }

// Handler answers sys/random::bytes.
type Handler struct{ source io.Reader }

// New returns a handler that draws from source, exactly as many bytes as are
// asked for. The source must not end.
func New(source io.Reader) *Handler { return &Handler{source: source} }

// Ops returns the names of the ops the handler answers, sorted.
func (*Handler) Ops() []string { return []string{opBytes} }

// Handle implements [effects.Handler]. A length over call.MaxBytes is answered
// with core/caps/resource-limit, naming :len. The error is ctx.Err() when ctx
// is done; a source or a blob that fails is a fault of the host.
func (h *Handler) Handle(ctx context.Context, call effects.Call) (guest.Response, error) {
	op, ok := ops.Lookup(call.Op)
	if !ok || call.Op != opBytes {
		return guest.Response{}, fmt.Errorf("handler for randomness was asked for %s", call.Op)
	}
	n, ok := length(call.Payload)
	if !ok {
		return guest.Response{}, errors.New(opBytes + ": the payload was not checked against the catalogue")
	}
	if key, limit, over := ops.ExceededBefore(op, call.Payload, call.MaxBytes); over {
		return effects.Fail(ops.ResourceLimit(opBytes, key, limit, false)), nil
	}
	var v coreform.Value
	var err error
	if n <= call.Blobs.InlineMax() {
		v, err = h.inMemory(ctx, n)
	} else {
		v, err = h.inBlob(ctx, call.Blobs, n)
	}
	if err != nil {
		return guest.Response{}, err
	}
	return effects.OK(v), nil
}

func length(payload coreform.Value) (int64, bool) {
	m, ok := payload.AsMap()
	if !ok {
		return 0, false
	}
	v, ok := m.Get(coreform.Sym(":len"))
	if !ok {
		return 0, false
	}
	n, ok := v.AsInt64()
	return n, ok && n >= 0
}

func (h *Handler) inMemory(ctx context.Context, n int64) (coreform.Value, error) {
	b := make([]byte, n)
	for rest := b; ; {
		if err := ctx.Err(); err != nil {
			return coreform.Value{}, err
		}
		if len(rest) == 0 {
			return coreform.BytesOf(b), nil
		}
		k := min(len(rest), pieceBytes)
		if err := h.draw(rest[:k]); err != nil {
			return coreform.Value{}, err
		}
		rest = rest[k:]
	}
}

func (h *Handler) inBlob(ctx context.Context, sink effects.BlobSink, n int64) (coreform.Value, error) {
	w, err := sink.NewBlob()
	if err != nil {
		return coreform.Value{}, fmt.Errorf("%s: new blob: %w", opBytes, err)
	}
	if err := h.pour(ctx, w, n); err != nil {
		return coreform.Value{}, errors.Join(err, w.Abort())
	}
	blob, err := w.Finish()
	if err != nil {
		return coreform.Value{}, fmt.Errorf("%s: end blob: %w", opBytes, err)
	}
	return coreform.BlobBytes(blob), nil
}

// pour writes n drawn bytes to w.
func (h *Handler) pour(ctx context.Context, w io.Writer, n int64) error {
	piece := make([]byte, pieceBytes)
	for n > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		k := min(n, pieceBytes)
		if err := h.draw(piece[:k]); err != nil {
			return err
		}
		if _, err := w.Write(piece[:k]); err != nil {
			return fmt.Errorf("%s: write blob: %w", opBytes, err)
		}
		n -= k
	}
	return nil
}

// draw fills b.
func (h *Handler) draw(b []byte) error {
	if _, err := io.ReadFull(h.source, b); err != nil {
		return fmt.Errorf("%s: source of randomness: %w", opBytes, err)
	}
	return nil
}
