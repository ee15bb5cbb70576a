//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package fspolicy

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// openNonblock keeps open(2) from waiting for the other end of a FIFO.
const openNonblock = unix.O_NONBLOCK

// hostRefuses is for names a host would not take as given; Unix has none.
func hostRefuses(string) Kind { return "" }

// errnoKinds maps the system's errors. Those not in it are KindOther.
var errnoKinds = map[syscall.Errno]Kind{
	unix.ENOENT: KindNotFound, unix.ESTALE: KindNotFound,
	unix.EACCES: KindPermissionDenied, unix.EPERM: KindPermissionDenied,
	unix.EEXIST:    KindAlreadyExists,
	unix.EISDIR:    KindIsADirectory,
	unix.ENOTDIR:   KindNotADirectory,
	unix.ENOTEMPTY: KindNotEmpty,
	unix.ENXIO:     KindNotRegular, unix.ENODEV: KindNotRegular, unix.EOPNOTSUPP: KindNotRegular,
	unix.EROFS:  KindReadOnly,
	unix.ENOSPC: KindNoSpace, unix.EDQUOT: KindNoSpace,
	unix.EFBIG:  KindTooLarge,
	unix.EMLINK: KindTooManyLinks, unix.ELOOP: KindTooManyLinks,
	unix.EXDEV: KindCrossDevice,
	unix.EBUSY: KindBusy, unix.ETXTBSY: KindBusy,
	unix.EINTR: KindInterrupted,
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
		return KindOther
	}
	if errors.Is(err, fs.ErrNotExist) {
		return KindNotFound
	}
	return kindOf(err)
}

// notALink reports whether reading a link failed because it is none.
func notALink(err error) bool { return errors.Is(err, unix.EINVAL) }

// linksUnsupported reports whether the host refused a hard link for what the
// file system cannot do. Some say "not permitted" for it, which is safe to take
// the same way: the next step meets a true lack of permission again.
func linksUnsupported(err error) bool {
	return errors.Is(err, unix.EPERM) || errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOSYS)
}

// osKey identifies the file info describes.
func osKey(info fs.FileInfo) fileKey {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fileKey{}
	}
	// Some systems have a device number of 32 bits or with a sign.
	return fileKey{dev: uint64(st.Dev), ino: uint64(st.Ino)}
}

// keyByOpening and keyOfFile are for hosts where a description has no identity.
func keyByOpening(*os.Root, string) fileKey { return fileKey{} }
func keyOfFile(*os.File) fileKey            { return fileKey{} }

// syncDir makes changes to a directory's entries durable. File systems that
// cannot do it say so, and are left with what they do.
func syncDir(r *os.Root) error {
	f, err := r.Open(".")
	if err != nil {
		// A directory that may be written but not read cannot be synced.
		if errors.Is(err, fs.ErrPermission) {
			return nil
		}
		return err
	}
	defer f.Close()
	if err := f.Sync(); err != nil && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOTSUP) {
		return err
	}
	return nil
}

// lockFile takes the lock that marks a temporary file as in use. It goes with
// the process, however that ends.
func lockFile(f *os.File, wait bool) (bool, error) {
	how := unix.LOCK_EX
	if !wait {
		how |= unix.LOCK_NB
	}
	for {
		err := unix.Flock(int(f.Fd()), how)
		switch {
		case err == nil:
			return true, nil
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EWOULDBLOCK):
			return false, nil
		case wait && (errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.ENOLCK) || errors.Is(err, unix.ENOSYS)):
			return true, nil // no locks here: nobody can sweep either
		default:
			return false, err
		}
	}
}

// hasName reports whether the file has not been removed.
func hasName(f *os.File) bool {
	var st unix.Stat_t
	return unix.Fstat(int(f.Fd()), &st) != nil || st.Nlink > 0
}
