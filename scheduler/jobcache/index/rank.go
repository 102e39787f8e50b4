package index

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// Place is a position in an order of jobs.
type Place struct {
	Value int64
	Key   scheduler.Key
}

// Ranking is a page of the jobs that may match a query.
type Ranking struct {
	Hits []Hit
	More bool // others follow

	// Count is the number of all jobs that may match. Unread is the number of jobs among them whose match or position is
	// uncertain. Stale are the first of these: [Index.Refresh] reads them.
	Count, Unread int
	Stale         []Hit

	// Missing are changed jobs that the last read did not find: most are deleted. Count leaves them out. A refresh finds
	// those that have appeared since.
	Missing []Hit
}

// lately is how long the read of a due job remains valid.
const lately = 5 * time.Second

// unordered is the value of jobs that have none: they come last.
const unordered = math.MaxInt64

// Rank returns up to most jobs after a place (nil: from the first) in the order of a query, or, back, before it. It
// examines all jobs. With known, it counts stale jobs, but does not return them.
func (x *Index) Rank(q *scheduler.JobQuery, from *Place, back bool, most int, known bool) Ranking {
	backwards := q.Order == scheduler.OrderByName && q.Descending // names have no values to negate
	w := &ranker{search: x.search(q), back: back != backwards, most: most, known: known}
	if from != nil {
		w.from = &candidate{value: from.Value, key: keyOf(from.Key)}
	}
	x.walk(scheduler.Key{}, q.Within, q.Prefix, func(r *record) bool {
		if v := w.match(r); v != no {
			w.take(r, v)
		}
		return true
	})
	w.trim()
	slices.SortFunc(w.best, w.compare)
	for _, c := range w.best {
		w.to.Hits = append(w.to.Hits, Hit{Key: c.full(), Value: c.value, Sure: c.sure})
	}
	if w.back != backwards {
		slices.Reverse(w.to.Hits)
	}
	return w.to
}

// ranker finds the jobs of a page.
type ranker struct {
	*search

	from  *candidate // nil: the beginning
	back  bool
	most  int
	known bool // leave out stale jobs
	to    Ranking

	best []candidate // the page so far, and up to as many again
	last *candidate  // no job after it is on the page; nil: the page has room
	full bool        // no other job is on the page
}

// candidate is a job that may be on the page.
type candidate struct {
	key

	value int64
	sure  bool
}

// compare orders candidates by value and key, in the direction of the page.
func (w *ranker) compare(a, b candidate) int {
	c := cmp.Compare(a.value, b.value)
	if c == 0 {
		c = a.compare(&b.key)
	}
	if w.back {
		return -c
	}
	return c
}

// take counts a job, and keeps it if it may be on the page.
func (w *ranker) take(r *record, v verdict) {
	if r.flags&missing != 0 {
		w.to.Missing = appendStale(w.to.Missing, r)
		return
	}
	w.to.Count++
	if w.unplaced(r) || v == stale && !w.looked(r) {
		w.to.Unread++
		w.to.Stale = appendStale(w.to.Stale, r)
	}
	if w.full || w.most == 0 || w.known && v == stale {
		return
	}
	c := candidate{r.key, w.value(r), w.sure(r)}
	if w.from != nil && w.compare(c, *w.from) <= 0 || w.last != nil && w.compare(c, *w.last) > 0 {
		return
	}
	w.best = append(w.best, c)
	if len(w.best) > 2*w.most {
		w.trim()
	}
}

// trim drops the candidates beyond the page.
func (w *ranker) trim() {
	if len(w.best) <= w.most {
		return
	}
	w.to.More = true
	if w.query.Order == scheduler.OrderByName { // the walk is in this order, or its reverse
		if w.full = !w.back; w.full {
			w.best = w.best[:w.most]
		} else {
			w.best = slices.Delete(w.best, 0, len(w.best)-w.most)
		}
		return
	}
	slices.SortFunc(w.best, w.compare)
	last := w.best[w.most-1]
	w.last, w.best = &last, w.best[:w.most]
}

func appendStale(hits []Hit, r *record) []Hit {
	if len(hits) == staleMost {
		return hits
	}
	return append(hits, Hit{Key: r.full(), Stale: true})
}

// looked reports whether the index has just read a job whose time has come.
func (w *ranker) looked(r *record) bool {
	return r.flags&changed == 0 && r.state != unknown && w.x.since(r.at) < lately && (w.ended == untold || r.ended != untold)
}

// unplaced reports whether the job's position in the order may have changed.
func (w *ranker) unplaced(r *record) bool {
	return w.query.Order != scheduler.OrderByName && w.passed(r) && !w.looked(r)
}

// value returns the sort key of a job: the least comes first.
func (w *ranker) value(r *record) int64 {
	var v int64
	switch w.query.Order {
	case scheduler.OrderByNext:
		if r.state == enabled {
			v = r.next
		}
	case scheduler.OrderByLast:
		v = r.last
	case scheduler.OrderByName:
		return 0
	}
	switch {
	case v == 0:
		return unordered
	case w.query.Descending:
		return -v
	}
	return v
}
