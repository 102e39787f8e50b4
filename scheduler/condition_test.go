package scheduler_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/scheduler"
)

// TestConditionIsJudgedByRFC9110 checks the results of conditions by the current value.
func TestConditionIsJudgedByRFC9110(t *testing.T) {
	const none, a, b = "", `"a"`, `"b"`
	for _, c := range []struct {
		match, noneMatch []string
		etag             string
		reading          bool
		want             scheduler.ConditionResult
	}{
		{nil, nil, none, false, scheduler.Holds},
		{nil, nil, a, true, scheduler.Holds},
		{[]string{"*"}, nil, a, false, scheduler.Holds},
		{[]string{"*"}, nil, none, false, scheduler.Differs},
		{[]string{a}, nil, a, false, scheduler.Holds},
		{[]string{a}, nil, b, false, scheduler.Differs},
		{[]string{a}, nil, none, false, scheduler.Differs},
		{[]string{`"x" , "a"`}, nil, a, false, scheduler.Holds},
		{[]string{`"x"`, `,,"a",`}, nil, a, false, scheduler.Holds},
		{[]string{`"x,\"`, `"a"`}, nil, a, false, scheduler.Holds},
		{[]string{`W/"a"`}, nil, a, false, scheduler.Differs}, // strong comparison
		{nil, []string{"*"}, none, false, scheduler.Holds},
		{nil, []string{"*"}, a, false, scheduler.Differs},
		{nil, []string{"*"}, a, true, scheduler.Unmodified},
		{nil, []string{a}, a, true, scheduler.Unmodified},
		{nil, []string{`W/"a"`}, a, true, scheduler.Unmodified}, // weak comparison
		{nil, []string{a}, b, true, scheduler.Holds},
		{nil, []string{a}, a, false, scheduler.Differs},
		{[]string{b}, []string{a}, a, true, scheduler.Differs}, // If-Match comes first
		{[]string{a}, []string{a}, a, true, scheduler.Unmodified},
		{[]string{a}, []string{b}, a, false, scheduler.Holds},
	} {
		when, err := scheduler.ReadCondition(c.match, c.noneMatch)
		if err != nil {
			t.Errorf("%q %q: %v", c.match, c.noneMatch, err)
			continue
		}
		if got := when.Evaluate(c.etag, c.reading); got != c.want {
			t.Errorf("%q %q of %q, reading %t: got %d, want %d", c.match, c.noneMatch, c.etag, c.reading, got, c.want)
		}
		err = when.Check("job a/b", c.etag)
		if wrong := when.Evaluate(c.etag, false) != scheduler.Holds; wrong != errors.Is(err, scheduler.ErrPrecondition) {
			t.Errorf("%q %q of %q: %v", c.match, c.noneMatch, c.etag, err)
		} else if wrong && !strings.Contains(err.Error(), c.etag) {
			t.Errorf("%q does not name the tag %s", err, c.etag)
		}
	}
}

// TestConditionIsRefusedThatCannotBeRead checks that the error of an invalid condition names its header.
func TestConditionIsRefusedThatCannotBeRead(t *testing.T) {
	for _, line := range []string{"", " , ", "a", `"a`, `a"`, `"a" "b"`, `"a";"b"`, `*, "a"`, `w/"a"`, `W/*`, `W/`, "\"a\tb\"", `"`} {
		if _, err := scheduler.ReadCondition([]string{line}, nil); !errors.Is(err, scheduler.ErrInvalid) ||
			!strings.HasPrefix(err.Error(), "If-Match: ") {
			t.Errorf("If-Match: %s: %v", line, err)
		}
		if _, err := scheduler.ReadCondition(nil, []string{line}); !errors.Is(err, scheduler.ErrInvalid) ||
			!strings.HasPrefix(err.Error(), "If-None-Match: ") {
			t.Errorf("If-None-Match: %s: %v", line, err)
		}
	}
}

// TestETagChangesWithEdits checks that user edits change the ETag of a job, and writes of the scheduler do not.
func TestETagChangesWithEdits(t *testing.T) {
	j := job(t, `"recurrence": {"frequency": "day"}`)
	ended, _ := j.End(scheduler.Completion{UID: j.UID, State: scheduler.Completed, Schedule: j.ScheduleGen})
	for name, same := range map[string]*scheduler.Job{
		"ended": ended, "put again": edited(t, j, "09:00:00", `"recurrence": {"frequency": "day"}`),
	} {
		if same.ETag() != j.ETag() {
			t.Errorf("%s: got %s, want %s", name, same.ETag(), j.ETag())
		}
	}
	again := *j
	again.UID = "another"
	tags := []string{j.ETag()}
	for name, other := range map[string]*scheduler.Job{
		"disabled":    j.WithState(scheduler.Disabled, at("09:00:00"), 0),
		"edited":      edited(t, j.WithState(scheduler.Disabled, at("09:00:00"), 0), "10:00:00", `"description": "new"`),
		"another job": &again,
	} {
		if slices.Contains(tags, other.ETag()) {
			t.Errorf("%s: %s again", name, other.ETag())
		}
		tags = append(tags, other.ETag())
	}
}
