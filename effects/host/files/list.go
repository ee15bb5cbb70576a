package files

import (
	"context"
	"errors"
	"strconv"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/fspolicy"
)

// The keys of answers.
var (
	keyExists   = coreform.Sym(":exists")
	keyKind     = coreform.Sym(":kind")
	keyLenBytes = coreform.Sym(":len-bytes")
	keyName     = coreform.Sym(":name")
	keyPath     = coreform.Sym(":path")
	keyReadonly = coreform.Sym(":readonly")
)

// kinds are the symbols of the kinds of entries.
var kinds = map[fspolicy.EntryKind]coreform.Value{
	fspolicy.EntryFile:    coreform.Sym("file"),
	fspolicy.EntryDir:     coreform.Sym("dir"),
	fspolicy.EntrySymlink: coreform.Sym("symlink"),
	fspolicy.EntryOther:   coreform.Sym("other"),
	fspolicy.EntryMissing: coreform.Sym("missing"),
}

// stat answers io/fs::stat.
func (r *request) stat(ctx context.Context) (coreform.Value, error) {
	info, err := r.root.Stat(ctx, r.path)
	if err != nil {
		return coreform.Value{}, err
	}
	return coreform.MapOf(
		coreform.Entry{Key: keyExists, Value: coreform.Bool(info.Kind != fspolicy.EntryMissing)},
		coreform.Entry{Key: keyKind, Value: kinds[info.Kind]},
		coreform.Entry{Key: keyLenBytes, Value: coreform.Int(info.Size)},
		coreform.Entry{Key: keyPath, Value: coreform.Str(info.Path.String())},
		coreform.Entry{Key: keyReadonly, Value: coreform.Bool(info.ReadOnly)},
	), nil
}

// list answers io/fs::list.
func (r *request) list(ctx context.Context) (coreform.Value, error) {
	opts := fspolicy.ListOptions{
		Recursive:       r.flag(":recursive"),
		SkipUnencodable: r.flag(":skip-unencodable"),
		MaxEntries:      r.maxRows(),
	}
	rows, err := r.root.List(ctx, r.path, opts)
	if err != nil {
		return coreform.Value{}, r.listFailure(ctx, opts, err)
	}
	text := int64(len("[]"))
	values := make([]coreform.Value, 0, len(rows))
	for _, e := range rows {
		if opts.Recursive && e.Path.Parent() != r.path && !r.grant.AllowsPath(e.Path.Parent().String()) {
			continue // listing that directory by itself is refused too
		}
		if len(values) > 0 {
			text++
		}
		if text += rowBytes(e); text > r.MaxBytes {
			return coreform.Value{}, errOverLimit
		}
		values = append(values, row(e))
	}
	if text > r.MaxBytes {
		return coreform.Value{}, errOverLimit
	}
	return coreform.Vec(values...), nil
}

func row(e fspolicy.Entry) coreform.Value {
	return coreform.MapOf(
		coreform.Entry{Key: keyKind, Value: kinds[e.Kind]},
		coreform.Entry{Key: keyLenBytes, Value: coreform.Int(e.Size)},
		coreform.Entry{Key: keyName, Value: coreform.Str(e.Name)},
		coreform.Entry{Key: keyPath, Value: coreform.Str(e.Path.String())},
	)
}

// rowBytes is the least number of bytes the canonical text of a row has.
// Escapes in names and line breaks in the text can only make it longer.
func rowBytes(e fspolicy.Entry) int64 {
	const fixed = len(`{:kind  :len-bytes  :name "" :path ""}`)
	var digits [20]byte
	n := fixed + len(e.Kind) + len(strconv.AppendInt(digits[:0], e.Size, 10)) + len(e.Name) + len(e.Path.String())
	return int64(n)
}

// maxRows is the most rows an answer within the limit can have, at least 1: so
// many are asked of the FS, which stops there.
func (r *request) maxRows() int {
	shortest := fspolicy.Entry{Name: "a", Kind: fspolicy.EntryDir} // whose path, ".", is as short as "a"
	each := rowBytes(shortest) + 1                                 // and the space before the next
	if !r.path.IsRoot() {
		each += int64(len(r.path.String()) + len("/"))
	}
	return int(min(max(1, (r.MaxBytes-1)/each), fspolicy.DefaultListEntries))
}

// listFailure finds out what was too large when the FS says that something
// was: the answer, by the number of its rows; or the depth of the tree, or a
// directory on the way that has too many names to look through, which have
// nothing to do with the limit of the answer.
func (r *request) listFailure(ctx context.Context, opts fspolicy.ListOptions, err error) error {
	var e *fspolicy.Error
	if !errors.As(err, &e) || e.Kind != fspolicy.KindTooLarge || opts.MaxEntries >= fspolicy.DefaultListEntries {
		return err
	}
	if at, parseErr := fspolicy.ParsePath(e.Path); parseErr == nil &&
		len(at.Components())-len(r.path.Components()) >= fspolicy.DefaultListDepth {
		return err
	}
	if _, statErr := r.root.Stat(ctx, r.path); statErr != nil {
		return statErr
	}
	return errOverLimit
}
