package files

import (
	"context"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/fspolicy"
)

var writeModes = map[string]fspolicy.WriteMode{
	"any":     fspolicy.WriteAny,
	"new":     fspolicy.WriteNew,
	"replace": fspolicy.WriteReplace,
}

// write answers io/fs::write.
func (r *request) write(ctx context.Context) (coreform.Value, error) {
	mode := fspolicy.WriteAny
	if _, given := r.fields.Get(coreform.Sym(":create")); given {
		text, _ := r.str(":create")
		var known bool
		if mode, known = writeModes[text]; !known {
			return coreform.Value{}, uncheckedError(r.Op)
		}
	}
	err := r.withParents(ctx, mode != fspolicy.WriteReplace, func() error {
		data, err := r.content()
		if err != nil {
			return err
		}
		return r.root.Write(ctx, r.path, data, mode)
	})
	return coreform.Value{}, err
}

// append answers io/fs::append.
func (r *request) append(ctx context.Context) (coreform.Value, error) {
	err := r.withParents(ctx, true, func() error {
		data, err := r.content()
		if err != nil {
			return err
		}
		return r.root.Append(ctx, r.path, data)
	})
	return coreform.Value{}, err
}

// withParents does something that may create the file of the request, and does
// it again after making its missing parents when the grant has create_dirs.
// Trying first leaves all other failures as they are without the setting. An FS
// reports a missing parent before it takes any content.
func (r *request) withParents(ctx context.Context, creates bool, do func() error) error {
	err := do()
	if !creates || !r.grant.CreateDirs() || r.path.IsRoot() || fspolicy.KindOf(err) != fspolicy.KindNotFound {
		return err
	}
	if err := r.root.Mkdir(ctx, r.path.Parent(), true); err != nil {
		return err
	}
	return do()
}
