package store

import (
	"context"
	"encoding/json"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
)

// clock is the store's, as far as this process knows it: that of the server which
// leads the streams. Jobs are due by it, so that a wrong clock of one process, or a
// step of it, makes nothing early and nothing late.
//
// It is asked at the start, with each [Store.Check], and when this machine's clock
// makes a step. In between it goes on by time that has passed, which no step
// changes. When both clocks agree, as far as can be told, it is this machine's.
type clock struct {
	known  atomic.Pointer[reading]
	asking sync.Mutex // held while the store is asked
}

// reading is what a look at the store's clock has told.
type reading struct {
	at    time.Time     // of this machine, with what has passed
	ahead time.Duration // is this machine
}

// The bounds of a reading.
const (
	clockTimeout = 2 * time.Second
	clockPause   = 100 * time.Millisecond // after one that came to nothing; without connection it fails at once
	clockStep    = 100 * time.Millisecond // a difference that is no adjustment of this machine's clock
)

// Now returns the time by the clock of the store.
func (s *Store) Now() time.Time {
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

// ClockAhead returns by how much the clock of this machine was ahead of the store's
// when that was last asked; 0 when they agreed, or it has not told.
func (s *Store) ClockAhead() time.Duration {
	if r := s.clock.known.Load(); r != nil {
		return r.ahead
	}
	return 0
}

// now returns the store's time at a time of this machine, and whether the clock of
// this machine has made a step since the reading.
func (r *reading) now(now time.Time) (by time.Time, stepped bool) {
	passed := now.Sub(r.at) // not by the wall
	step := now.Round(0).Sub(r.at.Round(0)) - passed
	stepped = step.Abs() >= clockStep
	if r.ahead == 0 && !stepped {
		return now, false
	}
	return r.at.Round(0).Add(passed - r.ahead), stepped
}

// aheadOf returns by how much this machine's clock is ahead of one that showed ts
// between two times of this machine. It is what it was as long as it may be that,
// since an answer that comes late tells little, else none when it may be none, and
// else as much as it may be: nothing is to be early.
func aheadOf(asked, answered, ts time.Time, was time.Duration) time.Duration {
	least, most := asked.Sub(ts), answered.Sub(ts)
	for _, ahead := range []time.Duration{was, 0} {
		if least <= ahead && ahead <= most {
			return ahead
		}
	}
	return most
}

// askClock asks for the store's clock, unless somebody does.
func (s *Store) askClock(ctx context.Context) {
	if s.clock.asking.TryLock() {
		defer s.clock.asking.Unlock()
		s.readClock(ctx)
	}
}

// readClock asks the leader of the first lane for its clock, and reports whether it
// is known. Without an answer that goes on which was known before.
func (s *Store) readClock(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, clockTimeout)
	defer cancel()
	asked := time.Now()
	m, err := s.nc.RequestWithContext(ctx, "$JS.API.STREAM.INFO."+s.cfg.stream(timersStream(0)), nil)
	answered := time.Now()
	if err != nil {
		return false
	}
	ts, ok := clockOf(m)
	if !ok {
		return false
	}
	if _, stepped := (&reading{at: asked}).now(answered); stepped {
		return false // ts may be of before it, or after
	}
	was, before := s.clock.known.Load(), time.Duration(0) // none as long as it may be none
	if was != nil {
		if _, stepped := was.now(answered); !stepped {
			before = was.ahead
		}
	}
	r := &reading{at: answered, ahead: aheadOf(asked.Round(0), answered.Round(0), ts, before)}
	s.clock.known.Store(r)
	if r.ahead.Abs() >= clockStep && (was == nil || (was.ahead-r.ahead).Abs() >= clockStep) {
		s.cfg.Logger.Warn("the clock of this machine is not that of the NATS server, which counts", "ahead", r.ahead.String())
	}
	return true
}

// clockOf reads the time that an answer about a stream carries.
func clockOf(m *nats.Msg) (time.Time, bool) {
	var answer struct {
		TS time.Time `json:"ts"`
	}
	return answer.TS, json.Unmarshal(m.Data, &answer) == nil && !answer.TS.IsZero()
}
