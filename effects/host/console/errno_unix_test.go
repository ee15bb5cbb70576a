//go:build unix

package console

import (
	"os"
	"syscall"
	"testing"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/effects/ops"
	"github.com/gcrun/gcrun/fspolicy"
)

func TestErrorNumbers(t *testing.T) {
	for errno, kind := range map[syscall.Errno]fspolicy.Kind{
		syscall.ENOSPC: fspolicy.KindNoSpace, syscall.EDQUOT: fspolicy.KindNoSpace, syscall.EFBIG: fspolicy.KindTooLarge,
		syscall.EACCES: fspolicy.KindPermissionDenied, syscall.EPERM: fspolicy.KindPermissionDenied, syscall.EIO: fspolicy.KindOther,
	} {
		if got := kindOf(&os.PathError{Op: "write", Path: "x", Err: errno}); got != kind {
			t.Errorf("%v is %s, want %s", errno, got, kind)
		}
	}
}

func TestFullDevice(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("this host has no device that is always full")
	}
	defer full.Close()
	r, err := New(full, full).Handle(bg, write(":out", coreform.Str("x")))
	if err != nil || !coreform.Equal(r.Value, ops.IOFailed("io/console::write", "no-space", "")) {
		t.Errorf("%v, %v", r, err)
	}
}
