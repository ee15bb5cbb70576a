package prelude

import (
	"math"
	"math/bits"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/coreform/kernel"
)

// jsonNatives are JSON as text. parse goes over a text twice: first it checks the
// grammar and adds up what the value takes (jsonread.go, jsonmeasure.go), then,
// when that is charged for, it makes the value (jsonbuild.go). print writes the
// canonical text into a textWriter (jsonprint.go). Neither recurses. (spec JSON)
var jsonNatives = []kernel.Native{
	{Name: "core/json::parse", Arity: 1, Fn: parseJSON},
	{Name: "core/json::print", Arity: 1, Fn: printJSON},
}

// The limits of both directions, so that a text that is printed can be read.
// (spec JSON-LIM-1)
const (
	jsonDepth  = coreform.DefaultDepth  // arrays and objects within each other
	jsonBytes  = coreform.DefaultBytes  // of the text
	jsonTerms  = coreform.DefaultTerms  // values and names
	jsonDigits = coreform.DefaultDigits // of an integer, or of a decimal without its point
	jsonScale  = 4096                   // digits behind the point of a decimal (LANG-DEC-1)
)

// shortDigits is how many digits every integer of 64 bits can have.
const shortDigits = 18

// digitWords is the most 64-bit words an integer of that many digits takes.
func digitWords(digits int64) int64 { return digits/19 + 1 }

// convertSteps is the work of turning an integer of that many words into digits
// or back: both halve the number until it is short. (spec JSON-COST-1)
func convertSteps(words int64) int64 {
	return words * int64(math.Sqrt(float64(words))) / 8
}

// nameSteps is the work of bringing the names of an object into order: n names
// with that many bytes in all. (spec JSON-COST-1)
func nameSteps(n, bytes int64) int64 {
	return max(1, int64(bits.Len64(uint64(n)))) * (bytes/64 + n/8)
}
