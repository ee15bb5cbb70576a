package fspolicy

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/windows"
)

// openNonblock is not needed: os.Root opens no pipe or device here.
const openNonblock = 0

// hostRefuses keeps names from the host that it would take for something else:
// a device, a stream of a file, or a name without its last dot.
func hostRefuses(name string) Kind {
	if name == "" {
		return ""
	}
	return portableRefusal(name)
}

var errnoKinds = map[syscall.Errno]Kind{
	windows.ERROR_FILE_NOT_FOUND: KindNotFound, windows.ERROR_PATH_NOT_FOUND: KindNotFound,
	windows.ERROR_ACCESS_DENIED: KindPermissionDenied, windows.ERROR_PRIVILEGE_NOT_HELD: KindPermissionDenied,
	windows.ERROR_FILE_EXISTS: KindAlreadyExists, windows.ERROR_ALREADY_EXISTS: KindAlreadyExists,
	windows.ERROR_DIRECTORY:     KindNotADirectory,
	windows.ERROR_DIR_NOT_EMPTY: KindNotEmpty,
	windows.ERROR_WRITE_PROTECT: KindReadOnly,
	windows.ERROR_DISK_FULL:     KindNoSpace, windows.ERROR_HANDLE_DISK_FULL: KindNoSpace,
	windows.ERROR_TOO_MANY_LINKS:    KindTooManyLinks,
	windows.ERROR_NOT_SAME_DEVICE:   KindCrossDevice,
	windows.ERROR_SHARING_VIOLATION: KindBusy, windows.ERROR_LOCK_VIOLATION: KindBusy,
	syscall.EISDIR: KindIsADirectory, syscall.ELOOP: KindTooManyLinks,
}

// hostKind returns the kind of an error of the host, "" for nil.
func hostKind(err error) Kind {
	if err == nil {
		return ""
	}
	var errno syscall.Errno
	if errors.As(err, &errno) {
		if k, ok := errnoKinds[errno]; ok {
			return k
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return KindNotFound
	case errors.Is(err, fs.ErrExist):
		return KindAlreadyExists
	case errors.Is(err, fs.ErrPermission):
		return KindPermissionDenied
	}
	return kindOf(err)
}

// notALink reports whether reading a link failed because it is none.
func notALink(err error) bool { return errors.Is(err, windows.ERROR_NOT_A_REPARSE_POINT) }

func linksUnsupported(err error) bool {
	return errors.Is(err, windows.ERROR_NOT_SUPPORTED) || errors.Is(err, windows.ERROR_INVALID_FUNCTION)
}

// osKey finds no identity: a description here does not carry one.
func osKey(fs.FileInfo) fileKey { return fileKey{} }

// keyByOpening opens the entry to learn its identity.
func keyByOpening(r *os.Root, name string) fileKey {
	f, err := r.Open(name)
	if err != nil {
		return fileKey{}
	}
	defer f.Close()
	return keyOfFile(f)
}

func keyOfFile(f *os.File) fileKey {
	var info windows.ByHandleFileInformation
	if windows.GetFileInformationByHandle(windows.Handle(f.Fd()), &info) != nil {
		return fileKey{}
	}
	return fileKey{dev: uint64(info.VolumeSerialNumber), ino: uint64(info.FileIndexHigh)<<32 | uint64(info.FileIndexLow)}
}

// syncDir does nothing: the host keeps its own journal of names.
func syncDir(*os.Root) error { return nil }

// lockFile takes no lock; nobody else's temporary file is ever seen as free.
func lockFile(_ *os.File, wait bool) (bool, error) { return wait, nil }

func hasName(*os.File) bool { return true }
