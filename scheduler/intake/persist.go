package intake

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// The pauses between tries of a write that the store did not take.
const (
	firstPause = 50 * time.Millisecond
	lastPause  = 5 * time.Second
	pausePart  = 8 // of the time since the first try
)

// pauseAfter returns how long to pause when a write has been tried for so long: an
// eighth of that, so that what waits for a server that has been away is late by
// little more than that server was.
func pauseAfter(tried time.Duration) time.Duration {
	return min(max(firstPause, tried/pausePart), lastPause)
}

// Persister repeats writes that the store did not take. It tells the log of all
// of them together: when a server restarts amid a herd, thousands wait.
type Persister struct {
	log    *slog.Logger
	seldom Seldom

	mu      sync.Mutex
	waiting int  // writes that the store did not take
	waited  int  // those that did since the first of them
	named   bool // the log has been told of these
}

// NewPersister returns one that tells log.
func NewPersister(log *slog.Logger) *Persister { return &Persister{log: log} }

// Persist repeats a write until the store takes or refuses it. A write that is
// under way ends with ctx, and the repetitions with stop. The log names a job at
// warn, and how many wait, every ten seconds; at debug, each.
func (p *Persister) Persist(ctx, stop context.Context, job string, write func(context.Context) error) error {
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

func (p *Persister) begin() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting++
	p.waited++
}

// end tells the log when no write waits any more.
func (p *Persister) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting--
	if p.waiting > 0 {
		return
	}
	if p.named {
		p.log.Info("no write waits for the store any more", "waited", p.waited)
	}
	p.waited, p.named = 0, false
}

func (p *Persister) tell(ctx context.Context, job string, wait time.Duration, err error) {
	level, _ := p.seldom.Level()
	p.mu.Lock()
	waiting := p.waiting
	p.named = p.named || level == slog.LevelWarn
	p.mu.Unlock()
	p.log.Log(ctx, level, "the store did not take a write; trying again", "job", job, "wait", wait.String(), "waiting", waiting, "err", err)
}

// Pause waits for d; false when ctx is done before.
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
