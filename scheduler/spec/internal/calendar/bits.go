package calendar

import "math/bits"

// StepBits returns the numbers below length that are a multiple of step away from start.
func StepBits(start, step, length int64) uint64 {
	set := uint64(0)
	for n := start % step; n < length; n += step {
		set |= 1 << n
	}
	return set
}

// BitsOf returns the bits of the values that are not negative.
func BitsOf(values []int) uint64 {
	set := uint64(0)
	for _, n := range values {
		if n >= 0 {
			set |= 1 << n
		}
	}
	return set
}

// Ones returns the places of the bits that are set, ascending.
func Ones(set uint64) []int {
	places := make([]int, 0, bits.OnesCount64(set))
	for ; set != 0; set &= set - 1 {
		places = append(places, bits.TrailingZeros64(set))
	}
	return places
}

// nthBit returns the n-th bit of a set, from 0.
func nthBit(set uint64, n int) uint64 {
	for range n {
		set &= set - 1
	}
	return set & -set
}
