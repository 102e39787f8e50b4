package index

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"
	"unique"

	"github.com/carillon-sched/carillon/scheduler"
)

// Due counts the jobs that run within given durations from now.
type Due struct {
	Jobs    int   // jobs in any state
	Enabled int   // enabled jobs
	Within  []int // for each duration, the jobs whose next run is within it

	// Estimated reports that Within is extrapolated: more jobs have run since the index read them than Due looks up.
	// Within is exact for the other jobs.
	Estimated bool
}

// sampleMost limits the lookups for jobs with outdated data, which share one request to the store.
const sampleMost = readMost / kinds

// The kinds of jobs with outdated data. They are sampled separately: jobs that have run are soon due again, while jobs
// that were never read are rarely due.
const (
	hasRun = iota
	neverRead
	kinds
)

// Due counts the jobs of some collections by their next run. It visits every job, some milliseconds for a million, and
// looks up at most sampleMost others. It returns false while the index is not ready.
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

// pause is the pause of jobs of a collection. Jobs that are paused together mostly have the same.
type pause struct {
	collection unique.Handle[string]
	until      int64 // in Unix milliseconds
}

// tally counts the pause of a job, or its end with -1.
func (x *Index) tally(r *record, by int) {
	p := pause{r.collection, r.paused}
	if n := x.pauses[p] + by; r.state == enabled && r.paused > 0 && n > 0 {
		x.pauses[p] = n
	} else if r.state == enabled {
		delete(x.pauses, p)
	}
}

// Paused counts the paused jobs of some collections. It visits only their pauses.
func (x *Index) Paused(sees func(collection string) bool) (n int) {
	now := x.cfg.Now().UnixMilli()
	x.mu.Lock()
	defer x.mu.Unlock()
	for p, jobs := range x.pauses {
		if p.until <= now {
			delete(x.pauses, p)
		} else if sees(p.collection.Value()) {
			n += jobs
		}
	}
	return n
}

// sample is a uniform random sample of the jobs of a kind.
type sample struct {
	of   int
	hits []Hit
}

// census is a count in progress.
type census struct {
	now    int64   // milliseconds since 1970
	until  []int64 // milliseconds since 1970
	within []int

	jobs, enabled int
	samples       [kinds]sample
}

// count counts a job. It always returns true, to continue the walk.
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

// draw adds a job to the sample with the probability that keeps it uniform.
func (s *sample) draw(r *record) {
	s.of++
	i := len(s.hits)
	if i < sampleMost {
		s.hits = append(s.hits, Hit{})
	} else if i = rand.IntN(s.of); i >= sampleMost { //nolint:gosec // not used for security
		return
	}
	s.hits[i] = Hit{Key: r.full(), Stale: true}
}

// place counts a job by its next run.
func (c *census) place(next int64, within []int) {
	for i, until := range c.until {
		if next > c.now && next <= until {
			within[i]++
		}
	}
}

// judged counts the sampled jobs after their lookup.
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
