package node

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-sched/carillon/integration/testkit/bubble"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// TestDiskStates fills and frees a disk: each state is logged once, and the degraded one keeps when it began.
func TestDiskStates(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		var free atomic.Uint64
		free.Store(50)
		d := &disk{
			space: func() (uint64, uint64, bool) { return free.Load() << 30, 100 << 30, true },
			log:   slog.New(slog.NewTextHandler(&out, nil)),
		}
		go d.run(t.Context())
		synctest.Wait()
		for _, step := range []struct {
			free        uint64
			scarce, log int
		}{
			{free: 10},
			{free: 9, log: 1},
			{free: 10, log: 1},
			{free: 5, log: 1},
			{free: 4, scarce: 1, log: 2},
			{free: 1, scarce: 1, log: 2},
			{free: 5, scarce: 1, log: 2},
			{free: 6, log: 3},
			{free: 10, log: 3},
			{free: 11, log: 4},
		} {
			free.Store(step.free)
			time.Sleep(10 * checkEvery)
			synctest.Wait()
			reason := d.scarce()
			d.mu.Lock()
			logged := out.String()
			d.mu.Unlock()
			if (reason != "") != (step.scarce == 1) || strings.Count(logged, "\n") != step.log {
				t.Errorf("%d %% free: %q\n%s", step.free, reason, logged)
			} else if reason != "" && !strings.Contains(reason, "since 00:06:50Z;") {
				t.Errorf("%d %% free: another beginning: %q", step.free, reason)
			}
		}
	})
}

// TestLinkKeepsBeginning has a server that hangs, and takes connections meanwhile: it is one outage until a ping is answered,
// or the connection has stood for a while.
func TestLinkKeepsBeginning(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		l := NewLink(slog.New(slog.DiscardHandler), func() {})
		var options nats.Options
		for _, set := range l.Options() {
			must.Do(t, set(&options))
		}
		nc := &nats.Conn{}
		lose := func() { options.DisconnectedErrCB(nc, errors.New("stale connection")) }
		says := func(want string) {
			t.Helper()
			if got := l.Err(nc).Error(); !strings.Contains(got, " since "+want) {
				t.Errorf("got %q, want since %s", got, want)
			}
		}
		l.note(time.Now(), nil) // a ping that is not answered
		time.Sleep(10 * time.Second)
		lose()
		says("00:00:00Z")
		l.restored(time.Now())
		time.Sleep(10 * time.Second)
		lose()
		says("00:00:00Z")
		l.restored(time.Now())
		time.Sleep(2 * sameOutage)
		lose()
		says("00:02:20Z")
		l.answered()
		lose()
		time.Sleep(time.Second)
		lose()
		says("00:02:20Z")
	})
}
