package rest_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/scheduler/service"
)

// TestListOfFewAmongMany looks for the few jobs of a state, or with a label, among many: each request looks at so many
// that others get their turn, and its answer says where the next one goes on, with what is still to be skipped.
func TestListOfFewAmongMany(t *testing.T) {
	w := newWorld(t)
	const jobs, rare = 2500, 500
	for i := range jobs {
		extra := ""
		if i%rare == rare-1 {
			extra = `, "state": "disabled", "labels": {"rare": "yes"}`
		}
		w.must(http.MethodPut, fmt.Sprintf("/jobCollections/default/jobs/j%04d", i), `{"action": {"type": "Http", "request": {"uri": "http://x.example", "method": "GET"}}, "startTime": "2099-01-01T00:00:00Z"`+extra+`}`)
	}
	for query, want := range map[string]string{
		"?$filter=state+eq+disabled":         "default/j0499 default/j0999 default/j1499 default/j1999 default/j2499",
		"?labelSelector=rare":                "default/j0499 default/j0999 default/j1499 default/j1999 default/j2499",
		"?$filter=state+eq+disabled&$skip=4": "default/j2499",
		"?$filter=state+eq+disabled&$top=4":  "default/j0499 default/j0999 default/j1499 default/j1999 default/j2499",
		"?$skip=2499":                        "default/j2499",
		"?$filter=state+eq+damaged":          "",
	} {
		var names []string
		link := "/jobCollections/default/jobs" + query
		pages := 0
		for ; link != "" && pages < 9; pages++ {
			page := w.page(link)
			for _, v := range page.Value {
				names = append(names, v.Name)
			}
			if link = ""; page.NextLink != nil {
				link = *page.NextLink
			}
		}
		if got := strings.Join(names, " "); got != want {
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
	w := newWorld(t)
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
	list := func(query string) (names []string, pages int) {
		for link := "/jobCollections/default/jobs" + query; link != "" && pages < 3*jobs; pages++ {
			page := w.page(link)
			for _, v := range page.Value {
				names = append(names, v.Name)
			}
			if link = ""; page.NextLink != nil {
				link = *page.NextLink
			}
		}
		return names, pages
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
			w.service = service.New(service.Config{Store: w.store, Actions: w.actions, Secrets: w.vault})
			w.serve(nil)
		}
		names, pages := list(step.query)
		if !slices.Equal(names, step.want) || step.kept != (pages == 1) {
			t.Errorf("%s: %v on %d pages, want %v; compiled before: %t", step.query, names, pages, step.want, step.kept)
		}
	}
}
