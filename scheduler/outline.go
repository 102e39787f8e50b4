package scheduler

import (
	"context"
	"time"
)

// Outline is what of a job says when it runs, and what it loads. It takes little memory, as jobs with equal schedules share
// theirs.
type Outline struct {
	Key   Key
	State State

	uid    string
	anchor time.Time
	def    *Definition // of which there is only the part that an outline has
}

// Outliner makes outlines. The zero value is ready for use, by one goroutine at a time.
type Outliner struct {
	timings map[string]*Definition // by the texts of their schedules
	defs    map[outlined]*Definition
}

// outlined tells the definitions of outlines apart.
type outlined struct {
	schedule, target string
	jitter           time.Duration
}

// Outline returns the outline of a job.
func (o *Outliner) Outline(j *Job) Outline {
	if o.defs == nil {
		o.timings, o.defs = map[string]*Definition{}, map[outlined]*Definition{}
	}
	key := outlined{j.Def.schedule(), j.Def.Action.Run.Target(), j.Def.Jitter}
	def := o.defs[key]
	if def == nil {
		timing := o.timings[key.schedule]
		if timing == nil {
			timing = &Definition{Timing: j.Def.Timing, scheduleText: key.schedule}
			o.timings[key.schedule] = timing
		}
		next := *timing
		next.Jitter, next.Action = key.jitter, ActionSpec{Run: onlyTarget(key.target)}
		def = &next
		o.defs[key] = def
	}
	return Outline{j.Key, j.State, j.UID, j.Anchor, def}
}

// Job returns a job that plans what the outline's does. It cannot be run or stored, and a schedule that is a text is not
// compiled yet.
func (o *Outline) Job() (*Job, error) {
	j := &Job{Key: o.Key, State: o.State, UID: o.uid, Anchor: o.anchor, Def: o.def}
	if !j.plain() {
		return j, nil
	}
	err := j.compile()
	return j, err
}

// onlyTarget is an action of which nothing is known but what it loads.
type onlyTarget string

func (t onlyTarget) Target() string { return string(t) }

func (onlyTarget) Invoke(context.Context, Attempt) Result {
	panic("scheduler: the action of an outline was run")
}
