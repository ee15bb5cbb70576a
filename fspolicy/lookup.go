package fspolicy

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"

	"github.com/gcrun/gcrun/internal/unicode17"
)

// find looks s up in the current directory and puts the host's spelling in it.
func (w *walker) find(s *step) (nodeInfo, bool, error) {
	if isTempName(s.name) {
		return nodeInfo{}, false, w.refuse(KindProtected)
	}
	if kind := hostRefuses(s.name); kind != "" {
		return nodeInfo{}, false, w.refuse(kind)
	}
	if !w.pl.at.allows(1) {
		return nodeInfo{}, false, fault(KindPermissionDenied)
	}
	w.pl.folded = false
	info, err := w.pl.dir.lstat(s.name)
	if err == nil {
		own, err := ownsName(w.pl.dir, s.name, info)
		w.pl.folded = !own
		return info, own, err
	}
	if kindOf(err) != KindNotFound {
		return nodeInfo{}, false, err
	}
	if s.exact || !mayHaveTwin(s.name) {
		return nodeInfo{}, false, nil
	}
	twin, err := w.twin(s.name)
	if err != nil || twin == "" {
		return nodeInfo{}, false, err
	}
	s.name = twin
	info, err = w.pl.dir.lstat(twin)
	if kindOf(err) == KindNotFound {
		return nodeInfo{}, false, nil
	}
	return info, err == nil, err
}

// twin returns the one host name whose form C is name, "" when there is none.
// PATH-9.
func (w *walker) twin(name string) (string, error) {
	var twins []string
	err := scanNames(w.pl.dir, func(host string) bool {
		if host != name && unicode17.NFC(host) == name {
			twins = append(twins, host)
		}
		return true
	})
	switch {
	case err != nil:
		return "", err
	case len(twins) > 1:
		return "", &Error{Kind: KindCollision, Path: w.path.String(), Count: len(twins)}
	case len(twins) == 1:
		return twins[0], nil
	}
	return "", nil
}

// scanNames yields at most maxScan names; a directory with more is
// KindTooLarge.
func scanNames(d dirNode, yield func(string) bool) error {
	n, over := 0, false
	err := d.names(func(name string) bool {
		if n++; n > maxScan {
			over = true
			return false
		}
		return yield(name)
	})
	if err == nil && over {
		err = fault(KindTooLarge)
	}
	return err
}

// mayHaveTwin reports whether another string can have the form C name. Of
// ASCII, only these three characters are the form C of something else (U+212A,
// U+037E, U+1FEF), so most missing names cost no scan.
func mayHaveTwin(name string) bool {
	for i := 0; i < len(name); i++ {
		if c := name[i]; c >= 0x80 || c == 'K' || c == ';' || c == '`' {
			return true
		}
	}
	return false
}

// ownsName reports whether the entry that the host opened for name is called
// name, or has it as its form C. On a host that folds case it may not be, and
// the program must not see that. The directory is only read when a second
// spelling leads to the same file. PATH-10.
func ownsName(d dirNode, name string, info nodeInfo) (bool, error) {
	other := otherSpelling(name)
	if other == name {
		return true, nil
	}
	again, err := d.lstat(other)
	if err != nil || again.key != info.key {
		return true, nil
	}
	want, own := unicode17.NFC(name), false
	err = scanNames(d, func(host string) bool {
		own = host == name || unicode17.NFC(host) == want
		return !own
	})
	return own, err
}

// otherSpelling returns a string that only a host that folds case takes for
// name, or name itself when no letter has a case.
func otherSpelling(name string) string {
	for i, r := range name {
		s := unicode.ToUpper(r)
		if s == r {
			s = unicode.ToLower(r)
		}
		if s != r && r != utf8.RuneError {
			return name[:i] + string(s) + name[i+utf8.RuneLen(r):]
		}
	}
	if !utf8.ValidString(name) {
		return name
	}
	return cases.Fold().String(name)
}
