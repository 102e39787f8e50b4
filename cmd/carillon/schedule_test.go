package main

import (
	"encoding/json"
	"testing"
)

func TestWhen(t *testing.T) {
	for properties, want := range map[string]string{
		`{}`:                                    "once",
		`{"startTime": "2027-01-01T00:00:00Z"}`: "once, at 2027-01-01T00:00:00Z",
		`{"recurrence": {"frequency": "day"}}`:  "every day",
		`{"recurrence": {"frequency": "hour", "interval": 6}}`:                                                 "every 6 hours",
		`{"recurrence": {"frequency": "month", "schedule": {"monthDays": [1, -1], "hours": [8]}}}`:             "every month, monthDays 1,-1 hours 8",
		`{"recurrence": {"frequency": "month", "schedule": {"monthlyOccurrences": [{"day": "friday"}]}}}`:      "every month, 1 monthly occurrence",
		`{"recurrence": {"frequency": "week", "schedule": {"weekDays": ["monday", "friday"], "minutes": []}}}`: "every week, weekDays monday,friday",
		`[]`: "",
	} {
		if got := when(json.RawMessage(properties)); got != want {
			t.Errorf("%s: got %q, want %q", properties, got, want)
		}
	}
}
