//go:build race

package prelude_test

// raceDetector says that the race detector is on, under which everything takes
// ten times the time and memory.
const raceDetector = true
