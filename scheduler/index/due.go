package index

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// Due tells how many jobs run within some lengths of time.
type Due struct {
	Jobs    int   // that there are, in any state
	Enabled int   // of these
	Within  []int // by length: those that run next after the present, and not after it is over

	// Estimated says that more jobs have run since the index has last looked at them than are looked up for this: Within is
	// right for those that it knows, and for the others what as many of them show as were looked up.
	Estimated bool
}

// sampleMost is how many jobs are looked up of which too little is known: together in one request of the store's.
const sampleMost = readMost / kinds

// The kinds of jobs of which too little is known. They are drawn from apart: those that have run are soon due again, while of
// those that were never looked at few may.
const (
	hasRun = iota
	neverRead
	kinds
)

// Due counts the jobs of some collections by when they run next. It looks at what is known of each job, which takes some
// milliseconds for a million, and looks up sampleMost others. false when the index is not ready.
func (x *Index) Due(ctx context.Context, sees func(collection string) bool, lengths ...time.Duration) (due Due, known bool, err error) {
	if !x.Ready() {
		return due, false, nil
	}
	c := &census{now: x.cfg.Now().UnixMilli()}
	for _, d := range lengths {
		c.until = append(c.until, c.now+d.Milliseconds())
	}
	c.within = make([]int, len(lengths))
	x.walk(scheduler.Key{}, sees, "", c.count)
	due = Due{Jobs: c.jobs, Enabled: c.enabled, Within: c.within}
	all := slices.Concat(c.samples[hasRun].hits, c.samples[neverRead].hits)
	if len(all) == 0 {
		return due, true, nil
	}
	if err := x.Refresh(ctx, &scheduler.JobQuery{}, all); err != nil {
		return due, false, err
	}
	for _, s := range c.samples {
		due.Estimated = due.Estimated || s.of > len(s.hits)
		for i, n := range x.judged(c, s.hits) {
			due.Within[i] += int(float64(n)*float64(s.of)/float64(max(1, len(s.hits))) + 0.5)
		}
	}
	return due, true, nil
}

// sample is some of the jobs of a kind, each as likely as any other.
type sample struct {
	of   int
	hits []Hit
}

// census is a count under way.
type census struct {
	now    int64   // milliseconds since 1970
	until  []int64 // likewise
	within []int

	jobs, enabled int
	samples       [kinds]sample
}

// count counts a job. It returns true, for the walk.
func (c *census) count(r *record) bool {
	c.jobs++
	if r.state == enabled {
		c.enabled++
	}
	switch {
	case r.flags&changed == 0 && r.state != enabled && r.state != unknown:
	case r.flags == 0 && r.state == enabled && r.next > c.now:
		c.place(r.next, c.within)
	case r.state == enabled && r.next > 0:
		c.samples[hasRun].draw(r)
	default:
		c.samples[neverRead].draw(r)
	}
	return true
}

// draw takes a job into the sample, or not, by chance.
func (s *sample) draw(r *record) {
	s.of++
	i := len(s.hits)
	if i < sampleMost {
		s.hits = append(s.hits, Hit{})
	} else if i = rand.IntN(s.of); i >= sampleMost { //nolint:gosec // it need not be secret
		return
	}
	s.hits[i] = Hit{Key: r.full(), Stale: true}
}

// place counts a job that runs next at a time.
func (c *census) place(next int64, within []int) {
	for i, until := range c.until {
		if next > c.now && next <= until {
			within[i]++
		}
	}
}

// judged counts those of a sample that have been looked up.
func (x *Index) judged(c *census, sample []Hit) []int {
	within := make([]int, len(c.until))
	x.mu.RLock()
	defer x.mu.RUnlock()
	for _, h := range sample {
		if r := x.get(h.Key); r != nil && r.state == enabled {
			c.place(r.next, within)
		}
	}
	return within
}
