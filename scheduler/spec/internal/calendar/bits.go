package calendar

import (
	"math/bits"
)

// Divide returns the quotient rounded down and the remainder, which is not negative. The divisor b is positive.
func Divide(a, b int64) (quotient, remainder int64) {
	quotient, remainder = a/b, a%b
	if remainder < 0 {
		return quotient - 1, remainder + b
	}
	return quotient, remainder
}

// DivideUp returns the quotient rounded up.
func DivideUp(a, b int64) int64 {
	quotient, remainder := Divide(a, b)
	if remainder > 0 {
		quotient++
	}
	return quotient
}

// GCD returns the greatest common divisor.
func GCD(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// Mod returns the remainder of Divide.
func Mod(a, b int64) int64 {
	_, rest := Divide(a, b)
	return rest
}

// Inverse returns the number whose product with a is 1 modulo m. They have no common divisor.
func Inverse(a, m int64) int64 {
	x, y, r, s := int64(1), int64(0), Mod(a, m), m
	for s != 0 {
		q := r / s
		x, y, r, s = y, x-q*y, s, r-q*s
	}
	return Mod(x, max(m, 1))
}

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

// nextBit returns the place of the first bit that is set from a place on, or -1.
func nextBit(words []uint64, from int64) int64 {
	i := from / 64
	if i >= int64(len(words)) {
		return -1
	}
	word := words[i] >> (from % 64) << (from % 64)
	for word == 0 {
		i++
		if i == int64(len(words)) {
			return -1
		}
		word = words[i]
	}
	return i*64 + int64(bits.TrailingZeros64(word))
}

// lastBit returns the place of the last bit that is set up to a place, or -1.
func lastBit(words []uint64, to int64) int64 {
	to = min(to, int64(len(words))*64-1)
	i := to / 64
	word := words[i] & (1<<(to%64)<<1 - 1)
	for word == 0 {
		i--
		if i < 0 {
			return -1
		}
		word = words[i]
	}
	return i*64 + int64(bits.Len64(word)) - 1
}

// bitsBefore returns how many bits are set before a place.
func bitsBefore(words []uint64, end int64) int64 {
	n := 0
	for _, word := range words {
		if end < 64 {
			n += bits.OnesCount64(word & (1<<end - 1))
			break
		}
		n += bits.OnesCount64(word)
		end -= 64
	}
	return int64(n)
}

// nthBit returns the n-th bit of a set, from 0.
func nthBit(set uint64, n int) uint64 {
	for range n {
		set &= set - 1
	}
	return set & -set
}

// Cycle is a periodic set of whole numbers (seconds, days, months …): anchor + k·step for each whole k whose phase, k
// modulo length, has its bit set. "Every 20 minutes, at 9 o'clock only" is a step of 20 minutes and a length of 72,
// after which the times of day repeat.
type Cycle struct {
	Anchor, Step int64
	Length       int64
	phases       []uint64 // bits; phases beyond the last word are not set
	size         int64    // bits set
}

// NewCycle returns a cycle of length phases. has reports whether a phase is set.
func NewCycle(anchor, step, length int64, has func(phase int64) bool) Cycle {
	c := Cycle{Anchor: anchor, Step: step, Length: length, phases: make([]uint64, (length+63)/64)}
	for phase := range length {
		if has(phase) {
			c.phases[phase/64] |= 1 << (phase % 64)
			c.size++
		}
	}
	return c
}

// MaskCycle returns a cycle of consecutive numbers whose first phases are given and whose others are not set.
func MaskCycle(anchor, length int64, mask uint64) Cycle {
	return Cycle{anchor, 1, length, []uint64{mask}, int64(bits.OnesCount64(mask))}
}

// StepCycle returns every step-th number.
func StepCycle(anchor, step int64) Cycle {
	return Cycle{anchor, step, 1, []uint64{1}, 1}
}

// Next returns the first number of the set not before x, false if the set is empty.
func (c *Cycle) Next(x int64) (int64, bool) {
	if c.size == 0 {
		return 0, false
	}
	turn, phase := Divide(DivideUp(x-c.Anchor, c.Step), c.Length)
	if phase = nextBit(c.phases, phase); phase < 0 {
		turn, phase = turn+1, nextBit(c.phases, 0)
	}
	return c.Anchor + (turn*c.Length+phase)*c.Step, true
}

// Last returns the last number of the set not after x. The set must not be empty.
func (c *Cycle) Last(x int64) int64 {
	k, _ := Divide(x-c.Anchor, c.Step)
	turn, phase := Divide(k, c.Length)
	if phase = lastBit(c.phases, phase); phase < 0 {
		turn, phase = turn-1, lastBit(c.phases, c.Length-1)
	}
	return c.Anchor + (turn*c.Length+phase)*c.Step
}

// Count returns how many numbers of the set lie in a…b.
func (c *Cycle) Count(a, b int64) int64 {
	if a > b {
		return 0
	}
	end, _ := Divide(b-c.Anchor, c.Step)
	return c.rank(end+1) - c.rank(DivideUp(a-c.Anchor, c.Step))
}

// rank returns how many of the set come before k, from some fixed place on.
func (c *Cycle) rank(k int64) int64 {
	turn, phase := Divide(k, c.Length)
	return turn*c.size + bitsBefore(c.phases, phase)
}
