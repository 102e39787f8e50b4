package chaos

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/integration/testkit/freeport"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/control"
)

// The jobs of [TestLostTimers] that are looked at one by one; the others only wait.
const (
	ofEachKind = 50
	runsBefore = 2 // of a job of every second, before the loss
)

// kinds are the kinds of jobs looked at.
var kinds = []string{"hourly", "second", "counted", "retried", "disabled", "done"}

// kindOf returns a job of a kind.
func kindOf(kind, url string, now time.Time) job {
	j := newJob(url, now)
	switch kind {
	case "hourly": // has run once, its next run is in an hour
		return j.every(1, "hour")
	case "second":
		return j.every(1, "second")
	case "counted": // runs twice in all
		j = j.every(1, "hour")
		j.Recurrence.Count = 2
	case "retried": // has failed once, its retry is in an hour
		j = j.every(2, "hour")
		j.Action.Request.URI += "/fails"
		j.Action.Retry.Interval = "PT1H"
	case "disabled":
		j = j.every(1, "hour")
		j.State = "disabled"
	}
	return j
}

// TestLostTimers deletes the stream of all batons while no scheduler runs. The next start gives every enabled job its
// baton back, where it was.
func TestLostTimers(t *testing.T) {
	ctx := limited(t)
	n := size(30_000, 2_000)
	target := newSink(t, func(c call) int {
		if strings.HasPrefix(c.job, "default/retried") {
			return http.StatusServiceUnavailable
		}
		return http.StatusOK
	})
	url := natsd(ctx, t, t.TempDir(), freeport.Address(t)).ready(ctx, t).NATS
	js := jet(t, url)
	first := serve(ctx, t, url, "first")
	a := newAPI(t, first.ready(ctx, t).HTTP)

	began := time.Now()
	publishFar(ctx, t, js, n-4*ofEachKind, newJob(target.url, began.Add(24*time.Hour)))
	await(ctx, t, "all jobs are stored", 2*patience, func() bool { return messages(ctx, js, specsStream) == 0 })
	begin := time.Now().UTC().Truncate(time.Second).Add(20 * time.Second) // when all are put
	for _, kind := range kinds {
		body := kindOf(kind, target.url, begin).document()
		for i := range ofEachKind {
			must.Do(t, a.put(ctx, fmt.Sprintf("%s-%d", kind, i), body))
		}
	}
	t.Logf("%d enabled jobs put in %s", n, time.Since(began).Round(time.Millisecond))
	records := follow(ctx, t, js)
	await(ctx, t, "the first runs", patience, func() bool { return ranBefore(records) })
	first.stop(ctx, t)
	before := positions(records)
	fresh := records.len()

	must.Do(t, js.DeleteStream(ctx, timersStream))
	second := serve(ctx, t, url, "second")
	b := newAPI(t, second.ready(ctx, t).HTTP)
	ready := time.Since(second.began)
	// Every job but those of every second has one message, at rest or in a worker's hands.
	await(ctx, t, "every enabled job has its baton", patience, func() bool { return messages(ctx, js, timersStream) >= n })
	whole := time.Since(second.began)
	var report control.AuditReport
	await(ctx, t, "the doctor finds nothing, and sees all batons", patience, func() bool { // not one that is just passed on
		report = must.Get(b.doctor(ctx))(t)
		return len(report.Findings) == 0 && report.Waiting+report.Running >= n
	})
	t.Logf("the stream of %d batons was deleted; started again: ready after %s, every enabled job had its baton after %s, the doctor agreed after %s (its look took %s)",
		n, ready.Round(time.Millisecond), whole.Round(time.Millisecond), time.Since(second.began).Round(time.Millisecond), time.Duration(report.Duration).Round(time.Millisecond))
	if want := n + 2*ofEachKind; report.Jobs != want {
		t.Errorf("doctor: %d jobs; want %d, of which %d are enabled", report.Jobs, want, n)
	}
	await(ctx, t, "each enabled job has a baton, and nothing is beside them", patience, func() bool {
		places, strays, err := batons(ctx, js)
		return err == nil && len(places) == n && len(strays) == 0
	})
	await(ctx, t, "the jobs of every second run again", patience, func() bool {
		for i := range ofEachKind {
			if len(records.of(fmt.Sprintf("default/second-%d", i))) < before[fmt.Sprintf("second-%d", i)].attempts+runsBefore {
				return false
			}
		}
		return true
	})
	for name, p := range before {
		p.check(ctx, t, b, name, records.of("default/"+name), begin)
	}
	calls := target.seen()
	for range repeats(t, calls, func(string) bool { return false }) {
		t.Error("a call was repeated")
	}
	t.Logf("%d records before, %d after; no call was repeated, no count was lost", fresh, records.len())
}

// publishFar publishes specs of n jobs that are due some time.
func publishFar(ctx context.Context, t *testing.T, js jetstream.JetStream, n int, j job) {
	t.Helper()
	body := j.document()
	var last jetstream.PubAckFuture
	for i := range n {
		f := must.Get(js.PublishAsync(fmt.Sprintf("carillon.spec.put.default.far-%d", i), body, jetstream.WithStallWait(patience)))(t)
		last = f
	}
	select {
	case <-js.PublishAsyncComplete():
	case <-ctx.Done():
		t.Fatal("the specs were not stored in time")
	}
	select {
	case <-last.Ok():
	case err := <-last.Err():
		t.Fatal(err)
	}
}

// ranBefore reports whether the jobs have come to where they are to lose their batons.
func ranBefore(l *ledger) bool {
	for _, kind := range kinds {
		least := 1
		switch kind {
		case "second":
			least = runsBefore
		case "disabled":
			continue
		}
		for i := range ofEachKind {
			if len(l.of(fmt.Sprintf("default/%s-%d", kind, i))) < least {
				return false
			}
		}
	}
	return true
}

// position is how far a job has got.
type position struct {
	attempts int
	last     time.Time // nominal time of the last attempt
}

func positions(l *ledger) map[string]position {
	all := map[string]position{}
	for _, kind := range kinds {
		for i := range ofEachKind {
			name := fmt.Sprintf("%s-%d", kind, i)
			var p position
			for _, r := range l.of("default/" + name) {
				p.attempts++
				p.last = r.Nominal
			}
			all[name] = p
		}
	}
	return all
}

// check looks whether a job goes on from where it was.
func (p position) check(ctx context.Context, t *testing.T, a *api, name string, records []scheduler.Record, begin time.Time) {
	t.Helper()
	st := must.Get(a.get(ctx, name))(t)
	kind, _, _ := strings.Cut(name, "-")
	want := struct {
		state    scheduler.State
		attempts int
		failures int
		retry    int
		next     time.Time
	}{state: scheduler.Enabled, attempts: p.attempts, next: begin.Add(time.Hour)}
	switch kind {
	case "second":
		goesOn(t, name, records)
		return
	case "retried":
		last := records[len(records)-1]
		want.failures, want.retry, want.next = 1, 1, last.Ended.Add(time.Hour)
	case "disabled":
		want.state, want.next = scheduler.Disabled, time.Time{}
	case "done":
		want.state, want.next = scheduler.Completed, time.Time{}
	}
	s := st.Status
	if st.State != want.state || s.ExecutionCount != want.attempts || s.FailureCount != want.failures || s.RetryCount != want.retry ||
		!s.NextExecutionTime.Equal(want.next) {
		t.Errorf("%s: %s, %+v; want %+v", name, st.State, s, want)
	}
	if len(records) != p.attempts {
		t.Errorf("%s: %d records, but there were %d before", name, len(records), p.attempts)
	}
}

// goesOn checks that a job of every second left nothing out, repeated nothing and went on counting.
func goesOn(t *testing.T, name string, records []scheduler.Record) {
	t.Helper()
	for i, r := range records {
		wrong := r.Outcome != scheduler.OutcomeCompleted || r.Progress.Number != i+1 || r.Progress.Executions != i+1
		wrong = wrong || i > 0 && !r.Nominal.Equal(records[i-1].Nominal.Add(time.Second))
		if !wrong {
			continue
		}
		t.Errorf("%s: record %d is %s, number %d, of %d executions", name, i+1, r.Outcome, r.Progress.Number, r.Progress.Executions)
		for _, r := range records[max(0, i-2):min(i+3, len(records))] {
			t.Logf("%s: due %s, started %s, ended %s", r.ID, clock(r.Due), clock(r.Started), clock(r.Ended))
		}
		return
	}
}
