package prelude

import "github.com/gcrun/gcrun/coreform/kernel"

var stringNatives = []kernel.Native{}
