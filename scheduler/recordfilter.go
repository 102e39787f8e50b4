package scheduler

import (
	"slices"
	"strings"
	"time"
)

// RecordFilter says which records of a history are wanted: those that meet all of
// it. The zero value is those of the jobs that are there.
type RecordFilter struct {
	Outcomes []Outcome // none: all
	Since    time.Time // not before; see [Record.At]
	Until    time.Time // not after; zero: no bound

	EndedSince time.Time // likewise of [Record.Ended]
	EndedUntil time.Time

	// Of what did not run, nothing is known of these but Phases and Manual.
	ActionTypes []string // as in jobs, in any letter case; none: all
	Targets     []string // host:port, or a host for all of its ports, in any letter case; none: all
	Phases      []Phase  // of the main action, or of the errorAction; none: both
	Manual      *bool    // run by hand, or not; nil: both
	Late        bool     // began later than lateAfter of the job allows; false: any

	// A record may be of an earlier job of the name: an attempt of it was under
	// way while it was deleted. UID asks for the records of the job with that
	// incarnation, Earlier for those of all jobs that are not there any more.
	UID     string
	Earlier bool
}

// Admits reports whether a record is wanted. present is the incarnation of the
// job that has its name now, and exists tells whether there is one.
func (f *RecordFilter) Admits(r *Record, present string, exists bool) bool {
	if !f.AdmitsTrait(r.Trait()) || !f.admitsTimes(r) {
		return false
	}
	isOf := exists && r.IsOf(present)
	switch {
	case f.UID != "":
		return f.Names(r.UID)
	case f.Earlier:
		return !isOf
	}
	return isOf
}

func (f *RecordFilter) admitsTimes(r *Record) bool {
	return within(r.At(), f.Since, f.Until) && within(r.Ended, f.EndedSince, f.EndedUntil)
}

// within reports whether t is not before since and not after until, if that is a
// bound.
func within(t, since, until time.Time) bool {
	return !t.Before(since) && (until.IsZero() || !t.After(until))
}

// RecordTrait is what a filter asks of a record besides its job and its times. Many
// records have the same.
type RecordTrait struct {
	Outcome Outcome
	Phase   Phase
	Manual  bool
	Late    bool
	Type    string
	Target  string
}

// Trait returns what a filter asks of the record.
func (r *Record) Trait() RecordTrait {
	return RecordTrait{Outcome: r.Outcome, Phase: r.Phase, Manual: r.Kind.IsManual(), Late: r.Late, Type: r.Type, Target: r.Target}
}

// AdmitsTrait reports whether a record that is like this may be wanted.
func (f *RecordFilter) AdmitsTrait(t RecordTrait) bool {
	return among(f.Outcomes, t.Outcome) && among(f.Phases, t.Phase) && (f.Manual == nil || *f.Manual == t.Manual) && (!f.Late || t.Late) &&
		anyOf(f.ActionTypes, t.Type, strings.EqualFold) && anyOf(f.Targets, t.Target, isTarget)
}

// anyOf reports whether one is like any that is asked for.
func anyOf(asked []string, one string, is func(one, asked string) bool) bool {
	return len(asked) == 0 || slices.ContainsFunc(asked, func(a string) bool { return is(one, a) })
}

// among reports whether one is asked for.
func among[T comparable](asked []T, one T) bool {
	return len(asked) == 0 || slices.Contains(asked, one)
}

// isTarget reports whether a target is the one that is asked for, or that host has it.
func isTarget(target, asked string) bool {
	if strings.EqualFold(target, asked) {
		return true
	}
	colon := strings.LastIndexByte(target, ':')
	return colon > 0 && strings.Trim(target[colon+1:], "0123456789") == "" && strings.EqualFold(target[:colon], asked)
}

// IsSelective reports whether records are wanted for what only they themselves say,
// and not for their outcome or job.
func (f *RecordFilter) IsSelective() bool {
	return len(f.ActionTypes) > 0 || len(f.Targets) > 0 || len(f.Phases) > 0 || f.Manual != nil || f.Late ||
		!f.Since.IsZero() || !f.Until.IsZero() || !f.EndedSince.IsZero() || !f.EndedUntil.IsZero()
}

// NeedsJob reports whether only the records of a job that is there are wanted.
func (f *RecordFilter) NeedsJob() bool { return f.UID == "" && !f.Earlier }

// Names reports whether UID asks for the records of the job with an incarnation, "" for none.
func (f *RecordFilter) Names(incarnation string) bool {
	return f.UID != "" && incarnation != "" && incarnation == f.UID[:min(incarnationLength, len(f.UID))]
}

// clockSkew is by how much the clocks of schedulers and of the store may differ.
const clockSkew = time.Minute

// Passed reports whether neither a record nor any that was stored before it is
// young enough.
func (f *RecordFilter) Passed(r *Record) bool {
	since := f.Since
	if f.EndedSince.After(since) {
		since = f.EndedSince
	}
	return !since.IsZero() && !r.Stored.IsZero() && r.Stored.Before(since.Add(-clockSkew))
}

// At is when the attempt started or, when there was none, when that was decided.
func (r *Record) At() time.Time {
	if r.Started.IsZero() {
		return r.Ended
	}
	return r.Started
}
