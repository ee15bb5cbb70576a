package fspolicy_test

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/gcrun/gcrun/fspolicy"
)

// A program's string becomes a Path or a refusal; with a Path, a file system
// can be asked. A Root from OpenRoot answers the same way as this Memory.
func Example() {
	ctx := context.Background()
	files := fspolicy.NewMemory()
	defer files.Close()
	files.AddSymlink("/etc", "link")

	for _, s := range []string{"notes.txt", "../notes.txt", "link/passwd"} {
		p, err := fspolicy.ParsePath(s)
		if err == nil {
			err = files.Write(ctx, p, strings.NewReader("hello"), fspolicy.WriteAny)
		}
		fmt.Printf("%s: %q\n", s, fspolicy.KindOf(err))
	}

	p, _ := fspolicy.ParsePath("notes.txt")
	f, err := files.Open(ctx, p)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer f.Close()
	text, err := io.ReadAll(f)
	fmt.Println(string(text), err)
	// Output:
	// notes.txt: ""
	// ../notes.txt: "dot-dot-component"
	// link/passwd: "escapes"
	// hello <nil>
}
