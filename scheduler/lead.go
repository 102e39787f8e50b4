package scheduler

import "time"

const (
	// lead is how long before it is due a baton is fired, so that a worker
	// holds it in memory at the instant; JetStream's own timer is up to
	// 250 ms late.
	lead = 500 * time.Millisecond

	// timerStep is how far apart the runs of JetStream's timer are.
	timerStep = 250 * time.Millisecond

	// floor is how near a baton's time may be for a timer to still pay: what
	// is due sooner goes to the workers at once, and they hold it.
	floor = lead + 500*time.Millisecond

	// widest is the window over which batons due at one instant are spread.
	widest = 2 * time.Second

	// horizon is how far ahead a timer is set at most. JetStream counts the
	// nanoseconds since 1970, which 64 bits hold until 2262: a baton of a later
	// instant would fire at once. What is due beyond it wakes a worker then,
	// which arms it again.
	horizon = 50 * 365 * 24 * time.Hour

	// soon is how long before its time a worker holds a baton in memory: more
	// than any lead. One that comes earlier has reached the horizon, unless the
	// clocks of this machine and of the store differ by as much.
	soon = time.Hour
)

// ArmAt returns when JetStream is to fire a baton of j that is due at due:
// the lead before it, and up to two seconds earlier for jobs with long
// intervals, so that the batons of a herd come one after the other. One that is
// due beyond the horizon is fired there, and waits again (see [Baton.Early]).
// Zero means at once.
func (j *Job) ArmAt(due, now time.Time) time.Time {
	least := floor
	if j.Def.Overlap == OverlapAllow {
		// The counts of its detached runs are added to a baton while it waits, so
		// one of every second must wait, too.
		least = lead + timerStep
	}
	if due.Sub(now) < least {
		return time.Time{}
	}
	at := due.Add(-lead - j.spread())
	if furthest := now.Add(horizon); at.After(furthest) {
		return furthest
	}
	return at
}

// Early reports whether b is with a worker so long before its time that it is to
// wait outside the process, and not in memory.
func (b *Baton) Early(now time.Time) bool { return b.Wake().Sub(now) > soon }

// spread is a hash of the job within a window that grows with its interval:
// none below a minute, two seconds from an hour on.
func (j *Job) spread() time.Duration {
	interval := time.Hour
	if !j.OneShot() {
		interval = j.Plan.Interval()
	}
	if interval < time.Minute {
		return 0
	}
	window := min(widest, time.Duration(float64(interval)/float64(time.Hour)*float64(widest)))
	return time.Duration(float64(j.Key.Hash()) / (1 << 32) * float64(window))
}
