// Package atomicfile writes whole files so that a reader, and a machine that
// loses power, sees the old content or the new one and never a part.
//
// The steps are always the same: a temporary file in the directory of the
// target (the name is [TempName], the mode 0600), the content, fsync, the
// target's mode, then one atomic step that gives it its name, then fsync of the
// directory. [New] makes a file and never replaces one; [Replace] takes the
// place of what is there. A crash can leave a temporary file behind, which
// [IsTempName] recognises.
//
// Main types: [File] for content that is streamed, [WriteFile] for content in
// memory. The package follows no symbolic link at the target (a link is
// replaced, not its destination), makes no directories, and gives no protection
// against someone else who may write to the same directory. For files a program
// names, fspolicy is the boundary; this package is for files gcrun names.
package atomicfile

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Mode says what may be at the target.
type Mode int

const (
	// New makes the file and fails with an error that is fs.ErrExist when
	// anything has that name, also when it appeared while writing.
	New Mode = iota
	// Replace takes the place of a file or link of that name, if there is one.
	Replace
)

// ErrNotDurable is wrapped by the error of Commit when the file is complete and
// in place but the directory could not be flushed: it survives the end of the
// process, and may not survive a loss of power.
var ErrNotDurable = errors.New("file is in place but may not survive a power loss")

const (
	tempPrefix = ".gcrun-"
	tempHex    = 16
	tempMode   = 0o600
)

// TempName returns a fresh name for a temporary file: ".gcrun-" and 16
// hexadecimal digits from the system's random source.
func TempName() string {
	var b [tempHex / 2]byte
	rand.Read(b[:]) // ends the process rather than fail
	return tempPrefix + hex.EncodeToString(b[:])
}

// IsTempName reports whether name, a last path element, has the form of
// [TempName].
func IsTempName(name string) bool {
	digits, ok := strings.CutPrefix(name, tempPrefix)
	if !ok || len(digits) != tempHex {
		return false
	}
	return strings.Trim(digits, "0123456789abcdef") == ""
}

// File is a file being written that does not have its name yet. It is for one
// goroutine. Every File ends with [File.Commit] or [File.Abort]; Abort after
// Commit does nothing, so `defer f.Abort()` is the usual form.
type File struct {
	temp *os.File // nil when done
	dir  string
	path string
	mode Mode
	perm fs.FileMode
	err  error // the first failed write; Commit refuses after it
}

// Create starts a file that Commit will give the name path and the permission
// bits perm (0 means 0600; the umask is not applied). With [New] it fails with
// an error that is fs.ErrExist at once when the name is taken. Other errors are
// those of making a file in that directory.
func Create(path string, mode Mode, perm fs.FileMode) (*File, error) {
	if perm == 0 {
		perm = tempMode
	}
	if mode == New {
		if _, err := os.Lstat(path); err == nil {
			return nil, &fs.PathError{Op: "create", Path: path, Err: fs.ErrExist}
		}
	}
	dir := filepath.Dir(path)
	for range 100 {
		temp, err := os.OpenFile(filepath.Join(dir, TempName()), os.O_WRONLY|os.O_CREATE|os.O_EXCL, tempMode)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("create a temporary file for %s: %w", path, err)
		}
		return &File{temp: temp, dir: dir, path: path, mode: mode, perm: perm.Perm()}, nil
	}
	return nil, fmt.Errorf("create a temporary file for %s: every name tried exists", path)
}

// Write appends to the content. After an error the file can only be aborted.
func (f *File) Write(p []byte) (int, error) {
	if f.temp == nil {
		return 0, fs.ErrClosed
	}
	if f.err != nil {
		return 0, f.err
	}
	n, err := f.temp.Write(p)
	f.err = err
	return n, err
}

// Commit makes the content durable and gives it its name. On an error there is
// nothing new at the path and the temporary file is gone, with one exception:
// an error that is [ErrNotDurable] means the file is there. With [New], an error
// that is fs.ErrExist means the name was taken meanwhile.
func (f *File) Commit() error {
	if f.temp == nil {
		return fs.ErrClosed
	}
	if err := f.finish(); err != nil {
		f.Abort()
		return fmt.Errorf("write %s: %w", f.path, err)
	}
	f.temp = nil
	if err := syncDir(f.dir); err != nil {
		return fmt.Errorf("write %s: %w: %w", f.path, ErrNotDurable, err)
	}
	return nil
}

func (f *File) finish() error {
	if f.err != nil {
		return f.err
	}
	if err := f.temp.Chmod(f.perm); err != nil && runtime.GOOS != "windows" {
		return err
	}
	// After a failed fsync the kernel may have dropped the dirty pages, so a
	// second try could succeed without the content being on the disk: give up.
	if err := f.temp.Sync(); err != nil {
		return err
	}
	if err := f.temp.Close(); err != nil {
		return err
	}
	if f.mode == Replace {
		return os.Rename(f.temp.Name(), f.path)
	}
	return nameNew(f.temp.Name(), f.path)
}

// Abort removes the temporary file and leaves the target as it was. After
// Commit it does nothing.
func (f *File) Abort() {
	if f.temp == nil {
		return
	}
	f.temp.Close()
	os.Remove(f.temp.Name())
	f.temp = nil
}

// nameNew gives temp the name path unless something has it. A hard link does
// that in one step.
func nameNew(temp, path string) error {
	err := os.Link(temp, path)
	if err == nil {
		// A second name that stays behind is untidy, not wrong.
		os.Remove(temp)
		return nil
	}
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrPermission) {
		return nameNewWithoutLinks(temp, path)
	}
	return err
}

// nameNewWithoutLinks is for file systems that have no hard links (FAT and some
// network ones): reserve the name with an empty file, which cannot succeed
// twice, and rename over the reservation. A crash between the two leaves an
// empty file, never a partial one.
func nameNewWithoutLinks(temp, path string) error {
	reserved, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, tempMode)
	if err != nil {
		return err
	}
	reserved.Close()
	if err := os.Rename(temp, path); err != nil {
		os.Remove(path)
		return err
	}
	return nil
}

// syncDir flushes a directory, so that the new name survives a power loss.
// Windows cannot open a directory for that and does not need it.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return nil
}

// WriteFile writes data as the whole content of path: [Create], Write, Commit,
// with their errors.
func WriteFile(path string, data []byte, mode Mode, perm fs.FileMode) error {
	return WriteFrom(path, mode, perm, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// WriteFrom lets write produce the content of path. When write fails, its error
// is returned and the target is as it was. The writer must not be used after
// write returns.
func WriteFrom(path string, mode Mode, perm fs.FileMode, write func(io.Writer) error) error {
	f, err := Create(path, mode, perm)
	if err != nil {
		return err
	}
	defer f.Abort()
	if err := write(f); err != nil {
		return err
	}
	return f.Commit()
}
