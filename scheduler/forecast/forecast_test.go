package forecast_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/forecast"
)

// noon is when the forecasts begin, and january when most jobs were put.
var (
	noon    = at("2026-03-02T12:00:00Z")
	january = at("2026-01-05T07:13:29.5Z")
)

// byHand counts the runs of a job minute by minute, one by one.
func byHand(j *scheduler.Job, hours int) []int {
	counts := make([]int, hours*60)
	end := noon.Add(time.Duration(hours) * time.Hour)
	plan := j.Plan
	for t, ok := plan.Next(noon.Add(-j.Def.Jitter - 1)); ok && t.Before(end); t, ok = plan.Next(t) {
		due := t
		if width := j.Def.Jitter; width > 0 {
			if next, ok := plan.Next(t); ok {
				width = min(width, next.Sub(t))
			}
			due = scheduler.Jittered(j.Key, t, width)
		}
		if !due.Before(noon) && due.Before(end) {
			counts[int(due.Sub(noon)/time.Minute)]++
		}
	}
	return counts
}

// uncompiled returns the job as it is read from the store.
func uncompiled(j *scheduler.Job) *scheduler.Job {
	next := *j
	if r := j.Def.Timing.Recurrence; r != nil && r.Rule != nil {
		next.Plan = nil
	}
	return &next
}

// TestForecastCountsEveryRun compares the counts of jobs of all kinds with those of a walk through each schedule: of each
// alone, and of all together, where what one job has worked out serves the others.
func TestForecastCountsEveryRun(t *testing.T) {
	schedules := []string{
		`"recurrence": {"frequency": "Second"}`,
		`"recurrence": {"frequency": "Second", "interval": 7}`,
		`"recurrence": {"frequency": "Minute"}`,
		`"recurrence": {"frequency": "Minute", "interval": 7}`,
		`"recurrence": {"frequency": "Minute", "interval": 90}`,
		`"recurrence": {"frequency": "Hour"}`,
		`"recurrence": {"frequency": "Day"}`,
		`"recurrence": {"frequency": "Week"}`,
		`"recurrence": {"frequency": "Month"}`,
		`"recurrence": {"frequency": "Month", "schedule": {"monthDays": [3], "hours": [1, 2], "minutes": [5]}}`,
		`"recurrence": {"frequency": "Hour", "schedule": {"minutes": [0, 15, 30, 45]}}`,
		`"recurrence": {"frequency": "Day", "schedule": {"hours": [13, 14], "minutes": [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20]}}`,
		`"startTime": "2026-03-02T13:30:07Z", "recurrence": {"frequency": "Minute", "interval": 11}`,
		`"startTime": "2026-02-01T00:00:00Z", "recurrence": {"frequency": "Minute", "endTime": "2026-03-02T12:47:00Z"}`,
		`"startTime": "2026-03-02T15:04:05Z"`,
		`"startTime": "2026-03-09T15:04:05Z"`,
		`"recurrence": {"cron": "*/5 * * * *"}`,
		`"timeZone": "America/New_York", "recurrence": {"cron": "0 9 * * 1-5"}`,
		`"startTime": "2026-03-02T14:00:00Z", "recurrence": {"cron": "*/5 * * * *"}`,
		`"recurrence": {"cron": "*/5 * * * *", "endTime": "2026-03-02T14:02:00Z"}`,
		`"recurrence": {"cron": "H H * * *", "dialect": "dsari"}`,
		`"recurrence": {"cron": "H/5 * * * *", "dialect": "dsari"}`,
		`"recurrence": {"cron": "*/10 * * * * *", "dialect": "dsari"}`,
		`"recurrence": {"rrule": "DTSTART:20260101T090000Z RRULE:FREQ=MINUTELY;INTERVAL=13"}`,
		`"jitter": "PT10M", "recurrence": {"cron": "0 * * * *"}`,
		`"jitter": "PT2H", "recurrence": {"frequency": "Minute", "interval": 30}`,
		`"jitter": "PT30M", "startTime": "2026-03-02T11:50:00Z", "recurrence": {"frequency": "Day"}`,
	}
	for _, hours := range []int{1, 24, 168} {
		all := forecast.New(noon.Add(17*time.Second), hours)
		total := make([]int, hours*60)
		for i, members := range slices.Concat(schedules, schedules) {
			j := named(t, fmt.Sprintf("job-%d", i), january.Add(time.Duration(i)*time.Hour), "host:443", members)
			want := byHand(j, hours)
			alone := forecast.New(noon, hours)
			alone.Add(uncompiled(j), nil)
			if diff := cmp.Diff(want, alone.Report().PerMinute); diff != "" {
				t.Errorf("%d hours: %s (-want +got):\n%.400s", hours, members, diff)
			}
			all.Add(uncompiled(j), nil)
			for m, n := range want {
				total[m] += n
			}
		}
		r := all.Report()
		if diff := cmp.Diff(total, r.PerMinute); diff != "" {
			t.Errorf("%d hours, all (-want +got):\n%.400s", hours, diff)
		}
		if r.From != noon || r.To != noon.Add(time.Duration(hours)*time.Hour) || r.Jobs != 2*len(schedules) || r.Targets[0].Runs != r.Runs {
			t.Errorf("%d hours: %+v", hours, r)
		}
	}
}

// TestForecastGoesOnFromTheBaton counts what is left of a count, and from where an @recur was moved to.
func TestForecastGoesOnFromTheBaton(t *testing.T) {
	counted := named(t, "counted", january, "host", `"startTime": "2026-01-05T00:00:00Z", "recurrence": {"frequency": "Hour", "count": 2000}`)
	recur := named(t, "recur", january, "host", `"startTime": "2026-01-05T00:00:00Z", "recurrence": {"cron": "@recur 60 minutes"}`)
	moved := func(b *scheduler.Baton) { b.Base = at("2026-03-02T11:20:00Z") }
	for _, test := range []struct {
		name    string
		job     *scheduler.Job
		nominal string
		change  func(*scheduler.Baton)
		runs    int
		first   int
	}{
		{"many left", counted, "2026-03-02T12:00:00Z", func(*scheduler.Baton) {}, 24, 0},
		{"two left", counted, "2026-03-02T12:00:00Z", func(b *scheduler.Baton) { b.Runs = 1998 }, 2, 0},
		{"none left", counted, "2026-03-02T12:00:00Z", func(b *scheduler.Baton) { b.Runs = 2000 }, 0, -1},
		{"one of three is late", counted, "2026-03-02T11:00:00Z", func(b *scheduler.Baton) { b.Runs = 1997 }, 2, 0},
		{"begun", counted, "2026-03-02T12:00:00Z", func(b *scheduler.Baton) { b.Try, b.Runs = 1, 1998 }, 2, 60},
		{"by hand", counted, "2026-03-02T12:30:00Z", func(b *scheduler.Baton) {
			b.Kind, b.Resume, b.Runs = scheduler.Manual, at("2026-03-02T14:00:00Z"), 1998
		}, 2, 120},
		{"moved", recur, "2026-03-02T12:20:00Z", moved, 24, 20},
	} {
		b := &scheduler.Baton{Nominal: at(test.nominal), Due: at(test.nominal)}
		test.change(b)
		f := forecast.New(noon, 24)
		f.Add(uncompiled(test.job), b)
		r := f.Report()
		first := slices.IndexFunc(r.PerMinute, func(n int) bool { return n > 0 })
		if r.Runs != test.runs || first != test.first {
			t.Errorf("%s: %d runs from minute %d on, want %d from %d on", test.name, r.Runs, first, test.runs, test.first)
		}
		if !forecast.NeedsBaton(test.job) {
			t.Errorf("%s needs no baton", test.name)
		}
	}
}

// TestForecastLeavesOut has jobs that plan nothing.
func TestForecastLeavesOut(t *testing.T) {
	j := named(t, "job", january, "host", `"recurrence": {"frequency": "Hour"}`)
	f := forecast.New(noon, 24)
	f.Add(j.WithState(scheduler.Disabled, noon, 0), nil)
	f.Add(j.WithState(scheduler.Completed, noon, 0), nil)
	f.Add(named(t, "counted", january, "host", `"recurrence": {"frequency": "Hour", "count": 3}`), nil)
	f.Closed()
	f.Damaged()
	f.Add(j, nil)
	r := f.Report()
	if r.LeftOut != (forecast.LeftOut{Disabled: 1, Closed: 1, Ended: 2, Damaged: 1}) || r.Runs != 24 || len(r.Notes) != 2 {
		t.Errorf("%+v", r)
	}
}

// TestPeaks tells the highest minutes with their targets and some of their jobs.
func TestPeaks(t *testing.T) {
	f := forecast.New(noon, 2)
	for i := range 30 {
		f.Add(named(t, fmt.Sprintf("a%02d", i), january, "alpha:443", `"recurrence": {"cron": "30 12 * * *"}`), nil)
	}
	for i := range 3 {
		f.Add(named(t, fmt.Sprintf("b%02d", i), january, "beta:443", `"recurrence": {"cron": "30 * * * *"}`), nil)
	}
	r := f.Report()
	if r.Peak != 33 || r.Runs != 36 || len(r.Peaks) != 2 || r.PerMinute[30] != 33 || r.PerMinute[90] != 3 {
		t.Fatalf("%+v", r)
	}
	p := r.Peaks[0]
	want := []forecast.TargetRuns{{Target: "alpha:443", Runs: 30}, {Target: "beta:443", Runs: 3}}
	if diff := cmp.Diff(want, p.Targets); diff != "" || !p.At.Equal(noon.Add(30*time.Minute)) || p.Jobs != 33 || len(p.Names) != 20 || p.Names[0] != "default/a00" {
		t.Errorf("%s %+v", diff, p)
	}
	beta := r.Targets[1]
	if beta.Target != "beta:443" || beta.Jobs != 3 || beta.Runs != 6 || beta.Peak != 3 || beta.PerMinute[90] != 3 || r.Targets[0].Peak != 30 {
		t.Errorf("%+v", beta)
	}
}

// herd are jobs of a name that run at once.
func herd(t *testing.T, n int, name, members string) map[string]*scheduler.Job {
	t.Helper()
	jobs := map[string]*scheduler.Job{}
	for i := range n {
		j := named(t, fmt.Sprintf("%s-%d", name, i), january, "host:443", members)
		jobs[j.Key.String()] = j
	}
	return jobs
}

// TestProposalsLowerThePeak applies what is proposed, and finds the peak as it was told.
func TestProposalsLowerThePeak(t *testing.T) {
	for name, test := range map[string]struct {
		members string
		way     forecast.Way
		patch   string
	}{
		"cron on the hour": {`"recurrence": {"cron": "0 * * * *"}`, forecast.ByHash, `{"properties":{"recurrence":{"cron":"H * * * *","dialect":"dsari"}}}`},
		"cron in a zone":   {`"timeZone": "Asia/Kolkata", "recurrence": {"cron": "0 9,21 * * *"}`, forecast.ByHash, `"H 9,21 * * *"`},
		"cron with a date": {`"recurrence": {"cron": "0 13 * * 1-5"}`, forecast.ByJitter, `{"properties":{"jitter":"PT30M"}}`},
		"hourly":           {`"startTime": "2026-02-01T00:00:00Z", "recurrence": {"frequency": "Hour"}`, forecast.ByJitter, `"PT30M"`},
		"each ten minutes": {`"startTime": "2026-02-01T00:00:00Z", "recurrence": {"frequency": "Minute", "interval": 10}`, forecast.ByJitter, `"PT5M"`},
	} {
		jobs := herd(t, 200, "job", test.members)
		f := forecast.New(noon, 24)
		for _, j := range jobs {
			f.Add(uncompiled(j), nil)
		}
		r := f.Report()
		var moved []*scheduler.Job
		for _, k := range f.Candidates(1000) {
			moved = append(moved, jobs[k.String()])
		}
		f.Propose(r, moved)
		if len(r.Proposals) < 100 || r.PeakAfter > r.Peak/2 {
			t.Errorf("%s: %d proposals lower the peak from %d to %d", name, len(r.Proposals), r.Peak, r.PeakAfter)
			continue
		}
		last := r.Peak
		after := forecast.New(noon, 24)
		for _, p := range r.Proposals {
			if p.Peak > last || p.Way != test.way && p.Way != forecast.ByJitter || p.From.Before(noon) {
				t.Errorf("%s: %+v after a peak of %d", name, p, last)
			}
			last = p.Peak
			after.Add(patched(t, jobs[p.Job], p.Patch), nil)
			delete(jobs, p.Job)
		}
		i := slices.IndexFunc(r.Proposals, func(p forecast.Proposal) bool { return p.Way == test.way }) // jitter suits some jobs better
		if i < 0 || !strings.Contains(string(r.Proposals[i].Patch), test.patch) {
			t.Errorf("%s: no proposal has %s: %+v", name, test.patch, r.Proposals[max(i, 0)])
		}
		for _, j := range jobs {
			after.Add(uncompiled(j), nil)
		}
		if got := after.Report(); got.Peak != r.PeakAfter || last != r.PeakAfter {
			t.Errorf("%s: the peak is %d after all, and was told to be %d", name, got.Peak, r.PeakAfter)
		}
	}
}

// patched is the job after a patch.
func patched(t *testing.T, j *scheduler.Job, patch json.RawMessage) *scheduler.Job {
	t.Helper()
	v, err := document.Parse(patch)
	if err != nil {
		t.Fatal(err)
	}
	properties, _ := v.Member("properties")
	reading := scheduler.DefinitionDecoder{Actions: targets{}, Key: j.Key, UID: j.UID, Now: january}
	def, err := reading.Definition(document.Merge(j.Def.Document(), properties))
	if err != nil {
		t.Fatalf("%s: %v", patch, err)
	}
	next, err := scheduler.NewJob(j.Key, j.UID, def, january, 0)
	if err != nil {
		t.Fatal(err)
	}
	return next
}

// TestNothingIsProposed has loads that no edit would lower, or need.
func TestNothingIsProposed(t *testing.T) {
	for name, members := range map[string]string{
		"each minute":       `"recurrence": {"frequency": "Minute"}`,
		"once":              `"startTime": "2026-03-02T15:00:00Z"`,
		"jitter already":    `"jitter": "PT1H", "recurrence": {"cron": "0 13 * * *"}`,
		"each three":        `"recurrence": {"cron": "*/3 * * * *"}`,
		"counted":           `"startTime": "2026-01-05T00:00:00Z", "recurrence": {"frequency": "Hour", "count": 5000}`,
		"nothing runs then": `"recurrence": {"cron": "0 0 1 1 *"}`,
	} {
		f := forecast.New(noon, 24)
		for _, j := range herd(t, 50, "job", members) {
			var b *scheduler.Baton
			if forecast.NeedsBaton(j) {
				b = &scheduler.Baton{Nominal: noon, Due: noon}
			}
			f.Add(uncompiled(j), b)
		}
		if keys := f.Candidates(100); len(keys) > 0 {
			t.Errorf("%s: %v", name, keys)
		}
	}
}

// TestForecastWorkIsBounded counts the instants that are walked: jobs of one kind are worked out once, however many
// there are.
func TestForecastWorkIsBounded(t *testing.T) {
	for i := range 10 {
		members := mixed(i)
		classes := func(n int) int {
			f := forecast.New(noon, 24)
			for k := range n {
				f.Add(uncompiled(named(t, fmt.Sprintf("job-%d", k), january.Add(time.Duration(k)*time.Second), "host", members)), nil)
			}
			return f.Walked()
		}
		few, many := classes(200), classes(2000)
		// A minute more is a step of its own; what depends on the job is looked at in part.
		if most := few + 1800*40; many > most {
			t.Errorf("%s: %d steps for 2000 jobs, %d for 200", members, many, few)
		}
	}
}

// TestForecastSaysThatRunsAreMissing has a job whose next run takes too much work to find.
func TestForecastSaysThatRunsAreMissing(t *testing.T) {
	f := forecast.New(noon, 24)
	f.Add(named(t, "costly", january, "host:443", `"recurrence": {"rrule": "DTSTART:20260302T120000Z RRULE:FREQ=HOURLY;INTERVAL=86399;BYMONTH=3,8`+
		` RRULE:FREQ=HOURLY;INTERVAL=13;BYHOUR=13,14,15,16,17,18,19,20;BYMINUTE=0,13,26,39,52`+
		` EXRULE:FREQ=MINUTELY;INTERVAL=61;BYHOUR=13,14,15,16,17,18,19,20 EXRULE:FREQ=MINUTELY;INTERVAL=13;BYHOUR=13,14,15,16,17,18,19,20"}`), nil)
	if notes := strings.Join(f.Report().Notes, "\n"); !strings.Contains(notes, "some runs are missing") {
		t.Errorf("notes: %q", notes)
	}
}
