package index

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// Place is one in an order of jobs: that of a job with a value.
type Place struct {
	Value int64
	Key   scheduler.Key
}

// Ranking is a part of the jobs that are looked for, in the order that is asked for.
type Ranking struct {
	Hits []Hit
	More bool // others follow

	// Count is how many jobs in all may be among those that are looked for, for all that is known, of which Unread are
	// jobs of which too little is known, to tell that or where they belong. Stale are the first of these: [Index.Refresh]
	// mends them.
	Count, Unread int
	Stale         []Hit

	// Missing are jobs that were changed, and not there when they were last read: most are deleted. They are not counted. To
	// refresh them tells whether they are there by now.
	Missing []Hit
}

// lately is how long it counts as known how it stands with a job that was looked up when its time had come.
const lately = 5 * time.Second

// unordered is the value of jobs that have none: they come last.
const unordered = math.MaxInt64

// Rank returns the jobs that follow a place, nil for the beginning, most at most, in the order of a query; or, back, those
// before it. It looks at all jobs, for which it takes some milliseconds for each hundred thousand.
func (x *Index) Rank(q *scheduler.JobQuery, place *Place, back bool, most int) Ranking {
	return x.rank(q, place, back, most, false)
}

// RankKnown is Rank without jobs of which too little is known to tell whether they are looked for: it counts these, but returns
// none of them.
func (x *Index) RankKnown(q *scheduler.JobQuery, place *Place, back bool, most int) Ranking {
	return x.rank(q, place, back, most, true)
}

func (x *Index) rank(q *scheduler.JobQuery, place *Place, back bool, most int, known bool) Ranking {
	s := x.search(q)
	backwards := q.Order == scheduler.OrderByName && q.Descending // names have no values to turn round
	w := &ranker{search: s, place: place, back: back != backwards, most: most, known: known}
	for !w.done {
		x.mu.RLock()
		s.prepare()
		w.run()
		x.mu.RUnlock()
	}
	w.ranking()
	if backwards {
		slices.Reverse(w.to.Hits)
	}
	return w.to
}

// ranker goes through all of the index.
type ranker struct {
	*search

	place *Place
	back  bool
	most  int
	known bool // only these

	at   scheduler.Key // what was looked at last
	done bool
	to   Ranking

	best   []candidate // one more than asked for
	heap   []int       // of places in best, the first of which has the last one in the order
	oldest int         // instead of a heap, where jobs are looked at in their order
}

// candidate is a job that may be among those that are returned.
type candidate struct {
	value      int64
	collection string
	name       []byte
	sure       bool
}

// run looks through some blocks.
func (w *ranker) run() {
	left := atOnce
	for i := w.x.from(w.at.Collection); i < len(w.x.order); i++ {
		collection := w.x.order[i]
		if collection != w.at.Collection {
			w.at = scheduler.Key{Collection: collection}
		}
		if !w.query.Within(collection) {
			continue
		}
		if left = w.shelf(w.x.shelves[collection], left); left == 0 {
			return
		}
	}
	w.done = true
}

// shelf looks through the blocks of a collection, so many at most, and returns how many are left: 0 says that it is not at
// its end.
func (w *ranker) shelf(s *shelf, left int) int {
	prefix := []byte(w.query.Prefix)
	begin := max(w.at.Job, w.query.Prefix)
	blk, i, found := s.seek(begin)
	if found && begin == w.at.Job {
		i++
	}
	for ; blk < len(s.blocks); blk, i = blk+1, 0 {
		b := s.blocks[blk]
		if len(prefix) == 0 && w.counts(s, b) {
			for ; i < len(b.recs); i++ {
				if b.recs[i].flags&missing != 0 {
					w.take(s, b, i, may)
				} else {
					w.to.Count++
				}
			}
		}
		for ; i < len(b.recs); i++ {
			if len(prefix) > 0 && !bytes.HasPrefix(b.name(i), prefix) {
				return max(left, 1)
			}
			if v := w.judge(s, b, i); v != no {
				w.take(s, b, i, v)
			}
		}
		left--
		if left == 0 {
			w.at = scheduler.Key{Collection: s.collection, Job: string(b.name(len(b.recs) - 1))}
			return 0
		}
	}
	return left
}

// counts reports whether the jobs of a block need only be counted: all are looked for, and none has a place on the page.
func (w *ranker) counts(s *shelf, b *block) bool {
	switch {
	case !w.byName || !w.inOrder():
		return false
	case w.most == 0, !w.back && len(w.best) > w.most:
		return true
	case w.place == nil:
		return false
	case s.collection != w.place.Key.Collection:
		return s.collection > w.place.Key.Collection == w.back
	case w.back:
		return string(b.name(0)) >= w.place.Key.Job
	}
	return string(b.name(len(b.recs)-1)) <= w.place.Key.Job
}

// take counts a job, and keeps it if it is among the best.
func (w *ranker) take(s *shelf, b *block, i int, v verdict) {
	r := &b.recs[i]
	if r.flags&missing != 0 {
		if len(w.to.Missing) < staleMost {
			w.to.Missing = append(w.to.Missing, Hit{Key: scheduler.Key{Collection: s.collection, Job: string(b.name(i))}, Stale: true})
		}
		return
	}
	w.to.Count++
	if w.unplaced(r) || v == stale && !w.looked(r) {
		w.to.Unread++
		if len(w.to.Stale) < staleMost {
			w.to.Stale = append(w.to.Stale, Hit{Key: scheduler.Key{Collection: s.collection, Job: string(b.name(i))}, Stale: true})
		}
	}
	if w.most == 0 || w.known && v == stale {
		return
	}
	value := w.value(r)
	if w.place != nil {
		c := compare(value, s.collection, b.name(i), w.place.Value, w.place.Key.Collection, w.place.Key.Job)
		if c == 0 || c < 0 != w.back {
			return
		}
	}
	switch {
	case len(w.best) <= w.most:
		w.best = append(w.best, candidate{value, s.collection, bytes.Clone(b.name(i)), w.sure(r)})
		if !w.inOrder() {
			w.heap = append(w.heap, len(w.best)-1)
			w.up(len(w.heap) - 1)
		}
	case w.inOrder(): // the last ones that were seen are the best
		if w.back {
			w.best[w.oldest].set(s.collection, b.name(i), w.sure(r))
			w.oldest = (w.oldest + 1) % len(w.best)
		}
	case w.before(value, s.collection, b.name(i), &w.best[w.heap[0]]):
		worst := &w.best[w.heap[0]]
		worst.value = value
		worst.set(s.collection, b.name(i), w.sure(r))
		w.down()
	}
}

// inOrder reports whether jobs are looked at in the order that is asked for, or the reverse.
func (w *ranker) inOrder() bool { return w.query.Order == scheduler.OrderByName }

// set makes a candidate another job, of the same value.
func (c *candidate) set(collection string, name []byte, sure bool) {
	c.collection, c.name, c.sure = collection, append(c.name[:0], name...), sure
}

// looked reports whether a job whose time has come was looked up a moment ago.
func (w *ranker) looked(r *record) bool {
	return r.flags&changed == 0 && r.state != unknown && w.x.since(r.at) < lately && (w.ended == untold || r.ended != untold)
}

// unplaced reports whether a job's place in the order may be another one than is known.
func (w *ranker) unplaced(r *record) bool {
	return w.query.Order != scheduler.OrderByName && w.passed(r) && !w.looked(r)
}

// value is what a job is ordered by, so that the least comes first.
func (w *ranker) value(r *record) int64 {
	var v int64
	switch w.query.Order {
	case scheduler.OrderByNext:
		if r.state == enabled {
			v = r.next
		}
	case scheduler.OrderByLast:
		v = int64(r.last)
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

// compare compares two jobs by their values, collections and names.
func compare[A, B string | []byte](value int64, collection string, name A, otherValue int64, otherCollection string, otherName B) int {
	switch {
	case value != otherValue:
		return cmp.Compare(value, otherValue)
	case collection != otherCollection:
		return strings.Compare(collection, otherCollection)
	}
	return strings.Compare(string(name), string(otherName))
}

// before reports whether a job comes before a candidate, in the direction that is gone.
func (w *ranker) before(value int64, collection string, name []byte, c *candidate) bool {
	if value != c.value {
		return value < c.value != w.back
	}
	return compare(value, collection, name, c.value, c.collection, c.name) < 0 != w.back
}

func (w *ranker) less(i, j int) bool {
	a := &w.best[w.heap[i]]
	return w.before(a.value, a.collection, a.name, &w.best[w.heap[j]])
}

// up and down keep the heap.
func (w *ranker) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if !w.less(parent, i) {
			return
		}
		w.heap[parent], w.heap[i] = w.heap[i], w.heap[parent]
		i = parent
	}
}

func (w *ranker) down() {
	for i := 0; ; {
		child := 2*i + 1
		if child >= len(w.heap) {
			return
		}
		if child+1 < len(w.heap) && w.less(child, child+1) {
			child++
		}
		if !w.less(i, child) {
			return
		}
		w.heap[i], w.heap[child] = w.heap[child], w.heap[i]
		i = child
	}
}

// ranking puts what was found in order.
func (w *ranker) ranking() {
	slices.SortFunc(w.best, func(a, b candidate) int {
		return compare(a.value, a.collection, a.name, b.value, b.collection, b.name)
	})
	if w.to.More = len(w.best) > w.most; w.to.More && w.back {
		w.best = w.best[1:]
	} else if w.to.More {
		w.best = w.best[:w.most]
	}
	w.to.Hits = make([]Hit, len(w.best))
	for i, c := range w.best {
		w.to.Hits[i] = Hit{Key: scheduler.Key{Collection: c.collection, Job: string(c.name)}, Value: c.value, Sure: c.sure}
	}
}
