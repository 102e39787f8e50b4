//go:build race

package climb

// slowdown is how much slower a program may be for being watched by the race detector.
const slowdown = 10
