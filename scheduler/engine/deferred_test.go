package engine_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/scheduler/engine"
)

const (
	failOnce = `"action": {"type": "Http", "request": {"uri": "http://target.example/", "method": "GET"}, "retryPolicy": {"retryType": "none"}}`
	quickly  = `"action": {"type": "Http", "request": {"uri": "http://target.example/", "method": "GET"}, "retryPolicy": {"retryType": "fixed", "retryInterval": "PT1S", "retryCount": 3}}`
)

// ail lets the target fail until it is told to be well.
func (w *harness) ail() (heal func()) {
	var well atomic.Bool
	w.sink.answers(func(*call) (int, string) {
		if well.Load() {
			return http.StatusOK, ""
		}
		return http.StatusServiceUnavailable, ""
	})
	return func() { well.Store(true) }
}

// openCircuit opens the circuit of the target with a job that fails three times.
func (w *harness) openCircuit() {
	w.t.Helper()
	w.put("opener", `{`+strings.Replace(quickly, `"retryCount": 3`, `"retryCount": 2`, 1)+`}`)
	time.Sleep(5 * time.Second)
	w.wantHistory("opener", "failed failed failed faulted")
}

// TestRuleGetsBreaker gives a target a circuit breaker while runs wait for it that came before there was one.
func TestRuleGetsBreaker(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		w.sink.answers(after(2*time.Second, http.StatusServiceUnavailable))
		w.rules(`{"*": {"concurrency": 1}}`)
		due := w.herd(10)
		time.Sleep(time.Until(due) + time.Second)
		w.rules(`{"*": {"concurrency": 1, "circuitBreaker": {"failures": 2, "maxPostponement": "PT1M"}}}`)
		time.Sleep(10 * time.Minute)
		for i := range 10 {
			if v := w.get(fmt.Sprintf("job%d", i)); v.Job.State != scheduler.Faulted {
				t.Errorf("job%d is %s: %s", i, v.Job.State, w.outcomes(fmt.Sprintf("job%d", i)))
			}
		}
	})
}

// TestPostponedOneOffIsNotTheJob has the audit restore a job with overlap allow whose last record is that of a one-off which
// was put off.
func TestPostponedOneOffIsNotTheJob(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		heal := w.ail()
		w.rules(breaker)
		w.openCircuit()
		w.put("job", `{"overlap": "allow", "recurrence": {"frequency": "Minute"}, `+failOnce+`}`)
		time.Sleep(5 * time.Second)
		w.wantHistory("job", "postponed")
		w.loseTimers()
		heal()
		time.Sleep(10 * time.Minute)
		if n := strings.Count(w.outcomes("job"), "completed"); n < 9 {
			t.Errorf("%d runs in ten minutes: %s", n, w.outcomes("job"))
		}
	})
}

// TestDisabledWhileQueued shows that a job which is disabled, deleted or whose collection is disabled while it waits for its
// turn is not called.
func TestDisabledWhileQueued(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		w.rules(`{"*": {"concurrency": 1}}`)
		w.sink.answers(after(20*time.Second, http.StatusOK))
		due := w.herd(5)
		time.Sleep(time.Until(due) + time.Second)
		first := w.sink.seen()
		if len(first) != 1 {
			t.Fatalf("%d calls at once", len(first))
		}
		left := 0
		for i := range 5 {
			name := fmt.Sprintf("job%d", i)
			switch {
			case strings.HasPrefix(first[0].key, key(name).String()+"@"):
			case left%2 == 0:
				left++
				w.must(w.service.Disable(t.Context(), key(name)))
			default:
				left++
				w.must(w.service.Delete(t.Context(), key(name), 0))
			}
		}
		time.Sleep(10 * time.Minute)
		w.wantCalls(1)
	})
}

// TestManyRatesStarveNobody fills the hold with jobs for several targets that have to wait for their rate.
func TestManyRatesStarveNobody(t *testing.T) {
	inWorld(t, func(t *testing.T, w *harness) {
		w.startWorker(func(c *engine.Config) { c.HoldMemory, c.Concurrency, c.PerTarget = 100*scheduler.UsualHeldBytes, 32, 8 })
		w.rules(`{"*.limited.example": {"rate": {"limit": 1, "per": "PT1H"}}}`)
		due := time.Now().Add(time.Minute).UTC().Truncate(time.Second)
		job := `{"startTime": "` + due.Format(time.RFC3339) + `", "action": {"type": "Http", "request": {"uri": "http://%s.example/", "method": "GET"}}}`
		for i := range 160 {
			w.put(fmt.Sprintf("job%d", i), fmt.Sprintf(job, fmt.Sprintf("t%d.limited", i%4)))
		}
		w.put("other", fmt.Sprintf(job, "other"))
		time.Sleep(time.Until(due) + time.Minute)
		w.wantState("other", scheduler.Completed, 1)
		w.wantCalls(5)
		postponed := 0
		for i := range 160 {
			if got := w.outcomes(fmt.Sprintf("job%d", i)); got == "postponed" {
				postponed++
			} else if got != "completed" {
				t.Errorf("job%d: history %q", i, got)
			}
		}
		if m := w.history("job159")[0].Message; postponed != 156 || !strings.Contains(m, "limits attempts to t3.limited.example:80 to 1 in PT1H; this one is retried at about ") {
			t.Errorf("%d postponed; %q", postponed, m)
		}
	})
}

// TestPostponedIsNotMissed shows that what is put off runs, whatever the catch-up policy.
func TestPostponedIsNotMissed(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		heal := w.ail()
		w.rules(`{"*": {"circuitBreaker": {"failures": 3, "openFor": "PT2M"}}}`)
		w.openCircuit()
		start := time.Now().UTC().Truncate(time.Minute).Add(time.Minute)
		policies := []string{"skip", "once", "all"}
		for _, policy := range policies {
			job := `{"catchUp": {"policy": "` + policy + `"}, "startTime": "` + start.Format(time.RFC3339) + `", ` + failOnce
			w.put("once-"+policy, job+`}`)
			w.put("often-"+policy, job+`, "recurrence": {"frequency": "Minute"}}`)
		}
		time.Sleep(time.Until(start) + 2*time.Second)
		heal()
		time.Sleep(4 * time.Minute)
		for _, policy := range policies {
			w.wantHistory("once-"+policy, "postponed completed")
			records := w.history("often-" + policy)
			if len(records) < 2 || records[0].Outcome != scheduler.OutcomePostponed || records[1].Outcome != scheduler.OutcomeCompleted ||
				!records[1].Nominal.Equal(start) {
				t.Errorf("%s: history %q", policy, w.outcomes("often-"+policy))
			}
		}
	})
}

// TestEditWhilePutOff shows that a planned occurrence which is put off follows an edit of its job.
func TestEditWhilePutOff(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		w.ail()
		w.rules(breaker)
		w.openCircuit()
		w.put("action", `{"recurrence": {"frequency": "Day"}, `+failOnce+`}`)
		w.put("schedule", `{"recurrence": {"frequency": "Day"}, `+failOnce+`}`)
		time.Sleep(time.Second)
		w.must(w.service.Patch(t.Context(), control.Edit{Key: key("action"), Body: []byte(`{"action": {"request": {"uri": "http://other.example/"}}}`)}))
		start := time.Now().Add(10 * time.Second).UTC().Truncate(time.Second)
		if _, err := w.service.Patch(t.Context(), control.Edit{Key: key("schedule"), Body: []byte(`{"startTime": "` + start.Format(time.RFC3339) + `",
			"action": {"request": {"uri": "http://other.example/"}}}`)}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Second)
		if next := w.get("schedule"); next.Status.Executions != 1 {
			t.Errorf("the edited schedule ran %d times: %s", next.Status.Executions, w.outcomes("schedule"))
		}
		time.Sleep(time.Minute)
		w.wantHistory("action", "postponed failed faulted")
		if calls := w.sink.seen(); calls[len(calls)-1].host != "other.example" {
			t.Errorf("the last call went to %s", calls[len(calls)-1].host)
		}
	})
}

// TestRuleIsTakenBack shows that runs which wait for a slot begin when the rule is gone.
func TestRuleIsTakenBack(t *testing.T) {
	inBubble(t, func(_ *testing.T, w *harness) {
		w.rules(`{"*": {"concurrency": 1}}`)
		w.sink.answers(after(50*time.Second, http.StatusOK))
		w.putMany(4, "job%d", `{`+failOnce+`}`)
		time.Sleep(time.Second)
		w.wantCalls(1)
		w.rules(`{}`)
		time.Sleep(2 * time.Second)
		w.wantCalls(4)
	})
}

// TestRuleIsTakenBackAtOnce takes a rate back while what waits for it is being put off.
func TestRuleIsTakenBackAtOnce(t *testing.T) {
	inBubble(t, func(_ *testing.T, w *harness) {
		n := 0
		for wait := 100 * time.Millisecond; wait < 3*time.Second; wait += 900 * time.Millisecond {
			w.rules(`{"*": {"rate": {"limit": 1, "per": "PT1H"}}}`)
			due := w.herd(6)
			time.Sleep(time.Until(due) + wait)
			w.rules(`{}`)
			time.Sleep(6 * time.Minute)
			n += 6
			w.wantCalls(n)
		}
	})
}

// TestNameUsedAgainWhileQueued shows that runs of deleted jobs do not become those of the next jobs of the names.
func TestNameUsedAgainWhileQueued(t *testing.T) {
	jobs := map[string]string{
		"once":  `{` + failOnce + `}`,
		"often": `{"recurrence": {"frequency": "Hour"}, ` + failOnce + `}`,
		"allow": `{"overlap": "allow", "recurrence": {"frequency": "Hour"}, ` + failOnce + `}`,
	}
	inBubble(t, func(t *testing.T, w *harness) {
		w.rules(`{"*": {"concurrency": 1}}`)
		w.sink.answers(after(20*time.Second, http.StatusOK))
		w.put("first", `{`+failOnce+`}`)
		time.Sleep(time.Second)
		for name, body := range jobs {
			w.put(name, body)
		}
		time.Sleep(5 * time.Second)
		for name := range jobs {
			w.replace(name, `{"startTime": "2040-01-01T00:00:00Z", "action": {"type": "Http", "request": {"uri": "http://new.example/", "method": "GET"}}}`)
		}
		time.Sleep(5 * time.Minute)
		w.wantCalls(1)
		for name := range jobs {
			w.wantHistory(name, "")
			if next := w.get(name).Status.Next; next.Year() != 2040 {
				t.Errorf("%s: the new job runs at %s", name, next)
			}
		}
	})
}

// TestDeletedWhilePutOff shows that nothing of a deleted job is in the history of the next job of the name: what waits for its
// rate is put off a moment later.
func TestDeletedWhilePutOff(t *testing.T) {
	inBubble(t, func(_ *testing.T, w *harness) {
		w.rules(`{"*": {"rate": {"limit": 1, "per": "PT1H"}}}`)
		due := w.herd(6)
		time.Sleep(time.Until(due) + 10*time.Millisecond)
		for i := range 6 {
			w.replace(fmt.Sprintf("job%d", i), `{"startTime": "2040-01-01T00:00:00Z", `+failOnce+`}`)
		}
		time.Sleep(2 * time.Hour)
		for i := range 6 {
			w.wantHistory(fmt.Sprintf("job%d", i), "")
		}
		w.wantCalls(1)
	})
}

// TestEditWhileQueued edits jobs that are due and wait for a slot: what is due runs as it was, the edit counts from then on.
func TestEditWhileQueued(t *testing.T) {
	patches := map[string]string{
		"description": `{"description": "edited"}`,
		"schedule":    `{"startTime": "2040-01-01T00:00:00Z"}`,
		"action":      `{"action": {"request": {"uri": "http://other.example/"}}}`,
	}
	inBubble(t, func(t *testing.T, w *harness) {
		w.rules(`{"*": {"concurrency": 1}}`)
		w.sink.answers(after(50*time.Second, http.StatusOK))
		w.put("first", `{`+failOnce+`}`)
		time.Sleep(time.Second)
		for name := range patches {
			w.put(name, `{"catchUp": {"policy": "skip"}, "recurrence": {"frequency": "Day"}, `+failOnce+`}`)
		}
		time.Sleep(5 * time.Second)
		for name, patch := range patches {
			w.must(w.service.Patch(t.Context(), control.Edit{Key: key(name), Body: []byte(patch)}))
		}
		time.Sleep(5 * time.Minute)
		for name := range patches {
			w.wantHistory(name, "completed")
		}
	})
}

// TestCollectionDisabledWhilePutOff shows that every instant of a job has a record when both its target and its collection
// held it back.
func TestCollectionDisabledWhilePutOff(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		w.ail()
		w.rules(`{"*": {"circuitBreaker": {"failures": 3, "openFor": "PT5M"}}}`)
		w.openCircuit()
		w.put("job", `{"recurrence": {"frequency": "Minute"}, `+failOnce+`}`)
		time.Sleep(2 * time.Second)
		w.turnCollection(scheduler.Disabled)
		time.Sleep(10 * time.Minute)
		w.turnCollection(scheduler.Enabled)
		time.Sleep(time.Minute)
		told := 0
		for _, r := range w.history("job") {
			told += max(1, r.Count)
		}
		if told < 10 {
			t.Errorf("%d of ten instants are in the history: %s", told, w.outcomes("job"))
		}
	})
}

// TestRunNowWhilePutOff asks for runs of a job that its target's circuit holds back.
func TestRunNowWhilePutOff(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		heal := w.ail()
		w.rules(breaker)
		w.openCircuit()
		w.put("planned", `{"recurrence": {"frequency": "Day"}, `+failOnce+`}`)
		w.put("byHand", `{"startTime": "2040-01-01T00:00:00Z", "recurrence": {"frequency": "Day"}, `+failOnce+`}`)
		asked := time.Now().UTC()
		id := must.Get(w.service.RunBy(t.Context(), key("byHand"), nil, asked))(t)
		time.Sleep(time.Second)
		if _, err := w.service.Trigger(t.Context(), key("planned")); !errors.Is(err, scheduler.ErrConflict) || !strings.Contains(err.Error(), "its target does not let it run before") {
			t.Errorf("a run beside a planned one that is held: %v", err)
		}
		if again, err := w.service.RunBy(t.Context(), key("byHand"), nil, asked); err != nil || again != id {
			t.Errorf("the same request again: %q, %v", again, err)
		}
		if _, err := w.service.Trigger(t.Context(), key("byHand")); !errors.Is(err, scheduler.ErrConflict) {
			t.Errorf("another request: %v", err)
		}
		w.must(w.service.Patch(t.Context(), control.Edit{Key: key("byHand"), Body: []byte(`{"startTime": "2041-01-01T00:00:00Z"}`)}))
		if next := w.get("planned").Status.Next; !next.After(time.Now()) {
			t.Errorf("the next execution is at %s, now it is %s", next, time.Now())
		}
		heal()
		time.Sleep(5 * time.Minute)
		w.wantHistory("planned", "postponed completed")
		w.wantHistory("byHand", "postponed/manual completed/manual")
		if next := w.get("byHand").Status.Next; next.Year() != 2041 {
			t.Errorf("the next execution is at %s", next)
		}
	})
}
