package files

import (
	"errors"
	"io"
	"strings"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/effects"
)

// collector gathers content: in memory up to what the sink wants there, beyond
// that in a blob. Its errors are *hostError.
type collector struct {
	sink     effects.BlobSink
	expected int64 // how much content there will probably be
	buf      []byte
	blob     effects.BlobWriter
}

// add appends p, which it does not keep.
func (c *collector) add(p []byte) error {
	inline := c.sink.InlineMax()
	if c.blob == nil && int64(len(p)) <= inline-int64(len(c.buf)) {
		if c.buf == nil {
			c.buf = make([]byte, 0, max(min(c.expected, inline), int64(len(p))))
		}
		c.buf = append(c.buf, p...)
		return nil
	}
	if c.blob == nil {
		blob, err := c.sink.NewBlob()
		if err != nil {
			return &hostError{"begin a blob", err}
		}
		c.blob = blob
		if err := c.pour(c.buf); err != nil {
			return err
		}
		c.buf = nil
	}
	return c.pour(p)
}

func (c *collector) pour(p []byte) error {
	if _, err := c.blob.Write(p); err != nil {
		return &hostError{"write a blob", err}
	}
	return nil
}

// finish returns the content.
func (c *collector) finish() (coreform.Value, error) {
	if c.blob == nil {
		return coreform.BytesOf(c.buf), nil
	}
	blob, err := c.blob.Finish()
	if err != nil {
		return coreform.Value{}, &hostError{"end a blob", err}
	}
	return coreform.BlobBytes(blob), nil
}

// abort drops the content because of err, which it returns, unless dropping
// fails too: then the host's fault is what counts.
func (c *collector) abort(err error) error {
	if c.blob == nil {
		return err
	}
	if abortErr := c.blob.Abort(); abortErr != nil {
		return &hostError{"drop a blob", errors.Join(err, abortErr)}
	}
	return err
}

// content returns a new reader over the payload's :data.
func (r *request) content() (io.Reader, error) {
	v, _ := r.fields.Get(coreform.Sym(":data"))
	if text, ok := v.AsStr(); ok {
		return strings.NewReader(text), nil
	}
	if b, ok := v.AsBytes(); ok {
		return &source{b.Reader()}, nil
	}
	return nil, uncheckedError(r.Op)
}

// source marks the errors of content that lies in a blob as what they are.
type source struct{ r io.Reader }

func (s *source) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if err != nil && err != io.EOF {
		err = &hostError{"read a blob", err}
	}
	return n, err
}
