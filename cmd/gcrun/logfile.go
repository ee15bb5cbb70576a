package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gcrun/gcrun/gclog"
)

// logFile is the log being written. It implements gclog.File, and at every sync
// makes sure that its name still leads to it: evidence under another name is
// evidence nobody finds.
type logFile struct {
	*os.File
	name string // as shown
	path string // absolute, so that a change of directory does not matter
}

// maxNumber bounds the search for a free log name.
const maxNumber = 100_000

// createLog creates the log of a program: out if named, else beside the
// program, numbered when the name is taken. Old logs are never overwritten
// unless force says so, and inputs of the run not even then.
func createLog(prog, out string, force bool, inputs ...string) (*logFile, error) {
	if out != "" {
		if force {
			if err := removeRegular(out, append(inputs, prog)); err != nil {
				return nil, err
			}
		}
		f, err := openNew(out)
		if errors.Is(err, fs.ErrExist) {
			return nil, &failure{exit: exitUsage, code: "log/exists", file: out, message: "the file exists", offset: -1,
				hint: "name another one with -o, or say --force to replace it"}
		}
		if err != nil {
			return nil, noLog(out, err)
		}
		return f, nil
	}
	base := "stdin"
	if prog != "-" {
		base = strings.TrimSuffix(prog, ".gc")
	}
	for n := 1; n <= maxNumber; n++ {
		name := base + ".gclog"
		if n > 1 {
			name = fmt.Sprintf("%s.%d.gclog", base, n)
		}
		f, err := openNew(name)
		if err == nil {
			return f, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, noLog(name, err)
		}
	}
	return nil, usage("there are %d logs of this program already: name another with -o", maxNumber)
}

func openNew(name string) (*logFile, error) {
	path, err := filepath.Abs(name)
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	return &logFile{File: f, name: name, path: path}, nil
}

// noLog is a log that cannot be made: nothing ran.
func noLog(name string, err error) *failure {
	fail := hostFailure(name, err)
	fail.exit, fail.code, fail.hint = exitHost, "log/create", "say where the log may go with -o FILE"
	return fail
}

// removeRegular removes a file that --force is to replace, and nothing else:
// above all no file the run is made from.
func removeRegular(name string, inputs []string) error {
	for _, in := range inputs {
		if isSameFile(name, in) {
			return usage("-o %s: this is %s, which the log may not replace", name, in)
		}
	}
	st, err := os.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && !st.Mode().IsRegular() {
		return usage("-o %s: --force replaces regular files only", name)
	}
	if err == nil {
		err = refuseOther(name)
	}
	if err == nil {
		err = os.Remove(name)
	}
	if f := (*failure)(nil); errors.As(err, &f) {
		return f
	}
	if err != nil {
		return hostFailure(name, err)
	}
	return nil
}

// refuseOther refuses a file that is no log, not even the beginning or the
// wreck of one: --force is for logs, and a slip must not cost a document.
func refuseOther(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return err
	}
	if _, err := gclog.Open(f, st.Size()); errors.Is(err, gclog.ErrNotLog) {
		fail := usage("-o %s: this is not a log, and --force replaces only logs", name)
		fail.hint = "name another file with -o, or remove this one yourself"
		return fail
	}
	return nil
}

// Sync makes what was written durable, and checks the name.
func (l *logFile) Sync() error {
	if err := l.File.Sync(); err != nil {
		return err
	}
	return l.inPlace()
}

// errMoved is a log whose name leads elsewhere, or nowhere.
var errMoved = errors.New("the log's name no longer leads to the log: it was moved or replaced during the run")

// inPlace reports whether the log's name still leads to it; the error is errMoved.
func (l *logFile) inPlace() error {
	st, err := l.Stat()
	if err != nil {
		return err
	}
	now, err := os.Lstat(l.path)
	if err != nil || !os.SameFile(st, now) {
		return errMoved
	}
	return nil
}

// isSameFile reports whether two names lead to one file.
func isSameFile(a, b string) bool {
	if a == "" || b == "" || b == "-" {
		return false
	}
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// discard removes a log in which nothing was written.
func (l *logFile) discard() {
	if l.inPlace() == nil {
		_ = os.Remove(l.path)
	}
}
