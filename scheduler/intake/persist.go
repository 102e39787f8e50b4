package intake

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// The pauses between tries of a write that the store did not take.
const (
	firstPause = 50 * time.Millisecond
	lastPause  = 5 * time.Second
)

// Persist repeats a write until the store takes or refuses it. A write that is
// under way ends with ctx, and the repetitions with stop. The log names the job,
// once at warn.
func Persist(ctx, stop context.Context, log *slog.Logger, job string, write func(context.Context) error) error {
	level := slog.LevelWarn
	for wait := firstPause; ; wait = min(2*wait, lastPause) {
		err := write(ctx)
		if !errors.Is(err, scheduler.ErrUnavailable) {
			return err
		}
		log.Log(ctx, level, "the store did not take a write; trying again", "job", job, "wait", wait, "err", err)
		level = slog.LevelDebug
		if !Pause(stop, wait) {
			return err
		}
	}
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
