package fspolicy

import (
	"strings"
	"testing"
)

func BenchmarkParsePath(b *testing.B) {
	for name, s := range map[string]string{"short": "src/main.gc", "long": strings.Repeat("caf\u00e9/", 500) + "x"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := ParsePath(s); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkRootRead(b *testing.B) {
	root, err := OpenRoot(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	defer root.Close()
	for _, s := range []string{"f", "a/b/c/f"} {
		if err := root.Mkdir(bg, p(b, s).Parent(), true); err != nil {
			b.Fatal(err)
		}
		if err := write(b, root, s, "content", WriteAny); err != nil {
			b.Fatal(err)
		}
		b.Run(strings.ReplaceAll(s, "/", "-"), func(b *testing.B) {
			for b.Loop() {
				if _, err := read(b, root, s); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
