package prelude

import (
	_ "embed" // the library's sources
	"sync"

	"github.com/gcrun/gcrun/coreform/kernel"
)

var (
	//go:embed core.gc
	coreSource string
	//go:embed list.gc
	listSource string
	//go:embed vec.gc
	vecSource string
	//go:embed map.gc
	mapSource string
	//go:embed effect.gc
	effectSource string
	//go:embed fs.gc
	fsSource string
	//go:embed sys.gc
	sysSource string
	//go:embed data.gc
	dataSource string
	//go:embed task.gc
	taskSource string
)

// sources are the definitions in CoreForm. An alias stands behind what it means.
func sources() []string {
	return []string{coreSource, listSource, vecSource, mapSource, effectSource, fsSource, sysSource, dataSource, taskSource}
}

// revisions has the semantic revisions of definitions in CoreForm that are not 1.
// A definition that can give another result than before for the same arguments
// needs the next one; testdata/revisions.txt says when to decide. (spec SH-LIB-2)
var revisions = map[string]uint32{
	// They refuse what is not a function, also when it would never be called.
	"core/effect::catch": 2, "core/effect::catch-payload": 2, "core/effect::map": 2,
	"core/list::filter": 2, "core/list::foldl": 2, "core/list::map": 2,
}

// Library returns the library. It is made when first asked for, definitions are
// compiled when a program first uses them, and it is safe for concurrent use.
var Library = sync.OnceValue(newLibrary)

func newLibrary() *kernel.Library {
	natives := append(kernel.CoreNatives(), kernel.AskNative())
	for _, table := range [][]kernel.Native{errorNatives, textNatives, containerNatives, stringNatives, jsonNatives} {
		natives = append(natives, table...)
	}
	constants := []kernel.Constant{{Name: "core/contract::genesis", Value: kernel.Genesis()}}
	lib, err := kernel.NewLibrary(natives, constants, revisions, sources()...)
	if err != nil {
		panic("BUG: prelude: " + err.Error()) // the sources are part of this package and tested
	}
	return lib
}
