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
	for done := false; !done; {
		x.mu.RLock()
		done = c.walk(x, sees)
		x.mu.RUnlock()
	}
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
	at            scheduler.Key
}

// walk counts some blocks, and reports whether there are no more.
func (c *census) walk(x *Index, sees func(collection string) bool) (done bool) {
	left := atOnce
	for i := x.from(c.at.Collection); i < len(x.order); i++ {
		collection := x.order[i]
		s := x.shelves[collection]
		if collection != c.at.Collection {
			if sees != nil && !sees(collection) {
				continue
			}
			c.at = scheduler.Key{Collection: collection}
			c.enabled += s.counts[enabled]
			for _, n := range s.counts {
				c.jobs += n
			}
		}
		if left = c.shelf(s, left); left == 0 {
			return false
		}
	}
	return true
}

// shelf counts the blocks of a collection from the last job on, so many at most, and returns how many are left.
func (c *census) shelf(s *shelf, left int) int {
	blk, at, found := s.seek(c.at.Job)
	if found {
		at++
	}
	for ; blk < len(s.blocks) && left > 0; blk, at, left = blk+1, 0, left-1 {
		b := s.blocks[blk]
		for ; at < len(b.recs); at++ {
			c.count(s.collection, b, at)
		}
		c.at.Job = string(b.name(len(b.recs) - 1))
	}
	return left
}

// count counts a job.
func (c *census) count(collection string, b *block, at int) {
	r := &b.recs[at]
	switch {
	case r.flags&changed == 0 && r.state != enabled && r.state != unknown:
	case r.flags == 0 && r.state == enabled && r.next > c.now:
		c.place(r.next, c.within)
	case r.state == enabled && r.next > 0:
		c.samples[hasRun].draw(collection, b, at)
	default:
		c.samples[neverRead].draw(collection, b, at)
	}
}

// draw takes a job into the sample, or not, by chance.
func (s *sample) draw(collection string, b *block, at int) {
	s.of++
	i := len(s.hits)
	if i < sampleMost {
		s.hits = append(s.hits, Hit{})
	} else if i = rand.IntN(s.of); i >= sampleMost { //nolint:gosec // it need not be secret
		return
	}
	s.hits[i] = Hit{Key: scheduler.Key{Collection: collection, Job: string(b.name(at))}, Stale: true}
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
		s := x.shelves[h.Key.Collection]
		if s == nil {
			continue
		}
		if r := s.find(h.Key.Job); r != nil && r.state == enabled {
			c.place(r.next, within)
		}
	}
	return within
}
