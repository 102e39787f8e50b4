package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler"
)

// schedule is the part of a job that says when it runs.
type schedule struct {
	State     scheduler.State `json:"state"`
	StartTime string          `json:"startTime"`
	Status    struct {
		Schedule string `json:"schedule"`
	} `json:"status"`
	Recurrence *struct {
		Frequency string          `json:"frequency"`
		Interval  int             `json:"interval"`
		Schedule  json.RawMessage `json:"schedule"`
		Cron      string          `json:"cron"`
		RRule     string          `json:"rrule"`
	} `json:"recurrence"`
}

// when describes a job's schedule in few words: "every 5 seconds".
func when(properties json.RawMessage) string {
	var s schedule
	if json.Unmarshal(properties, &s) != nil {
		return ""
	}
	r := s.Recurrence
	switch {
	case s.State == scheduler.Damaged:
		return "-" // nobody can tell
	case s.Status.Schedule != "":
		return s.Status.Schedule // the server's words
	case r == nil && s.StartTime == "":
		return "once"
	case r == nil:
		return "once, at " + s.StartTime
	case r.Cron != "":
		return "cron " + r.Cron
	case r.RRule != "":
		return strings.Join(strings.Fields(r.RRule), " ")
	}
	every := "every " + r.Frequency
	if n := cmp.Or(r.Interval, 1); n > 1 {
		every = fmt.Sprintf("every %d %ss", n, r.Frequency)
	}
	if times := elements(r.Schedule); times != "" {
		every += ", " + times
	}
	return every
}

// elements describes the schedule within a recurrence: "weekDays monday,friday
// hours 10,22".
func elements(schedule json.RawMessage) string {
	var e struct {
		Months             []int             `json:"months"`
		MonthDays          []int             `json:"monthDays"`
		WeekDays           []string          `json:"weekDays"`
		MonthlyOccurrences []json.RawMessage `json:"monthlyOccurrences"`
		Hours              []int             `json:"hours"`
		Minutes            []int             `json:"minutes"`
	}
	if len(schedule) == 0 || json.Unmarshal(schedule, &e) != nil {
		return ""
	}
	var parts []string
	add := func(name string, n int, values any) {
		if n > 0 {
			text := strings.Trim(fmt.Sprint(values), "[]")
			parts = append(parts, name+" "+strings.ReplaceAll(text, " ", ","))
		}
	}
	add("months", len(e.Months), e.Months)
	add("monthDays", len(e.MonthDays), e.MonthDays)
	add("weekDays", len(e.WeekDays), e.WeekDays)
	if n := len(e.MonthlyOccurrences); n > 0 {
		parts = append(parts, terminal.Plural(n, "monthly occurrence", "monthly occurrences"))
	}
	add("hours", len(e.Hours), e.Hours)
	add("minutes", len(e.Minutes), e.Minutes)
	return strings.Join(parts, " ")
}
