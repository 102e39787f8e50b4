package index

import (
	"maps"
	"strings"
	"unique"

	"github.com/carillon-sched/carillon/scheduler"
)

// verdict says whether a job matches a query.
type verdict uint8

const (
	no    verdict = iota
	may           // as far as the index knows
	stale         // the index must read the job to know
)

// Hit is a job that may match a query.
type Hit struct {
	Key scheduler.Key

	// Stale says that the index must read the job to know whether it matches: see [Index.Refresh].
	Stale bool

	// Sure says that the job matches, unless it is damaged and the index has not read it since.
	Sure bool

	// Value is what [Index.Rank] orders the job by.
	Value int64
}

// search is a query under way.
type search struct {
	x      *Index
	query  *scheduler.JobQuery
	state  state
	ended  ended
	now    int64 // in Unix milliseconds
	from   int64
	until  int64
	byTime bool
	byName bool
	text   string // in lower case

	of        unique.Handle[string] // the collection of the last job
	inherited map[string]string     // the labels that it gives to its jobs
	called    memo[call]            // with the action and the target
	selected  memo[labels]          // by the selector of labels
	labelled  memo[labels]          // with the text
	addressed memo[call]            // with the text
}

// memo caches an answer per value that jobs share.
type memo[T comparable] struct {
	all    map[unique.Handle[T]]bool
	last   unique.Handle[T]
	answer bool // for last: jobs with similar names often share values
}

// memoMost bounds the memory of a search: labels and targets may differ for every job.
const memoMost = 4096

func (m *memo[T]) get(of unique.Handle[T], answer func(T) bool) bool {
	if of == m.last {
		return m.answer
	}
	so, known := m.all[of]
	if !known {
		if m.all == nil || len(m.all) == memoMost {
			m.all = map[unique.Handle[T]]bool{}
		}
		so = answer(of.Value())
		m.all[of] = so
	}
	m.last, m.answer = of, so
	return so
}

func (x *Index) search(q *scheduler.JobQuery) *search {
	s := &search{
		x: x, query: q, state: stateOf(q.State), now: x.cfg.Now().UnixMilli(), byTime: q.ByTime(), byName: q.ByName(),
		from: 1, until: 1<<63 - 1, text: scheduler.FoldText(q.Text),
	}
	if q.Outcome != "" {
		s.ended = endedAs(q.Outcome)
	}
	if !q.From.IsZero() {
		s.from = q.From.UnixMilli()
	}
	if !q.Before.IsZero() {
		s.until = q.Before.UnixMilli() + 1 // within that millisecond, the reader of the job decides
	}
	return s
}

// match decides whether a job matches.
func (s *search) match(r *record) verdict {
	switch {
	case s.byName:
		return may
	case r.flags&changed != 0, r.state == unknown:
		return stale
	}
	if s.of != r.collection {
		s.enter(r.collection)
	}
	switch {
	case r.state == damaged:
		return s.ifSo(s.query.State == scheduler.Damaged || s.query.State == "" && !s.byTime && s.ended == untold)
	case !s.query.PausedAt.IsZero() && (r.state != enabled || r.paused <= s.query.PausedAt.UnixMilli()):
		return no
	case s.text != "" && !s.matchesText(r):
		return no
	case s.query.State == scheduler.Damaged:
		return may // only the reader of the whole job knows
	case s.query.Action+s.query.Target != "" && !s.called.get(r.does, s.calls):
		return no
	case s.query.Labels != nil && !s.selected.get(r.labels, s.selects):
		return no
	}
	return s.timely(r)
}

// enter prepares for the jobs of a collection.
func (s *search) enter(collection unique.Handle[string]) {
	s.of = collection
	if s.query.Inherited == nil {
		return
	}
	before := s.inherited
	s.inherited = s.query.Inherited(collection.Value())
	if !maps.Equal(before, s.inherited) {
		s.selected, s.labelled = memo[labels]{}, memo[labels]{}
	}
}

// calls reports whether a call has the action and the target.
func (s *search) calls(c call) bool {
	return (s.query.Action == "" || strings.EqualFold(c.Action, s.query.Action)) &&
		(s.query.Target == "" || scheduler.IsTarget(c.Target, s.query.Target))
}

// selects reports whether the selector matches a set of labels, together with the inherited ones.
func (s *search) selects(set labels) bool {
	return s.query.Labels.MatchesBy(func(name string) (string, bool) {
		value, own := set.get(name)
		if !own {
			value, own = s.inherited[name]
		}
		return value, own
	})
}

// matchesText reports whether a job has the text: in its name, its target or a label.
func (s *search) matchesText(r *record) bool {
	name := r.name
	if r.upper {
		name = scheduler.FoldText(name)
	}
	if collection, start, slash := strings.Cut(s.text, "/"); slash {
		if strings.HasPrefix(name, start) && strings.HasSuffix(scheduler.FoldText(r.collection.Value()), collection) {
			return true
		}
	} else if strings.Contains(name, s.text) {
		return true
	}
	return s.addressed.get(r.does, func(c call) bool { return s.has(c.Address) }) || s.labelled.get(r.labels, s.hasLabel)
}

func (s *search) has(text string) bool { return strings.Contains(scheduler.FoldText(text), s.text) }

// hasLabel reports whether a label has the text, of a set or inherited.
func (s *search) hasLabel(set labels) bool {
	for l := set; l.Name != ""; l = l.others.Value() {
		if s.has(l.Name + "=" + l.Value) {
			return true
		}
	}
	for name, value := range s.inherited {
		if _, own := set.get(name); !own && s.has(name+"="+value) {
			return true
		}
	}
	return false
}

// timely decides by when the job runs next, and how it last ended.
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

// passed reports whether a job may have run since the index read its baton, and may be completed.
func (s *search) passed(r *record) bool {
	return r.state == enabled && (r.next <= s.now || r.flags&moved != 0)
}

func (s *search) ifSo(so bool) verdict {
	if so {
		return may
	}
	return no
}

// sure reports whether a job that may match does match, without reading it.
func (s *search) sure(r *record) bool {
	switch {
	case r.flags&changed != 0, r.state == unknown:
		return false
	case s.byName:
		return true
	case r.state == damaged, s.query.State == scheduler.Damaged:
		return false
	case s.query.State == "" && !s.byTime && s.ended == untold:
		return true
	case s.passed(r), s.ended != untold && r.ended != s.ended:
		return false
	}
	return !s.byTime || s.from < r.next && r.next < s.until-1 // within the millisecond of a bound, the reader of the job decides
}

// staleMost is how many stale jobs an answer has.
const staleMost = 1024

// Find returns up to most jobs after a key that may match, by collection and name, or fewer if many are stale. more says
// that others may follow. Find leaves out up to skip sure jobs before the first that is not sure; skipped is their number.
func (x *Index) Find(q *scheduler.JobQuery, after scheduler.Key, skip, most int) (hits []Hit, skipped int, more bool) {
	s, stales := x.search(q), 0
	x.walk(after, q.Within, q.Prefix, func(r *record) bool {
		v := s.match(r)
		if v == no {
			return true
		}
		sure := s.sure(r)
		if skipped < skip && sure && len(hits) == 0 {
			skipped++
			return true
		}
		if more = len(hits) >= most || stales >= staleMost; more {
			return false
		}
		if v == stale {
			stales++
		}
		hits = append(hits, Hit{Key: r.full(), Stale: v == stale, Sure: sure})
		return true
	})
	return hits, skipped, more
}

// Recheck returns the hits that may still match after [Index.Refresh].
func (x *Index) Recheck(q *scheduler.JobQuery, hits []Hit) (left []Hit) {
	s := x.search(q)
	x.mu.RLock()
	defer x.mu.RUnlock()
	for _, h := range hits {
		if !h.Stale {
			left = append(left, h)
		} else if r := x.get(h.Key); r != nil && s.match(r) != no {
			left = append(left, Hit{Key: h.Key})
		}
	}
	return left
}
