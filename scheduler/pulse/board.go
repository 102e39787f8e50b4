package pulse

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"
)

// Board is what several processes have told, together.
type Board struct {
	Now      time.Time
	Replicas []Report  // those that are there, by name
	Running  []Running // the longest attempts of all, [RunningMost] at most
	Targets  []Target  // the most troubled, [TargetsMost] at most
	Failures []Failure // the last of all, [FailuresMost] at most, the latest first
	Audit    *Audit    // the last of all; nil: there was none
	Hour     Series    // the last sixty minutes
	Day      Series    // the last day, by ten minutes
	Last     Minute    // all of the last day, but for the lateness
}

// Series are steps of time, one after the other. The last one is not over.
type Series struct {
	Start time.Time
	Step  time.Duration
	Steps []Minute
}

// At is when a step begins.
func (s *Series) At(i int) time.Time { return s.Start.Add(time.Duration(i) * s.Step) }

// The lengths of what a board shows.
const (
	minutesShown = 60
	dayStep      = 10 * time.Minute
	stepsShown   = 24 * 6

	// Kept is how long hours and what they have are of use after they were written.
	Kept = 25 * time.Hour

	// Present is how long a process counts as there after it has last said so.
	Present = 30 * time.Second
)

// NewBoard returns a board at a time, with nothing on it.
func NewBoard(now time.Time) *Board {
	now = now.UTC()
	minute, ten := now.Truncate(time.Minute), now.Truncate(dayStep)
	return &Board{
		Now:  now,
		Hour: Series{minute.Add(-(minutesShown - 1) * time.Minute), time.Minute, make([]Minute, minutesShown)},
		Day:  Series{ten.Add(-(stepsShown - 1) * dayStep), dayStep, make([]Minute, stepsShown)},
	}
}

// AddHour adds what a process has counted in an hour. What of it is not shown is left out. The error says that what
// follows in data cannot be read.
func (b *Board) AddHour(number Hour, data []byte) error {
	start := number.Start()
	if start.After(b.Now) || b.Now.Sub(start) > Kept {
		return nil
	}
	yesterday := b.Now.Add(-24 * time.Hour)
	return decode(data, func(i int, m *Minute) {
		at := start.Add(time.Duration(i) * time.Minute)
		if at.After(yesterday) && !at.After(b.Now) {
			b.Last.tally(m)
		}
		b.Hour.add(at, m)
		b.Day.add(at, m)
	})
}

func (s *Series) add(at time.Time, m *Minute) {
	if d := at.Sub(s.Start); d >= 0 && d < time.Duration(len(s.Steps))*s.Step {
		s.Steps[d/s.Step].Add(m)
	}
}

// AddReport adds what a process says of itself, unless that was long ago or it has stopped.
func (b *Board) AddReport(r Report) {
	i := slices.IndexFunc(b.Replicas, func(known Report) bool { return known.ID == r.ID })
	switch {
	case i >= 0 && b.Replicas[i].At.Before(r.At):
		b.Replicas[i] = r
	case i < 0:
		b.Replicas = append(b.Replicas, r)
	}
}

// ReadReport reads what [Report.Encode] writes.
func ReadReport(data []byte) (r Report, err error) {
	err = json.Unmarshal(data, &r)
	return r, err
}

// Finish puts together what all processes say.
func (b *Board) Finish() {
	b.boundFailures()
	b.Audit = nil
	for _, r := range b.Replicas { // those that have gone have had their audits, too
		if r.Audit != nil && (b.Audit == nil || r.Audit.At.After(b.Audit.At)) {
			b.Audit = r.Audit
		}
	}
	b.Replicas = slices.DeleteFunc(b.Replicas, func(r Report) bool { return r.Stopped || b.Now.Sub(r.At) > Present })
	slices.SortFunc(b.Replicas, func(x, y Report) int {
		return cmp.Or(cmp.Compare(x.Name, y.Name), x.Since.Compare(y.Since), cmp.Compare(x.ID, y.ID))
	})
	b.Running, b.Targets = nil, nil
	by := map[[2]string]Target{}
	for _, r := range b.Replicas {
		b.Running = append(b.Running, r.Running...)
		for _, t := range r.Targets {
			of := [2]string{t.Collection, t.Name}
			by[of] = merged(by[of], t)
		}
	}
	for _, t := range by {
		b.Targets = append(b.Targets, t)
	}
	all := Report{Running: b.Running, Targets: b.Targets}
	all.Bound()
	b.Running, b.Targets = all.Running, all.Targets
}

// InFlight is how many attempts all processes make.
func (b *Board) InFlight() (n int) {
	for _, r := range b.Replicas {
		n += r.InFlight
	}
	return n
}

// Waiting is how many due runs wait for a slot in all processes.
func (b *Board) Waiting() (n int) {
	for _, r := range b.Replicas {
		n += r.Queued
	}
	return n
}
