package flow

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// The pauses between attempts of a write.
const (
	firstPause = 50 * time.Millisecond
	lastPause  = 5 * time.Second
	pausePart  = 8 // of the time since the first attempt
)

// pauseAfter returns the pause after a write has been tried for a time: one eighth of it. So the delay after an outage
// is short compared with the outage.
func pauseAfter(tried time.Duration) time.Duration {
	return min(max(firstPause, tried/pausePart), lastPause)
}

// RetryWriter repeats failed writes. It logs them in aggregate: thousands may wait while a server restarts during a herd.
type RetryWriter struct {
	log  *slog.Logger
	logs RateLimitedLog

	mu      sync.Mutex
	waiting int  // writes that currently fail
	waited  int  // writes that succeeded after failing, since the first of them
	named   bool // the log has a line about these
}

// NewRetryWriter returns a RetryWriter that logs to log.
func NewRetryWriter(log *slog.Logger) *RetryWriter { return &RetryWriter{log: log} }

// Persist repeats a write until the store accepts or rejects it. ctx cancels the write in progress, stop the
// repetition. Every ten seconds, it logs one job and the number of waiting writes at warn; it logs each failed write at
// debug.
func (p *RetryWriter) Persist(ctx, stop context.Context, job string, write func(context.Context) error) error {
	began := time.Now()
	err := write(ctx)
	if !errors.Is(err, scheduler.ErrUnavailable) {
		return err
	}
	p.begin()
	defer p.end()
	for errors.Is(err, scheduler.ErrUnavailable) {
		wait := pauseAfter(time.Since(began))
		p.tell(ctx, job, wait, err)
		if !Pause(stop, wait) {
			return err
		}
		err = write(ctx)
	}
	return err
}

func (p *RetryWriter) begin() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting++
	p.waited++
}

// end logs when no write waits anymore.
func (p *RetryWriter) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting--
	if p.waiting > 0 {
		return
	}
	if p.named {
		p.log.Info("no more writes wait for the store", "waited", p.waited)
	}
	p.waited, p.named = 0, false
}

func (p *RetryWriter) tell(ctx context.Context, job string, wait time.Duration, err error) {
	level, _ := p.logs.Level()
	p.mu.Lock()
	waiting := p.waiting
	p.named = p.named || level == slog.LevelWarn
	p.mu.Unlock()
	p.log.Log(ctx, level, "the store did not take a write; trying again", "job", job, "wait", wait.String(), "waiting", waiting, "err", err)
}

// Pause waits for d. It returns false if ctx is done first.
func Pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// lineEvery is the minimum interval between two lines at warn.
const lineEvery = 10 * time.Second

// RateLimitedLog limits the log lines about a condition that affects thousands of jobs at the same time, such as an unavailable
// store. The zero value is ready for use.
type RateLimitedLog struct {
	mu      sync.Mutex
	logged  time.Time
	omitted int
}

// Level returns the level of the next line: warn, or debug if a line was logged at warn in the last ten seconds.
// omitted is the number of lines at debug before a line at warn.
func (s *RateLimitedLog) Level() (level slog.Level, omitted int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(s.logged) < lineEvery {
		s.omitted++
		return slog.LevelDebug, 0
	}
	return slog.LevelWarn, s.take()
}

// Rest returns the number of lines at debug that no line at warn has reported yet. It returns false within ten seconds
// of the last line at warn.
func (s *RateLimitedLog) Rest() (omitted int, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(s.logged) < lineEvery {
		return 0, false
	}
	if s.omitted == 0 {
		return 0, true
	}
	return s.take(), true
}

// take starts another ten seconds. The caller holds the lock.
func (s *RateLimitedLog) take() (omitted int) {
	omitted, s.logged, s.omitted = s.omitted, time.Now(), 0
	return omitted
}
