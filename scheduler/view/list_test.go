package view_test

import (
	"fmt"
	"testing"

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
		outcomes, err := view.HistoryFilter(filter)
		got := fmt.Sprint(outcomes)
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

func TestListing(t *testing.T) {
	if got, want := string(view.JSON(view.NewList[int](nil, ""))), `{"value":[],"nextLink":null}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	page := []document.Value{document.StringValue("a")}
	if got, want := string(view.JSON(view.NewList(page, "next"))), `{"value":["a"],"nextLink":"next"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
