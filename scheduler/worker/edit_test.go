package worker_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/secrets"
	"github.com/carillon-sched/carillon/scheduler/service"
	"github.com/carillon-sched/carillon/scheduler/view"
)

const every10s = `"recurrence": {"frequency": "Second", "interval": 10}`

func TestDisableWhileWaiting(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.put("job", `{`+action+`, `+every10s+`}`)
		time.Sleep(25 * time.Second)
		if _, err := w.service.Disable(t.Context(), key("job")); err != nil {
			t.Fatal(err)
		}
		n := len(w.sink.seen())
		time.Sleep(time.Hour)
		if got := len(w.sink.seen()); got != n {
			t.Errorf("%d calls after the job was disabled", got-n)
		}
		if v := w.get("job"); v.Job.State != scheduler.Disabled || v.Status.Executions != 3 || !v.Status.Next.IsZero() {
			t.Errorf("state %s, status %+v", v.Job.State, v.Status)
		}
		if _, err := w.service.Enable(t.Context(), key("job")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(11 * time.Second)
		want := "completed completed completed skipped(disabled 360) completed"
		if got := w.outcomes("job"); !strings.HasPrefix(got, want) {
			t.Errorf("history %q, want %q", got, want)
		}
	})
}

func TestDisableWhileRunning(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.sink.answers(after(5*time.Second, http.StatusOK))
		w.put("job", `{`+action+`, `+every10s+`}`)
		time.Sleep(2 * time.Second)
		if _, err := w.service.Disable(t.Context(), key("job")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		if got := w.outcomes("job"); got != "completed" {
			t.Errorf("history %q: the attempt under way ends, and nothing follows", got)
		}
		if v := w.get("job"); v.Job.State != scheduler.Disabled || v.Status.Executions != 1 {
			t.Errorf("state %s, status %+v", v.Job.State, v.Status)
		}
		w.mustBeInOrder()
	})
}

// What an attempt kept from running before its job was disabled has a record.
func TestDisableWhileOverlapping(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.sink.answers(after(25*time.Second, http.StatusOK))
		w.put("job", `{`+action+`, `+every10s+`}`)
		time.Sleep(24 * time.Second)
		if _, err := w.service.Disable(t.Context(), key("job")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		if _, err := w.service.Enable(t.Context(), key("job")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if got, want := w.outcomes("job"), "completed skipped(overlap 2) skipped(disabled 1)"; got != want {
			t.Errorf("history %q, want %q", got, want)
		}
	})
}

// A baton is fired half a second early. Disabling the job in that time keeps
// it from running.
func TestDisableWhileHeld(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		start := time.Now().Add(20 * time.Second).UTC()
		w.put("job", `{`+action+`, "startTime": "`+start.Format(time.RFC3339Nano)+`", `+every10s+`}`)
		time.Sleep(time.Until(start) - 100*time.Millisecond)
		if !w.withWorker("job") {
			t.Fatal("the baton is not with the worker yet")
		}
		if _, err := w.service.Disable(t.Context(), key("job")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if got, want := w.outcomes("job"), "skipped(disabled 1)"; got != want {
			t.Errorf("history %q, want %q", got, want)
		}
		w.mustBeInOrder()
	})
}

// An occurrence under way keeps the definition it started with, retries
// included; the edit counts from the next one.
func TestEditWhileRunning(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.sink.answers(fails)
		w.put("job", `{`+failing+`}, "recurrence": {"frequency": "Minute"}}`)
		time.Sleep(5 * time.Second) // between the first try and the retry
		w.put("job", `{`+strings.ReplaceAll(failing, "/fails", "/new")+`}, "recurrence": {"frequency": "Minute"}}`)
		time.Sleep(70 * time.Second)
		var urls []string
		for _, c := range w.sink.seen() {
			urls = append(urls, strings.TrimPrefix(c.url, "http://target.example"))
		}
		if got, want := strings.Join(urls, " "), "/fails /fails /fails /new"; got != want {
			t.Errorf("calls %q, want %q", got, want)
		}
	})
}

// An edit in the half second in which the baton is held already counts.
func TestEditWhileHeld(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		start := time.Now().Add(20 * time.Second).UTC().Format(time.RFC3339Nano)
		w.put("moved", `{`+action+`, "startTime": "`+start+`"}`)
		w.put("changed", `{`+action+`, "startTime": "`+start+`"}`)
		time.Sleep(19600 * time.Millisecond)
		later := time.Now().Add(time.Hour).UTC()
		w.put("moved", `{`+action+`, "startTime": "`+later.Format(time.RFC3339Nano)+`"}`)
		w.put("changed", `{`+strings.ReplaceAll(action, "/hook", "/new")+`, "startTime": "`+start+`"}`)
		time.Sleep(10 * time.Second)
		calls := w.sink.seen()
		if len(calls) != 1 || !strings.HasSuffix(calls[0].url, "/new") {
			t.Fatalf("%d calls, want one to the new address", len(calls))
		}
		if next := w.get("moved").Status.Next; !next.Equal(later) {
			t.Errorf("moved job is due %s, want %s", next, later)
		}
	})
}

func TestEditReplansTheWaitingBaton(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		far := time.Now().Add(30 * 24 * time.Hour).UTC()
		w.put("job", `{`+action+`, "startTime": "`+far.Format(time.RFC3339)+`"}`)
		near := time.Now().Add(10 * time.Second).UTC()
		w.put("job", `{`+action+`, "startTime": "`+near.Format(time.RFC3339Nano)+`"}`)
		time.Sleep(11 * time.Second)
		if n := len(w.sink.seen()); n != 1 {
			t.Errorf("%d calls, want 1", n)
		}
	})
}

func TestPutAgainChangesNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		job := `{` + action + `, ` + every10s + `}`
		v := w.put("job", job)
		time.Sleep(5 * time.Second)
		again := w.put("job", strings.ReplaceAll(job, "Second", "SECOND"))
		if again.Job.Revision != v.Job.Revision || again.Job.Generation != 1 {
			t.Errorf("revision %d, generation %d", again.Job.Revision, again.Job.Generation)
		}
		time.Sleep(6 * time.Second)
		if n := len(w.sink.seen()); n != 2 {
			t.Errorf("%d calls, want 2", n)
		}
	})
}

func TestFinalJobs(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		job := `{` + action + `}`
		w.put("job", job)
		time.Sleep(time.Second)
		w.put("job", job) // as it was: nothing to do
		_, err := w.service.Enable(t.Context(), key("job"))
		if !errors.Is(err, scheduler.ErrConflict) {
			t.Errorf("enabling a completed job: %v", err)
		}
		if err := w.service.Delete(t.Context(), key("job"), 0); err != nil {
			t.Fatal(err)
		}
		w.put("job", job)
		time.Sleep(time.Second)
		if n := len(w.sink.seen()); n != 2 {
			t.Errorf("%d calls, want 2: the name can be used again", n)
		}
	})
}

func TestDelete(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.sink.answers(after(5*time.Second, http.StatusOK))
		w.put("job", `{`+action+`, `+every10s+`}`)
		w.put("later", `{`+action+`, "startTime": "`+time.Now().Add(time.Minute).UTC().Format(time.RFC3339)+`"}`)
		time.Sleep(2 * time.Second)
		for _, name := range []string{"job", "later"} {
			if err := w.service.Delete(t.Context(), key(name), 0); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Hour)
		if n := len(w.sink.seen()); n != 1 {
			t.Errorf("%d calls, want the one that was under way", n)
		}
		if err := w.service.Delete(t.Context(), key("job"), 0); !errors.Is(err, scheduler.ErrNotFound) {
			t.Errorf("deleting it again: %v", err)
		}
		w.mustBeInOrder()
	})
}

func TestPatch(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.put("job", `{`+action+`, "recurrence": {"frequency": "Week", "count": 10000, "endTime": "2100-01-01"}}`)
		edit := func(body string) (*view.Job, error) {
			return w.service.Patch(t.Context(), service.Edit{Key: key("job"), Body: []byte(body)})
		}
		v, err := edit(`{"properties": {"recurrence": {"frequency": "Day", "interval": 1}}}`)
		if err != nil {
			t.Fatal(err)
		}
		got := string(view.JSON(v))
		for _, want := range []string{`"frequency":"day"`, `"count":10000`, `"endTime":"2100-01-01"`} {
			if !strings.Contains(got, want) {
				t.Errorf("%s is missing in %s", want, got)
			}
		}
		for _, body := range []string{
			`{"action": null}`, `{"action": {"request": {"URI": "http://a.example/", "Uri": "http://b.example/"}}}`,
			`{"id": "/jobCollections/default/jobs/other"}`, `{"status": {}}`, `{"state": "completed"}`, `{"recurence": {}}`,
		} {
			if _, err := edit(body); !errors.Is(err, scheduler.ErrInvalid) {
				t.Errorf("%s: %v", body, err)
			}
		}
		if v, err = edit(`{"state": "disabled"}`); err != nil || v.Job.State != scheduler.Disabled {
			t.Fatalf("%v %v", v, err)
		}
		if v, err = edit(`{"description": "still off"}`); err != nil || v.Job.State != scheduler.Disabled {
			t.Errorf("a patch that does not name the state changed it: %v %v", v, err)
		}
		for _, body := range []string{
			`{"id": "/JobCollections/default/jobs/job", "description": null, "startTime": null}`,
			`{"id": "/subscriptions/s/resourceGroups/g/providers/Microsoft.Scheduler/jobCollections/default/jobs/job", "properties": {"recurrence": null}}`,
		} {
			w.put("job", `{`+action+`, "state": "disabled", "startTime": "2040-01-01", "description": "x", "recurrence": {"frequency": "Week"}}`)
			v, err := edit(body)
			if err != nil {
				t.Fatal(err)
			}
			gone := strings.Contains(body, "recurrence")
			if d := v.Job.Def; (d.Timing.Recurrence == nil) != gone || d.Timing.Start.IsZero() == gone || (d.Description == "") == gone {
				t.Errorf("%s: got %s", body, view.JSON(v))
			}
		}
	})
}

// TestPatchOfFinalState asks a job that has ended to run again.
func TestPatchOfFinalState(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.put("job", `{`+action+`}`)
		time.Sleep(time.Minute)
		for body, want := range map[string]error{
			`{"state": "enabled"}`:                 scheduler.ErrConflict,
			`{"properties": {"state": "enabled"}}`: scheduler.ErrConflict,
			`{"state": "disabled"}`:                scheduler.ErrConflict,
			`{"state": "completed"}`:               scheduler.ErrInvalid,
			`{}`:                                   nil,
		} {
			if _, err := w.service.Patch(t.Context(), service.Edit{Key: key("job"), Body: []byte(body)}); !errors.Is(err, want) {
				t.Errorf("%s: %v, want %v", body, err, want)
			}
		}
	})
}

// TestDeletedJobsAreGone deletes a job in the middle: no page has a job twice because of it, and another may take its
// place in the quota.
func TestDeletedJobsAreGone(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		if _, _, err := w.service.PutCollection(t.Context(), "few", []byte(`{"properties": {"quota": {"maxJobCount": 3}}}`)); err != nil {
			t.Fatal(err)
		}
		put := func(name string) error {
			_, _, err := w.service.Put(t.Context(), service.Edit{
				Key: scheduler.Key{Collection: "few", Job: name}, Body: []byte(`{` + action + `, "state": "disabled"}`),
			})
			return err
		}
		for _, name := range []string{"a", "b", "c"} {
			if err := put(name); err != nil {
				t.Fatal(err)
			}
		}
		if err := put("d"); !errors.Is(err, scheduler.ErrConflict) || !strings.Contains(err.Error(), "is full") {
			t.Errorf("a fourth job: %v", err)
		}
		if err := w.service.Delete(t.Context(), scheduler.Key{Collection: "few", Job: "b"}, 0); err != nil {
			t.Fatal(err)
		}
		if err := put("d"); err != nil {
			t.Errorf("in the place of a deleted job: %v", err)
		}
		for name, next := range map[string]func(p *view.Page, last string){
			"skipping": func(p *view.Page, _ string) { p.Skip++ },
			"by name":  func(p *view.Page, last string) { p.After = last },
		} {
			var names []string
			p := view.Page{Top: 1}
			for more := true; more && len(names) < 9; next(&p, names[len(names)-1]) {
				page, after, err := w.service.List(t.Context(), "few", "", p)
				if err != nil || len(page) != 1 {
					t.Fatalf("%s, page %+v: %v %v", name, p, page, err)
				}
				names, more = append(names, page[0].Job.Key.Job), after != nil
			}
			if got := strings.Join(names, " "); got != "a c d" {
				t.Errorf("%s: %s", name, got)
			}
		}
	})
}

// mustBeInOrder fails the test when the audit finds anything.
func (w *world) mustBeInOrder() {
	w.t.Helper()
	rep, err := w.service.Audit(w.t.Context(), false)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, f := range rep.Findings {
		w.t.Errorf("audit: %s: %s", f.Name, f.Problem)
	}
}

// A new schedule begins its count again, also on a job that was disabled; and
// an edit of a recurring job does not run it at once.
func TestNewSchedule(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.put("job", `{`+action+`, "recurrence": {"frequency": "Minute", "count": 9}}`)
		time.Sleep(150 * time.Second)
		if _, err := w.service.Disable(t.Context(), key("job")); err != nil {
			t.Fatal(err)
		}
		w.put("job", `{`+action+`, "state": "enabled", "recurrence": {"frequency": "Hour", "count": 3}}`)
		time.Sleep(30 * time.Minute)
		if n := len(w.sink.seen()); n != 3 {
			t.Errorf("%d calls, want the 3 of the old schedule", n)
		}
		time.Sleep(6 * time.Hour)
		if n := len(w.sink.seen()); n != 6 {
			t.Errorf("%d calls, want 3 more of the new one", n)
		}
	})
}

// Only the last occurrence decides whether a job with overlap allow faulted.
func TestOverlapAllowFaults(t *testing.T) {
	for name, test := range map[string]struct {
		failing int
		want    scheduler.State
	}{"the last": {1, scheduler.Faulted}, "the one before": {0, scheduler.Completed}} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, w *world) {
				start := time.Now().Add(time.Minute).UTC()
				fails := scheduler.OccurrenceID(key("job"), start.Add(time.Duration(test.failing)*12*time.Second))
				w.sink.answers(func(c *call) (int, string) {
					if c.key == fails {
						return http.StatusInternalServerError, ""
					}
					return http.StatusOK, ""
				})
				w.put("job", `{`+failing+`}, "overlap": "allow", "startTime": "`+start.Format(time.RFC3339Nano)+`",
					"recurrence": {"frequency": "Second", "interval": 12, "count": 2}}`)
				time.Sleep(4 * time.Minute)
				v := w.get("job")
				if v.Job.State != test.want || v.Status.Executions != 4 || v.Status.Faults != 1 {
					t.Errorf("state %s, status %+v, want %s", v.Job.State, v.Status, test.want)
				}
			})
		})
	}
}

// An occurrence whose jitter is still to come has not been missed.
func TestJitterIsNotOverlap(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.sink.answers(after(2*time.Minute, http.StatusOK))
		w.put("job", `{`+action+`, "jitter": "PT5M", "timeout": "PT3M", "startTime": "`+time.Now().Add(time.Minute).UTC().Format(time.RFC3339)+`",
			"recurrence": {"frequency": "Minute", "interval": 6}}`)
		time.Sleep(96 * time.Minute)
		for _, r := range w.history("job") {
			if r.Outcome != scheduler.OutcomeSkipped {
				continue
			}
			late := r.Ended.Sub(r.To)
			if late < 0 {
				t.Errorf("%s was skipped before it was due", r.Occurrence)
			}
		}
		if n := len(w.sink.seen()); n < 13 {
			t.Errorf("%d calls of 16", n)
		}
	})
}

// TestChangesOfAnotherProcess has another process edit a job and disable its collection. What the worker has read of both
// is not believed any longer.
func TestChangesOfAnotherProcess(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		_, elsewhere := w.open()
		second := service.New(service.Config{
			Store: elsewhere, Actions: w.actions(), Secrets: secrets.NewVault(secrets.Config{Store: elsewhere.Secrets()}),
		})
		w.put("job", `{`+action+`, "recurrence": {"frequency": "Minute"}}`)
		time.Sleep(150 * time.Second)
		edited := `{` + strings.ReplaceAll(action, "/hook", "/new") + `, "recurrence": {"frequency": "Minute"}}`
		if _, _, err := second.Put(t.Context(), service.Edit{Key: key("job"), Body: []byte(edited)}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		var urls []string
		for _, c := range w.sink.seen() {
			urls = append(urls, strings.TrimPrefix(c.url, "http://target.example"))
		}
		if got, want := strings.Join(urls, " "), "/hook /hook /hook /new"; got != want {
			t.Errorf("calls %q, want %q", got, want)
		}
		_, _, err := second.PutCollection(t.Context(), scheduler.DefaultCollection, []byte(`{"properties": {"state": "disabled"}}`))
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if got, want := w.outcomes("job"), "completed completed completed completed postponed"; got != want {
			t.Errorf("history %q, want %q", got, want)
		}
	})
}
