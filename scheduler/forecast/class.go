package forecast

import (
	"encoding/binary"
	"math"
	"reflect"
	"slices"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/spec"
)

// class are jobs that run in the same minutes, equally often in each.
type class struct {
	entries []entry // in order
	runs    int     // of one job
	gap     int     // the least number of minutes between two runs of a job
	jobs    []int32 // places in Forecast.jobs
}

// entry is a minute of the forecast, and how often a job runs in it.
type entry struct{ minute, runs uint16 }

// in is how often a job of the class runs in a minute.
func (c *class) in(minute int) int {
	at, ok := slices.BinarySearchFunc(c.entries, minute, func(e entry, m int) int { return int(e.minute) - m })
	if !ok {
		return 0
	}
	return int(c.entries[at].runs)
}

// tally collects the runs of one job.
type tally struct {
	counts  []uint16 // by minute
	touched []uint16 // minutes that have any
	runs    int
	steps   int // runs computed, over all jobs
}

func (t *tally) add(minute, n int) {
	t.steps++
	if t.counts[minute] == 0 {
		t.touched = append(t.touched, uint16(minute))
	}
	t.counts[minute] = uint16(min(int(t.counts[minute])+n, math.MaxUint16))
	t.runs += n
}

// entries empties the tally.
func (t *tally) entries() (entries []entry, runs int) {
	slices.Sort(t.touched)
	entries = make([]entry, len(t.touched))
	for i, m := range t.touched {
		entries[i] = entry{m, t.counts[m]}
		t.counts[m] = 0
	}
	runs = t.runs
	t.touched, t.runs = t.touched[:0], 0
	return entries, runs
}

// take creates a class from the tally.
func (f *Forecast) take() *class {
	c := &class{gap: f.minutes}
	c.entries, c.runs = f.scratch.entries()
	for i, e := range c.entries {
		if e.runs > 1 {
			c.gap = 0
		} else if i > 0 {
			c.gap = min(c.gap, int(e.minute-c.entries[i-1].minute))
		}
	}
	f.classes = append(f.classes, c)
	return c
}

// once is the class of a job that runs at an instant, and never again.
func (f *Forecast) once(at time.Time) *class {
	if at.Before(f.to) {
		f.scratch.add(f.minute(at), 1)
	}
	return f.take()
}

// minute returns the index of the forecast minute that contains t.
func (f *Forecast) minute(t time.Time) int { return int(t.Unix()-f.from.Unix()) / 60 }

// step identifies a class of jobs with equal steps in UTC: the seconds between two runs, and the seconds until the
// first. If the step is a multiple of a minute, offset is truncated to the minute.
type step struct{ length, offset int64 }

// stepOf returns how far apart the runs of a job are, if all are equally far.
func (f *Forecast) stepOf(j *scheduler.Job) (time.Duration, bool) {
	r := j.Def.Timing.Recurrence
	if r == nil || r.Rule != nil || r.Frequency > spec.Week || !reflect.ValueOf(r.Schedule).IsZero() {
		return 0, false
	}
	if !r.End.IsZero() && r.End.Before(f.to) {
		return 0, false
	}
	by := r.Frequency.Times(max(r.Interval, 1))
	return by, by >= time.Second
}

// stepped is the class of jobs that recur in equal steps.
func (f *Forecast) stepped(plan *spec.Plan, start time.Time, by time.Duration) *class {
	first, ok := f.next(plan, start.Add(-1))
	if !ok {
		first = f.to
	}
	key := step{int64(by / time.Second), first.Unix() - f.from.Unix()}
	if key.length%60 == 0 {
		key.offset -= key.offset % 60
	}
	if c, ok := f.steps[key]; ok {
		return c
	}
	for at := key.offset; at < int64(f.minutes)*60; at += key.length {
		f.scratch.add(int(at/60), 1)
	}
	c := f.take()
	f.steps[key] = c
	return c
}

// looked is the number of minutes after which a search starts for a class that begins alike and has as many runs and
// the same last run. Only equal schedules agree in all three.
const looked = 32

// next is the run of a plan after an instant. The forecast notes that one takes too much work to find.
func (f *Forecast) next(plan *spec.Plan, after time.Time) (time.Time, bool) {
	t, ok := plan.Next(after)
	f.cut = f.cut || spec.GaveUp(t, ok)
	return t, ok
}

// walked is the class of a plan's runs from an instant on; limit is how many there are
// at most, -1 for no limit.
func (f *Forecast) walked(plan *spec.Plan, start time.Time, limit int) *class {
	often := plan.Interval() < time.Minute
	t, ok := f.next(plan, start.Add(-1))
	more := func() bool { return ok && t.Before(f.to) && limit != 0 }
	walk := func() { t, ok, limit = f.walk(plan, t, often, limit) }
	for steps := 0; more() && (steps < looked || limit > 0); steps++ {
		walk()
	}
	key := f.content()
	if more() {
		key = f.contentKey(plan, start)
	}
	c, known := f.patterns[key]
	if known {
		f.scratch.entries()
		return c
	}
	for more() {
		walk()
	}
	c = f.take()
	f.patterns[key] = c
	return c
}

// walk counts the run at t or, for a plan that may run several times a minute, the rest of the runs in that minute.
func (f *Forecast) walk(plan *spec.Plan, t time.Time, often bool, limit int) (next time.Time, ok bool, left int) {
	n, last := 1, t
	if often {
		last = f.from.Add(time.Duration(f.minute(t)+1)*time.Minute - 1)
		n = plan.Count(t, last)
	}
	if limit >= 0 {
		n = min(n, limit)
		limit -= n
	}
	f.scratch.add(f.minute(t), max(n, 1))
	next, ok = f.next(plan, last)
	return next, ok, limit
}

// content returns a map key for the content of the tally.
func (f *Forecast) content() string {
	slices.Sort(f.scratch.touched)
	text := make([]byte, 0, 4*len(f.scratch.touched))
	for _, m := range f.scratch.touched {
		text = binary.LittleEndian.AppendUint16(text, m)
		text = binary.LittleEndian.AppendUint16(text, f.scratch.counts[m])
	}
	return string(text)
}

// contentKey returns a map key for the content of the tally and the rest of a plan: its last run and its count.
func (f *Forecast) contentKey(plan *spec.Plan, start time.Time) string {
	end := f.to.Add(-1)
	last, _ := plan.Last(end)
	text := binary.LittleEndian.AppendUint64([]byte(f.content()), uint64(f.minute(last)))
	return string(append(binary.LittleEndian.AppendUint64(text, uint64(plan.Count(start, end))), 0))
}

// jitteredMost is for how many instants jitter is worked out, a second of work or so.
// Beyond, jobs count as if they ran on time.
const jitteredMost = 4_000_000

// spread is the class of a job with jitter, which is its own.
func (f *Forecast) spread(k scheduler.Key, plan *spec.Plan, start time.Time, width time.Duration, limit int) *class {
	if f.jittered >= jitteredMost {
		f.rough = true
		return f.walked(plan, start, limit)
	}
	if start.Equal(f.from) {
		start = start.Add(-width) // an earlier occurrence may run within the forecast, because of its jitter
	}
	t, ok := f.next(plan, start.Add(-1))
	for ; ok && t.Before(f.to) && limit != 0; limit-- {
		next, more := f.next(plan, t)
		share := width
		if more {
			share = min(share, next.Sub(t))
		}
		f.jittered++
		if due := scheduler.Jittered(k, t, share); !due.Before(f.from) && due.Before(f.to) {
			f.scratch.add(f.minute(due), 1)
		}
		t, ok = next, more
	}
	return f.take()
}
