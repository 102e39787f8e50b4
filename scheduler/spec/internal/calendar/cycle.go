package calendar

import "math/bits"

// Cycle is a periodic set of whole numbers (seconds, days, months …): anchor + k·step for each whole k whose phase, k
// modulo length, has its bit set. "Every 20 minutes, at 9 o'clock only" is a step of 20 minutes and a length of 72,
// after which the times of day repeat.
type Cycle struct {
	Anchor, Step int64
	Length       int64
	phases       []uint64 // bits; phases beyond the last word are not set
	size         int64    // bits set
}

// NewCycle returns a cycle of length phases, of which those are set that has says.
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
