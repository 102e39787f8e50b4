package scheduler

import (
	"slices"
	"strings"
	"time"
)

// RecordFilter selects records of a history by all of its conditions. The zero value selects the records of existing
// jobs.
type RecordFilter struct {
	Outcomes []Outcome // none: all
	Since    time.Time // inclusive; see [Record.At]
	Until    time.Time // inclusive; zero: no limit

	EndedSince time.Time // the same limits for [Record.Ended]
	EndedUntil time.Time

	Jobs []string // parts of collection/job, in any letter case; none: all

	// For times that did not run, only Phases and Manual are known.
	ActionTypes []string // in any letter case; none: all
	Targets     []string // host:port, or a host for all of its ports, in any letter case; none: all
	Phases      []Phase  // main action or errorAction; none: both
	Manual      *bool    // manual runs, or planned runs; nil: both
	Late        bool     // began later than the job's lateAfter allows; false: any

	// A record may belong to an earlier job of the name, which was deleted during an attempt. UID selects the records
	// of the job with that incarnation, Earlier the records of all deleted jobs.
	UID     string
	Earlier bool
}

// Admits reports whether the filter selects a record. present is the incarnation of the current job of the name; exists
// reports whether there is one.
func (f *RecordFilter) Admits(r *Record, present string, exists bool) bool {
	if !f.AdmitsTrait(r.Trait()) || !f.AdmitsJob(r.Job) || !f.admitsTimes(r) {
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

// AdmitsJob reports whether the filter may select a record of a job.
func (f *RecordFilter) AdmitsJob(k Key) bool {
	return anyOf(f.Jobs, FoldText(k.String()), func(name, part string) bool { return strings.Contains(name, FoldText(part)) })
}

func (f *RecordFilter) admitsTimes(r *Record) bool {
	return within(r.At(), f.Since, f.Until) && within(r.Ended, f.EndedSince, f.EndedUntil)
}

// within reports whether t is not before since and not after until. A zero until is no limit.
func within(t, since, until time.Time) bool {
	return !t.Before(since) && (until.IsZero() || !t.After(until))
}

// RecordTrait holds the filtered fields of a record, except its job and times. Many records share one.
type RecordTrait struct {
	Outcome Outcome
	Phase   Phase
	Manual  bool
	Late    bool
	Type    string
	Target  string
}

// Trait returns the record's filtered fields.
func (r *Record) Trait() RecordTrait {
	return RecordTrait{Outcome: r.Outcome, Phase: r.Phase, Manual: r.Kind.IsManual(), Late: r.Late, Type: r.Type, Target: r.Target}
}

// AdmitsTrait reports whether the filter may select a record with this trait.
func (f *RecordFilter) AdmitsTrait(t RecordTrait) bool {
	return among(f.Outcomes, t.Outcome) && among(f.Phases, t.Phase) && (f.Manual == nil || *f.Manual == t.Manual) && (!f.Late || t.Late) &&
		anyOf(f.ActionTypes, t.Type, strings.EqualFold) && anyOf(f.Targets, t.Target, IsTarget)
}

// anyOf reports whether one matches an element of asked, or asked is empty.
func anyOf(asked []string, one string, is func(one, asked string) bool) bool {
	return len(asked) == 0 || slices.ContainsFunc(asked, func(a string) bool { return is(one, a) })
}

// among reports whether asked contains one, or is empty.
func among[T comparable](asked []T, one T) bool {
	return len(asked) == 0 || slices.Contains(asked, one)
}

// IsTarget reports whether a target is the requested one, or on the requested host, in any letter case.
func IsTarget(target, asked string) bool {
	if strings.EqualFold(target, asked) {
		return true
	}
	colon := strings.LastIndexByte(target, ':')
	return colon > 0 && strings.Trim(target[colon+1:], "0123456789") == "" && strings.EqualFold(target[:colon], asked)
}

// IsSelective reports whether the filter depends on fields other than the outcome and the job.
func (f *RecordFilter) IsSelective() bool {
	return len(f.Jobs) > 0 || len(f.ActionTypes) > 0 || len(f.Targets) > 0 || len(f.Phases) > 0 || f.Manual != nil || f.Late ||
		!f.Since.IsZero() || !f.Until.IsZero() || !f.EndedSince.IsZero() || !f.EndedUntil.IsZero()
}

// NeedsJob reports whether the filter selects only records of existing jobs.
func (f *RecordFilter) NeedsJob() bool { return f.UID == "" && !f.Earlier }

// Names reports whether UID selects an incarnation, "" for none.
func (f *RecordFilter) Names(incarnation string) bool {
	return f.UID != "" && incarnation != "" && incarnation == f.UID[:min(incarnationLength, len(f.UID))]
}

// clockSkew is the maximum clock difference between schedulers and the store.
const clockSkew = time.Minute

// Passed reports whether r and all records stored before it are too old for the filter.
func (f *RecordFilter) Passed(r *Record) bool {
	since := f.Since
	if f.EndedSince.After(since) {
		since = f.EndedSince
	}
	return !since.IsZero() && !r.Stored.IsZero() && r.Stored.Before(since.Add(-clockSkew))
}

// At returns the start of the attempt, or the time of the decision if there was none.
func (r *Record) At() time.Time {
	if r.Started.IsZero() {
		return r.Ended
	}
	return r.Started
}
