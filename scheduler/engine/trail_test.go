package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/audit"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/scheduler/explain"
	"github.com/carillon-sched/carillon/store"
	"github.com/carillon-sched/carillon/store/storetest"
)

// trail returns the audit trail, the oldest entry first.
func (w *harness) trail() []*audit.Entry {
	w.t.Helper()
	entries, _, err := w.service.Trail(w.t.Context(), control.TrailQuery{}, v1.Page{})
	w.must(err)
	slices.Reverse(entries)
	return entries
}

// changes is the trail in few words: who, what, of what, what became of it.
func (w *harness) changes() (lines []string) {
	w.t.Helper()
	for _, e := range w.trail() {
		line := fmt.Sprintf("%s %s %s %s", e.By, e.Op, e.Target(), e.Result+e.Error)
		if e.Phase != "" {
			line += " " + string(e.Phase)
		}
		if e.Rebuilt {
			line += " rebuilt"
		}
		lines = append(lines, line)
	}
	return lines
}

func (w *harness) mustTellTrail(want ...string) {
	w.t.Helper()
	if diff := cmp.Diff(want, w.changes()); diff != "" {
		w.t.Error(diff)
	}
}

// dumb is the trail of a process that is killed before it has told of a change; mute of one that cannot even announce one.
type dumb struct {
	*store.Store

	mute bool
}

var errKilled = fmt.Errorf("%w: killed", scheduler.ErrUnavailable)

func (dumb) AppendEntry(context.Context, *audit.Entry) error { return errKilled }

func (d dumb) BeginEntry(ctx context.Context, e *audit.Entry) (uint64, error) {
	if d.mute {
		return 0, errKilled
	}
	return d.Store.BeginEntry(ctx, e)
}

// withTrail is a service of another process, with that trail.
func (w *harness) withTrail(t audit.Store) *control.Service {
	return control.New(control.Config{Store: w.store, Actions: w.actions(), Secrets: w.vault, Trail: t})
}

const hourlyJob = `{"action": {"type": "http", "request": {"method": "GET", "uri": "http://example.org/"}}, "recurrence": {"frequency": "hour"}}`

func TestEveryChangeIsInTheAuditTrail(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		k, ctx := key("a"), w.as("alice")
		put := func(body string) {
			t.Helper()
			w.must(w.service.Put(ctx, control.Edit{Key: k, Body: []byte(body)}))
		}
		put(hourlyJob)
		put(hourlyJob) // changes nothing
		w.must(w.service.Patch(ctx, control.Edit{Key: k, Body: []byte(`{"recurrence": {"interval": 2}}`)}))
		w.must(w.service.Disable(ctx, k))
		w.must(w.service.Enable(ctx, k))
		w.must(w.service.Trigger(ctx, k))
		time.Sleep(time.Minute)
		occurrence := w.history("a")[0].Nominal.Format(time.RFC3339Nano)
		w.must(w.service.Resubmit(ctx, k, []byte(`{"occurrence": "`+occurrence+`", "force": true}`)))
		time.Sleep(time.Minute)
		w.must(w.service.Delete(ctx, k, 0))
		w.must(w.service.PutCollection(ctx, "c", nil))
		w.must(w.service.PatchCollection(ctx, "c", []byte(`{"properties": {"quota": {"maxJobCount": 3}}}`)))
		w.must(w.service.SetCollectionState(ctx, "c", scheduler.Disabled))
		w.must(w.service.DeleteCollection(ctx, "c", true))
		w.must(w.service.PutSecret(ctx, "s", []byte(`{"value": "hidden-value"}`)))
		w.must(w.service.DeleteSecret(ctx, "s", false))
		w.must(w.service.RotateSecrets(ctx))
		w.mustTellTrail(
			"alice put default/a created", "alice patch default/a updated", "alice disable default/a updated",
			"alice enable default/a updated", "alice run default/a started", "alice resubmit default/a started",
			"alice delete default/a deleted",
			"alice put collection c created", "alice patch collection c updated", "alice disable collection c updated",
			"alice delete collection c deleted",
			"alice put secret s created", "alice delete secret s deleted", "alice rotate system keys updated",
		)
		entries := w.trail()
		for i, e := range entries {
			if e.By != (audit.By{Name: "alice", ID: "id-of-alice", Via: "token", Address: "192.0.2.7"}) || e.Time.IsZero() {
				t.Errorf("%s: by %+v at %s", e.Op, e.By, e.Time)
			}
			if 0 < i && i < 4 && (e.OldRevision != entries[i-1].Revision || e.Revision <= e.OldRevision || e.Generation != i+1) {
				t.Errorf("%s: from revision %d to %d, generation %d", e.Op, e.OldRevision, e.Revision, e.Generation)
			}
		}
		if got := entries[1].Changed; !slices.Equal(got, []string{"recurrence.interval"}) {
			t.Errorf("the patch changed %q", got)
		}
		if got := entries[2]; !slices.Equal(got.Changed, []string{"state"}) || got.State != scheduler.Disabled {
			t.Errorf("to disable changed %q to %s", got.Changed, got.State)
		}
	})
}

func TestNoSecretIsInTheAuditTrail(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		body := `{"action": {"type": "http", "request": {"method": "GET", "uri": "http://example.org/",
			"authentication": {"type": "Basic", "username": "u", "password": "%s"}}}, "recurrence": {"frequency": "hour"}}`
		for _, password := range []string{"hidden-one", "hidden-two"} {
			w.must(w.service.Put(w.as("a"), control.Edit{Key: key("a"), Body: fmt.Appendf(nil, body, password)}))
		}
		w.must(w.service.PutSecret(w.as("a"), "s", []byte(`{"value": "hidden-three"}`)))
		text := must.Get(json.Marshal(w.trail()))(t)
		if strings.Contains(string(text), "hidden") {
			t.Errorf("shown: %s", text)
		}
		if !strings.Contains(string(text), "password") {
			t.Errorf("the place of what changed is not told: %s", text)
		}
	})
}

// TestUntoldEditIsToldLater shows that the record of an edit is not lost when the process ends between the two.
func TestUntoldEditIsToldLater(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		w.must(w.service.CheckTrail(t.Context())) // as at the first start
		killed := w.withTrail(dumb{Store: w.store})
		w.must(killed.Put(w.as("alice"), control.Edit{Key: key("a"), Body: []byte(hourlyJob)}))
		w.must(killed.Put(w.as("bob"), control.Edit{Key: key("once"), Body: []byte(`{"startTime": "2000-01-01T00:00:20Z", ` + action + `}`)}))
		w.must(w.service.Put(w.as("carol"), control.Edit{Key: key("told"), Body: []byte(hourlyJob)}))
		w.must(w.service.CheckTrail(t.Context()))
		w.mustTellTrail("carol put default/told created") // of the others, somebody may still be about to tell
		time.Sleep(5 * time.Minute)                       // and the second one has ended
		n := must.Get(w.service.CheckTrail(t.Context()))(t)
		if n != 2 {
			t.Errorf("%d were missing, want 2", n)
		}
		want := []string{"carol put default/told created", "alice put default/a created rebuilt", "bob put default/once created rebuilt"}
		told := w.changes()
		slices.Sort(told)
		slices.Sort(want)
		if diff := cmp.Diff(want, told); diff != "" {
			t.Error(diff)
		}
		if n, err := w.service.CheckTrail(t.Context()); n != 0 || err != nil {
			t.Errorf("looked again: %d missing, %v", n, err)
		}
	})
}

// TestUntoldEditIsToldBeforeItGoes shows that an edit is told before another one, or a delete, takes its place.
func TestUntoldEditIsToldBeforeItGoes(t *testing.T) {
	inBubble(t, func(_ *testing.T, w *harness) {
		killed := w.withTrail(dumb{Store: w.store})
		for _, name := range []string{"a", "b"} {
			w.must(killed.Put(w.as("alice"), control.Edit{Key: key(name), Body: []byte(hourlyJob)}))
		}
		w.must(w.service.Disable(w.as("bob"), key("a")))
		w.must(w.service.Delete(w.as("bob"), key("b"), 0))
		w.mustTellTrail("alice put default/a created rebuilt", "bob disable default/a updated",
			"alice put default/b created rebuilt", "bob delete default/b deleted")
	})
}

// TestSpecThatIsDeliveredAgainIsTold shows that a spec whose process was killed is told by the next one.
func TestSpecThatIsDeliveredAgainIsTold(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		edit := control.Edit{Key: key("a"), Body: []byte(hourlyJob), SpecSequence: 7}
		for _, s := range []*control.Service{w.withTrail(dumb{Store: w.store}), w.service, w.service} {
			w.must(s.Put(t.Context(), edit))
		}
		w.mustTellTrail("unknown put default/a created rebuilt")
		if got := w.trail()[0].SpecSequence; got != 7 {
			t.Errorf("the spec's sequence is told as %d", got)
		}
	})
}

func TestChangeThatWasCutShortIsShown(t *testing.T) {
	inBubble(t, func(_ *testing.T, w *harness) {
		killed := w.withTrail(dumb{Store: w.store})
		w.must(killed.PutSecret(w.as("alice"), "s", []byte(`{"value": "v"}`)))
		w.mustTellTrail("alice put secret s updated begun")
		time.Sleep(2 * time.Minute)
		w.mustTellTrail("alice put secret s updated interrupted")
	})
}

func TestNothingIsDoneThatCannotBeAnnounced(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		w.put("a", hourlyJob)
		time.Sleep(time.Minute) // its first run
		killed := w.withTrail(dumb{w.store, true})
		err := killed.Delete(w.as("alice"), key("a"), 0)
		if !errors.Is(err, scheduler.ErrUnavailable) {
			t.Errorf("deleted: %v", err)
		}
		if _, err := killed.Trigger(w.as("alice"), key("a")); !errors.Is(err, scheduler.ErrUnavailable) {
			t.Errorf("run: %v", err)
		}
		w.get("a")
		time.Sleep(time.Minute)
		if got := w.outcomes("a"); got != "completed" { // its first, by its schedule
			t.Errorf("it ran, and was not to: %s", got)
		}
	})
}

func TestLastChangeTellsWhoDisabled(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		w.must(w.service.PutCollection(w.as("admin"), "c", nil))
		w.must(w.service.SetCollectionState(w.as("dora"), "c", scheduler.Disabled))
		w.put("a", hourlyJob)
		w.must(w.service.Disable(w.as("bob"), key("a")))
		w.must(w.service.Patch(w.as("alice"), control.Edit{Key: key("a"), Body: []byte(`{"description": "x"}`)}))
		w.put("b", hourlyJob)
		w.must(w.service.Patch(w.as("carol"), control.Edit{Key: key("b"), Body: []byte(`{"state": "disabled"}`)}))
		tests := []struct {
			k    scheduler.Key
			kind audit.Kind
			ops  []string
			want string
		}{
			{key("a"), audit.Job, []string{"disable"}, "bob"},
			{key("a"), audit.Job, nil, "alice"},
			{key("b"), audit.Job, []string{"disable"}, "carol"},
			{scheduler.Key{Collection: "c"}, audit.Collection, []string{"disable"}, "dora"},
			{key("none"), audit.Job, nil, ""},
		}
		for _, test := range tests {
			e := must.Get(w.service.LastChange(t.Context(), test.k, test.kind, time.Time{}, test.ops...))(t)
			got := ""
			if e != nil {
				got = e.By.Name
			}
			if got != test.want {
				t.Errorf("%s %v: %q, want %q", test.k, test.ops, got, test.want)
			}
		}
	})
}

func TestTrailIsAskedByWhoAndWhat(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		ctx := control.WithClaim(t.Context(), "mallory")
		w.must(w.service.Put(ctx, control.Edit{Key: key("a"), Body: []byte(hourlyJob)}))
		time.Sleep(time.Hour)
		w.must(w.service.Disable(w.as("bob"), key("a")))
		count := func(q control.TrailQuery) int {
			entries, _, err := w.service.Trail(t.Context(), q, v1.Page{})
			w.must(err)
			return len(entries)
		}
		now := time.Now()
		for i, test := range []struct {
			q    control.TrailQuery
			want int
		}{
			{control.TrailQuery{Who: "Mallory"}, 1},
			{control.TrailQuery{Who: "bob"}, 1},
			{control.TrailQuery{Who: "id-of-bob"}, 1},
			{control.TrailQuery{Who: "nobody"}, 0},
			{control.TrailQuery{Op: "disable"}, 1},
			{control.TrailQuery{Since: now.Add(-time.Minute)}, 1},
			{control.TrailQuery{Until: now.Add(-time.Minute)}, 1},
			{control.TrailQuery{Scope: audit.Scope{Kind: audit.Secret}}, 0},
		} {
			if got := count(test.q); got != test.want {
				t.Errorf("%d: %d entries, want %d", i, got, test.want)
			}
		}
		if e := w.trail()[0]; e.Claim != "mallory" || e.By.Name != "" {
			t.Errorf("by %+v, claim %q", e.By, e.Claim)
		}
		if _, _, err := w.service.Trail(t.Context(), control.TrailQuery{Scope: audit.Scope{Kind: "nonsense"}}, v1.Page{}); !errors.Is(err, scheduler.ErrInvalid) {
			t.Errorf("a kind that is none: %v", err)
		}
	})
}

// mustExplain asks why, and what the answer says.
func (w *harness) mustExplain(name, at string, code explain.Code, says string) {
	w.t.Helper()
	a := must.Get(w.service.Why(w.t.Context(), key(name), at))(w.t)
	if text := a.Answer + strings.Join(a.Notes, "\n"); a.Code != code || !strings.Contains(text, says) {
		w.t.Errorf("%s at %s: %s: %s; want %s: %s", name, at, a.Code, text, code, says)
	}
}

// TestWhyOfWhatIsUnderWay asks about an attempt that runs, one that was left out behind it, one that is retried, and one
// that waits for the circuit of its target.
func TestWhyOfWhatIsUnderWay(t *testing.T) {
	inBubble(t, func(_ *testing.T, w *harness) {
		w.sink.answers(after(100*time.Second, http.StatusServiceUnavailable))
		w.put("job", `{"recurrence": {"frequency": "Minute"}, "startTime": "2000-01-01T01:00:00Z", "timeout": "PT5M", `+
			strings.Replace(quickly, "PT1S", "PT10M", 1)+`}`)
		midnight := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
		time.Sleep(time.Until(midnight.Add(time.Hour + 90*time.Second)))
		w.mustExplain("job", "2000-01-01T01:00Z", explain.Running, "active")
		w.mustExplain("job", "now", explain.Running, "active")
		w.mustExplain("job", "2000-01-01T01:01Z", explain.Skipped, "still active")
		time.Sleep(time.Minute)
		w.mustExplain("job", "2000-01-01T01:00Z", explain.Retrying, "due at 2000-01-01T01:11:4")
		w.ail()
		time.Sleep(2 * time.Hour)
		w.mustExplain("job", "2000-01-01T01:00Z", explain.Failed, "after 4 attempts")
		w.mustExplain("job", "2000-01-01T01:01Z", explain.Skipped, "still active")

		w.rules(breaker)
		w.openCircuit()
		due := time.Now().Add(2 * time.Second).UTC().Truncate(time.Second)
		w.put("waits", `{"startTime": "`+due.Format(time.RFC3339)+`", `+failOnce+`}`)
		time.Sleep(5 * time.Second)
		w.mustExplain("waits", due.Format(time.RFC3339), explain.Waits, "the circuit breaker of target.example:80 is open")
	})
}

// TestWhyReadsTheStore asks about runs that need more than the job and its records: when the history begins, who changed
// the job, and its earlier schedule.
func TestWhyReadsTheStore(t *testing.T) {
	storetest.Test(t, func(t *testing.T) {
		w := newHarness(t, func(c *store.Config) { c.HistoryPerJob = 10 })
		w.startWorker()
		at := func(clock string) { time.Sleep(time.Until(timeOfDay(t, clock))) }
		minutely := `{"recurrence": {"frequency": "Minute"}, "startTime": "2000-01-01T01:00:00Z", ` + failOnce + `}`
		w.put("job", minutely)
		at("01:30:30")
		w.mustExplain("job", "2000-01-01T01:25Z", explain.Ran, "one attempt")
		w.mustExplain("job", "2000-01-01T01:05Z", explain.Unknown, "kept since 2000-01-01T01:21:00")

		w.must(w.service.Disable(w.as("ada"), key("job")))
		at("01:33:30")
		w.mustExplain("job", "2000-01-01T01:32Z", explain.Disabled, "since 2000-01-01T01:30:30Z by ada")
		w.must(w.service.Enable(w.as("bob"), key("job")))
		w.mustExplain("job", "2000-01-01T01:32Z", explain.Skipped, "the job was disabled (at 2000-01-01T01:30:30Z by ada)")

		at("01:40:30")
		w.put("job", strings.Replace(minutely, `"Minute"`, `"Day"`, 1))
		at("01:50:30")
		w.mustExplain("job", "2000-01-01T01:38:45Z", explain.NotDue, "the job's schedule of that time: every minute")
		w.mustExplain("job", "2000-01-01T01:45Z", explain.NotDue, "2000-01-02T01:00:00Z")

		w.must(nil, w.service.Delete(w.as("fay"), key("job"), 0))
		w.mustExplain("job", "2000-01-01T01:38Z", explain.Deleted, "at 2000-01-01T01:50:30Z by fay")
	})
}
