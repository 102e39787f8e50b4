package worker_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// strand has the server count all that is fired as acknowledged, as it does when it was killed between an acknowledgement and
// the removal: a consumer that was made for one subject alone acknowledges a later message of that, and takes all then.
func (w *world) strand() {
	w.t.Helper()
	ctx := w.t.Context()
	js, err := jetstream.New(w.nc)
	w.must(nil, err)
	old, err := js.Consumer(ctx, "CARILLON_TIMERS_0", "workers")
	w.must(nil, err)
	cfg := old.CachedInfo().Config
	all := cfg.FilterSubject
	w.must(nil, js.DeleteConsumer(ctx, "CARILLON_TIMERS_0", "workers"))
	cfg.FilterSubject = "carillon.fire.0.zz.last"
	c, err := js.CreateConsumer(ctx, "CARILLON_TIMERS_0", cfg)
	w.must(nil, err)
	w.must(js.Publish(ctx, cfg.FilterSubject, nil))
	m, err := c.Next()
	w.must(nil, err)
	w.must(nil, m.DoubleAck(ctx))
	cfg.FilterSubject = all
	w.must(js.UpdateConsumer(ctx, "CARILLON_TIMERS_0", cfg))
}

// TestAuditRescuesStranded: a worker dies, and the server with it, which counts the running baton as acknowledged and has not
// removed it. Nobody is given it, until the audit has it fired again, or removes it when it was passed on: every occurrence runs
// once, and the schedule goes on.
func TestAuditRescuesStranded(t *testing.T) {
	for _, test := range []struct {
		name, point string
		before      bool
	}{
		{"before it was run", "take", false},
		{"before its record", "record completed", true},
		{"after its record", "record completed", false},
		{"after it was passed on", "pass on", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				m := w.startMortal(&mortal{point: test.point, before: test.before})
				w.put("job", `{`+action+`, "recurrence": {"frequency": "Minute", "count": 3}}`)
				m.awaitDeath(t)
				w.stopWorker()
				w.strand()
				w.startWorker()
				time.Sleep(30 * time.Second)
				if got := w.outcomes("job"); strings.Count(got, "completed") > 1 {
					t.Fatalf("history %q before the audit", got)
				}
				rep := w.audit()
				if len(rep.Findings) != 1 || rep.Fixed != 1 || rep.Findings[0].Name != "default/job" {
					t.Errorf("found %+v", rep.Findings)
				}
				time.Sleep(10 * time.Minute)
				w.wantHistory("job", "completed completed completed")
				keys := map[string]int{}
				for _, c := range w.sink.seen() {
					keys[c.key]++
				}
				for key, n := range keys {
					if n > 1 && !test.before {
						t.Errorf("%s was called %d times", key, n)
					}
				}
				if len(keys) != 3 {
					t.Errorf("called %v", keys)
				}
				if rep := w.audit(); len(rep.Findings) > 0 || rep.Waiting+rep.Running > 0 {
					t.Errorf("then %+v", rep)
				}
			})
		})
	}
}

// TestRescue fires a stranded baton again without an audit of everything.
func TestRescue(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		m := w.startMortal(&mortal{point: "take"})
		w.put("job", `{`+action+`, "recurrence": {"frequency": "Minute", "count": 3}}`)
		m.awaitDeath(t)
		w.stopWorker()
		w.strand()
		w.startWorker()
		for _, want := range []int{1, 0} {
			if n, err := w.service.Rescue(t.Context()); n != want || err != nil {
				t.Errorf("rescued %d, %v, want %d", n, err, want)
			}
		}
		time.Sleep(10 * time.Minute)
		w.wantHistory("job", "completed completed completed")
	})
}
