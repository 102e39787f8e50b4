package rest_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/control"
)

// TestListOfFewAmongMany looks for the few jobs of a state, or with a label, among many: each request looks at so many
// that others get their turn, and its answer says where the next one goes on, with what is still to be skipped.
func TestListOfFewAmongMany(t *testing.T) {
	w := newHarness(t)
	const jobs, rare = 2500, 500
	var puts errgroup.Group
	puts.SetLimit(100)
	for i := range jobs {
		body := later
		if i%rare == rare-1 {
			body = `{"state": "disabled", "labels": {"rare": "yes"}, ` + action + `}`
		}
		puts.Go(func() error {
			k := scheduler.Key{Collection: "default", Job: fmt.Sprintf("j%04d", i)}
			_, _, err := w.service.Put(t.Context(), control.Edit{Key: k, Body: []byte(body)})
			return err
		})
	}
	must.Do(t, puts.Wait())
	for query, want := range map[string]string{
		"?$filter=state+eq+disabled":         "default/j0499 default/j0999 default/j1499 default/j1999 default/j2499",
		"?labelSelector=rare":                "default/j0499 default/j0999 default/j1499 default/j1999 default/j2499",
		"?$filter=state+eq+disabled&$skip=4": "default/j2499",
		"?$filter=state+eq+disabled&$top=4":  "default/j0499 default/j0999 default/j1499 default/j1999 default/j2499",
		"?$skip=2499":                        "default/j2499",
		"?$filter=state+eq+damaged":          "",
	} {
		got, pages := w.names("/jobCollections/default/jobs" + query)
		if got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
		if (pages == 2) != (query != "?$skip=2499") { // the index finds that one
			t.Errorf("%s: %d pages", query, pages)
		}
	}
}

// TestListOfCostlySchedules lists jobs whose schedules take almost as long to compile as may be: a page ends before they
// have taken much longer than one of them may, and the next one goes on. What was compiled once, a list finds again.
func TestListOfCostlySchedules(t *testing.T) {
	w := newHarness(t)
	const (
		jobs = 6
		rule = "DTSTART;TZID=Antarctica/Troll:20310101T000000 RRULE:FREQ=SECONDLY;INTERVAL=7;BYMONTHDAY=3,8,11,-21,13,16,22;" +
			"BYSECOND=38,39,41,14,47,18,20,23;COUNT=1000000 RRULE:FREQ=SECONDLY;INTERVAL=604799;BYYEARDAY=131,292,-177"
	)
	var all []string
	for i := range jobs {
		name := "j" + itoa(i)
		all = append(all, "default/"+name)
		w.must(http.MethodPut, "/jobCollections/default/jobs/"+name,
			`{"labels": {"n": "`+itoa(i)+`"}, "recurrence": {"rrule": "`+rule+`"}, `+action+`}`)
	}
	for _, step := range []struct {
		query string
		want  []string
		kept  bool
	}{
		{"?labelSelector=n%3D5", all[5:], false},
		{"?labelSelector=n%3D5", all[5:], true},
		{"", all, true},
		{"?$skip=2&$filter=state+eq+enabled", all[2:], false},
		{"", all, true},
	} {
		if !step.kept { // a process that has compiled nothing yet
			w.service = control.New(control.Config{Store: w.store, Actions: w.actions, Secrets: w.vault})
			w.serve(nil)
		}
		names, pages := w.names("/jobCollections/default/jobs" + step.query)
		if names != strings.Join(step.want, " ") || step.kept != (pages == 1) {
			t.Errorf("%s: %v on %d pages, want %v; compiled before: %t", step.query, names, pages, step.want, step.kept)
		}
	}
}
