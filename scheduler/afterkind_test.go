package scheduler_test

import (
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// TestAfterByHand covers manual runs.
func TestAfterByHand(t *testing.T) {
	j, two, one, three := job(t, minutely), job(t, twoRetries+minutely), job(t, twoRetries+once), job(t, noRetry+thrice)
	off := in(scheduler.Disabled, two)
	all := job(t, minutely+catchUp("all", ""))
	mustFollow(t, []afterRow{
		{"the schedule resumes", j, j, baton(j, "08:50:07", byHand("09:00:00")), "08:50:07", succeeds, "proceed; next 09:00:00"},
		{"what fell due meanwhile is skipped", j, j, baton(j, "08:59:59.5", byHand("09:00:00")), "08:59:59.5", succeeds, "proceed; skipped for overlap 1 at 09:00:00; next 09:01:00"},
		{"or run, if all are caught up", all, all, baton(all, "08:59:59.5", byHand("09:00:00")), "08:59:59.5", succeeds, "proceed; next 09:00:00"},
		{"the one-shot is still to come", one, one, baton(one, "08:50:07", byHand("09:00:00")), "08:50:07", succeeds, "proceed; next 09:00:00"},
		{"the one-shot is not skipped", one, one, baton(one, "08:59:59.5", byHand("09:00:00")), "08:59:59.5", succeeds, "proceed; next 09:00:00"},
		{"nothing is left: it was skipped meanwhile", j, j, baton(j, "09:30:07", byHand("09:02:00"), seen("09:02:00")), "09:30:07", succeeds, "proceed; no baton, completed"},
		{"nothing is to be resumed", j, j, baton(j, "08:50:07", of(scheduler.Manual)), "08:50:07", succeeds, "proceed; no baton, enabled"},
		{"it uses up no count", three, three, baton(three, "08:50:07", byHand("09:02:00"), ran(2)), "08:50:07", succeeds, "proceed; next 09:02:00"},
		{"it is retried", two, two, baton(two, "08:50:07", byHand("09:00:00")), "08:50:07", fails, "proceed; next 08:50:07 by hand due 08:50:18 try 2 resume 09:00:00"},
		{"it faulted", two, two, baton(two, "08:50:07", byHand("09:00:00"), try(3)), "08:50:07", fails, "proceed; faulted 08:50:07; next 09:00:00"},
		{"it faulted, but the schedule did not", three, three, baton(three, "09:30:07", byHand("09:02:00"), seen("09:02:00")), "09:30:07", fails, "proceed; faulted 09:30:07; no baton, completed"},
		{"the job was disabled: the run is not the schedule's", two, off, baton(two, "08:50:07", byHand("09:00:00")), "08:50:07", succeeds, "proceed; no baton, disabled"},
		{"the job was disabled: its run is retried", two, off, baton(two, "08:50:07", byHand("09:00:00")), "08:50:07", fails, "proceed; next 08:50:07 by hand due 08:50:18 try 2 resume 09:00:00, disabled"},
		{"the job was disabled, and its run faulted", two, off, baton(two, "08:50:07", byHand("09:00:00"), try(3)), "08:50:07", fails, "proceed; faulted 08:50:07; no baton, disabled"},
	})
}

// TestAfterDetached covers detached runs, which do not affect the schedule.
func TestAfterDetached(t *testing.T) {
	j := job(t, twoRetries+minutely+`, "overlap": "allow"`)
	off, over := in(scheduler.Disabled, j), in(scheduler.Completed, j)
	other := edited(t, j, "09:00:30", noRetry+once)
	beside, asked := of(scheduler.Detached), of(scheduler.ManualDetached)
	mustFollow(t, []afterRow{
		{"it is counted in", j, j, baton(j, "09:00:00", beside), "09:00:00", succeeds, "proceed; merge"},
		{"however long it took", j, j, baton(j, "09:00:00", beside), "09:00:00", lasting(time.Hour, succeeds), "proceed; merge"},
		{"it is retried", j, j, baton(j, "09:00:00", beside), "09:00:00", fails, "proceed; next 09:00:00 detached due 09:00:11 try 2"},
		{"it faulted", j, j, baton(j, "09:00:00", beside, try(3)), "09:00:00", fails, "proceed; faulted 09:00:00; merge"},
		{"the job was disabled", j, off, baton(j, "09:00:00", beside), "09:00:00", succeeds, "proceed; merge"},
		{"the job was disabled: what has begun goes on", j, off, baton(j, "09:00:00", beside), "09:00:00", fails, "proceed; next 09:00:00 detached due 09:00:11 try 2, disabled"},
		{"the job's schedule is over", j, over, baton(j, "09:00:00", beside), "09:00:00", succeeds, "proceed; merge"},
		{"the job's schedule is over: what has begun goes on", j, over, baton(j, "09:00:00", beside), "09:00:00", fails, "proceed; next 09:00:00 detached due 09:00:11 try 2, completed"},
		{"the job's schedule is another", j, other, baton(j, "09:00:00", beside), "09:00:00", fails, "proceed; next 09:00:00 detached due 09:00:11 try 2"},
		{"the job has no definition", j, nil, baton(j, "09:00:00", beside), "09:00:00", succeeds, "astray"},
		{"another job has the name", j, namesake(j), baton(j, "09:00:00", beside), "09:00:00", fails, "orphan"},
		{"by hand", off, off, baton(j, "08:50:07", asked), "08:50:07", succeeds, "proceed; merge"},
		{"by hand, and retried", off, off, baton(j, "08:50:07", asked), "08:50:07", fails, "proceed; next 08:50:07 by hand, detached due 08:50:18 try 2, disabled"},
		{"by hand, and faulted", off, off, baton(j, "08:50:07", asked, try(3)), "08:50:07", fails, "proceed; faulted 08:50:07; merge"},
	})
}
