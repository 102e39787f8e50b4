package scheduler_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
)

// TestCourse distinguishes jobs that have ended, are under way, or have lost their batons.
func TestCourse(t *testing.T) {
	shot, two := job(t, noRetry+once), job(t, noRetry+once+`, "recurrence": {"frequency": "Minute", "count": 2}`)
	again := edited(t, in(scheduler.Completed, shot), "10:00:00", noRetry+once+`, "timeout": "PT5S"`)
	retries := edited(t, shot, "09:00:01", once)
	own := baton(shot, "09:00:00")
	first, second := baton(two, "09:00:00"), baton(two, "09:01:00", ran(1))
	stranger := baton(namesake(shot), "09:00:00")
	done, failed := attempt(shot, own, "09:00:00", succeeds), attempt(shot, own, "09:00:00", fails)
	faulted := fault(t, shot, own, "09:00:00", fails)
	foreign := attempt(shot, own, "09:00:00", succeeds)
	foreign.UID = "fedcba98"
	beside := attempt(shot, baton(shot, "09:05:00", of(scheduler.ManualDetached)), "09:05:00", succeeds)
	costly := &scheduler.Record{
		UID: incarnation, Schedule: two.ScheduleGen, Outcome: scheduler.OutcomeSkipped, Reason: scheduler.ReasonCostly,
		Ended: at("09:00:01"), Progress: scheduler.Progress{Number: 1, GaveUp: true},
	}
	for _, row := range []struct {
		name    string
		job     *scheduler.Job
		found   scheduler.Found
		history history
		want    string
	}{
		{"it waits", shot, scheduler.Found{Waiting: &own}, nil, "under way"},
		{"it runs", shot, scheduler.Found{Running: &own}, nil, "under way"},
		{"it ran, and its baton is about to go", shot, scheduler.Found{Running: &own}, history{done}, "completed after 1"},
		{"its last occurrence runs, an earlier one is recorded", two, scheduler.Found{Running: &second}, history{attempt(two, first, "09:00:00", succeeds)}, "under way"},
		{"it ran, and goes on: its baton is about to", two, scheduler.Found{Running: &first}, history{attempt(two, first, "09:00:00", succeeds)}, "under way"},
		{"it was put a moment ago", shot, scheduler.Found{}, nil, "lost"},
		{"only an earlier job of the name has a baton", shot, scheduler.Found{Waiting: &stranger}, nil, "lost"},
		{"it ran", shot, scheduler.Found{}, history{done}, "completed after 1"},
		{"it ran, and an earlier job has a baton", shot, scheduler.Found{Running: &stranger}, history{done}, "completed after 1"},
		{"an earlier job of the name ran", shot, scheduler.Found{}, history{foreign}, "lost"},
		{"it failed, and that its occurrence faulted has to be recorded", shot, scheduler.Found{}, history{failed}, "lost"},
		{"it faulted", shot, scheduler.Found{}, history{faulted, failed}, "faulted after 1"},
		{"it faulted, and has been given retries", retries, scheduler.Found{}, history{faulted, failed}, "faulted after 1"},
		{"it failed, and has been given retries", retries, scheduler.Found{}, history{failed}, "lost"},
		{"it ran, and a run by hand beside it", shot, scheduler.Found{}, history{beside, done}, "completed after 1"},
		{"it ran, and has begun again", again, scheduler.Found{}, history{done}, "lost"},
		{"one of two occurrences ran", two, scheduler.Found{}, history{attempt(two, first, "09:00:00", succeeds)}, "lost"},
		{"two of two ran", two, scheduler.Found{}, history{attempt(two, second, "09:01:00", succeeds)}, "completed after 1"},
		{"its next run is too hard to find", two, scheduler.Found{}, history{costly, attempt(two, first, "09:00:00", succeeds)}, "faulted after 0"},
	} {
		search := scheduler.NewPositionSearch(row.job)
		row.history.visit(search.Visit)
		course, x := row.job.Lifecycle(row.found, search)
		mustSay(t, row.name, courseSaid(course, x), row.want)
		for i, r := range row.history {
			r.Sequence = uint64(len(row.history) - i)
		}
		quick := scheduler.NewPositionSearch(row.job)
		if !quick.VisitLast(row.history) {
			continue
		}
		course, x = row.job.Lifecycle(row.found, quick)
		mustSay(t, row.name+", by the last records alone", courseSaid(course, x), row.want)
	}
}

func courseSaid(c scheduler.Lifecycle, x scheduler.Completion) string {
	if c != scheduler.AtEnd {
		return map[scheduler.Lifecycle]string{scheduler.UnderWay: "under way", scheduler.BatonLost: "lost"}[c]
	}
	return string(x.State) + " after " + string(rune('0'+x.Progress.Executions))
}

// TestLookAtLast checks that the last records of each outcome are sufficient, unless an older one may count.
func TestLookAtLast(t *testing.T) {
	j := job(t, noRetry+minutely)
	now, before := baton(j, "09:01:00"), baton(j, "09:00:00")
	done, failed := attempt(j, now, "09:01:00", succeeds), attempt(j, now, "09:01:00", fails)
	faulted, earlierFault := fault(t, j, now, "09:01:00", fails), fault(t, j, before, "09:00:00", fails)
	byHand := attempt(j, baton(j, "09:01:30", of(scheduler.ManualDetached)), "09:01:30", succeeds)
	for name, row := range map[string]struct {
		history history // newest first
		want    bool
	}{
		"no history":                        {nil, true},
		"an attempt":                        {history{done}, true},
		"an attempt, and one before":        {history{done, failed}, true},
		"it faulted":                        {history{faulted, failed}, true},
		"another occurrence faulted":        {history{earlierFault, failed}, false},
		"a run beside it hides the one":     {history{byHand, failed}, false},
		"nothing but a run beside it":       {history{byHand}, false},
		"nothing but that it faulted":       {history{faulted}, false},
		"it faulted, and a run beside it":   {history{byHand, faulted, failed}, false},
		"a run beside it, before it failed": {history{failed, byHand}, true},
	} {
		for i, r := range row.history {
			r.Sequence = uint64(len(row.history) - i)
		}
		shuffled := append(history{}, row.history...)
		for i, k := 0, len(shuffled)-1; i < k; i, k = i+1, k-1 {
			shuffled[i], shuffled[k] = shuffled[k], shuffled[i]
		}
		if got := scheduler.NewPositionSearch(j).VisitLast(shuffled); got != row.want {
			t.Errorf("%s: enough: %t", name, got)
		}
	}
}

// TestTold checks which endings follow from their records; others must be written before the baton is removed.
func TestTold(t *testing.T) {
	shot, two := job(t, noRetry+once), job(t, noRetry+thrice)
	own := baton(shot, "09:00:00")
	done := attempt(shot, own, "09:00:00", succeeds)
	failed, faulted := attempt(shot, own, "09:00:00", fails), fault(t, shot, own, "09:00:00", fails)
	third := attempt(two, baton(two, "09:02:00", ran(2)), "09:02:00", succeeds)
	end := func(j *scheduler.Job, state scheduler.State, r *scheduler.Record) scheduler.Completion {
		return j.Completion(scheduler.Step{State: state, Progress: r.Progress}, time.Time{})
	}
	counted := end(shot, scheduler.Completed, done)
	counted.Progress.Executions += 5
	another := end(shot, scheduler.Completed, done)
	another.Schedule++
	for name, row := range map[string]struct {
		job     *scheduler.Job
		x       scheduler.Completion
		attempt *scheduler.Record
		after   []scheduler.Record
		want    bool
	}{
		"it ran":                                {shot, end(shot, scheduler.Completed, done), done, nil, true},
		"its last occurrence ran":               {two, end(two, scheduler.Completed, third), third, nil, true},
		"it faulted":                            {shot, end(shot, scheduler.Faulted, faulted), failed, []scheduler.Record{*faulted}, true},
		"that it faulted is not recorded":       {shot, end(shot, scheduler.Faulted, faulted), failed, nil, false},
		"nothing is recorded":                   {shot, end(shot, scheduler.Completed, done), nil, nil, false},
		"runs beside it were counted in":        {shot, counted, done, nil, false},
		"it ended otherwise":                    {shot, end(shot, scheduler.Faulted, done), done, nil, false},
		"it is of another schedule by now":      {shot, another, done, nil, false},
		"what is recorded is of a job before":   {namesake(shot), end(namesake(shot), scheduler.Completed, done), done, nil, false},
		"the schedule goes on after the record": {two, end(two, scheduler.Completed, done), attempt(two, baton(two, "09:00:00"), "09:00:00", succeeds), nil, false},
	} {
		if got := row.job.IsRecorded(row.x, row.attempt, row.after); got != row.want {
			t.Errorf("%s: told: %t", name, got)
		}
	}
}

// TestEndingOver checks that an ending changes only the end of a stored job.
func TestEndingOver(t *testing.T) {
	j := job(t, noRetry+once)
	data := must.Get(j.Encode(nil))(t)
	x := j.Completion(scheduler.Step{State: scheduler.Faulted, Progress: scheduler.Progress{Number: 1, Faults: 1}}, time.Time{})
	over, verdict, err := x.ApplyTo(data)
	if err != nil || verdict != scheduler.WriteCompletion {
		t.Fatal(verdict, err)
	}
	ended, _ := j.End(x)
	want := must.Get(ended.Encode(nil))(t)
	mustSay(t, "the final form", string(over), string(want))
	if back, err := scheduler.ReadJob(key, revision, over, noActions{}, nil); err != nil || back.State != scheduler.Faulted {
		t.Errorf("read again: %v", err)
	}
	if _, _, err := x.ApplyTo(bytes.Replace(data, []byte(`"startTime"`), []byte(`"endTime"`), 1)); err == nil {
		t.Error("over one that was changed by another hand")
	}
	if _, verdict, err := x.ApplyTo(over); err != nil || verdict != scheduler.CompletionWritten {
		t.Errorf("written again: %d, %v", verdict, err)
	}
	x.UID = "another"
	if _, verdict, err := x.ApplyTo(data); err != nil || verdict != scheduler.CompletionWritten {
		t.Errorf("of another job: %d, %v", verdict, err)
	}
	if _, _, err := x.ApplyTo([]byte("{}")); err == nil {
		t.Error("over what cannot be read")
	}
}
