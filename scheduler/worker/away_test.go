package worker_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/worker"
)

// unread is a store whose definitions cannot be read for a while, and whose ends
// of jobs cannot be written.
type unread struct {
	scheduler.Store

	away atomic.Bool
}

func (u *unread) LoadJob(ctx context.Context, k scheduler.Key) (scheduler.Stored, error) {
	if u.away.Load() {
		return scheduler.Stored{}, scheduler.ErrUnavailable
	}
	return u.Store.LoadJob(ctx, k)
}

func (u *unread) LoadJobs(ctx context.Context, keys []scheduler.Key, each func(scheduler.Stored)) error {
	if u.away.Load() {
		return scheduler.ErrUnavailable
	}
	return u.Store.LoadJobs(ctx, keys, each)
}

// TestAwayStoreIsToldSeldom: a herd falls due while no definition can be read. The log is not flooded, and all runs once.
func TestAwayStoreIsToldSeldom(t *testing.T) {
	const herd = 300
	inBubble(t, func(t *testing.T, w *world) {
		w.stopWorker()
		for i := range herd {
			w.put(fmt.Sprint("j", i), `{`+action+`, "startTime": "2000-01-01T00:10:00Z"}`)
		}
		log, st := &noted{}, &unread{Store: w.store}
		st.away.Store(true)
		w.startWorker(func(c *worker.Config) { c.Store, c.Logger = st, slog.New(slog.NewTextHandler(log, nil)) })
		time.Sleep(11 * time.Minute)
		if n := log.count("baton put back for a moment"); n < 2 || n > 7 {
			t.Errorf("in a minute the log was told %d times", n)
		}
		st.away.Store(false)
		time.Sleep(time.Minute)
		if n := len(w.sink.seen()); n != herd {
			t.Errorf("%d called, want %d", n, herd)
		}
	})
}
