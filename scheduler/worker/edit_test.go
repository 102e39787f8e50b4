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

func TestDisableWhileRunning(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.sink.answers(after(5*time.Second, http.StatusOK))
		w.put("job", `{`+action+`, `+every10s+`}`)
		time.Sleep(2 * time.Second)
		w.must(w.service.Disable(t.Context(), key("job")))
		time.Sleep(2 * time.Minute)
		w.wantHistory("job", "completed")
		if v := w.get("job"); v.Job.State != scheduler.Disabled || v.Status.Executions != 1 {
			t.Errorf("state %s, status %+v", v.Job.State, v.Status)
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

func TestPatch(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.put("job", `{`+action+`, "recurrence": {"frequency": "Week", "count": 10000, "endTime": "2100-01-01"}}`)
		edit := func(body string) (*view.Job, error) {
			return w.service.Patch(t.Context(), service.Edit{Key: key("job"), Body: []byte(body)})
		}
		v, err := edit(`{"properties": {"recurrence": {"frequency": "Day", "interval": 1}}}`)
		w.must(nil, err)
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
			w.must(nil, err)
			gone := strings.Contains(body, "recurrence")
			if d := v.Job.Def; (d.Timing.Recurrence == nil) != gone || d.Timing.Start.IsZero() == gone || (d.Description == "") == gone {
				t.Errorf("%s: got %s", body, view.JSON(v))
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
		w.must(nil, w.service.Delete(t.Context(), scheduler.Key{Collection: "few", Job: "b"}, 0))
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
	w.must(nil, err)
	for _, f := range rep.Findings {
		w.t.Errorf("audit: %s: %s", f.Name, f.Problem)
	}
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
		w.must(nil, err)
		time.Sleep(time.Minute)
		w.wantHistory("job", "completed completed completed completed postponed")
	})
}
