package scheduler_test

import (
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
)

// TestStrayFate covers every state of a missing definition. Without proof of a deletion, nothing is removed.
func TestStrayFate(t *testing.T) {
	b := &scheduler.Baton{Revision: 7}
	for _, row := range []struct {
		name  string
		stray scheduler.OrphanBaton
		want  scheduler.OrphanCause
	}{
		{"deleted after the baton was armed", scheduler.OrphanBaton{Baton: b, Marker: 8, Next: 21}, scheduler.Deleted},
		{"deleted before: what was put since is lost", scheduler.OrphanBaton{Baton: b, Marker: 6, Next: 21}, scheduler.Lost},
		{"armed with a revision that the store never had", scheduler.OrphanBaton{Baton: b, Next: 7}, scheduler.Lost},
		{"armed with the last revision of all", scheduler.OrphanBaton{Baton: b, Next: 8}, scheduler.Missing},
		{"the store has no job, nor had one", scheduler.OrphanBaton{Baton: b, Next: 1}, scheduler.Lost},
		{"the marker is gone, or was never there", scheduler.OrphanBaton{Baton: b, Next: 21}, scheduler.Missing},
		{"what the store has had is not known", scheduler.OrphanBaton{Baton: b}, scheduler.Missing},
		{"deleted, and the baton cannot be read", scheduler.OrphanBaton{Marker: 8, Next: 21}, scheduler.Deleted},
		{"not known to be deleted, and the baton cannot be read", scheduler.OrphanBaton{Next: 21}, scheduler.Missing},
	} {
		if got := row.stray.Cause(); got != row.want {
			t.Errorf("%s: fate %d, want %d", row.name, got, row.want)
		}
	}
}

// TestStrayAwaits checks that the interval between checks for a missing definition grows.
func TestStrayAwaits(t *testing.T) {
	b := baton(job(t, minutely), "09:00:00")
	for now, want := range map[string]time.Duration{
		"09:00:00": time.Second, "09:00:20": 20 * time.Second, "09:05:00": 5 * time.Minute, "19:00:00": 10 * time.Minute,
	} {
		next, until := b.Requeue(at(now))
		if got := until.Sub(at(now)); got != want || !next.Suspect || !next.Due.Equal(b.Due) {
			t.Errorf("at %s it waits %s, want %s; %+v", now, got, want, next)
		}
	}
}

// TestAdopt creates a job again whose definition was lost: it continues at its baton's position if the schedule is the
// same.
func TestAdopt(t *testing.T) {
	every := `"recurrence": {"frequency": "Minute"}`
	for _, row := range []struct {
		name, put string
		baton     func(j *scheduler.Job) scheduler.Baton
		schedule  int
		next      string // after adoption, when its baton is planned anew
	}{
		{"the same schedule", minutely, func(j *scheduler.Job) scheduler.Baton { return baton(j, "09:05:00") }, 1, "09:05:00"},
		{"without startTime: its rhythm stays", every, func(j *scheduler.Job) scheduler.Baton { return baton(j, "09:05:17") }, 1, "09:05:17"},
		{"a one-shot without startTime", ``, func(j *scheduler.Job) scheduler.Baton { return baton(j, "09:05:17") }, 1, "09:05:17"},
		{"another schedule begins", once + `, "recurrence": {"frequency": "Hour"}`, func(j *scheduler.Job) scheduler.Baton { return baton(j, "09:05:00") }, 2, "10:00:00"},
		{"a run by hand waits in front", minutely, func(j *scheduler.Job) scheduler.Baton { return baton(j, "09:04:11", byHand("09:05:00")) }, 1, "09:04:11"},
	} {
		t.Run(row.name, func(t *testing.T) {
			j := jobPut(t, "10:00:00", row.put)
			j.UID = "abcdefghijklmnop"
			b := row.baton(job(t, row.put))
			b.Revision, b.Progress = 99, scheduler.Progress{Number: 5, Runs: 5, Last: at("09:04:00")}
			got := must.Get(j.Reattach(b))(t)
			if !b.BelongsTo(got) || got.ScheduleGen != row.schedule || got.Created.After(b.Last) {
				t.Errorf("incarnation %s, schedule %d, created %s", got.Incarnation(), got.ScheduleGen, got.Created)
			}
			what, s := got.Replan(scheduler.Enabled, scheduler.Found{Waiting: &b}, at("10:00:00"))
			if what == scheduler.LeaveAlone { // it was due: its worker decides
				s = got.Restart(got, true, b, at("10:00:00")).Step
			}
			if s.Next == nil || clock(s.Next.Nominal) != row.next || s.Next.Number != 5 {
				t.Errorf("replanned %d: %s", what, batonSaid(s.Next))
			}
		})
	}
}
