//go:build !race

package prelude_test

// raceDetector says that the race detector is on.
const raceDetector = false
