package conn

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// clock estimates the store's clock, which is the clock of the server that leads the streams. All due times refer to
// it, so a wrong or stepped clock of one process makes no run early or late.
//
// The process reads the store's clock at the start, at each [Conn.Check], and after a step of the local clock. In
// between it adds monotonic elapsed time, which no step affects. While both clocks agree within the accuracy of a
// reading, it uses the local clock.
type clock struct {
	known  atomic.Pointer[reading]
	asking sync.Mutex // held during a reading
}

// reading is one reading of the store's clock.
type reading struct {
	at    time.Time     // local time, with its monotonic part
	ahead time.Duration // of the local clock over the store's
}

// Limits of a reading.
const (
	clockTimeout = 2 * time.Second
	clockPause   = 100 * time.Millisecond // after a failed reading, which fails immediately without a connection
	clockStep    = 100 * time.Millisecond // a larger difference is a step, not an adjustment
)

// Now returns the time of the store's clock.
func (s *Conn) Now() time.Time {
	now := time.Now()
	r := s.clock.known.Load()
	if r == nil {
		return now
	}
	by, stepped := r.now(now)
	if stepped && s.clock.asking.TryLock() {
		go func() {
			defer s.clock.asking.Unlock()
			if !s.readClock(context.Background()) {
				<-time.After(clockPause)
			}
		}()
	}
	return by
}

// ClockAhead returns how far the local clock was ahead of the store's at the last reading; 0 if they agreed or no
// reading succeeded.
func (s *Conn) ClockAhead() time.Duration {
	if r := s.clock.known.Load(); r != nil {
		return r.ahead
	}
	return 0
}

// now converts local time to the store's time, and reports whether the local clock has stepped since the reading.
func (r *reading) now(now time.Time) (by time.Time, stepped bool) {
	passed := now.Sub(r.at) // monotonic
	step := now.Round(0).Sub(r.at.Round(0)) - passed
	stepped = step.Abs() >= clockStep
	if r.ahead == 0 && !stepped {
		return now, false
	}
	return r.at.Round(0).Add(passed - r.ahead), stepped
}

// aheadOf returns how far the local clock is ahead of a clock that showed ts between two local times. It prefers the
// previous value was, because a late answer is imprecise, then 0, if they are possible. Otherwise it returns the
// largest possible value, so that nothing runs early.
func aheadOf(asked, answered, ts time.Time, was time.Duration) time.Duration {
	least, most := asked.Sub(ts), answered.Sub(ts)
	for _, ahead := range []time.Duration{was, 0} {
		if least <= ahead && ahead <= most {
			return ahead
		}
	}
	return most
}

// askClock reads the store's clock unless a reading is in progress.
func (s *Conn) askClock(ctx context.Context) {
	if s.clock.asking.TryLock() {
		defer s.clock.asking.Unlock()
		s.readClock(ctx)
	}
}

// readClock reads the clock of the first lane's leader and reports success. On failure, the previous reading remains in
// use.
func (s *Conn) readClock(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, clockTimeout)
	defer cancel()
	asked := time.Now()
	var info struct {
		TS time.Time `json:"ts"`
	}
	err := s.Ask(ctx, "$JS.API.STREAM.INFO."+s.Config.Stream(TimersStream(0)), nil, &info)
	answered := time.Now()
	if err != nil || info.TS.IsZero() {
		return false
	}
	if _, stepped := (&reading{at: asked}).now(answered); stepped {
		return false // the timestamp may be from before the step or after it
	}
	was, before := s.clock.known.Load(), time.Duration(0) // 0 if possible
	if was != nil {
		if _, stepped := was.now(answered); !stepped {
			before = was.ahead
		}
	}
	r := &reading{at: answered, ahead: aheadOf(asked.Round(0), answered.Round(0), info.TS, before)}
	s.clock.known.Store(r)
	if r.ahead.Abs() >= clockStep && (was == nil || (was.ahead-r.ahead).Abs() >= clockStep) {
		s.Config.Logger.Warn("the clock of this machine differs from the NATS server's, which determines when jobs run",
			"ahead", r.ahead.String())
	}
	return true
}
