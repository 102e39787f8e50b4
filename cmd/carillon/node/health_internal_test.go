package node

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/bubble"
	"github.com/carillon-sched/carillon/store"
)

var (
	full   = store.Shut{Stream: "CARILLON_HISTORY", Reason: "write 1.blk: no space left on device", Reported: true}
	silent = store.Shut{Stream: "CARILLON_TIMERS_0", Reason: "it does not answer"}
)

// watched is a health whose server does what the test says.
type watched struct {
	*health

	out         bytes.Buffer
	mu          sync.Mutex
	shut        store.Shuts
	unreachable bool
	mends       int
	unmendable  error
}

func watch(embedded bool) *watched {
	w := &watched{}
	w.health = &health{
		check: func(context.Context) (store.Shuts, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			if w.unreachable {
				return nil, errors.New("not connected")
			}
			return w.shut, nil
		},
		log: slog.New(slog.NewTextHandler(&w.out, nil)),
	}
	if embedded {
		w.restart = func(context.Context) error {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.mends++
			if w.unmendable == nil {
				w.shut = nil
			}
			return w.unmendable
		}
	}
	return w
}

// set changes what the server does.
func (w *watched) set(change func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change()
}

// lines is how many lines of the log contain a text.
func (w *watched) lines(text string) int { return strings.Count(w.out.String(), text) }

const (
	takesNone = "streams of the NATS server are read-only"
	takesAll  = "all streams of the NATS server accept writes again"
)

// TestShutStreamsAreTold lets a stream of an outside server be shut for an hour.
func TestShutStreamsAreTold(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		w := watch(false)
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		suspicions := make(chan struct{})
		go w.run(ctx, suspicions)
		synctest.Wait()
		if err := w.err(ctx); err != nil || w.out.Len() > 0 {
			t.Errorf("at first: %v\n%s", err, w.out.String())
		}
		w.set(func() { w.shut = store.Shuts{full} })
		suspicions <- struct{}{} // a write was not acknowledged
		synctest.Wait()
		err := w.err(ctx)
		const want = "no writes are accepted by stream CARILLON_HISTORY: write 1.blk: no space left on device; " +
			"free some space where the server keeps its data, and restart the server: it keeps the streams shut until then"
		if err == nil || err.Error() != want || w.lines(takesNone) != 1 || w.lines("restart the server") != 1 {
			t.Errorf("once shut: %v\n%s", err, w.out.String())
		}
		w.set(func() { w.shut = store.Shuts{full, silent} })
		time.Sleep(time.Hour)
		synctest.Wait()
		if n := w.lines(takesNone); n < 6 || n > 9 {
			t.Errorf("within an hour it was told %d times\n%s", n, w.out.String())
		}
		w.set(func() { w.shut = nil })
		time.Sleep(checkEvery)
		synctest.Wait()
		if err := w.err(ctx); err != nil || w.lines(takesAll) != 1 || w.lines("after=1h") != 1 {
			t.Errorf("when it is over: %v\n%s", err, w.out.String())
		}
	})
}

// TestShutStreamsAreMended lets a stream of an embedded server be shut, on a disk that stays full for a minute.
func TestShutStreamsAreMended(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		w := watch(true)
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		w.shut, w.unmendable = store.Shuts{full}, errors.New("the directory is full")
		go w.run(ctx, nil)
		time.Sleep(time.Minute)
		synctest.Wait()
		if w.mends < 20 || w.lines("the directory is full") != 1 || w.lines(takesNone) != 1 {
			t.Errorf("%d tries\n%s", w.mends, w.out.String())
		}
		if err := w.err(ctx); err == nil || !strings.HasSuffix(err.Error(), "; the server is restarted then") {
			t.Errorf("got %v", err)
		}
		w.set(func() { w.unmendable = nil })
		time.Sleep(checkShutEvery + checkMendedEvery)
		synctest.Wait()
		if err := w.err(ctx); err != nil || w.lines(takesAll) != 1 {
			t.Errorf("mended: %v\n%s", err, w.out.String())
		}
	})
}

// TestSilenceIsNoReasonToRestart has a server that does not answer for a while, as a cluster without leader.
func TestSilenceIsNoReasonToRestart(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		w := watch(true)
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		w.set(func() { w.shut = store.Shuts{silent} })
		go w.run(ctx, nil)
		time.Sleep(time.Minute)
		synctest.Wait()
		w.set(func() { w.shut, w.unreachable = nil, true })
		time.Sleep(time.Minute)
		synctest.Wait()
		if err := w.err(ctx); err == nil || w.mends != 0 {
			t.Errorf("%v, %d restarts", err, w.mends)
		}
	})
}
