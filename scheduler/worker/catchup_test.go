package worker_test

import (
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

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
		"once, nothing in the window": {
			`, "catchUp": {"window": "PT10M"}`, 2*time.Hour + 15*time.Minute,
			"skipped(catchUp 7)", 0,
		},
		"all": {
			`, "catchUp": {"policy": "all"}`, 2*time.Hour + 10*time.Minute,
			"skipped(catchUp 4) completed completed completed", 2 * time.Hour,
		},
		"all, wide window": {
			`, "catchUp": {"policy": "all", "window": "P10D"}`, 100*time.Minute + time.Second,
			"completed completed completed completed completed completed", 100 * time.Minute,
		},
		"skip": {
			`, "catchUp": {"policy": "skip"}`, 2*time.Hour + 10*time.Minute,
			"skipped(catchUp 7)", 0,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, w *world) {
				w.stopWorker()
				start := time.Now().UTC()
				w.put("job", `{`+action+`, "startTime": "`+start.Format(time.RFC3339Nano)+`",
					"recurrence": {"frequency": "Minute", "interval": 20}`+test.catchUp+`}`)
				time.Sleep(test.off)
				w.startWorker()
				time.Sleep(time.Minute)
				w.wantHistory("job", test.want)
				calls := w.sink.seen()
				if test.last == 0 {
					if len(calls) > 0 {
						t.Errorf("%d calls, want none", len(calls))
					}
				} else if want := scheduler.OccurrenceID(key("job"), start.Add(test.last)); calls[len(calls)-1].key != want {
					t.Errorf("last call for %s, want %s", calls[len(calls)-1].key, want)
				}
				next := start.Add(test.off.Truncate(20*time.Minute) + 20*time.Minute)
				if got := w.get("job").Status.Next; !got.Equal(next) {
					t.Errorf("next at %s, want %s", got, next)
				}
				w.mustBeInOrder()
			})
		})
	}
}

func TestDisabledCollectionPostpones(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		state := func(s string) {
			t.Helper()
			_, _, err := w.service.PutCollection(t.Context(), scheduler.DefaultCollection, []byte(`{"properties": {"state": "`+s+`"}}`))
			w.must(nil, err)
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
	for name, test := range map[string]struct {
		catchUp, edit, want string
	}{
		"once":             {"", "", "skipped(catchUp 20) completed"},
		"all":              {`, "catchUp": {"policy": "all", "window": "PT10S"}`, "", "skipped(catchUp 11) " + strings.TrimSpace(strings.Repeat("completed ", 10))},
		"skip":             {`, "catchUp": {"policy": "skip", "window": "PT1S"}`, "", "skipped(catchUp 21)"},
		"overlapping":      {`, "overlap": "allow"`, "", "skipped(catchUp 20) completed"},
		"disabled, too":    {"", `, "state": "disabled"`, "skipped(disabled 21)"},
		"paused, too":      {"", `, "pausedUntil": "2001-01-01T00:00:00Z"`, "skipped(catchUp 21)"},
		"only the action":  {"", "same schedule", "skipped(catchUp 20) completed"},
		"disabled instead": {"", "disable", "skipped(disabled 21)"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, w *world) {
				w.stopWorker()
				start := time.Now().UTC()
				job := `{` + action + `, "startTime": "` + start.Format(time.RFC3339Nano) + `"` + test.catchUp + `, "recurrence": {"frequency": "Second", `
				w.put("job", job+`"interval": 1}}`)
				time.Sleep(20*time.Second + 500*time.Millisecond)
				switch test.edit {
				case "same schedule":
					w.put("job", job+`"interval": 1}, "timeout": "PT9S"}`)
				case "disable":
					w.must(w.service.Disable(t.Context(), key("job")))
				default:
					w.put("job", job+`"interval": 999}`+test.edit+`}`)
				}
				w.startWorker()
				time.Sleep(3 * time.Second)
				got := w.outcomes("job")
				if name == "only the action" { // and it goes on
					got = strings.Join(strings.Fields(got)[:3], " ")
				}
				if got != test.want {
					t.Errorf("history %q, want %q", got, test.want)
				}
				w.mustBeInOrder()
			})
		})
	}
}
