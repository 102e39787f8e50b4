package forecast

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Report describes the planned runs. Times are in UTC.
type Report struct {
	From time.Time `json:"from"`
	To   time.Time `json:"to"` // the first instant that is not looked at any more

	Jobs    int     `json:"jobs"` // that were counted
	Runs    int     `json:"runs"`
	Average float64 `json:"average"` // runs in a minute
	LeftOut LeftOut `json:"leftOut"`

	Peak      int   `json:"peak"`      // the most runs in a minute
	PerMinute []int `json:"perMinute"` // runs, from the first minute on

	Targets []Target `json:"targets"` // those with the highest peaks, the highest first
	Others  int      `json:"otherTargets"`
	Peaks   []Peak   `json:"peaks"` // the minutes with the most runs, the most first

	// Proposals are edits that lower the peak, in the order to apply them. PeakAfter is the expected peak after all of
	// them.
	Proposals []Proposal `json:"proposals"`
	PeakAfter int        `json:"peakAfter"`

	Notes []string `json:"notes"` // for people
}

// LeftOut are jobs that plan nothing, by why they do not.
type LeftOut struct {
	Disabled int `json:"disabled"`
	Closed   int `json:"collectionDisabled"`
	Ended    int `json:"ended"`
	Damaged  int `json:"damaged"` // the stored definition cannot be read
}

// Target counts the planned runs of a target.
type Target struct {
	Target    string    `json:"target"` // host and port
	Jobs      int       `json:"jobs"`
	Runs      int       `json:"runs"`
	Peak      int       `json:"peak"` // the most runs in a minute
	PeakAt    time.Time `json:"peakAt"`
	PerMinute []int     `json:"perMinute"`
}

// Peak is a minute with many runs.
type Peak struct {
	At      time.Time    `json:"at"`
	Runs    int          `json:"runs"`
	Jobs    int          `json:"jobs"`    // that run in it
	Targets []TargetRuns `json:"targets"` // those with the most runs
	Names   []string     `json:"names"`   // of some of the jobs, collection/job
}

// TargetRuns is how often a target is called in a minute.
type TargetRuns struct {
	Target string `json:"target"`
	Runs   int    `json:"runs"`
}

// The maximum number of entries in a report.
const (
	targetsTold     = 10
	peaksTold       = 10
	peakTargetsTold = 5
	namesTold       = 20
)

// Report returns the counts, without proposals.
func (f *Forecast) Report() *Report {
	r := &Report{
		From: f.from, To: f.to, Jobs: len(f.jobs), LeftOut: f.left, PerMinute: f.totals(), Peaks: []Peak{}, Proposals: []Proposal{},
		Notes: []string{},
	}
	for _, n := range r.PerMinute {
		r.Runs += n
		r.Peak = max(r.Peak, n)
	}
	r.Average, r.PeakAfter = float64(r.Runs)/float64(f.minutes), r.Peak
	r.Targets = f.busiest()
	r.Others = max(0, len(f.names)-len(r.Targets))
	for _, m := range highest(r.PerMinute, peaksTold) {
		r.Peaks = append(r.Peaks, f.peak(m, r.PerMinute[m]))
	}
	if n := f.left.Disabled + f.left.Closed; n > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("%d jobs are left out, as they or their collections are disabled", n))
	}
	if f.left.Damaged > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("%d jobs are left out, as they cannot be read", f.left.Damaged))
	}
	if f.rough {
		r.Notes = append(r.Notes, fmt.Sprintf("jitter was worked out for %d runs; the others count as if they ran on time", f.jittered))
	}
	if f.cut {
		r.Notes = append(r.Notes, "some runs are missing, as it would take too much work to find them")
	}
	return r
}

// totals are the runs of all jobs by minute.
func (f *Forecast) totals() []int {
	totals := make([]int, f.minutes)
	for _, c := range f.classes {
		add(totals, c, len(c.jobs))
	}
	return totals
}

// add counts the runs of n jobs of a class.
func add(counts []int, c *class, n int) {
	for _, e := range c.entries {
		counts[e.minute] += n * int(e.runs)
	}
}

// highest are the n minutes with the most runs, the most first.
func highest(counts []int, n int) []int {
	var minutes []int
	for m, c := range counts {
		if c > 0 {
			minutes = append(minutes, m)
		}
	}
	slices.SortStableFunc(minutes, func(a, b int) int { return cmp.Compare(counts[b], counts[a]) })
	return minutes[:min(n, len(minutes))]
}

// part are jobs of a class that have the same target.
type part struct {
	class *class
	jobs  int
}

// busiest are the targets with the highest peaks.
func (f *Forecast) busiest() []Target {
	parts := make([][]part, len(f.names))
	for _, c := range f.classes {
		for _, at := range c.jobs {
			of := &parts[f.jobs[at].target]
			if n := len(*of); n > 0 && (*of)[n-1].class == c {
				(*of)[n-1].jobs++
			} else {
				*of = append(*of, part{c, 1})
			}
		}
	}
	targets := make([]Target, len(f.names))
	counts := make([]int, f.minutes)
	for i, name := range f.names {
		targets[i] = f.target(name, parts[i], counts)
	}
	order := make([]int, len(targets))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(targets[b].Peak, targets[a].Peak), cmp.Compare(targets[b].Runs, targets[a].Runs),
			cmp.Compare(targets[a].Target, targets[b].Target))
	})
	told := make([]Target, 0, targetsTold)
	for _, i := range order[:min(targetsTold, len(order))] {
		t := targets[i]
		t.PerMinute = make([]int, f.minutes)
		for _, p := range parts[i] {
			add(t.PerMinute, p.class, p.jobs)
		}
		told = append(told, t)
	}
	return told
}

// target counts the planned runs of a target. counts is a scratch buffer, zero before and after the call.
func (f *Forecast) target(name string, parts []part, counts []int) Target {
	t := Target{Target: name}
	for _, p := range parts {
		t.Jobs += p.jobs
		t.Runs += p.jobs * p.class.runs
		for _, e := range p.class.entries {
			counts[e.minute] += p.jobs * int(e.runs)
			if n := counts[e.minute]; n > t.Peak {
				t.Peak, t.PeakAt = n, f.at(int(e.minute))
			}
		}
	}
	for _, p := range parts {
		for _, e := range p.class.entries {
			counts[e.minute] = 0
		}
	}
	return t
}

// at is when a minute begins.
func (f *Forecast) at(minute int) time.Time { return f.from.Add(time.Duration(minute) * time.Minute) }

// peak describes a minute.
func (f *Forecast) peak(minute, runs int) Peak {
	p := Peak{At: f.at(minute), Runs: runs}
	by := map[int32]int{}
	var some []int32
	for _, c := range f.classes {
		n := c.in(minute)
		if n == 0 {
			continue
		}
		p.Jobs += len(c.jobs)
		for _, at := range c.jobs {
			by[f.jobs[at].target] += n
		}
		some = append(some, c.jobs[:min(namesTold, len(c.jobs))]...)
	}
	for target, n := range by {
		p.Targets = append(p.Targets, TargetRuns{f.names[target], n})
	}
	slices.SortFunc(p.Targets, func(a, b TargetRuns) int {
		return cmp.Or(cmp.Compare(b.Runs, a.Runs), cmp.Compare(a.Target, b.Target))
	})
	p.Targets = p.Targets[:min(peakTargetsTold, len(p.Targets))]
	for _, at := range some {
		p.Names = append(p.Names, f.jobs[at].key.String())
	}
	slices.Sort(p.Names)
	p.Names = p.Names[:min(namesTold, len(p.Names))]
	return p
}
