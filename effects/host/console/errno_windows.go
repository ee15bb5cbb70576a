package console

import (
	"errors"
	"syscall"
)

// System error codes the syscall package does not name.
const (
	errorHandleDiskFull = syscall.Errno(39)
	errorDiskFull       = syscall.Errno(112)
	errorFileTooLarge   = syscall.Errno(223)
	errorNoData         = syscall.Errno(232) // the pipe is being closed
)

func isBrokenPipe(err error) bool {
	return errors.Is(err, syscall.ERROR_BROKEN_PIPE) || errors.Is(err, errorNoData) || errors.Is(err, syscall.EPIPE)
}

func isFull(err error) bool {
	return errors.Is(err, errorDiskFull) || errors.Is(err, errorHandleDiskFull)
}

func isTooLarge(err error) bool { return errors.Is(err, errorFileTooLarge) }
