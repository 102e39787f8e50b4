package stats

import (
	"cmp"
	"encoding/json"
	"slices"
	"sync"
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
	Last     Minute    // total of the last day, without Lateness

	periods []published

	mu   sync.Mutex
	made map[span]*Series // the results of Series
}

// published is the data of a period.
type published struct {
	Period

	data []byte
}

// span identifies a series.
type span struct {
	start time.Time
	step  time.Duration
	steps int
}

// Series is a sequence of time steps. The last step is incomplete.
type Series struct {
	Start time.Time
	Step  time.Duration
	Steps []Minute
}

// At returns the start of a step.
func (s *Series) At(i int) time.Time { return s.Start.Add(time.Duration(i) * s.Step) }

// Length returns the length of all steps.
func (s *Series) Length() time.Duration { return time.Duration(len(s.Steps)) * s.Step }

// The time ranges of a board.
const (
	minutesShown = 60

	// Kept is how long hours and failure groups remain useful after they are written, and MonthKept how long days do.
	Kept      = 25 * time.Hour
	MonthKept = 32 * 24 * time.Hour

	// Present is how long a process counts as active after its last report.
	Present = 30 * time.Second
)

// NewBoard returns an empty board at a time.
func NewBoard(now time.Time) *Board {
	now = now.UTC()
	first := now.Truncate(time.Minute).Add(-(minutesShown - 1) * time.Minute)
	return &Board{Now: now, Hour: Series{first, time.Minute, make([]Minute, minutesShown)}, made: map[span]*Series{}}
}

// AddPeriod adds the counts of a process in a period. It returns an error if an hour is damaged. The steps before the damage count.
func (b *Board) AddPeriod(p Period, data []byte) error {
	start := p.Start()
	if start.After(b.Now) || b.Now.Sub(start) > p.Lasts() {
		return nil
	}
	b.periods = append(b.periods, published{p, data})
	if p.Length == Day {
		return nil
	}
	yesterday := b.Now.Add(-24 * time.Hour)
	return decode(data, func(i int, m *Minute) {
		at := start.Add(time.Duration(i) * time.Minute)
		if at.After(yesterday) && !at.After(b.Now) {
			b.Last.tally(m)
		}
		b.Hour.add(at, m)
	})
}

// stepsMost limits the steps of a series; stepLengths are their lengths.
const stepsMost = 170

var stepLengths = []time.Duration{
	time.Minute, 5 * time.Minute, 10 * time.Minute, 30 * time.Minute, time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour, Day,
}

// Series returns the counts from one time to another, at most 30 days back, in at most 170 steps of a round length. Before
// the last 24 hours, the counts are known by hour only. Callers must not change the result.
func (b *Board) Series(from, to time.Time) *Series {
	from = scheduler.Later(from, b.Now.Add(-30*Day))
	if to.After(b.Now) {
		to = b.Now
	}
	old := from.Before(b.Now.Add(-24*time.Hour - time.Minute))
	var of span
	for _, of.step = range stepLengths {
		of.steps = max(1, int((to.Sub(from)+of.step-1)/of.step))
		if of.steps <= stepsMost && (!old || of.step >= time.Hour) {
			break
		}
	}
	of.start = to.Add(of.step - 1).Truncate(of.step).Add(-time.Duration(of.steps) * of.step)
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.made[of]
	if s != nil {
		return s
	}
	s = &Series{of.start, of.step, make([]Minute, of.steps)}
	for _, p := range b.periods {
		if (p.step() == time.Hour) == (of.step >= time.Hour) {
			_ = decode(p.data, func(i int, m *Minute) { s.add(p.Start().Add(time.Duration(i)*p.step()), m) }) // as in AddPeriod
		}
	}
	b.made[of] = s
	return s
}

func (s *Series) add(at time.Time, m *Minute) {
	if d := at.Sub(s.Start); d >= 0 && d < s.Length() {
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
