//go:build !race

package bubble

// RaceDetector reports whether the race detector is on, which makes a program about ten times slower.
const RaceDetector = false
