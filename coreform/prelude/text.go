package prelude

import (
	"errors"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/coreform/kernel"
)

// textWriter charges for canonical text as it is made, ⌊bytes/8⌋ steps, and
// keeps it if asked to, charging its units before they are used. The size of a
// text cannot be known before: it grows with size × depth, and a term that
// shares its parts can be exponentially larger as a text than in memory.
type textWriter struct {
	c    *kernel.Call
	keep bool
	buf  []byte
	n    int64
}

// errStopped says that the run is over.
var errStopped = errors.New("stopped")

func (w *textWriter) Write(p []byte) (int, error) {
	before := w.n
	w.n += int64(len(p))
	if !w.c.WorkSteps(w.n/8-before/8) || w.c.Interrupted() {
		return 0, errStopped
	}
	if w.keep {
		if w.n > coreform.DefaultBytes {
			return 0, &coreform.LimitError{Dimension: coreform.DimBytes, Observed: w.n, Limit: coreform.DefaultBytes}
		}
		if !w.c.LenLimit("string-len", w.n) || !w.c.Alloc(kernel.TextUnits(w.n)-kernel.TextUnits(before)) {
			return 0, errStopped
		}
		w.buf = append(w.buf, p...)
	}
	return len(p), nil
}

// text makes a string of what write writes.
func text(c *kernel.Call, write func(*textWriter) error) Value {
	w := &textWriter{c: c, keep: true}
	if !c.Alloc(kernel.TextUnits(0)) {
		return Value{}
	}
	if err := write(w); err != nil {
		return failure(c, err)
	}
	return coreform.Str(string(w.buf))
}

// chargeText charges for a text that is to be hashed. When ok is false the
// native's result is failed.
func chargeText(c *kernel.Call, write func(*textWriter) error) (failed Value, ok bool) {
	if err := write(&textWriter{c: c}); err != nil {
		return failure(c, err), false
	}
	return Value{}, true
}

func printModule(c *kernel.Call, forms []Value) Value {
	return text(c, func(w *textWriter) error { return coreform.WriteModule(w, forms) })
}

func hashModule(c *kernel.Call, forms []Value) Value {
	if failed, ok := chargeText(c, func(w *textWriter) error { return coreform.WriteModule(w, forms) }); !ok {
		return failed
	}
	d, err := coreform.ModuleHash(forms)
	if err != nil {
		return failure(c, err)
	}
	return c.NewStr(d.String())
}

// failure is the sealed error for an error of package coreform. A blob that
// cannot be read is a fault of the host, which the machine catches.
func failure(c *kernel.Call, err error) Value {
	if errors.Is(err, errStopped) {
		return Value{}
	}
	if errors.Is(err, coreform.ErrNotTerm) {
		return c.TypeError()
	}
	if e, ok := errors.AsType[*coreform.ReadError](err); ok {
		return sealed(c, e.Code(), entry(":at", coreform.Int(int64(e.Offset))))
	}
	if e, ok := errors.AsType[*coreform.LimitError](err); ok {
		return sealed(c, e.Code(), entry(":dimension", coreform.Str(e.Dimension)),
			entry(":limit", coreform.Int(e.Limit)), entry(":observed", coreform.Int(e.Observed)))
	}
	if e, ok := errors.AsType[*coreform.CanonError](err); ok {
		place := []coreform.Entry{entry(":form", coreform.Int(int64(e.Form)))}
		if e.Off >= 0 {
			place = append(place, entry(":at", coreform.Int(int64(e.Off))))
		}
		return sealed(c, e.Code(), place...)
	}
	if f, ok := errors.AsType[coreform.Fault](err); ok {
		panic(f)
	}
	panic("BUG: prelude: unexpected error: " + err.Error())
}

func sealed(c *kernel.Call, code string, context ...coreform.Entry) Value {
	if !c.RoomForMap(3) || !c.RoomForMap(int64(len(context)+1)) {
		return Value{}
	}
	context = append(context, entry(":subsystem", coreform.Str("prelude")))
	return c.Error(code, coreform.MapOf(context...))
}
