package stats

import (
	"sync"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// Recorder counts the records of a process. It keeps the minutes of the current and the previous hour. It is safe for
// concurrent use. The zero value is ready for use.
type Recorder struct {
	mu      sync.Mutex
	hours   [2]hour // by number modulo two
	targets targets
	groups  groups
}

// hour holds the minutes of an hour.
type hour struct {
	number  Hour
	minutes [60]Minute
	changed bool // since the last Changed
}

// Hour is the number of hours since 1970.
type Hour int64

// HourOf returns the hour of a time.
func HourOf(t time.Time) Hour { return Hour(t.Truncate(time.Hour).Unix() / 3600) }

// Start returns the start of the hour.
func (h Hour) Start() time.Time { return time.Unix(int64(h)*3600, 0).UTC() }

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
	h := r.hour(HourOf(now))
	if !at.After(now) {
		if of := &r.hours[HourOf(at)&1]; of.number == HourOf(at) || HourOf(at) == h.number-1 {
			h = r.hour(HourOf(at))
		}
	}
	if h.number != HourOf(at) {
		at = now
	}
	h.minutes[at.Unix()/60%60].count(rec)
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

// hour returns a kept hour, and replaces an older one if necessary.
func (r *Recorder) hour(number Hour) *hour {
	h := &r.hours[number&1]
	if h.number < number {
		*h = hour{number: number}
	}
	return h
}

// Changed calls f with each encoded hour that has changed since the last call. If f returns false, the next call
// repeats the hour.
func (r *Recorder) Changed(f func(number Hour, data []byte) bool) {
	for i := range r.hours {
		r.mu.Lock()
		number, changed := r.hours[i].number, r.hours[i].changed
		var data []byte
		if changed {
			data = r.hours[i].encode()
			r.hours[i].changed = false
		}
		r.mu.Unlock()
		if changed && !f(number, data) {
			r.mu.Lock()
			r.hours[i].changed = true
			r.mu.Unlock()
		}
	}
}

// Hours calls f with each kept hour, encoded for [Board.AddHour].
func (r *Recorder) Hours(f func(number Hour, data []byte)) {
	for i := range r.hours {
		r.mu.Lock()
		number, data := r.hours[i].number, r.hours[i].encode()
		r.mu.Unlock()
		if number != 0 {
			f(number, data)
		}
	}
}

// Targets returns the most troubled targets of the last five to ten minutes, worst first, up to most.
func (r *Recorder) Targets(now time.Time, most int) []Target {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.targets.worst(now, most)
}
