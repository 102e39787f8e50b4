package engine_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/scheduler/engine"
	"github.com/carillon-sched/carillon/store"
	"github.com/carillon-sched/carillon/store/storetest"
)

// TestPunctual runs a job of every hour for three hours: no run is early, none is late, and each has its own key.
func TestPunctual(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		start := time.Now().UTC().Truncate(time.Minute).Add(time.Minute)
		w.put("hourly", `{`+action+`, "startTime": "`+start.Format(time.RFC3339)+`", "recurrence": {"frequency": "Hour"}}`)
		time.Sleep(3*time.Hour + 2*time.Minute)
		calls := w.sink.seen()
		if len(calls) != 4 {
			t.Fatalf("%d calls in 3 hours, want 4", len(calls))
		}
		for i, c := range calls {
			due := start.Add(time.Duration(i) * time.Hour)
			if late := c.at.Sub(due); late < 0 || late > 10*time.Millisecond {
				t.Errorf("call %d at %s, due %s", i, c.at, due)
			}
			if want := "default/hourly@" + due.Format(time.RFC3339); c.key != want {
				t.Errorf("call %d has the key %q, want %q", i, c.key, want)
			}
		}
		v := w.get("hourly")
		if v.Status.Executions != 4 || v.Status.Failures != 0 || !v.Status.Next.Equal(start.Add(4*time.Hour)) {
			t.Errorf("status %+v", v.Status)
		}
	})
}

// Several lanes, under another prefix: every operation finds its job's lane.
func TestLanes(t *testing.T) {
	storetest.Test(t, func(t *testing.T) {
		w := newHarness(t, func(c *store.Config) { c.Lanes, c.Prefix = 4, "team.sched" })
		w.startWorker()
		w.putMany(40, "job%d", `{`+action+`, "recurrence": {"frequency": "Minute", "count": 3}}`)
		time.Sleep(30 * time.Second)
		for i := range 10 {
			w.must(w.service.Trigger(t.Context(), key(fmt.Sprintf("job%d", i))))
			w.must(w.service.Delete(t.Context(), key(fmt.Sprintf("job%d", i+10)), 0))
		}
		time.Sleep(5 * time.Minute)
		w.wantCalls(30*3 + 10 + 10)
		rep, err := w.service.Audit(t.Context(), false)
		if err != nil || rep.Jobs != 30 || len(rep.Findings) > 0 {
			t.Errorf("audit: %+v, %v", rep, err)
		}
	})
}

// TestCatchUp starts a worker after some time without one.
func TestCatchUp(t *testing.T) {
	tests := map[string]struct {
		catchUp string // member of the job
		off     time.Duration
		want    string
		last    time.Duration // nominal time of the last run, after the start
	}{
		"once": {
			"", 2*time.Hour + 10*time.Minute,
			"skipped(catchUp 6) completed", 2 * time.Hour,
		},
		"once-nothing-in-the-window": {
			`, "catchUp": {"window": "PT10M"}`, 2*time.Hour + 15*time.Minute,
			"skipped(catchUp 7)", 0,
		},
		"all": {
			`, "catchUp": {"policy": "all"}`, 2*time.Hour + 10*time.Minute,
			"skipped(catchUp 4) completed completed completed", 2 * time.Hour,
		},
		"all-in-a-wide-window": {
			`, "catchUp": {"policy": "all", "window": "P10D"}`, 100*time.Minute + time.Second,
			"completed completed completed completed completed completed", 100 * time.Minute,
		},
		"skip": {
			`, "catchUp": {"policy": "skip"}`, 2*time.Hour + 10*time.Minute,
			"skipped(catchUp 7)", 0,
		},
	}
	inWorld(t, func(t *testing.T, w *harness) {
		begins := time.Now().Add(3 * time.Hour).UTC() // the worker
		for name, test := range tests {
			w.put(name, `{`+action+`, "startTime": "`+begins.Add(-test.off).Format(time.RFC3339Nano)+`",
				"recurrence": {"frequency": "Minute", "interval": 20}`+test.catchUp+`}`)
		}
		time.Sleep(time.Until(begins))
		w.startWorker()
		time.Sleep(time.Minute)
		last := map[string]string{}
		for _, c := range w.sink.seen() {
			name, _, _ := strings.Cut(strings.TrimPrefix(c.key, "default/"), "@")
			last[name] = c.key
		}
		for name, test := range tests {
			w.wantHistory(name, test.want)
			start, want := begins.Add(-test.off), ""
			if test.last > 0 {
				want = scheduler.OccurrenceID(key(name), start.Add(test.last))
			}
			if last[name] != want {
				t.Errorf("%s: last call for %q, want %q", name, last[name], want)
			}
			next := start.Add(test.off.Truncate(20*time.Minute) + 20*time.Minute)
			w.wantNext(name, next)
		}
		w.mustBeInOrder()
	})
}

func TestDisabledCollectionPostpones(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		state := func(s string) {
			t.Helper()
			w.must(w.service.PutCollection(w.t.Context(), scheduler.DefaultCollection, []byte(`{"properties": {"state": "`+s+`"}}`)))
		}
		state("disabled")
		time.Sleep(time.Second)
		w.put("once", `{`+action+`}`)
		w.put("often", `{`+action+`, "recurrence": {"frequency": "Minute"}}`)
		time.Sleep(150 * time.Second)
		w.wantCalls(0)
		state("enabled")
		time.Sleep(61 * time.Second)
		w.wantHistory("once", "postponed completed")
		w.wantHistory("often", "postponed postponed completed")
	})
}

// TestEditAfterOutage changes schedules after a time without a worker, before one starts: each instant that was due until the edit has
// a record, by the policy and the schedule of then, and the present schedule begins after that.
func TestEditAfterOutage(t *testing.T) {
	tests := map[string]struct {
		catchUp, edit, want string
	}{
		"once":            {"", "", "skipped(catchUp 20) completed"},
		"all":             {`, "catchUp": {"policy": "all", "window": "PT10S"}`, "", "skipped(catchUp 11) " + strings.TrimSpace(strings.Repeat("completed ", 10))},
		"skip":            {`, "catchUp": {"policy": "skip", "window": "PT1S"}`, "", "skipped(catchUp 21)"},
		"overlapping":     {`, "overlap": "allow"`, "", "skipped(catchUp 20) completed"},
		"disabled-too":    {"", `, "state": "disabled"`, "skipped(disabled 21)"},
		"paused-too":      {"", `, "pausedUntil": "2001-01-01T00:00:00Z"`, "skipped(catchUp 21)"},
		"only-the-action": {"", "same schedule", "skipped(catchUp 20) completed"},
		"disabled":        {"", "disable", "skipped(disabled 21)"},
	}
	inWorld(t, func(t *testing.T, w *harness) {
		start := time.Now().UTC()
		job := func(catchUp string) string {
			return `{` + action + `, "startTime": "` + start.Format(time.RFC3339Nano) + `"` + catchUp + `, "recurrence": {"frequency": "Second", `
		}
		for name, test := range tests {
			w.put(name, job(test.catchUp)+`"interval": 1}}`)
		}
		time.Sleep(time.Until(start.Add(20*time.Second + 500*time.Millisecond)))
		var edits sync.WaitGroup // each waits for the worker that there is not
		for name, test := range tests {
			edits.Go(func() {
				var err error
				body := job(test.catchUp) + `"interval": 999}` + test.edit + `}`
				if test.edit == "same schedule" {
					body = job(test.catchUp) + `"interval": 1}, "timeout": "PT9S"}`
				}
				if test.edit == "disable" {
					_, err = w.service.Disable(t.Context(), key(name))
				} else {
					_, _, err = w.service.Put(t.Context(), control.Edit{Key: key(name), Body: []byte(body)})
				}
				if err != nil {
					t.Errorf("%s: %v", name, err)
				}
			})
		}
		edits.Wait()
		w.startWorker()
		time.Sleep(3 * time.Second)
		for name, test := range tests {
			got := w.outcomes(name)
			if name == "only-the-action" { // and it goes on
				got = strings.Join(strings.Fields(got)[:3], " ")
			}
			if got != test.want {
				t.Errorf("%s: history %q, want %q", name, got, test.want)
			}
		}
		w.mustBeInOrder()
	})
}

// TestRecurCountsFromTheExecution shows that an @recur counts from when its last execution began, late by an outage or by its
// jitter, and not from retries; unless it is to keep its grid.
func TestRecurCountsFromTheExecution(t *testing.T) {
	tests := []struct {
		name, more string
		want       []time.Duration
	}{
		{"job", `"recurrence": {"cron": "@recur 1 minute"}`, []time.Duration{0, 110500, 170500, 230500}},
		{"allow", `"overlap": "allow", "recurrence": {"cron": "@recur 1 minute"}`, []time.Duration{0, 110500, 170500, 230500}},
		{"grid", `"recurrence": {"cron": "@recur 1 minute", "anchor": "grid"}`, []time.Duration{0, 110500, 120000, 180000, 240000}},
		{"anchored", `"recurrence": {"frequency": "minute", "anchor": "lastExecution"}`, []time.Duration{0, 110500, 170500, 230500}},
	}
	inBubble(t, func(t *testing.T, w *harness) {
		start := time.Now().UTC().Truncate(time.Minute).Add(2 * time.Minute)
		begin := `{` + action + `, "startTime": "` + start.Format(time.RFC3339) + `", `
		for _, test := range tests {
			w.put(test.name, begin+test.more+`}`)
		}
		w.put("jitter", begin+`"jitter": "PT40S", "recurrence": {"cron": "@recur 1 minute"}}`)
		time.Sleep(time.Until(start.Add(50 * time.Second)))
		w.stopWorker()
		time.Sleep(time.Until(start.Add(110500 * time.Millisecond)))
		w.startWorker()
		time.Sleep(time.Until(start.Add(245 * time.Second)))
		for _, test := range tests {
			var got []time.Duration
			for _, r := range w.history(test.name) {
				if r.IsAttempt() {
					got = append(got, r.Started.Sub(start)/time.Millisecond)
				}
			}
			slices.Sort(got)
			if !slices.Equal(got, test.want) {
				t.Errorf("%s: began after %d ms, want %d", test.name, got, test.want)
			}
		}
		var last *scheduler.Record
		for _, r := range w.history("jitter") {
			if last != nil && !r.Nominal.Equal(last.Started.Add(time.Minute)) {
				t.Errorf("jitter: an execution that began at %s is followed by the occurrence of %s", last.Started, r.Nominal)
			}
			if last = r; r.Started.Sub(r.Nominal) < time.Second {
				t.Errorf("jitter: the occurrence of %s began at %s, which shows nothing", r.Nominal, r.Started)
			}
		}
	})
}

// farAway are instants that nanoseconds since 1970 do not reach in 64 bits, the last one there is among them.
var farAway = map[string]string{"soon-after": "2263-01-01T00:00:00Z", "last": "9999-12-31T23:59:59Z"}

// TestFarAwayWaits shows that what is due after the year 2262 waits like anything else: no worker has it, it can be run by hand,
// and an audit finds it in order.
func TestFarAwayWaits(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		for name, start := range farAway {
			w.put(name, `{`+action+`, "startTime": "`+start+`"}`)
			w.put(name+"-often", `{`+action+`, "startTime": "`+start+`", "jitter": "PT24H", "recurrence": {"frequency": "Day"}}`)
		}
		time.Sleep(time.Minute)
		w.wantCalls(0)
		for name, start := range farAway {
			w.mustWait(name, start)
			w.mustWait(name+"-often", start)
			id := must.Get(w.service.Trigger(t.Context(), key(name)))(t)
			time.Sleep(time.Second)
			if calls := w.sink.seen(); calls[len(calls)-1].key != id {
				t.Errorf("%s: called with the key %s, want %s", name, calls[len(calls)-1].key, id)
			}
			w.mustWait(name, start)
		}
		w.mustBeInOrder()
	})
}

// mustWait fails the test unless the job's baton waits for its start.
func (w *harness) mustWait(name, start string) {
	w.t.Helper()
	v := w.get(name)
	if at := v.Status.Next.Format(time.RFC3339); v.Status.Running || at[:13] < start[:13] || v.Job.State != scheduler.Enabled {
		w.t.Errorf("%s: state %s, status %+v, want it to wait for %s", name, v.Job.State, v.Status, start)
	}
	if _, err := w.store.Waiting(w.t.Context(), scheduler.BatonKey{Key: key(name)}); err != nil {
		w.t.Errorf("%s: %v", name, err)
	}
}

// TestFarAwayIsArmedAgain gives a worker batons long before their time, as a timer does that is set as far ahead as timers go:
// they wait again, and nothing else happens.
func TestFarAwayIsArmedAgain(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		slot := scheduler.BatonKey{Key: key("job")}
		w.put("job", `{`+action+`, "startTime": "2263-01-01T00:00:00Z"}`)
		w.put("soon", `{`+action+`, "startTime": "`+time.Now().Add(2*time.Hour).UTC().Format(time.RFC3339Nano)+`"}`)
		for _, slot := range []scheduler.BatonKey{slot, {Key: key("soon")}} {
			before := must.Get(w.store.Waiting(t.Context(), slot))(t)
			w.must(w.store.Fire(t.Context(), slot, before.Data, before.Revision))
			time.Sleep(time.Second)
			after, err := w.store.Waiting(t.Context(), slot)
			if err != nil {
				t.Fatalf("%s: %v", slot.Key, err)
			}
			if !bytes.Equal(after.Data, before.Data) {
				t.Errorf("%s waits with\n%s, want\n%s", slot.Key, after.Data, before.Data)
			}
			if _, err := w.store.Running(t.Context(), slot); err == nil {
				t.Errorf("%s: a worker holds it", slot.Key)
			}
		}
		time.Sleep(2*time.Hour + time.Second)
		w.wantHistory("soon", "completed")
		w.wantHistory("job", "")
	})
}

// ahead is a store whose clock has reached a time.
type ahead struct {
	scheduler.Store

	fired time.Time
}

func (a ahead) Deliver(ctx context.Context, lane int, wake <-chan struct{}, room func() int, take func(*scheduler.Delivery)) error {
	return a.Store.Deliver(ctx, lane, wake, room, func(d *scheduler.Delivery) {
		d.Fired = a.fired
		take(d)
	})
}

// TestLateClockHolds: a worker whose clock is half an hour behind that of the store holds what is due by that one. It does not arm it
// again: the timer would fire at once, again and again.
func TestLateClockHolds(t *testing.T) {
	inWorld(t, func(t *testing.T, w *harness) {
		slot, due := scheduler.BatonKey{Key: key("job")}, time.Now().Add(30*time.Minute)
		w.put("job", `{`+action+`, "startTime": "`+due.UTC().Format(time.RFC3339Nano)+`"}`)
		w.startWorker(func(c *engine.Config) { c.Store = ahead{c.Store, due.Add(-time.Second)} })
		before := must.Get(w.store.Waiting(t.Context(), slot))(t)
		w.must(w.store.Fire(t.Context(), slot, before.Data, before.Revision))
		time.Sleep(time.Minute)
		if _, err := w.store.Running(t.Context(), slot); err != nil {
			t.Errorf("no worker holds it: %v", err)
		}
		time.Sleep(30 * time.Minute)
		w.wantHistory("job", "completed")
	})
}

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

func (s skewed) ScheduleAt(ctx context.Context, slot scheduler.BatonKey, body []byte, at time.Time, waiting uint64) error {
	return s.Store.ScheduleAt(ctx, slot, body, s.here(at), waiting)
}

func (s skewed) Reschedule(ctx context.Context, slot scheduler.BatonKey, body []byte, at time.Time, running uint64) error {
	return s.Store.Reschedule(ctx, slot, body, s.here(at), running)
}

func (s skewed) Deliver(ctx context.Context, lane int, wake <-chan struct{}, room func() int, take func(*scheduler.Delivery)) error {
	return s.Store.Deliver(ctx, lane, wake, room, func(d *scheduler.Delivery) {
		d.Fired = d.Fired.Add(-s.ahead)
		take(d)
	})
}

// withSkew runs f for replicas with clocks five minutes ahead of and behind the server's.
func withSkew(t *testing.T, f func(t *testing.T, w *harness, s skewed)) {
	t.Helper()
	for _, ahead := range []time.Duration{5 * time.Minute, -5 * time.Minute} {
		t.Run(ahead.String(), func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *harness) {
				s := skewed{w.store, ahead}
				w.service = w.newServiceOn(s, newKey(t, "k1"))
				w.startWorker(func(c *engine.Config) { c.Store = s })
				f(t, w, s)
			})
		})
	}
}

// TestSkewedClocks: neither deferrals nor edits depend on the clock of the machine.
func TestSkewedClocks(t *testing.T) {
	withSkew(t, func(_ *testing.T, w *harness, s skewed) {
		w.mustEditBy(s)
		w.mustDeferBy(s)
	})
}

// mustDeferBy: an open circuit breaker defers a run by the server's clock. A worker whose clock is behind would
// otherwise arm it for the past, and the timer would fire it again at once, over and over.
func (w *harness) mustDeferBy(s skewed) {
	w.t.Helper()
	w.must(w.service.Disable(w.t.Context(), key("job")))
	w.ail()
	w.rules(breaker)
	w.openCircuit()
	writes := func() uint64 { return w.stream("CARILLON_TIMERS_0").CachedInfo().State.LastSeq }
	before := writes()
	w.put("deferred", `{`+failOnce+`}`)
	time.Sleep(5 * time.Second)
	if n := writes() - before; n > 4 {
		w.t.Errorf("%d writes for a run that waits for its circuit", n)
	}
	if next := w.get("deferred").Status.Next.Sub(s.Now()); next < 10*time.Second || next > time.Minute {
		w.t.Errorf("it is tried again in %s", next)
	}
}

// mustEditBy: no edit records an instant as skipped that has not passed by the server's clock, and none that has
// passed runs.
func (w *harness) mustEditBy(s skewed) {
	w.t.Helper()
	ctx := w.t.Context()
	edit := func(what string, _ any, err error) {
		w.t.Helper()
		if err != nil {
			w.t.Fatalf("%s: %v", what, err)
		}
		time.Sleep(time.Second)
		for _, r := range w.history("job") {
			if last := max(r.Nominal.UnixNano(), r.To.UnixNano()); last > s.Now().UnixNano() && !r.Kind.IsManual() {
				w.t.Errorf("%s: recorded as %s: %s, which is to come", what, r.Outcome, time.Unix(0, last).UTC())
			}
		}
		v := w.get("job")
		if next := v.Status.Next.Sub(s.Now()); v.Job.State == scheduler.Enabled && (next < -time.Second || next > 2*time.Minute) {
			w.t.Errorf("%s: the job runs next in %s", what, next)
		}
		time.Sleep(30 * time.Second)
	}
	w.put("job", `{`+action+`, `+every10s+`}`)
	edit("put", nil, nil)
	v, err := w.service.Disable(ctx, key("job"))
	edit("disable", v, err)
	v, err = w.service.Enable(ctx, key("job"))
	edit("enable", v, err)
	v, err = w.patch("job", `{"recurrence": {"frequency": "Second", "interval": 15}}`)
	edit("patch", v, err)
	id, err := w.service.Trigger(ctx, key("job"))
	edit("run", id, err)
	v, err = w.service.Pause(ctx, key("job"), "1m")
	edit("pause", v, err)
	v, err = w.service.Enable(ctx, key("job"))
	edit("end of the pause", v, err)
	var got []string
	for _, c := range w.sink.seen() {
		got = append(got, c.at.Add(-s.ahead).Sub(s.Now()).Round(time.Second).String())
	}
	if n := len(got); n < 12 || n > 15 { // 31 s at 10 s, 0, 31 s at 10 s, 62 s at 15 s and a run by hand, 0, 31 s at 15 s
		w.t.Errorf("%d calls: %s", n, strings.Join(got, " "))
	}
	if !strings.Contains(w.outcomes("job"), "skipped(disabled 3)") || strings.Count(w.outcomes("job"), "skipped(paused") != 1 {
		w.t.Errorf("history %q", w.outcomes("job"))
	}
}
