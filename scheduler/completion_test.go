package scheduler_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/scheduler"
)

// TestEnd writes the end of a baton of the first schedule to a job that may have been edited in the meantime.
func TestEnd(t *testing.T) {
	j := job(t, minutely)
	edit := edited(t, j, "08:30:00", once)
	had := scheduler.Progress{Number: 3, Runs: 3, Executions: 4, Seen: at("09:02:00")}
	const whole, afresh = "begun 3; runs 3; attempts 4; seen 09:02:00", "begun 3; attempts 4"
	const written, overtook = "written already", "overtaken"
	for _, row := range []struct {
		name  string
		job   *scheduler.Job // as it is now
		state scheduler.State
		want  string
	}{
		{"its schedule is over", j, scheduler.Completed, "completed; " + whole},
		{"its last occurrence faulted", j, scheduler.Faulted, "faulted; " + whole},
		{"its schedule is over, and it was disabled", in(scheduler.Disabled, j), scheduler.Completed, "disabled; " + whole},
		{"its schedule is over, but another has begun", edit, scheduler.Completed, overtook},
		{"likewise, and it was disabled", in(scheduler.Disabled, edit), scheduler.Completed, overtook},
		{"it was disabled", in(scheduler.Disabled, j), scheduler.Disabled, "disabled; " + whole},
		{"it was disabled, and is enabled again", j, scheduler.Disabled, overtook},
		{"it was disabled, and given another schedule", in(scheduler.Disabled, edit), scheduler.Disabled, "disabled; " + afresh},
		{"a run by hand with nothing to resume ended", j, scheduler.Enabled, overtook},
		{"it is written", in(scheduler.Completed, j), scheduler.Completed, written},
		{"it is written, as another end", in(scheduler.Faulted, j), scheduler.Completed, written},
		{"another job has the name", namesake(j), scheduler.Completed, written},
		{"another job has the name, and is disabled", namesake(in(scheduler.Disabled, j)), scheduler.Disabled, written},
	} {
		next, verdict := row.job.End(scheduler.Completion{Key: key, UID: uid, Schedule: 1, State: row.state, Progress: had})
		got := map[scheduler.CompletionVerdict]string{scheduler.CompletionWritten: written, scheduler.CompletionOvertook: overtook}[verdict]
		if verdict == scheduler.WriteCompletion {
			got = string(next.State) + "; " + progressSaid(next.Progress)
		}
		mustSay(t, row.name, got, row.want)
	}
	if j.State != scheduler.Enabled || !j.Progress.Seen.IsZero() {
		t.Errorf("the job itself was changed: %s, %+v", j.State, j.Progress)
	}
}

// TestMergeStored merges a detached run into a job without a baton.
func TestMergeStored(t *testing.T) {
	over := in(scheduler.Completed, job(t, minutely))
	over.Progress = scheduler.Progress{Number: 3, Runs: 3, Executions: 2, Last: at("09:01:00")}
	off := in(scheduler.Disabled, over)
	fine := scheduler.Progress{Executions: 1, Last: at("09:02:00")}
	bad := scheduler.Progress{Executions: 2, Failures: 2, Faults: 1, Last: at("09:02:30")}
	run := func(number int, kind scheduler.Kind) scheduler.Baton {
		return baton(over, "09:02:00", of(kind), func(b *scheduler.Baton) { b.Number = number })
	}
	faulted := in(scheduler.Faulted, over)
	faulted.Progress.Seen = at("09:02:00")
	repeats := func(nominal string) scheduler.Baton {
		return baton(over, "09:30:00", resubmitting(nominal), of(scheduler.ManualDetached))
	}
	const plus, plusBad = "begun 3; runs 3; attempts 3; last 09:02:00", "begun 3; runs 3; attempts 4; failed 2; faults 1; last 09:02:30"
	plusAgain, plusBadAgain := strings.Replace(plus, "begun 3", "begun 4", 1), strings.Replace(plusBad, "begun 3", "begun 4", 1)
	for _, row := range []struct {
		name string
		job  *scheduler.Job
		run  scheduler.Baton
		adds scheduler.Progress
		want string
	}{
		{"its last occurrence succeeded", over, run(3, scheduler.Detached), fine, "completed; " + plus},
		{"its last occurrence faulted, and so did the job", over, run(3, scheduler.Detached), bad, "faulted; " + plusBad},
		{"an occurrence before the last faulted", over, run(2, scheduler.Detached), bad, "completed; " + plusBad},
		{"a run by hand faulted", over, run(3, scheduler.ManualDetached), bad, "completed; " + plusBadAgain},
		{"its last occurrence, which faulted, is repeated with success", faulted, repeats("09:02:00"), fine, "completed; " + plusAgain + "; seen 09:02:00"},
		{"it is repeated in vain", faulted, repeats("09:02:00"), bad, "faulted; " + plusBadAgain + "; seen 09:02:00"},
		{"it is not repeated after all", faulted, repeats("09:02:00"), scheduler.Progress{}, "faulted; begun 3; runs 3; attempts 2; last 09:01:00; seen 09:02:00"},
		{"one before is repeated with success", faulted, repeats("09:01:00"), fine, "faulted; " + plusAgain + "; seen 09:02:00"},
		{"its last occurrence faulted, and the job is disabled", off, run(3, scheduler.Detached), bad, "disabled; " + plusBad},
	} {
		next, ok := row.job.MergeStored(row.run, row.adds)
		if !ok {
			t.Fatalf("%s: it does not count", row.name)
		}
		mustSay(t, row.name, string(next.State)+"; "+progressSaid(next.Progress), row.want)
		if again, ok := next.MergeStored(row.run, row.adds); ok || again != nil {
			t.Errorf("%s: it counts twice: %+v", row.name, again)
		}
	}
	want := scheduler.Progress{Number: 3, Runs: 3, Executions: 2, Last: at("09:01:00")}
	if diff := cmp.Diff(want, over.Progress); diff != "" {
		t.Error("the job itself was changed\n" + diff)
	}
}

// TestMerge checks that no recently merged run is merged again.
func TestMerge(t *testing.T) {
	var p scheduler.Progress
	one := scheduler.Progress{Executions: 2, Failures: 1, Last: at("09:00:00")}
	const runs = 40
	for n := range runs {
		nominal := at("09:00:00").Add(time.Duration(n) * time.Second)
		if !p.Merge(one, &scheduler.Baton{Nominal: nominal}) {
			t.Fatalf("run %d does not count", n)
		}
		if p.Merge(one, &scheduler.Baton{Nominal: nominal}) {
			t.Fatalf("run %d counts twice", n)
		}
	}
	if p.Executions != 2*runs || p.Failures != runs || !p.Last.Equal(one.Last) {
		t.Errorf("%+v", p)
	}
	before := p
	p.ForgetMerged([]scheduler.Baton{{Nominal: at("09:00:01")}, {Nominal: at("11:00:00")}})
	for n, want := range map[int]bool{0: true, 1: false, runs - 33: true, runs - 32: false} {
		again := p
		if got := again.Merge(one, &scheduler.Baton{Nominal: at("09:00:00").Add(time.Duration(n) * time.Second)}); got != want {
			t.Errorf("run %d counts again: %t", n, got)
		}
	}
	before.Merge(one, &scheduler.Baton{Nominal: at("10:00:00")})
	if len(before.Merged) != runs+1 || len(p.Merged) != 33 || p.Executions != 2*runs {
		t.Error("progress that is merged shares its list with another")
	}
	older := scheduler.Progress{Last: at("09:30:00")}
	older.Merge(one, &scheduler.Baton{Nominal: at("08:00:00")})
	mustSay(t, "the last attempt is the latest", progressSaid(older), "attempts 2; failed 1; last 09:30:00")
}

// TestForgetMerged checks in which slots the batons of merged runs are sought, and that a run with a baton in one of
// them stays in the list.
func TestForgetMerged(t *testing.T) {
	var p scheduler.Progress
	k, original := scheduler.Key{Collection: "default", Job: "job"}, at("08:00:00")
	rerun := scheduler.Baton{Nominal: at("09:00:00"), Resubmits: &scheduler.Resubmission{Nominal: original}}
	p.Merge(scheduler.Progress{}, &rerun)
	for n := range 32 {
		p.Merge(scheduler.Progress{}, &scheduler.Baton{Nominal: at("10:00:00").Add(time.Duration(n) * time.Second)})
	}
	want := []scheduler.BatonKey{
		{Key: k, Detached: scheduler.DetachedName(rerun.Nominal)}, {Key: k, Detached: scheduler.ResubmittedName(original)},
	}
	if diff := cmp.Diff(want, p.MergedSlots(k)); diff != "" {
		t.Error("slots (-want +got)\n" + diff)
	}
	stored := p
	stored.ForgetMerged([]scheduler.Baton{rerun})
	p.ForgetMerged(nil)
	if !stored.Counted(rerun) || p.Counted(rerun) {
		t.Error("a run is forgotten although its baton is stored, or kept although it is not")
	}
}

// TestCancelable checks that the runs that wait for their keys are not canceled with the started occurrences of a job.
func TestCancelable(t *testing.T) {
	j := job(t, "")
	keyed := func(b *scheduler.Baton) { b.Keyed = true }
	spent := func(b *scheduler.Baton) { b.Keyed, b.Spent = true, true }
	for _, row := range []struct {
		name    string
		baton   scheduler.Baton
		running bool
		want    bool
	}{
		{"a run that an event started", baton(j, "09:00:00", of(scheduler.Triggered)), true, true},
		{"its retry waits", baton(j, "09:00:00", of(scheduler.Triggered), begun), false, true},
		{"it waits for its key", baton(j, "09:00:00", of(scheduler.Triggered), keyed), false, false},
		{"a worker moves it to its slot", baton(j, "09:00:00", of(scheduler.Triggered), keyed), true, false},
		{"the count of a rate limit", baton(j, "09:00:00", of(scheduler.Triggered), spent), false, false},
		{"a planned occurrence waits", baton(j, "09:00:00"), false, false},
		{"a worker begins it", baton(j, "09:00:00"), true, true},
	} {
		if got := row.baton.Cancelable(row.running, at("09:00:00")); got != row.want {
			t.Errorf("%s: cancelable %t, want %t", row.name, got, row.want)
		}
	}
}
