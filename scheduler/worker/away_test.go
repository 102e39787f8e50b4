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
	const herd = 30
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

// mute is a store that takes no records of attempts for a while.
type mute struct {
	scheduler.Store

	away atomic.Bool
}

func (m *mute) Append(ctx context.Context, r *scheduler.Record) error {
	if m.away.Load() {
		return scheduler.ErrUnavailable
	}
	return m.Store.Append(ctx, r)
}

// TestUnrecordedAttemptsAreBounded has a run due every 100 ms while no attempt can be recorded: all but those of the first second
// wait until the store takes records again, and none is repeated.
func TestUnrecordedAttemptsAreBounded(t *testing.T) {
	const jobs = 300
	inBubble(t, func(t *testing.T, w *world) {
		w.stopWorker()
		start := time.Date(2000, 1, 1, 0, 10, 0, 0, time.UTC)
		for i := range jobs {
			at := start.Add(time.Duration(i) * 100 * time.Millisecond).Format(time.RFC3339Nano)
			w.put(fmt.Sprint("j", i), `{`+action+`, "startTime": "`+at+`"}`)
		}
		st := &mute{Store: w.store}
		st.away.Store(true)
		w.startWorker(func(c *worker.Config) { c.Store = st })
		time.Sleep(time.Until(start.Add(40 * time.Second)))
		if n := len(w.sink.seen()); n < 10 || n > 12 {
			t.Errorf("%d attempts have run without a record, want those of the first second: 11", n)
		}
		st.away.Store(false)
		time.Sleep(time.Minute)
		w.wantCalls(jobs)
	})
}
