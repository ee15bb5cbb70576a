package console

import (
	"context"
	"fmt"
	"io"
)

// pieceBytes is how much is written between looks at the context.
const pieceBytes = 64 << 10

// stream is a writer that may block for ever, such as a pipe nobody reads.
// Whoever holds the token of turn writes; at most one goroutine does.
type stream struct {
	w    io.Writer
	turn chan struct{}
}

func newStream(w io.Writer) *stream {
	s := &stream{w: w, turn: make(chan struct{}, 1)}
	s.turn <- struct{}{}
	return s
}

// writerError is a failure of the writer, in contrast to one of the content.
type writerError struct{ err error }

func (e *writerError) Error() string { return e.err.Error() }

// write writes all of data. Descriptors cannot in general be told to give up,
// so another goroutine writes, and is left behind when ctx ends first; it stops
// after the piece it is at.
func (s *stream) write(ctx context.Context, data io.Reader) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case <-s.turn:
	case <-ctx.Done():
		return ctx.Err()
	}
	done := make(chan error, 1)
	go func() {
		err := s.copy(ctx, data)
		s.turn <- struct{}{}
		done <- err
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *stream) copy(ctx context.Context, data io.Reader) error {
	buf := make([]byte, pieceBytes)
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, readErr := data.Read(buf)
		if n > 0 {
			m, err := s.w.Write(buf[:n])
			if err == nil && m < n {
				err = io.ErrShortWrite
			}
			if err != nil {
				return &writerError{err}
			}
		}
		if readErr == io.EOF {
			return nil
		}
		if readErr != nil {
			return fmt.Errorf("%s: content: %w", opWrite, readErr)
		}
	}
}
