package engine_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/scheduler/explain"
)

// TestOnlyIf has the ends of a job, at the given times, decide about the occurrences of another one,
// which is due every ten minutes.
func TestOnlyIf(t *testing.T) {
	for name, row := range map[string]struct {
		condition string // of the other job
		upstream  string // fields of the job
		runs      []time.Duration
		want      string // history of the other job after 25 minutes
	}{
		"skips":                     {`{"job": "first", "since": "PT5M"}`, action, []time.Duration{18 * time.Minute}, "skipped(onlyIf 1) completed"},
		"another outcome":           {`{"job": "first", "since": "PT5M", "outcome": "faulted"}`, action, []time.Duration{9 * time.Minute, 18 * time.Minute}, "skipped(onlyIf 1) skipped(onlyIf 1)"},
		"faulted":                   {`{"job": "default/first", "since": "PT5M", "outcome": "any"}`, broken, []time.Duration{8 * time.Minute}, "completed skipped(onlyIf 1)"},
		"waits, then runs":          {`{"job": "first", "since": "PT5M", "waitUpTo": "PT5M"}`, action, []time.Duration{12 * time.Minute}, "postponed completed postponed"},
		"waits, then is skipped":    {`{"job": "first", "since": "PT5M", "waitUpTo": "PT5M"}`, action, nil, "postponed skipped(onlyIf 1) postponed"},
		"waits until the next one":  {`{"job": "first", "since": "PT5M", "waitUpTo": "PT1H"}`, action, []time.Duration{22 * time.Minute}, "postponed skipped(onlyIf 1) postponed completed"},
		"a job that does not exist": {`{"job": "other", "since": "PT5M"}`, action, nil, "skipped(onlyIf 1) skipped(onlyIf 1)"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, w *harness) {
				begin := time.Now().Truncate(time.Minute)
				if strings.Contains(row.upstream, "broken") {
					w.sink.answers(func(c *call) (int, string) {
						if strings.Contains(c.host, "broken") {
							return http.StatusBadRequest, ""
						}
						return http.StatusOK, ""
					})
				}
				w.put("first", `{"state": "disabled", "startTime": "2000-01-01T09:00:00Z", `+row.upstream+`}`)
				w.put("second", `{"startTime": "`+begin.Add(10*time.Minute).UTC().Format(time.RFC3339)+`",
					"recurrence": {"frequency": "Minute", "interval": 10}, "onlyIf": `+row.condition+`, `+action+`}`)
				for _, at := range row.runs {
					time.Sleep(time.Until(begin.Add(at)))
					w.must(w.service.Trigger(t.Context(), key("first")))
				}
				time.Sleep(time.Until(begin.Add(25*time.Minute - 10*time.Second)))
				w.wantHistory("second", row.want)
				if strings.HasSuffix(row.want, " postponed") {
					w.mustExplain("second", "2000-01-01T00:20:00Z", explain.Waits, "it waits for its condition, until 2000-01-01T00:2")
				}
				if name == "skips" {
					w.mustExplain("second", "2000-01-01T00:10:00Z", explain.Skipped, "first has not completed since 2000-01-01T00:05:00Z")
					w.must(w.service.Trigger(t.Context(), key("second")))
					time.Sleep(time.Second)
					w.wantHistory("second", row.want+" completed/manual")
				}
			})
		})
	}
}

// TestOnlyIfWoken ends a job for which two others wait. They run when they learn of it, and not at their next checks.
func TestOnlyIfWoken(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		begin := time.Now().Truncate(time.Minute)
		w.put("first", `{"state": "disabled", "startTime": "2000-01-01T09:00:00Z", `+action+`}`)
		for _, name := range []string{"second", "third"} {
			w.putTriggered(name, `{"startTime": "`+begin.Add(10*time.Minute).UTC().Format(time.RFC3339)+`",
				"recurrence": {"frequency": "Hour"}, "onlyIf": {"job": "first", "since": "PT5M", "waitUpTo": "PT50M"}, `+action+`}`)
		}
		time.Sleep(time.Until(begin.Add(40*time.Minute + 5*time.Second)))
		w.must(w.service.Trigger(t.Context(), key("first")))
		time.Sleep(time.Second)
		for _, name := range []string{"second", "third"} {
			w.wantHistory(name, "postponed completed")
			for _, r := range w.history(name) {
				if !r.Due.Equal(begin.Add(10 * time.Minute)) {
					t.Errorf("%s was due at %s", name, r.Due)
				}
			}
		}
		w.mustBeInOrder()
	})
}

// TestOnlyIfRepeated stops the worker during an attempt. The next worker repeats it, although the end of the other job has
// stopped to count in the meantime: the target has been called.
func TestOnlyIfRepeated(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		begin := time.Now().Truncate(time.Minute)
		w.put("first", `{"state": "disabled", "startTime": "2000-01-01T09:00:00Z", `+action+`}`)
		w.put("second", `{"startTime": "`+begin.Add(10*time.Minute).UTC().Format(time.RFC3339)+`", "timeout": "PT30M",
			"onlyIf": {"job": "first", "since": "PT5M"}, `+action+`}`)
		time.Sleep(time.Until(begin.Add(9 * time.Minute)))
		w.must(w.service.Trigger(t.Context(), key("first")))
		time.Sleep(30 * time.Second)
		w.sink.answers(after(30*time.Minute, http.StatusOK))
		time.Sleep(time.Until(begin.Add(11 * time.Minute)))
		if calls := len(w.callsOf("second")); calls != 1 {
			t.Fatalf("%d calls before the worker stops", calls)
		}
		w.stopWorker()
		time.Sleep(time.Until(begin.Add(20 * time.Minute)))
		w.sink.answers(after(time.Second, http.StatusOK))
		w.startWorker()
		time.Sleep(2 * time.Minute)
		w.wantHistory("second", "completed")
	})
}

const broken = `"action": {"type": "Http", "request": {"uri": "http://broken.example/", "method": "GET"}, "retryPolicy": {"retryType": "none"}}`

// TestQueuedOccurrences lets the first of a job's occurrences run for three intervals and a half. The others run after it
// in order, also across the end of a worker.
func TestQueuedOccurrences(t *testing.T) {
	for name, restart := range map[string]bool{"one worker": false, "another worker continues": true} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, w *harness) {
				first := true
				w.sink.answers(func(c *call) (int, string) {
					d := 20 * time.Second
					if first {
						first, d = false, 210*time.Second
					}
					return after(d, http.StatusOK)(c)
				})
				w.put("job", `{"overlap": "queue", "timeout": "PT10M", "recurrence": {"frequency": "Minute"}, "catchUp": {"policy": "skip"}, `+action+`}`)
				time.Sleep(215 * time.Second)
				w.mustExplain("job", "2000-01-01T00:03:00Z", explain.Waits, "runs after the occurrence of 2000-01-01T00:01:0")
				if restart {
					w.stopWorker()
					w.startWorker()
				}
				time.Sleep(80 * time.Second)
				records := w.history("job")
				for i, r := range records {
					if r.Outcome != scheduler.OutcomeCompleted || !r.Nominal.Equal(records[0].Nominal.Add(time.Duration(i)*time.Minute)) {
						t.Errorf("record %d: %s of %s", i, r.Outcome, r.Nominal)
					}
				}
				if len(records) != 5 {
					t.Errorf("history %q", w.outcomes("job"))
				}
				w.wantNoRepeats()
			})
		})
	}
}

// TestTriggerEnd publishes events until the end of a trigger and after it. The job is then completed, without a record.
func TestTriggerEnd(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		w.putTriggered("job", `{`+action+`, "trigger": {"on": {"source": "orders"}, "endTime": "2000-01-01T00:01:00Z", "delay": "PT40S"}}`)
		w.wantNext("job", time.Time{})
		w.publish("orders", "", `1`)
		time.Sleep(30 * time.Second)
		w.publish("orders", "", `2`)
		time.Sleep(31 * time.Second)
		w.wantHistory("job", "completed")
		w.wantState("job", scheduler.Completed, 1)
		w.publish("orders", "", `3`)
		time.Sleep(time.Minute)
		w.wantHistory("job", "completed completed")
		w.wantState("job", scheduler.Completed, 2)
		w.must(w.service.Put(t.Context(), control.Edit{Key: key("job"), Body: []byte(`{` + action + `, "trigger": {"on": {"source": "orders"}, "endTime": "2000-01-01T00:05:00Z"}}`)}))
		time.Sleep(time.Second)
		w.publish("orders", "", `4`)
		w.wantState("job", scheduler.Enabled, 3)
		w.wantHistory("job", "completed completed completed")
	})
}

// TestTriggerCount publishes more events than a trigger counts, for two workers. The job is completed after its last run,
// and begins anew when it is edited.
func TestTriggerCount(t *testing.T) {
	inBubble(t, func(_ *testing.T, w *harness) {
		w.startWorker()
		trigger := `"trigger": {"on": {"source": "orders", "key": "string(event.data)"}, "count": 3}`
		w.putTriggered("job", `{`+action+`, `+trigger+`}`)
		w.putTriggered("timed", `{`+action+`, `+trigger+`, "startTime": "2000-01-01T09:00:00Z", "recurrence": {"frequency": "Day"}}`)
		w.publish("orders", "", `1`)
		w.wantState("job", scheduler.Enabled, 1)
		for i := range 20 {
			w.publishNow("orders", "", strconv.Itoa(i))
		}
		time.Sleep(5 * time.Second)
		w.wantState("job", scheduler.Completed, 3)
		w.wantState("timed", scheduler.Enabled, 3)
		w.publish("orders", "", `1`)
		w.wantHistory("job", "completed completed completed")
		w.putTriggered("job", `{`+strings.Replace(action, "hook", "other", 1)+`, `+trigger+`}`)
		w.publish("orders", "", `1`)
		w.wantHistory("job", "completed completed completed completed")
		w.wantState("job", scheduler.Enabled, 4)
	})
}
