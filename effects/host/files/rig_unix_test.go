//go:build unix

package files

import "syscall"

func (h *rootHost) addFIFO(path string) {
	h.t.Helper()
	h.must(syscall.Mkfifo(h.at(path), 0o644))
}
