package limits

import (
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// slots is how many attempts a target may have in flight, which it earns, and
// how long they take.
type slots struct {
	inFlight int
	allowed  int
	latency  time.Duration // moving average of its attempts
	progress time.Time     // when an attempt last ended, or the first one began
	slow     bool
}

const (
	// slowAfter is the mean duration of an attempt from which a target is slow.
	slowAfter = time.Second

	// firstSlots is what a target may have before it has answered.
	firstSlots = 8
)

// admits reports whether one more attempt may begin. slowRoom tells whether
// one may to any slow target.
func (s *slots) admits(slowRoom bool) bool { return s.inFlight < s.allowed && (!s.slow || slowRoom) }

// begin counts an attempt that begins.
func (s *slots) begin(now time.Time) {
	if s.inFlight == 0 {
		s.progress = now
	}
	s.inFlight++
}

// answered learns from an attempt that ended, and is counted no more. most is
// how many slots a target may earn.
func (s *slots) answered(res scheduler.Result, most int, now time.Time) (moved int) {
	s.progress = now
	s.latency += (res.Duration - s.latency) / 4
	if res.Duration < slowAfter || !res.Failed {
		s.allowed = min(s.allowed+1, most)
	}
	return s.judge()
}

// review judges a target whose attempts have not ended yet: one that answers
// nothing at all would never be found slow by what it answers.
func (s *slots) review(now time.Time) (moved int) {
	if waited := now.Sub(s.progress); s.inFlight > 0 && waited > max(slowAfter, s.latency) {
		s.latency = waited
		return s.judge()
	}
	return 0
}

// judge decides whether the target is slow. moved is by how many there are
// more attempts in flight to slow targets, or fewer.
func (s *slots) judge() (moved int) {
	slow := s.latency >= slowAfter
	if slow == s.slow {
		return 0
	}
	if s.slow = slow; slow {
		return s.inFlight
	}
	return -s.inFlight
}
