package main

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/gcrun/gcrun/coreform/kernel"
	"github.com/gcrun/gcrun/coreform/prelude"
	"github.com/gcrun/gcrun/effects/guest"
	"github.com/gcrun/gcrun/gclog"
)

// replaceProgram writes a log in which everything is as in another one, but for
// the program: an intact file that no run of its program could have written.
// What a person sees of such a log must be a divergence, not a checksum.
func replaceProgram(in, source, out string) error {
	data, err := os.ReadFile(source)
	if err != nil {
		return err
	}
	src, err := os.Open(in)
	if err != nil {
		return err
	}
	defer src.Close()
	st, err := src.Stat()
	if err != nil {
		return err
	}
	log, err := gclog.Open(src, st.Size())
	if err != nil {
		return err
	}
	header := log.Header()
	p, err := kernel.Load(filepath.Base(source), data, prelude.Library(), kernel.Limits{})
	if err != nil {
		return err
	}
	if header.Policy, err = log.Policy(); err != nil {
		return err
	}
	header.Program, header.Name, header.Sources = p.Info().Hash, p.Info().Name, p.Info().Sources
	dst, err := os.OpenFile(out, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(copyEntries(log, header, dst), dst.Close())
}

func copyEntries(log *gclog.Log, header gclog.Header, dst *os.File) error {
	w, err := gclog.NewWriter(dst, header, gclog.Options{Sync: gclog.SyncNone})
	if err != nil {
		return err
	}
	s := log.Scan()
	for s.Next() {
		e := *s.Entry()
		for _, d := range []*gclog.Datum{&e.Payload, &e.Resp} {
			v, err := d.Value()
			if err != nil {
				return err
			}
			*d = gclog.DatumOf(v)
		}
		if err := w.Append(&e); err != nil {
			return err
		}
	}
	if s.Err() != nil {
		return s.Err()
	}
	o := s.Outcome()
	_, err = w.Close(guest.Outcome{Kind: o.Kind, Code: o.Code, Value: o.Value, Steps: o.Steps})
	return err
}
