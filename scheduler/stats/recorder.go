package stats

import (
	"sync"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// Recorder counts the records of a process. It keeps the minutes of the current and the previous hour, and the hours of
// this day and the previous one. It is safe for concurrent use. The zero value is ready for use.
type Recorder struct {
	mu      sync.Mutex
	hours   [2]counted // by number modulo two
	days    [2]counted // by number modulo two; see sum
	targets targets
	groups  groups
}

// Record counts a record that was just stored. It does not block.
func (r *Recorder) Record(rec *scheduler.Record) { r.Add(rec, time.Now()) }

// Add counts a record at a time, in the minute in which its event ended. If that minute is in the future or no longer
// kept, for example after a long outage of the store, the current minute counts it.
func (r *Recorder) Add(rec *scheduler.Record, now time.Time) {
	at := when(rec)
	var c cause
	if rec.Outcome == scheduler.OutcomeFailed || rec.Outcome == scheduler.OutcomeFaulted {
		c = causeOf(rec) // of a long text it takes two microseconds, which others do not wait for
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	h, own := kept(&r.hours, HourOf(now)), HourOf(at)
	if !at.After(now) && (r.hours[own.Number&1].Period == own || own.Number == h.Number-1) {
		h = kept(&r.hours, own)
	}
	if h.Period != own {
		at = now
	}
	h.steps[at.Unix()/60%60].count(rec)
	h.changed = true
	switch rec.Outcome {
	case scheduler.OutcomeCompleted:
		r.targets.add(rec, now)
		r.groups.answer(rec, at)
	case scheduler.OutcomeFailed:
		r.targets.add(rec, now)
		r.groups.add(rec, c, at)
	case scheduler.OutcomeFaulted:
		r.groups.add(rec, c, at)
	case scheduler.OutcomeSkipped, scheduler.OutcomePostponed, scheduler.NeverRan:
	}
}

// kept returns a kept period, and replaces an older one if necessary.
func kept(all *[2]counted, p Period) *counted {
	of := &all[p.Number&1]
	if of.Number < p.Number {
		*of = counted{Period: p}
	}
	return of
}

// sum adds up the kept hours, as steps of their days.
func (r *Recorder) sum() {
	for i := range r.hours {
		h := &r.hours[i]
		if h.Number == 0 {
			continue
		}
		day := kept(&r.days, Period{Day, h.Number / 24})
		if day.Number != h.Number/24 {
			continue
		}
		step := &day.steps[h.Number%24]
		*step = Minute{}
		for m := range h.steps {
			step.Add(&h.steps[m])
		}
		day.changed = day.changed || h.changed
	}
}

// Changed calls f with each encoded period that has changed since the last call. If f returns false, the next call
// repeats the period.
func (r *Recorder) Changed(f func(p Period, data []byte) bool) {
	for _, one := range r.encoded(true) {
		if !f(one.Period, one.data) {
			r.mu.Lock()
			one.of.changed = true
			r.mu.Unlock()
		}
	}
}

// Periods calls f with each kept period, encoded for [Board.AddPeriod].
func (r *Recorder) Periods(f func(p Period, data []byte)) {
	for _, one := range r.encoded(false) {
		f(one.Period, one.data)
	}
}

// encoded is a kept period and its current data.
type encoded struct {
	published

	of *counted
}

// encoded returns the kept periods, or those that have changed since the last call for these.
func (r *Recorder) encoded(changed bool) (all []encoded) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sum()
	for i := range 4 {
		of := &[]*[2]counted{&r.hours, &r.days}[i/2][i%2]
		if of.Number == 0 || changed && !of.changed {
			continue
		}
		all = append(all, encoded{published{of.Period, of.encode()}, of})
		of.changed = of.changed && !changed
	}
	return all
}

// Targets returns the most troubled targets of the last five to ten minutes, worst first, up to most.
func (r *Recorder) Targets(now time.Time, most int) []Target {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.targets.worst(now, most)
}
