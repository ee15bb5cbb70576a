package fspolicy

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"

	"github.com/gcrun/gcrun/internal/unicode17"
)

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
