package scheduler_test

import (
	"testing"

	"github.com/carillon-sched/carillon/scheduler"
)

// TestClockSetForward sets the clock forward by an hour before a baton is due: it is late, and the misfire policy
// decides which runs of that hour happen.
func TestClockSetForward(t *testing.T) {
	latest, all, none := job(t, minutely+catchUp("once", "")), job(t, minutely+catchUp("all", "")), job(t, minutely+catchUp("skip", ""))
	mustDecide(t, []decideRow{
		{"once", latest, false, baton(latest, "09:00:00"), "10:00:00", "run 10:00:00 (later); skipped for catchUp 60 from 09:00:00 to 09:59:00"},
		{"all", all, false, baton(all, "09:00:00"), "10:00:00", "run 09:00:00"},
		{"skip", none, false, baton(none, "09:00:00"), "10:00:00", "skip; skipped for catchUp 61 from 09:00:00 to 10:00:00; next 10:01:00"},
		{"a retry", latest, false, baton(latest, "09:00:00", begun), "10:00:00", "run 09:00:00 due 09:00:10 try 2"},
	})
}

// TestClockSetBack sets the clock back by an hour while a worker holds a baton, which is then not due yet, or during an
// attempt: the next occurrence follows the one that ran, so nothing is repeated.
func TestClockSetBack(t *testing.T) {
	j := job(t, minutely)
	mustDecide(t, []decideRow{
		{"set back by more than an hour", j, false, baton(j, "09:00:00"), "07:59:59", "wait; next 09:00:00"},
	})
	b := baton(j, "09:00:00")
	for _, now := range []string{"09:00:01", "08:00:01"} {
		d := scheduler.After(j, j, b.Begin(), succeeds, at(now))
		mustSay(t, "an attempt that ends at "+now, said(d), "proceed; next 09:01:00")
	}
}
