package fspolicy

import (
	"cmp"
	"slices"
	"strings"

	"golang.org/x/text/cases"

	"github.com/gcrun/gcrun/internal/unicode17"
)

// CheckPortable applies the stricter rules for names that travel between hosts
// (PATH-5): no control character, none of `: * ? " < > |`, no Windows device
// name with or without extension, no component that ends in a space or a dot.
// The base directory passes. A refused path gives *Error with the reason of the
// first component at fault and the path itself, which is safe to print escaped.
func CheckPortable(p Path) error {
	for _, c := range p.Components() {
		if kind := portableRefusal(c); kind != "" {
			return &Error{Kind: kind, Path: p.String()}
		}
	}
	return nil
}

func portableRefusal(c string) Kind {
	for _, r := range c {
		switch {
		case r < 0x20 || r >= 0x7f && r < 0xa0:
			return KindControlCharacter
		case strings.ContainsRune(`:*?"<>|`, r):
			return KindReservedCharacter
		}
	}
	if isDeviceName(c) {
		return KindDeviceName
	}
	if last := c[len(c)-1]; last == ' ' || last == '.' {
		return KindTrailingSpaceOrDot
	}
	return ""
}

// isDeviceName reports whether Windows would open a device for c: the part
// before the first dot, without trailing spaces, is a device's name. Windows
// takes the superscript digits one to three for digits here.
func isDeviceName(c string) bool {
	stem, _, _ := strings.Cut(c, ".")
	stem = strings.ToUpper(strings.TrimRight(stem, " "))
	switch stem {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$":
		return true
	}
	digit, ok := strings.CutPrefix(stem, "COM")
	if !ok {
		digit, ok = strings.CutPrefix(stem, "LPT")
	}
	if !ok {
		return false
	}
	switch digit {
	case "\u00b9", "\u00b2", "\u00b3":
		return true
	}
	return len(digit) == 1 && '0' <= digit[0] && digit[0] <= '9'
}

// Collision is a pair of spellings that one name stands for on a host that
// folds case.
type Collision struct {
	A, B Path // A sorts before B
}

// FoldCollisions returns the paths of a set that collide on a host that folds
// case, directories included: data/x and Data/y collide as data and Data. Each
// collision is given once, at the outermost directory where the spellings part,
// against the first spelling in byte order. The result is sorted and empty for
// a portable set. Work is linear in the total length but for sorting. PATH-5.
func FoldCollisions(paths []Path) []Collision {
	spellings := map[Path]bool{}
	for _, p := range paths {
		for ; !p.IsRoot() && !spellings[p]; p = p.Parent() {
			spellings[p] = true
		}
	}
	sorted := make([]Path, 0, len(spellings))
	for p := range spellings {
		sorted = append(sorted, p)
	}
	slices.SortFunc(sorted, comparePaths)

	type place struct {
		parent Path
		folded string
	}
	first := map[place]Path{}
	var out []Collision
	// A directory that collided already is merged into its twin, so that what
	// lies below both is compared too.
	merged := map[Path]Path{}
	for _, p := range sorted {
		parent := p.Parent()
		if twin, ok := merged[parent]; ok {
			parent = twin
		}
		at := place{parent, foldName(p.Base())}
		twin, taken := first[at]
		if !taken {
			first[at] = p
			continue
		}
		merged[p] = twin
		if twin.Base() != p.Base() {
			out = append(out, Collision{A: twin, B: p})
		}
	}
	return out
}

func comparePaths(a, b Path) int { return cmp.Compare(a.s, b.s) }

// foldName is the key two names share when they differ in case only: canonical
// caseless matching of the Unicode core specification.
func foldName(name string) string {
	folded := cases.Fold().String(unicode17.NFC(name))
	return unicode17.NFC(cases.Fold().String(unicode17.NFC(folded)))
}
