package scheduler

import (
	"context"
	"slices"
	"time"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// Outline is what of a job says when it runs, and what it loads. It takes little memory, as jobs with equal schedules share
// theirs.
type Outline struct {
	Key   Key
	State State

	uid    string
	anchor time.Time
	paused time.Time   // until when
	def    *Definition // of which there is only the part that an outline has
}

// Outliner makes outlines. The zero value is ready for use, by one goroutine at a time.
type Outliner struct {
	timings map[string]*Definition // by the texts of their members
	defs    map[outlined]*Definition
}

// outlined tells the definitions of outlines apart.
type outlined struct {
	timing *Definition
	target string
}

// TargetReader is an [ActionReader] that knows what some actions load without reading them whole.
type TargetReader interface {
	// ReadTarget returns what [Action] Target says of an action that was accepted once, false when it has to be read whole.
	ReadTarget(kind string, action document.Raw) (target string, ok bool)
}

// Read returns the outline of a stored job. Of one that is as it was written, no more is read than the outline has, and
// that is not validated; where actions cannot do this, and of any other one, all is. The error is a [*DamagedError].
func (o *Outliner) Read(defs DefinitionKeeper, st Stored, actions ActionReader, secrets Sealer) (Outline, error) {
	if one, ok := o.readTrusted(st, actions); ok {
		return one, nil
	}
	j, err := ReadJobWith(defs, st.Key, st.Revision, st.Data, actions, secrets)
	if err != nil {
		return Outline{}, err
	}
	text := j.Def.properties.Only(timingMembers...).JSON()
	def := o.definition(text, j.Def.Action.Run.Target(), func(string) *Definition {
		return j.Def.timing(j.Def.schedule())
	})
	return Outline{j.Key, j.State, j.UID, j.Anchor, j.PausedUntil, def}, nil
}

// timingMembers are the properties that say when a job runs.
var timingMembers = append([]string{"jitter"}, scheduleMembers...)

// readTrusted is Read for a job that is as it was written, and whose target can be told.
func (o *Outliner) readTrusted(st Stored, actions ActionReader) (one Outline, ok bool) {
	targets, ok := actions.(TargetReader)
	if !ok {
		return one, false
	}
	if trust, err := trusted(st.Data); !trust || err != nil {
		return one, false
	}
	var m storedMeta
	head, properties, err := SplitStored(st.Data)
	if err != nil || m.decode(head) != nil {
		return one, false
	}
	text, action := outlineOf(properties)
	kind, ok := action.Member("type").Plain()
	if !ok {
		return one, false
	}
	target, ok := targets.ReadTarget(string(kind), action)
	if !ok {
		return one, false
	}
	def := o.definition(text, target, readTimingText)
	return Outline{st.Key, m.State, m.UID, m.Anchor, m.PausedUntil, def}, def != nil
}

// outlineOf returns what says when a job runs, as an object, and its action.
func outlineOf(properties document.Raw) (timing []byte, action document.Raw) {
	timing = append(make([]byte, 0, usualTiming), '{')
	for name, v := range properties.Members() {
		switch {
		case string(name) == "action":
			action = v
		case slices.Contains(timingMembers, string(name)):
			if len(timing) > 1 {
				timing = append(timing, ',')
			}
			timing = append(append(append(append(timing, '"'), name...), '"', ':'), v...)
		}
	}
	return append(timing, '}'), action
}

// usualTiming is how many bytes most timings take, or fewer.
const usualTiming = 256

// readTimingText reads what says when a job runs, nil when that cannot be done.
func readTimingText(text string) *Definition {
	v, err := document.Parse([]byte(text))
	if err != nil {
		return nil
	}
	reader := document.NewReader()
	reader.Stored, reader.Trusted = true, true
	object := reader.Object(v, "")
	d := &Definition{}
	d.readTiming(object, &Reading{stored: true, trusted: true})
	d.readPolicies(object)
	object.Done()
	if reader.Err() != nil {
		return nil
	}
	schedule := text
	if object.Has("jitter") {
		schedule = v.Only(scheduleMembers...).String()
	}
	return d.timing(schedule)
}

// timing is the part of a definition that says when a job runs.
func (d *Definition) timing(schedule string) *Definition {
	return &Definition{Timing: d.Timing, Jitter: d.Jitter, scheduleText: schedule}
}

// definition returns the one of outlines with a timing, of which it knows the text, and a target. read makes the timing,
// unless there is one of that text already; nil when it cannot.
func (o *Outliner) definition(text []byte, target string, read func(text string) *Definition) *Definition {
	if o.timings == nil {
		o.timings, o.defs = map[string]*Definition{}, map[outlined]*Definition{}
	}
	timing := o.timings[string(text)]
	if timing == nil {
		text := string(text)
		if timing = read(text); timing == nil {
			return nil
		}
		o.timings[text] = timing
	}
	key := outlined{timing, target}
	def := o.defs[key]
	if def == nil {
		next := *timing
		next.Action = ActionSpec{Run: onlyTarget(target)}
		def = &next
		o.defs[key] = def
	}
	return def
}

// Job returns a job that plans what the outline's does. It cannot be run or stored, and a schedule that is a text is not
// compiled yet.
func (o *Outline) Job() (*Job, error) {
	j := &Job{Key: o.Key, State: o.State, UID: o.uid, Anchor: o.anchor, PausedUntil: o.paused, Def: o.def}
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
