package scheduler

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler/expression"
)

// How an event affects a job. The effect on a key is a function of the event and of the key's waiting baton:
//
//	              no baton waits         a baton waits that         a baton waits without
//	              for the key            holds the event            the event
//	no delay      fires a run            –                          –
//	delay, key    arms                   nothing                    replaces it
//	debounce      arms                   nothing                    later, at most max after the first
//	batch         arms                   nothing                    adds; fires at size
//	require all   arms                   nothing                    adds; fires if all have arrived
//	rateLimit     counts, fires a run    fires a run                counts and fires, up to the limit
//	throttle      counts, fires a run    fires a run                counts and fires; beyond the limit, in a later period
//	unless        notes the cancellation records the cancellation   cancels it
//
// A run without a key has a separate slot, which the time of the event names. A key has one slot ([KeySlot]); when
// its baton fires, a worker moves it to the slot of the run. A spent baton in the slot starts no run: it counts runs, or
// notes a cancellation for a moment, because events may be matched in another order than they were stored.

// Match is the answer of a job to an event, before the state of its key is known.
type Match struct {
	Verdict  MatchVerdict
	Key      string    // what the event is about
	Listener int       // index of the listener that selects it; -1: a job that starts this one
	Due      time.Time // of the run: its nominal time, or later by delay
	Why      string    // Ignores, Refuses: the reason, for people
}

// MatchVerdict states whether an event affects a job.
type MatchVerdict uint8

// The verdicts on an event.
const (
	Ignores MatchVerdict = iota // the job does not run
	Matches                     // the job runs, maybe later and with other events
	Cancels                     // a waiting run of the key is canceled
	Refuses                     // an expression cannot be evaluated, or the chain is too long: record that the run is skipped
)

// Match decides whether e starts a run of j.
func (j *Job) Match(e *Event) Match {
	switch {
	case j.Def.Trigger == nil && !e.starts(j.Key):
		return Match{Why: "the job has no trigger"}
	case !e.Time.Before(j.trigger().End):
		return Match{Why: "the trigger has ended (endTime)"}
	case j.State != Enabled && (j.State != Completed || !j.OnlyEvents()): // at the end of its trigger, and e is older
		return Match{Why: "the job is " + string(j.State)}
	case e.Time.Before(j.Created):
		return Match{Why: "the event is older than the job"}
	}
	return j.matchAny(e)
}

// matchAny is Match for an enabled job and an event of any age.
func (j *Job) matchAny(e *Event) Match {
	t, most := j.trigger(), MaxChain
	if t.MaxDepth > 0 {
		most = t.MaxDepth
	}
	if e.Upstream != nil && e.Upstream.Depth+1 > most {
		why := fmt.Sprintf("%d jobs have started each other, at most %d may (maxDepth)", e.Upstream.Depth+1, most)
		return Match{Verdict: Refuses, Why: why}
	}
	m := Match{Why: "no listener of the job selects it"}
	in := e.Input(j)
	for i := range t.On {
		switch l := j.Evaluate(i, e, in); {
		case l.Err != nil:
			return Match{Verdict: Refuses, Why: l.Err.Error()}
		case l.Selects && !l.Filter:
			m.Why = strings.TrimSuffix("filter was false: "+t.On[i].Filter.Explain(in), ": ")
		case l.Selects:
			m.Listener, m.Key = i, l.Key
			return t.match(m, e)
		}
	}
	switch {
	case !e.starts(j.Key):
		return m
	case t.Within > 0:
		why := fmt.Sprintf("trigger.require: all: %s starts the job by onSuccess or onFailure, and is not in trigger.on", e.Upstream.Name)
		return Match{Verdict: Refuses, Why: why}
	}
	m.Listener = -1
	return t.match(m, e)
}

// trigger returns the trigger of j; the zero trigger without one: other jobs may start j nevertheless.
func (j *Job) trigger() *Trigger {
	if j.Def.Trigger == nil {
		return &Trigger{End: EndOfTime}
	}
	return j.Def.Trigger
}

// Recalls reports whether the match of e depends on how the upstream job's occurrence before it has ended.
func (j *Job) Recalls(e *Event) bool {
	return e.Upstream != nil && e.Upstream.Outcome == OutcomeCompleted && slices.ContainsFunc(j.trigger().On, func(l Listener) bool {
		return l.upstream(j.Key) == e.Upstream.Job && slices.Contains(l.Outcome, OutcomeRecovered)
	})
}

// Evaluation is the evaluation of a listener for an event.
type Evaluation struct {
	Selects bool   // apart from the filter; otherwise the rest is zero
	Filter  bool   // the value of its filter; true without one
	Key     string // if the filter is true
	Err     error  // an expression that cannot be evaluated, with its path
}

// Evaluate evaluates a listener of j, which has a trigger, for an event and its input.
func (j *Job) Evaluate(listener int, e *Event, in expression.Input) (v Evaluation) {
	l := &j.Def.Trigger.On[listener]
	if !l.selects(j.Key, e) {
		return v
	}
	v.Selects, v.Filter = true, true
	path := "filter"
	if l.Filter != nil {
		v.Filter, v.Err = l.Filter.Bool(in)
	}
	if l.Key != nil && v.Filter && v.Err == nil {
		path = "key"
		v.Key, v.Err = l.Key.Text(in)
	}
	if v.Err != nil {
		v.Err = fmt.Errorf("trigger.on[%d].%s: %w", listener, path, v.Err)
	}
	return v
}

// match completes m for an event that a listener selects.
func (t *Trigger) match(m Match, e *Event) Match {
	m.Verdict, m.Why, m.Due = Matches, "", e.instant().Add(t.Delay)
	in := e.Input(nil)
	if t.Unless != nil {
		switch cancels, err := t.Unless.Bool(in); {
		case err != nil:
			return Match{Verdict: Refuses, Why: fmt.Sprintf("trigger.unless: %v", err)}
		case cancels:
			m.Verdict = Cancels
			return m
		}
	}
	if t.DelayUntil != nil {
		due, err := t.DelayUntil.Instant(in)
		switch {
		case err != nil:
			return Match{Verdict: Refuses, Why: fmt.Sprintf("trigger.delay: %v", err)}
		case due.Year() > lastYear || due.Sub(e.Time) > horizon:
			return Match{Verdict: Refuses, Why: "trigger.delay: " + due.Format(time.RFC3339) + " is too far in the future"}
		case due.After(e.Time):
			m.Due = due
		}
	}
	return m
}

// selects reports whether l selects e for the job k, apart from the filter.
func (l *Listener) selects(k Key, e *Event) bool {
	if e.Upstream != nil {
		return l.upstream(k) == e.Upstream.Job && slices.ContainsFunc(l.Outcome, e.Upstream.is)
	}
	return l.topic(k) == e.Topic
}

// is reports whether u has an outcome of a listener.
func (u *Upstream) is(o Outcome) bool { return u.Outcome == o || u.Recovered && o == OutcomeRecovered }

// Keyed reports whether the events of a key share a waiting baton.
func (j *Job) Keyed() bool {
	t := j.trigger()
	if t.collects() || t.LimitRuns > 0 || t.Unless != nil {
		return true
	}
	hasKey := slices.ContainsFunc(t.On, func(l Listener) bool { return l.Key != nil })
	return hasKey && (t.Delay > 0 || t.DelayUntil != nil)
}

// Slot returns the last subject token of the baton in which the event of a match waits, or is counted.
func (j *Job) Slot(m Match) string {
	if j.trigger().Counts {
		return KeySlot("")
	}
	return KeySlot(m.Key)
}

// KeySlot returns the last subject token of the baton that waits for a key.
func KeySlot(key string) string { return keySlotPrefix + keyHash(key) }

func keyHash(key string) string {
	sum := sha256.Sum256([]byte(key))
	return strings.ToLower(base32.HexEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:15]))
}

// keySlotPrefix distinguishes the slot of a key from those of runs.
const keySlotPrefix = "key-"

// Reaction is the effect of a matching event on the slot of its run or key.
type Reaction struct {
	Effect Effect
	Baton  Baton
	At     time.Time // when the server fires it; zero: by [Job.ArmAt]
	Due    time.Time // Allow: of the run
	Stored bool      // the slot has the baton
}

// Effect is what happens to a slot.
type Effect uint8

// The effects.
const (
	NoEffect Effect = iota // the slot already holds the event
	Start                  // fire the baton, in place of the waiting one if there is one
	Arm                    // store the baton, which waits, in place of the waiting one if there is one
	Flush                  // fire the waiting baton, then match the event again
	Allow                  // store the baton, which counts runs, in place of the waiting one; then start a run of the event
	Limit                  // record that the event starts no run
	Withdraw               // store the baton, which notes a cancellation, in place of the waiting one; record the canceled run
	Canceled               // record the run of the event, which a later event has canceled
)

// noted is how long a cancellation is noted. Events that are published in order are matched in order after that.
const noted = time.Minute

// React decides what a matching event does to a slot. waiting is the baton of j that waits in it, nil for none.
func (j *Job) React(e *Event, m Match, waiting *Baton, now time.Time) (Reaction, error) {
	t := j.trigger()
	limits := t.LimitRuns > 0
	if waiting != nil && waiting.Spent && t.outdates(waiting, j.ScheduleGen) {
		waiting = nil
	}
	if t.Counts {
		m.Key = ""
	}
	switch {
	case waiting != nil && limits && !waiting.Spent: // likewise, and its run must start
		return Reaction{Effect: Flush, Baton: *waiting}, nil
	case limits:
		return j.limit(e, m, waiting, now), nil
	case m.Verdict == Cancels:
		return j.withdraw(e, m, waiting, now), nil
	case waiting != nil && waiting.Spent && e.instant().Before(waiting.CanceledAt):
		b, err := j.Single(e, m)
		return Reaction{Effect: Canceled, Baton: b}, err
	case waiting != nil && waiting.Spent:
		return j.join(e, m, nil, now)
	case waiting != nil && waiting.Cause.Holds(e):
		return Reaction{}, nil
	case waiting != nil && !t.collects() && e.instant().Before(waiting.Nominal):
		return Reaction{}, nil // a later event has replaced it
	}
	return j.join(e, m, waiting, now)
}

// outdates reports whether b, which is spent, is of the trigger before an edit.
func (t *Trigger) outdates(b *Baton, schedule int) bool {
	return b.CanceledAt.IsZero() != (t.LimitRuns > 0) || t.Counts && b.Schedule != schedule
}

// join lets the run of e wait, with the events of the run that waits for its key, or starts it.
func (j *Job) join(e *Event, m Match, waiting *Baton, now time.Time) (Reaction, error) {
	b, err := j.Single(e, m)
	switch {
	case err != nil:
		return Reaction{}, err
	case j.trigger().collects():
		b, err = j.trigger().collect(b, e, m, waiting, now)
	case waiting != nil:
		b.Cause = waiting.Cause.with(e)
	}
	b.Keyed = j.Keyed()
	r := Reaction{Effect: Arm, Baton: b}
	switch {
	case !b.Due.After(now):
		r.Effect = Start
	case b.Keyed:
		r.At = b.Due // not earlier: until then, an event may replace it
	}
	return r, err
}

// withdraw cancels the run that waits for the key of e, unless it is of later events.
func (j *Job) withdraw(e *Event, m Match, waiting *Baton, now time.Time) Reaction {
	b, r := j.triggered(e, m), Reaction{Effect: Arm}
	switch {
	case waiting == nil:
	case waiting.Spent && waiting.Cause.Holds(e) && waiting.Cause.Count > 1: // canceled, and perhaps not recorded
		return Reaction{Effect: Withdraw, Baton: *waiting, Stored: true}
	case waiting.Spent && !e.instant().After(waiting.CanceledAt), e.instant().Before(waiting.Nominal):
		return Reaction{}
	case !waiting.Spent:
		b, r.Effect = *waiting, Withdraw
		b.Cause, b.Events = waiting.Cause.with(e), nil
	}
	b.Keyed, b.Spent, b.CanceledAt = true, true, e.instant()
	b.Due = Later(b.CanceledAt.Add(noted), now.Add(backlog))
	r.Baton, r.At = b, b.Due
	return r
}

// limit counts the runs of a key in a baton that waits for the end of the period.
func (j *Job) limit(e *Event, m Match, waiting *Baton, now time.Time) Reaction {
	t, b := j.trigger(), j.triggered(e, m)
	switch {
	case waiting == nil:
	case waiting.Cause.Holds(e):
		return Reaction{Effect: Allow, Baton: *waiting, Stored: true, Due: Later(m.Due, t.periodOf(waiting.Cause, 0))}
	case !e.Time.Before(t.periodOf(waiting.Cause, 1)): // a new count
	case waiting.Cause.Count >= t.LimitRuns && t.Once:
		return Reaction{}
	case waiting.Cause.Count >= t.mostRuns():
		return Reaction{Effect: Limit}
	default:
		b.Nominal, b.Cause = waiting.Nominal, waiting.Cause.with(e)
	}
	b.Keyed, b.Spent, b.Due = true, true, Later(t.periodOf(b.Cause, 1), now.Add(backlog))
	return Reaction{Effect: Allow, Baton: b, At: b.Due, Due: Later(m.Due, t.periodOf(b.Cause, 0))}
}

// periodOf returns the begin of the period of the last run that c counts, or of one after it. Only a throttle has several.
func (t *Trigger) periodOf(c *Cause, next int) time.Time {
	if t.Throttle {
		next += (c.Count - 1) / t.LimitRuns
	}
	return c.Since.Add(time.Duration(next) * t.LimitPeriod)
}

// mostRuns is the number of runs after which events start none. With a throttle, runs wait at most maxEventDelay.
func (t *Trigger) mostRuns() int {
	if t.Throttle {
		return t.LimitRuns * (1 + int(maxEventDelay/t.LimitPeriod))
	}
	return t.LimitRuns
}

// UsesUp reports whether the run that b counts is the last one of a job that only events start.
func (j *Job) UsesUp(b *Baton) bool {
	t := j.trigger()
	return t.Counts && b != nil && b.Spent && b.Schedule == j.ScheduleGen && b.Cause.Count >= t.LimitRuns && j.OnlyEvents()
}

// UsedUp reports whether j has ended because events have started all of its runs.
func (j *Job) UsedUp() bool {
	t := j.trigger()
	return t.Counts && j.State == Completed && j.Progress.Runs >= t.LimitRuns
}

// EndTrigger returns b, the waiting baton of j, as due: events have started all of its runs. It returns false if b is
// not the baton that waits for the end of the trigger.
func (j *Job) EndTrigger(b Baton, now time.Time) (Baton, bool) {
	if !b.BelongsTo(j) || !j.Never(b.Nominal) || b.Runs > 0 {
		return b, false
	}
	b.Due, b.Runs = now.UTC(), j.trigger().LimitRuns
	return b, true
}

// backlog is the least time that a baton waits for further events: those of a backlog may be older than their period.
const backlog = time.Second

// Single returns the baton of a run of one event.
func (j *Job) Single(e *Event, m Match) (Baton, error) {
	b := j.triggered(e, m)
	events, err := json.Marshal([]*Event{e})
	b.Events = events
	return b, err
}

// collects reports whether several events of a key start one run.
func (t *Trigger) collects() bool { return t.Debounce > 0 || t.Batch > 0 || t.Within > 0 }

// collect adds the event of b, a run of one event, to the events that wait for its key. waiting may be nil.
func (t *Trigger) collect(b Baton, e *Event, m Match, waiting *Baton, now time.Time) (Baton, error) {
	var before, one []json.RawMessage
	err := json.Unmarshal(b.Events, &one)
	least := now.Add(min(backlog, t.Debounce+t.BatchWait+t.Within)) // the period may have passed
	if waiting != nil {
		err = errors.Join(err, json.Unmarshal(waiting.Events, &before))
		b.Nominal, b.Cause, b.Arrived = waiting.Nominal, waiting.Cause.with(e), slices.Clone(waiting.Arrived)
		least = waiting.Due
	}
	if err != nil {
		return b, fmt.Errorf("events of the waiting run: %w", err)
	}
	since := b.Cause.Since
	switch {
	case t.Debounce > 0:
		if waiting != nil && e.Time.Add(t.Debounce).Before(waiting.Due) { // late
			one = before
		}
		b.Due = Later(Earlier(e.Time.Add(t.Debounce), since.Add(t.DebounceMax)), least)
	case t.Batch > 0:
		one = append(before, one...)
		b.Due = Later(since.Add(t.BatchWait), least)
	default:
		label := t.On[m.Listener].label()
		if i := slices.Index(b.Arrived, label); i >= 0 && i < len(before) {
			before[i], one = one[0], before // the last event of each listener
		} else {
			b.Arrived, one = append(b.Arrived, label), append(before, one...)
		}
		b.Due = Later(since.Add(t.Within), least)
	}
	b.Events, _ = json.Marshal(one) //nolint:errchkjson // it was decoded
	if t.Batch > 0 && (b.Cause.Count >= t.Batch || len(b.Events) >= maxBatchSize) || t.Within > 0 && t.missing(&b) == nil {
		b.Due = now
	}
	return b, nil
}

// label identifies the listener in the baton that waits for one event of each.
func (l *Listener) label() string {
	label := l.Source + l.Subject + l.Job // one of them
	if l.Filter != nil {
		label += " " + l.Filter.String()
	}
	return label
}

// missing returns the listeners whose events have not come.
func (t *Trigger) missing(b *Baton) (all []string) {
	for i := range t.On {
		l := &t.On[i]
		if !slices.Contains(b.Arrived, l.label()) {
			all = append(all, l.Source+l.Subject+l.Job)
		}
	}
	return all
}

// Incomplete returns the listeners of a trigger with require all that b, whose time is up, has not heard; nil if it runs.
func (j *Job) Incomplete(b *Baton) (missing []string) {
	t := j.trigger()
	if !b.Keyed || t.Within == 0 || t.RunPartial {
		return nil
	}
	return t.missing(b)
}

// maxBatchSize is the size in bytes at which a batch of events is complete.
const maxBatchSize = 256 << 10

// triggered returns the baton of the run that e starts. The time when the event was stored is its nominal time.
func (j *Job) triggered(e *Event, m Match) Baton {
	c := &Cause{
		Event: e.Topic.String(), ID: e.ID, Key: m.Key, Sequence: e.Sequence, Count: 1, Since: e.Time,
	}
	if e.Upstream != nil {
		c.Upstream, c.Depth = e.Upstream.Occurrence, e.Upstream.Depth+1
	}
	return Baton{
		Kind: Triggered, UID: j.Incarnation(), Revision: j.Revision, Schedule: j.ScheduleGen,
		Nominal: e.instant(), Due: m.Due.UTC(), Cause: c,
	}
}
