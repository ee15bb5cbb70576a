package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// BenchmarkProcessStart is the whole process of evaluating an empty module and
// of replaying a log of one entry.
func BenchmarkProcessStart(b *testing.B) {
	dir := b.TempDir()
	bin := filepath.Join(dir, "gcrun")
	if out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	empty, one := filepath.Join(dir, "empty.gc"), filepath.Join(dir, "one.gc")
	for name, src := range map[string]string{empty: "", one: "(core/time::now nil)"} {
		if err := os.WriteFile(name, []byte(src), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	log := filepath.Join(dir, "one.gclog")
	if out, err := exec.Command(bin, "record", one, "--allow", "sys/time::now", "-o", log).CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	for name, args := range map[string][]string{"eval": {"eval", empty}, "replay": {"replay", log}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if out, err := exec.Command(bin, args...).CombinedOutput(); err != nil {
					b.Fatalf("%v\n%s", err, out)
				}
			}
		})
	}
}
