package index

import (
	"bytes"
	"maps"
	"strings"

	"github.com/carillon-sched/carillon/scheduler"
)

// verdict says what a record tells of whether its job is looked for.
type verdict uint8

const (
	no    verdict = iota
	may           // for all that is known
	stale         // what is known of it is too old to tell
)

// Hit is a job that may be one of those that are looked for.
type Hit struct {
	Key scheduler.Key

	// Stale says that too little is known of the job to tell. [Index.Refresh] mends that.
	Stale bool

	// Sure says that the job is one of those that are looked for, without reading it, unless it is damaged and nobody
	// has noticed.
	Sure bool

	// Value is what the job is ordered by, in answers of [Index.Rank].
	Value int64
}

// search is a query while the index is looked through.
type search struct {
	x     *Index
	query *scheduler.JobQuery
	state state
	now   int64 // milliseconds since 1970
	from  int64
	until int64
	kinds [anyAction + 1]bool // the types of action that are looked for

	byTime, byName bool
	labels         *labels   // whose numbers matched has
	matched        []verdict // sets of labels that were looked at: 1 + the verdict
	of             *shelf    // to whose collection matched applies
	inherited      map[string]string

	ended ended
	text  *texts // nil: whatever text
}

func (x *Index) search(q *scheduler.JobQuery) *search {
	s := &search{
		x: x, query: q, state: stateOf(q.State), now: x.cfg.Now().UnixMilli(), byTime: q.ByTime(), byName: q.ByName(),
		from: 1, until: 1<<63 - 1,
	}
	if q.Outcome != "" {
		s.ended = endedAs(q.Outcome)
	}
	if q.Text != "" {
		s.text = newTexts(x, q)
	}
	if !q.From.IsZero() {
		s.from = q.From.UnixMilli()
	}
	if !q.Before.IsZero() {
		s.until = q.Before.UnixMilli() + 1 // within that millisecond, whoever reads the job tells
	}
	return s
}

// prepare takes in what may have changed since the lock was held last.
func (s *search) prepare() {
	if s.query.Action != "" {
		s.kinds[anyAction] = true
		for n, kind := range s.x.actions {
			s.kinds[n] = strings.EqualFold(kind, s.query.Action)
		}
	}
	if s.text != nil {
		s.text.prepare()
	}
	if s.query.Labels == nil {
		return
	}
	if s.labels != s.x.labels { // they were made anew, with other numbers
		s.labels, s.matched = s.x.labels, nil
	}
	s.matched = append(s.matched, make([]verdict, len(s.labels.sets)-len(s.matched))...)
}

// labelled reports whether a query matches a set of labels, together with those that a collection gives.
func (s *search) labelled(of *shelf, set uint32) bool {
	if s.query.Labels == nil {
		return true
	}
	if s.of != of && s.query.Inherited != nil {
		before := s.inherited
		s.of, s.inherited = of, s.query.Inherited(of.collection)
		if !maps.Equal(before, s.inherited) {
			clear(s.matched)
		}
	}
	if s.matched[set] == 0 {
		s.matched[set] = 1 + no
		if s.query.Labels.MatchesBy(func(name string) (string, bool) {
			value, own := s.x.labels.get(set, name)
			if own {
				return value, true
			}
			value, own = s.inherited[name]
			return value, own
		}) {
			s.matched[set] = 1 + may
		}
	}
	return s.matched[set] == 1+may
}

// judge tells whether a job is looked for.
func (s *search) judge(of *shelf, b *block, i int) verdict {
	if s.byName {
		return may
	}
	r := &b.recs[i]
	v := s.known(of, r)
	untellable := r.flags&changed != 0 || r.state == unknown || r.state == damaged
	if !untellable && !s.paused(of, b, i) {
		return no
	}
	if v == no || s.text == nil || untellable || s.text.tell(of, b, i) {
		return v
	}
	return no
}

// paused reports whether a job is paused when jobs that are so are looked for.
func (s *search) paused(of *shelf, b *block, i int) bool {
	return s.query.PausedAt.IsZero() || b.recs[i].state == enabled && of.pauses[string(b.name(i))] > s.query.PausedAt.UnixMilli()
}

// known is the part of judge that does not depend on texts.
func (s *search) known(of *shelf, r *record) verdict {
	switch {
	case r.flags&changed != 0, r.state == unknown:
		return stale
	case s.query.State == scheduler.Damaged:
		return may // only who reads a job whole can tell
	case r.state == damaged:
		return s.ifSo(s.query.State == "" && !s.byTime && s.ended == untold)
	case s.query.Action != "" && !s.kinds[r.action], !s.labelled(of, r.labels):
		return no
	}
	return s.timely(r)
}

// timely is the part of judge that depends on when the job runs next, and what it has come to.
func (s *search) timely(r *record) verdict {
	passed := s.passed(r)
	switch {
	case s.query.State != "" && r.state != s.state && (!passed || !s.query.State.Final()):
		return no
	case passed && (s.byTime || s.ended != untold || s.query.State.Final()):
		return stale
	case s.ended != untold && r.ended == untold:
		return stale
	case s.ended != untold && r.ended != s.ended:
		return no
	case !s.byTime:
		return may
	}
	return s.ifSo(r.state == enabled && s.from <= r.next && r.next < s.until)
}

// passed reports whether a job has run since, and may be over.
func (s *search) passed(r *record) bool {
	return r.state == enabled && (r.next <= s.now || r.flags&moved != 0)
}

func (s *search) ifSo(so bool) verdict {
	if so {
		return may
	}
	return no
}

// Bounds of what is looked through while the lock is held, and of what is found.
const (
	atOnce    = 64   // blocks
	staleMost = 1024 // jobs of which too little is known, in one answer
)

// Find returns the first jobs after a place that may be among those that are looked for, by collection and name: most of
// them, or fewer if there are many of which too little is known to tell. more says whether others may follow. Up
// to skip of those that are sure are left out before the first one that is not; skipped says how many were.
func (x *Index) Find(q *scheduler.JobQuery, after scheduler.Key, skip, most int) (hits []Hit, skipped int, more bool) {
	s := x.search(q)
	w := &walk{search: s, at: after, skip: skip, most: most}
	for !w.done {
		x.mu.RLock()
		s.prepare()
		w.run()
		x.mu.RUnlock()
	}
	return w.hits, skip - w.skip, w.full
}

// Judge tells of jobs that were found stale, and that were read since: those that may still be looked for.
func (x *Index) Judge(q *scheduler.JobQuery, hits []Hit) (left []Hit) {
	s := x.search(q)
	x.mu.RLock()
	defer x.mu.RUnlock()
	s.prepare()
	for _, h := range hits {
		if !h.Stale {
			left = append(left, h)
			continue
		}
		shelf := x.shelves[h.Key.Collection]
		if shelf == nil {
			continue
		}
		if b, i, found := shelf.place(h.Key.Job); found && s.judge(shelf, b, i) != no {
			left = append(left, Hit{Key: h.Key})
		}
	}
	return left
}

// walk goes through the index.
type walk struct {
	*search

	at    scheduler.Key // what was looked at last
	skip  int           // sure hits that are left out, until one comes that is not sure
	most  int
	hits  []Hit
	stale int
	full  bool // there may be more behind
	done  bool
}

// run looks through some blocks.
func (w *walk) run() {
	left := atOnce
	for i := w.x.from(w.at.Collection); i < len(w.x.order); i++ {
		collection := w.x.order[i]
		if collection != w.at.Collection {
			w.at = scheduler.Key{Collection: collection}
		}
		if !w.query.Within(collection) {
			continue
		}
		if left = w.shelf(w.x.shelves[collection], left); left == 0 || w.full {
			w.done = w.full
			return
		}
	}
	w.done = true
}

// shelf looks through the blocks of a collection, so many at most, and returns how many are left: 0 says that it is not
// at its end.
func (w *walk) shelf(s *shelf, left int) int {
	prefix := []byte(w.query.Prefix)
	begin := max(w.at.Job, w.query.Prefix)
	blk, i, found := s.seek(begin)
	if found && begin == w.at.Job {
		i++
	}
	for ; blk < len(s.blocks); blk, i = blk+1, 0 {
		b := s.blocks[blk]
		for ; i < len(b.recs); i++ {
			name := b.name(i)
			if !bytes.HasPrefix(name, prefix) {
				return max(left, 1)
			}
			v := w.judge(s, b, i)
			if v == no {
				continue
			}
			sure := w.sure(&b.recs[i])
			if w.skip > 0 && sure && len(w.hits) == 0 {
				w.skip--
				continue
			}
			if len(w.hits) >= w.most || w.stale >= staleMost {
				w.full = true
				return left
			}
			if v == stale {
				w.stale++
			}
			k := scheduler.Key{Collection: s.collection, Job: string(name)}
			w.hits = append(w.hits, Hit{Key: k, Stale: v == stale, Sure: sure})
		}
		left--
		if left == 0 {
			if n := len(b.recs); n > 0 {
				w.at = scheduler.Key{Collection: s.collection, Job: string(b.name(n - 1))}
			}
			return 0
		}
	}
	return left
}

// sure reports whether a job that may be one of those that are looked for is one, without reading it.
func (s *search) sure(r *record) bool {
	switch {
	case r.flags&changed != 0, r.state == unknown:
		return false
	case s.byName:
		return true
	case r.state == damaged, s.query.State == scheduler.Damaged, s.query.Action != "" && r.action == anyAction:
		return false
	case s.query.State == "" && !s.byTime && s.ended == untold:
		return true
	case s.passed(r), s.ended != untold && r.ended != s.ended:
		return false
	}
	return !s.byTime || s.from < r.next && r.next < s.until-1 // within the millisecond of a bound, who reads the job tells
}
