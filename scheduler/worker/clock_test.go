package worker_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/worker"
)

// skewed is the store of a machine whose clock is ahead of the server's. A bubble has one clock, so the wrapper shifts
// the server's times instead.
type skewed struct {
	scheduler.Store

	ahead time.Duration
}

func (s skewed) Now() time.Time { return s.Store.Now().Add(-s.ahead) }

// here converts a time of the server's clock.
func (s skewed) here(at time.Time) time.Time {
	if at.IsZero() {
		return at
	}
	return at.Add(s.ahead)
}

func (s skewed) Arm(ctx context.Context, slot scheduler.Slot, body []byte, at time.Time, waiting uint64) error {
	return s.Store.Arm(ctx, slot, body, s.here(at), waiting)
}

func (s skewed) PassOn(ctx context.Context, slot scheduler.Slot, body []byte, at time.Time, running uint64) error {
	return s.Store.PassOn(ctx, slot, body, s.here(at), running)
}

func (s skewed) Deliver(ctx context.Context, lane int, wake <-chan struct{}, room func() int, take func(*scheduler.Delivery)) error {
	return s.Store.Deliver(ctx, lane, wake, room, func(d *scheduler.Delivery) {
		d.Fired = d.Fired.Add(-s.ahead)
		take(d)
	})
}

// withSkew runs f for replicas with clocks five minutes ahead of and behind the server's.
func withSkew(t *testing.T, f func(t *testing.T, w *world, s skewed)) {
	t.Helper()
	for _, ahead := range []time.Duration{5 * time.Minute, -5 * time.Minute} {
		t.Run(ahead.String(), func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				s := skewed{w.store, ahead}
				w.service = w.newServiceOn(s, newKey(t, "k1"))
				w.startWorker(func(c *worker.Config) { c.Store = s })
				f(t, w, s)
			})
		})
	}
}

// TestSkewedDeferral: an open circuit breaker defers a run by the server's clock. A worker whose clock is behind would
// otherwise arm it for the past, and the timer would fire it again at once, over and over.
func TestSkewedDeferral(t *testing.T) {
	withSkew(t, func(t *testing.T, w *world, s skewed) {
		w.ail()
		w.rules(breaker)
		w.openCircuit()
		js, err := jetstream.New(w.nc)
		w.must(nil, err)
		writes := func() uint64 {
			timers, err := js.Stream(t.Context(), "CARILLON_TIMERS_0")
			w.must(nil, err)
			return timers.CachedInfo().State.LastSeq
		}
		before := writes()
		w.put("job", `{`+failOnce+`}`)
		time.Sleep(5 * time.Second)
		if n := writes() - before; n > 4 {
			t.Errorf("%d writes for a run that waits for its circuit", n)
		}
		if next := w.get("job").Status.Next.Sub(s.Now()); next < 10*time.Second || next > time.Minute {
			t.Errorf("it is tried again in %s", next)
		}
	})
}

// TestSkewedEdits: no edit records an instant as skipped that has not passed by the server's clock, and none that has
// passed runs.
func TestSkewedEdits(t *testing.T) {
	withSkew(t, func(t *testing.T, w *world, s skewed) {
		ctx := t.Context()
		edit := func(what string, err error) {
			t.Helper()
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			time.Sleep(time.Second)
			for _, r := range w.history("job") {
				if last := max(r.Nominal.UnixNano(), r.To.UnixNano()); last > s.Now().UnixNano() && !r.Kind.IsManual() {
					t.Errorf("%s: recorded as %s: %s, which is to come", what, r.Outcome, time.Unix(0, last).UTC())
				}
			}
			v := w.get("job")
			if next := v.Status.Next.Sub(s.Now()); v.Job.State == scheduler.Enabled && (next < -time.Second || next > 2*time.Minute) {
				t.Errorf("%s: the job runs next in %s", what, next)
			}
			time.Sleep(30 * time.Second)
		}
		w.put("job", `{`+action+`, `+every10s+`}`)
		edit("put", nil)
		_, err := w.service.Disable(ctx, key("job"))
		edit("disable", err)
		_, err = w.service.Enable(ctx, key("job"))
		edit("enable", err)
		_, err = w.patch("job", `{"recurrence": {"frequency": "Second", "interval": 15}}`)
		edit("patch", err)
		_, err = w.service.Trigger(ctx, key("job"))
		edit("run", err)
		_, err = w.service.Pause(ctx, key("job"), "1m")
		edit("pause", err)
		_, err = w.service.Enable(ctx, key("job"))
		edit("end of the pause", err)
		var got []string
		for _, c := range w.sink.seen() {
			got = append(got, c.at.Add(-s.ahead).Sub(s.Now()).Round(time.Second).String())
		}
		if n := len(got); n < 12 || n > 15 { // 31 s at 10 s, 0, 31 s at 10 s, 62 s at 15 s and a run by hand, 0, 31 s at 15 s
			t.Errorf("%d calls: %s", n, strings.Join(got, " "))
		}
		if !strings.Contains(w.outcomes("job"), "skipped(disabled 3)") || strings.Count(w.outcomes("job"), "skipped(paused") != 1 {
			t.Errorf("history %q", w.outcomes("job"))
		}
	})
}
