package explain

import (
	"slices"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/audit"
	"github.com/carillon-sched/carillon/scheduler/auth"
)

// Change is an edit of a job or of its collection, as far as it is known.
type Change struct {
	At   time.Time
	Kind ChangeKind
	By   string // "": unknown
}

// ChangeKind classifies a change to a job.
type ChangeKind string

// The changes of a job.
const (
	JobDisabled        ChangeKind = "disabled"
	JobPaused          ChangeKind = "paused"
	CollectionDisabled ChangeKind = "collection disabled"
	JobDeleted         ChangeKind = "deleted"
	JobChanged         ChangeKind = "changed" // the kind of change is unknown
)

// ChangesIn returns the change that a definition records itself: its last write.
func ChangesIn(j *scheduler.Job) []Change {
	c := Change{At: j.Updated, Kind: JobChanged, By: who(audit.By{Name: j.Origin.Name, Via: j.Origin.Via}, j.Origin.Claim)}
	switch {
	case j.Origin.Op == "pause":
		c.Kind = JobPaused
	case j.Origin.Op == "disable", j.Generation <= 1 && j.State == scheduler.Disabled:
		c.Kind = JobDisabled
	case j.Generation <= 1:
		return nil
	}
	return []Change{c}
}

// ChangeOf returns the change in an entry of the audit log.
func ChangeOf(e *audit.Entry, what ChangeKind) Change {
	return Change{e.Time, what, who(e.By, e.Claim)}
}

// who describes the author of a change, "" if unknown.
func who(by audit.By, claim string) string {
	switch {
	case by.Name != "":
		return by.Name
	case claim != "":
		return claim + " (unverified name)"
	}
	return auth.DescribeUnnamed(by.Via)
}

// last returns the last change of a kind that was made before an instant; the zero time is no bound.
func (q *Question) last(what ChangeKind, before time.Time) (found Change, ok bool) {
	for _, c := range q.Changes {
		if c.Kind == what && (before.IsZero() || c.At.Before(before)) && !c.At.Before(found.At) {
			found, ok = c, true
		}
	}
	return found, ok
}

// disabledSince is since when a job is disabled, as far as that is known: at the latest since it was last changed.
func (q *Question) disabledSince() time.Time {
	if c, ok := q.last(JobDisabled, time.Time{}); ok {
		return c.At
	}
	return q.Job.Updated
}

// blame adds the time and the author of the last change of a kind before an instant (zero: any time). If the author is
// unknown, a note states how far back the audit log goes.
func (q *Question) blame(a *Answer, what ChangeKind, before time.Time) (c Change, ok bool) {
	if c, ok = q.last(what, before); ok {
		a.Since, a.By = c.At.UTC(), c.By
	}
	switch {
	case c.By != "":
	case q.Trail.IsZero():
		a.note("who did this is unknown: the audit log has no entry")
	case !ok || c.At.Before(q.Trail):
		a.note("who did this is unknown: the audit log begins at " + q.say(q.Trail))
	}
	return c, ok
}

// note adds a note, once.
func (a *Answer) note(text string) {
	if !slices.Contains(a.Notes, text) {
		a.Notes = append(a.Notes, text)
	}
}
