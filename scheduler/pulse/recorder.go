package pulse

import (
	"sync"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// Recorder counts the records of a process. It keeps the minutes of the present hour and of the one before. The zero value
// is ready, and may be used by any number of goroutines.
type Recorder struct {
	mu       sync.Mutex
	hours    [2]hour // by their number, modulo two
	targets  targets
	failures failures
}

// hour is one hour of minutes.
type hour struct {
	number  Hour
	minutes [60]Minute
	changed bool // since it was last taken
}

// Hour is an hour, counted since 1970.
type Hour int64

// HourOf returns the hour of a time.
func HourOf(t time.Time) Hour { return Hour(floor(t.Unix(), 3600)) }

// Start returns when the hour begins.
func (h Hour) Start() time.Time { return time.Unix(int64(h)*3600, 0).UTC() }

// Record counts a record that was just stored. It does not block.
func (r *Recorder) Record(rec *scheduler.Record) { r.Add(rec, time.Now()) }

// Add counts a record at a time: for the minute in which what it tells of ended. Where that is not kept any more, as after
// the store was away for long, or is not yet there, the present minute has it.
func (r *Recorder) Add(rec *scheduler.Record, now time.Time) {
	at := when(rec)
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
	case scheduler.OutcomeCompleted, scheduler.OutcomeFailed:
		r.targets.add(rec, now)
	case scheduler.OutcomeFaulted:
		r.failures.add(rec)
	case scheduler.OutcomeSkipped, scheduler.OutcomePostponed, scheduler.NeverRan:
	}
}

// hour returns an hour that is kept, and forgets the one whose place it takes.
func (r *Recorder) hour(number Hour) *hour {
	h := &r.hours[number&1]
	if h.number < number {
		*h = hour{number: number}
	}
	return h
}

// Changed calls f for each hour in which something was counted since the last call, written by [Recorder.Hour]'s form. When
// f returns false, it is called again the next time.
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

// Hours calls f for each hour that is kept, written as [Board.AddHour] reads it.
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

// Targets returns what attempts at targets came to in the last five to ten minutes: of those that are in trouble, most
// troubled first, so many at most.
func (r *Recorder) Targets(now time.Time, most int) []Target {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.targets.worst(now, most)
}

// floor divides and rounds down.
func floor(n, by int64) int64 {
	q := n / by
	if n%by < 0 {
		q--
	}
	return q
}
