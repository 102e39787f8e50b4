package v1_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/document"
)

func TestFilters(t *testing.T) {
	for filter, want := range map[string]string{
		"":                      "[]",
		"  ":                    "[]",
		"status eq Failed":      "[failed]",
		"STATUS EQ 'completed'": "[completed]",
		"outcome eq skipped or status eq Postponed":    "[skipped postponed]",
		"status eq Failed or":                          "error",
		"status eq":                                    "error",
		"status ne Failed":                             "error",
		"status eq 'Failed":                            "error",
		"state eq Failed":                              "error",
		"status eq Failed and status eq Completed":     "error",
		"status eq Failed or status eq Failed or x":    "error",
		"status eq Late or status eq Failed":           "error",
		"or":                                           "error",
		"status eq faulted OR outcome eq 'Completed' ": "[faulted completed]",
	} {
		f, err := v1.HistoryFilter(filter, time.Now())
		got := fmt.Sprint(f.Outcomes)
		if err != nil {
			got = "error"
		}
		if got != want {
			t.Errorf("history: %q: got %s (%v), want %s", filter, got, err, want)
		}
	}
	for filter, want := range map[string]string{
		"": "", "state eq Enabled": "enabled", "State eq 'FAULTED'": "faulted", "state eq Paused": "paused",
		"(state eq 'Disabled')": "disabled", "(state eq enabled": "error",
		"state eq gone": "error", "status eq enabled": "error", "state eq enabled or state eq disabled": "error",
	} {
		state, err := v1.JobFilter(filter)
		got := string(state)
		if err != nil {
			got = "error"
		}
		if got != want {
			t.Errorf("jobs: %q: got %s (%v), want %s", filter, got, err, want)
		}
	}
}

// TestHistoryFilter: outcomes, and the time between which a record must be.
func TestHistoryFilter(t *testing.T) {
	day := time.Date(2026, 3, 8, 0, 0, 0, 0, time.UTC)
	now := day.Add(9 * time.Hour)
	yes, no := true, false
	for filter, want := range map[string]scheduler.RecordFilter{
		"startTime ge 2026-03-08":                             {Since: day},
		"starttime GT '2026-03-08'":                           {Since: day.Add(1)},
		"startTime le 2026-03-08T01:00:00+01:00":              {Until: day},
		"startTime lt 2026-03-08":                             {Until: day.Add(-1)},
		"(status eq failed)":                                  {Outcomes: []scheduler.Outcome{scheduler.OutcomeFailed}},
		"startTime ge 2026-03-07 and startTime ge 2026-03-08": {Since: day},
		"(status eq failed or status eq faulted or status eq failed) and startTime ge 2026-03-08 and startTime lt 2026-03-09": {
			Outcomes: []scheduler.Outcome{scheduler.OutcomeFailed, scheduler.OutcomeFaulted}, Since: day, Until: day.Add(24*time.Hour - 1),
		},
		"endTime gt 2026-03-08 and endTime le 2026-03-09": {EndedSince: day.Add(1), EndedUntil: day.Add(24 * time.Hour)},
		"startTime ge 2h and endTime lt PT30M":            {Since: now.Add(-2 * time.Hour), EndedUntil: now.Add(-30*time.Minute - 1)},
		"startTime ge 1w2d":                               {Since: now.Add(-9 * 24 * time.Hour)},
		"target eq 'example.com:443' or target eq [::1]":  {Targets: []string{"example.com:443", "[::1]"}},
		"actionType eq http and manual eq TRUE":           {ActionTypes: []string{"http"}, Manual: &yes},
		"late eq true and manual eq true":                 {Late: true, Manual: &yes},
		"(ACTIONNAME eq erroraction) and manual eq false": {Phases: []scheduler.Phase{scheduler.ErrorPhase}, Manual: &no},
		"actionName eq MainAction":                        {Phases: []scheduler.Phase{scheduler.MainPhase}},
		"job eq Extract or job eq sales/r":                {Jobs: []string{"Extract", "sales/r"}},
		"target eq ''":                                    {Targets: []string{""}},
	} {
		f, err := v1.HistoryFilter(filter, now)
		if diff := cmp.Diff(want, f); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got)\n%s", filter, err, diff)
		}
		again, err := v1.HistoryFilter(v1.HistoryFilterText(&f), now.Add(time.Hour))
		if diff := cmp.Diff(want, again); diff != "" || err != nil {
			t.Errorf("%s, written again: %v (-want +got)\n%s", filter, err, diff)
		}
	}
	for filter, want := range map[string]string{
		"status eq late": `$filter: "status eq late" is not of the form: status eq completed|failed|faulted|postponed|skipped; ` +
			`several may be joined by or`,
		"state eq failed": `$filter: "state eq failed" is not of the form: status|actionType|actionName|target|job|manual|late eq VALUE; ` +
			`several may be joined by or; nor of the form: startTime|endTime ge|gt|le|lt TIME`,
		"status eq failed or target eq a": `$filter: "status eq failed or target eq a" is not of the form: ` +
			`status eq completed|failed|faulted|postponed|skipped; several may be joined by or`,
		"actionName eq Error":               `$filter: "actionName eq Error" is not of the form: actionName eq MainAction|ErrorAction; several may be joined by or`,
		"manual eq maybe":                   `$filter: "manual eq maybe" is not of the form: manual eq true|false`,
		"manual eq true or manual eq false": `$filter: "manual eq true or manual eq false" asks for both: leave manual out`,
		"target eq a and target eq b":       `$filter: "target eq b" repeats the term for target: join alternatives with or`,
		"endTime ge 1h and endTime lt 2h":   "$filter: the last endTime is before the first",
		"startTime ge 1000000w":             `$filter: "startTime ge 1000000w" does not compare with a time: "1000000w" is not a duration: it is too long; write 30s, 1h30m or PT1H30M`,
		"startTime ge P999Y":                `$filter: "startTime ge P999Y" does not compare with a time: "P999Y" ago is before all records`,
		"startTime ge 2026":                 `$filter: "startTime ge 2026" does not compare with a time: "2026" is not a date or time: expected "-"; write 2006-01-02 or 2006-01-02T15:04:05Z`,
		"startTime ge soon": `$filter: "startTime ge soon" does not compare with a time: "soon" is not a date or time: ` +
			`expected the year in 4 digits; write 2006-01-02 or 2006-01-02T15:04:05Z`,
		"startTime eq 2026-03-08": `$filter: "startTime eq 2026-03-08" does not compare by ge, gt, le or lt`,
		"status eq failed or status eq faulted and startTime ge 2026-03-08": `$filter: "status eq failed or status eq faulted" ` +
			`is mixed with "and": enclose the terms that "or" joins in parentheses`,
		"startTime ge 2026-03-08 and startTime lt 2026-03-08": "$filter: the last startTime is before the first",
		"status eq failed and status eq faulted":              `$filter: "status eq faulted" repeats the term for status: join alternatives with or`,
	} {
		if _, err := v1.HistoryFilter(filter, now); !errors.Is(err, scheduler.ErrInvalid) || err.Error() != want {
			t.Errorf("%s: got %v, want %s", filter, err, want)
		}
	}
}

func TestListing(t *testing.T) {
	if got, want := string(v1.JSON(v1.NewList[int](nil, ""))), `{"value":[],"nextLink":null}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	page := []document.Value{document.StringValue("a")}
	if got, want := string(v1.JSON(v1.NewList(page, "next"))), `{"value":["a"],"nextLink":"next"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// FuzzHistoryFilter: whatever is read as a filter is written as one that asks for
// the same.
func FuzzHistoryFilter(f *testing.F) {
	f.Add("(status eq failed or outcome eq 'Skipped') and startTime ge 2026-03-08 and startTime lt 2026-03-09T00:00Z")
	f.Add("status eq completed")
	f.Add("target eq 'a:1' or target eq b and (actionType eq Http) and manual eq true and endTime lt 2h30m")
	now := time.Date(2026, 3, 8, 9, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text string) {
		filter, err := v1.HistoryFilter(text, now)
		if err != nil {
			if !errors.Is(err, scheduler.ErrInvalid) {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		written := v1.HistoryFilterText(&filter)
		again, err := v1.HistoryFilter(written, now)
		if diff := cmp.Diff(filter, again); err != nil || diff != "" {
			t.Errorf("%q is written as %q: %v (-want +got)\n%s", text, written, err, diff)
		}
	})
}
