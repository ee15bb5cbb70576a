package prelude

import "github.com/gcrun/gcrun/coreform/kernel"

var jsonNatives = []kernel.Native{}
