//go:build unix

package fspolicy

import "syscall"

func (r *rootRig) addFIFO(path string) {
	r.t.Helper()
	r.must(syscall.Mkfifo(r.host(path), 0o644))
}
