package view_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/view"
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
		f, err := view.HistoryFilter(filter)
		got := fmt.Sprint(f.Outcomes)
		if err != nil {
			got = "error"
		}
		if got != want {
			t.Errorf("history: %q: got %s (%v), want %s", filter, got, err, want)
		}
	}
	for filter, want := range map[string]string{
		"": "", "state eq Enabled": "enabled", "State eq 'FAULTED'": "faulted",
		"state eq gone": "error", "status eq enabled": "error", "state eq enabled or state eq disabled": "error",
	} {
		state, err := view.JobFilter(filter)
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
	} {
		f, err := view.HistoryFilter(filter)
		if diff := cmp.Diff(want, f); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got)\n%s", filter, err, diff)
		}
		again, err := view.HistoryFilter(view.HistoryFilterText(f.Outcomes, f.Since, f.Until))
		if diff := cmp.Diff(want, again); diff != "" || err != nil {
			t.Errorf("%s, written again: %v (-want +got)\n%s", filter, err, diff)
		}
	}
	for filter, want := range map[string]string{
		"status eq late": `$filter: "status eq late" is not of the form: status eq completed|failed|faulted|postponed|skipped; ` +
			`several may be joined by or; nor of the form: startTime ge|gt|le|lt TIME`,
		"startTime ge soon": `$filter: "startTime ge soon" does not compare with a time: "soon" is not a date or time: ` +
			`expected the year in 4 digits; write 2006-01-02 or 2006-01-02T15:04:05Z`,
		"startTime eq 2026-03-08": `$filter: "startTime eq 2026-03-08" does not compare by ge, gt, le or lt`,
		"status eq failed or status eq faulted and startTime ge 2026-03-08": `$filter: "status eq failed or status eq faulted" ` +
			`stands beside others: put what is joined by or in parentheses`,
		"startTime ge 2026-03-08 and startTime lt 2026-03-08": "$filter: the last startTime is before the first",
		"status eq failed and status eq faulted":              `$filter: "status eq faulted" asks for a status besides another: several may be joined by or`,
	} {
		if _, err := view.HistoryFilter(filter); !errors.Is(err, scheduler.ErrInvalid) || err.Error() != want {
			t.Errorf("%s: got %v, want %s", filter, err, want)
		}
	}
}

func TestListing(t *testing.T) {
	if got, want := string(view.JSON(view.NewList[int](nil, ""))), `{"value":[],"nextLink":null}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	page := []document.Value{document.StringValue("a")}
	if got, want := string(view.JSON(view.NewList(page, "next"))), `{"value":["a"],"nextLink":"next"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// FuzzHistoryFilter: whatever is read as a filter is written as one that asks for
// the same.
func FuzzHistoryFilter(f *testing.F) {
	f.Add("(status eq failed or outcome eq 'Skipped') and startTime ge 2026-03-08 and startTime lt 2026-03-09T00:00Z")
	f.Add("status eq completed")
	f.Fuzz(func(t *testing.T, text string) {
		filter, err := view.HistoryFilter(text)
		if err != nil {
			if !errors.Is(err, scheduler.ErrInvalid) {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		written := view.HistoryFilterText(filter.Outcomes, filter.Since, filter.Until)
		again, err := view.HistoryFilter(written)
		if diff := cmp.Diff(filter, again); err != nil || diff != "" {
			t.Errorf("%q is written as %q: %v (-want +got)\n%s", text, written, err, diff)
		}
	})
}
