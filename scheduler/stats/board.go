package stats

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
)

// Board combines the activity of several processes.
type Board struct {
	Now      time.Time
	Replicas []Report  // active processes, by name
	Running  []Running // longest-running attempts, at most [RunningMost]
	Targets  []Target  // most troubled targets, at most [TargetsMost]
	Groups   []Group   // failure groups of the last day
	Audit    *Audit    // the latest consistency check; nil: none
	Hour     Series    // the last 60 minutes
	Day      Series    // the last day in steps of ten minutes
	Last     Minute    // total of the last day, without Lateness
}

// Series is a sequence of time steps. The last step is incomplete.
type Series struct {
	Start time.Time
	Step  time.Duration
	Steps []Minute
}

// At returns the start of a step.
func (s *Series) At(i int) time.Time { return s.Start.Add(time.Duration(i) * s.Step) }

// The time ranges of a board.
const (
	minutesShown = 60
	dayStep      = 10 * time.Minute
	stepsShown   = 24 * 6

	// Kept is how long hours and failure groups remain useful after they are written.
	Kept = 25 * time.Hour

	// Present is how long a process counts as active after its last report.
	Present = 30 * time.Second
)

// NewBoard returns an empty board at a time.
func NewBoard(now time.Time) *Board {
	now = now.UTC()
	minute, ten := now.Truncate(time.Minute), now.Truncate(dayStep)
	return &Board{
		Now:  now,
		Hour: Series{minute.Add(-(minutesShown - 1) * time.Minute), time.Minute, make([]Minute, minutesShown)},
		Day:  Series{ten.Add(-(stepsShown - 1) * dayStep), dayStep, make([]Minute, stepsShown)},
	}
}

// AddHour adds the minutes of a process's hour that the board shows. It returns an error if data is damaged; the minutes
// before the damage count.
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

// AddReport adds the report of a process, unless it is too old or final.
func (b *Board) AddReport(r Report) {
	i := slices.IndexFunc(b.Replicas, func(known Report) bool { return known.ID == r.ID })
	switch {
	case i >= 0 && b.Replicas[i].At.Before(r.At):
		b.Replicas[i] = r
	case i < 0:
		b.Replicas = append(b.Replicas, r)
	}
}

// ReadReport decodes the output of [Report.Encode].
func ReadReport(data []byte) (r Report, err error) {
	err = json.Unmarshal(data, &r)
	return r, err
}

// Finish combines the reports of all processes.
func (b *Board) Finish() {
	b.mergeGroups()
	b.Audit = nil
	for _, r := range b.Replicas { // including checks of processes that have stopped
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

// Activity returns the board as the APIs have it.
func (b *Board) Activity() *v1.Activity {
	a := &v1.Activity{
		At: b.Now, Schedulers: len(b.Replicas), InFlight: b.InFlight(), Waiting: b.Waiting(),
		Recent: b.Hour.since(minutesShown - 2), Hour: b.Hour.since(0), Targets: []v1.ActivityTarget{},
	}
	for _, t := range b.Targets {
		a.Targets = append(a.Targets, v1.ActivityTarget{
			Target: t.Name, State: t.State, InFlight: t.InFlight, Waiting: t.Queued, Attempts: t.Attempts, Failed: t.Failed,
			Mean: scheduler.Seconds(t.Mean),
		})
	}
	return a
}

// since adds the steps from one on.
func (s *Series) since(step int) v1.ActivityCounts {
	var m Minute
	for i := range s.Steps[step:] {
		m.Add(&s.Steps[step+i])
	}
	half, _ := m.Lateness.Quantile(0.5)
	most, _ := m.Lateness.Quantile(0.99)
	return v1.ActivityCounts{
		Since: s.At(step), Completed: m.Completed, Faulted: m.Failed, Attempts: m.Attempts, FailedAttempts: m.Refused,
		Skipped: m.Skipped, Postponed: m.Postponed, LatenessP50: scheduler.Seconds(half), LatenessP99: scheduler.Seconds(most),
	}
}

// InFlight returns the number of running attempts in all processes.
func (b *Board) InFlight() (n int) {
	for _, r := range b.Replicas {
		n += r.InFlight
	}
	return n
}

// Waiting returns the number of due runs that wait for a slot in all processes.
func (b *Board) Waiting() (n int) {
	for _, r := range b.Replicas {
		n += r.Queued
	}
	return n
}
