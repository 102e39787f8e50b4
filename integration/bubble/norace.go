//go:build !race

package bubble

// RaceDetector tells whether the race detector watches, which makes a program about ten times slower.
const RaceDetector = false
