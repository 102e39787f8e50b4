//go:build !race

package climb

const slowdown = 1
