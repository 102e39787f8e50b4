package historyindex

import (
	"slices"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// Query selects records.
type Query struct {
	scheduler.RecordFilter

	Key  scheduler.Key                // a job; a collection if Job is empty; everything if it is the zero Key
	Sees func(collection string) bool // the visible collections; nil: all
}

// Search returns up to most records before a sequence that may match a query, newest first. It ignores the query's
// incarnations. The range must contain the sequence or end with it. done reports that the index has no more candidates:
// for earlier records, read the store.
func (x *Index) Search(q *Query, before uint64, most int) (records []*scheduler.Record, done bool, err error) {
	found, done := x.find(q, before, most)
	var contents [][]byte
	for i, f := range found {
		if contents == nil || found[i-1].chunk != f.chunk {
			contents = f.open
			if f.packed != nil {
				if contents, err = x.packer.unpack(f.packed); err != nil {
					return nil, false, err
				}
			}
		}
		r, err := recordOf(contents[f.at], f.subject, f.sequence)
		if err != nil {
			return nil, false, err
		}
		records = append(records, r)
	}
	return records, done, nil
}

// found is a candidate row and the location of its record.
type found struct {
	subject

	chunk    *chunk // compared only, never read
	open     [][]byte
	packed   []byte
	at       int
	sequence uint64
}

// find returns candidate rows.
func (x *Index) find(q *Query, before uint64, most int) (all []found, done bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	subjects, traits := x.wanted(q)
	since, until := bounds(q.Since, q.Until)
	endSince, endUntil := bounds(q.EndedSince, q.EndedUntil)
	last, _ := slices.BinarySearchFunc(x.chunks, before, func(c *chunk, before uint64) int {
		if c.rows[0].sequence < before {
			return -1
		}
		return 1
	})
	for _, c := range slices.Backward(x.chunks[:last]) {
		for i := len(c.rows) - 1; i >= 0; i-- {
			r := &c.rows[i]
			if r.subject == gone || !subjects[r.subject] || !traits[r.trait] || r.at < since || r.at > until ||
				r.ended < endSince || r.ended > endUntil || r.sequence >= before || r.sequence < x.from {
				continue
			}
			if len(all) == most {
				return all, false
			}
			all = append(all, found{x.subjects.all[r.subject].subject, c, c.open, c.packed, i, r.sequence})
		}
	}
	return all, true
}

// wanted returns, per subject and per trait, whether its records may match.
func (x *Index) wanted(q *Query) (subjects, traits []bool) {
	subjects, traits = make([]bool, len(x.subjects.all)), make([]bool, len(x.traits.all))
	for i := range subjects {
		s := &x.subjects.all[i]
		subjects[i] = s.count > 0 && (q.Key.Collection == "" || s.job.Collection == q.Key.Collection) &&
			(q.Key.Job == "" || s.job.Job == q.Key.Job) && (len(q.Outcomes) == 0 || slices.Contains(q.Outcomes, s.outcome)) &&
			(q.Sees == nil || q.Sees(s.job.Collection))
	}
	for i := range traits {
		traits[i] = i == anyTrait || q.AdmitsTrait(x.traits.all[i])
	}
	return subjects, traits
}

// bounds rounds times to whole seconds. The record itself is checked exactly.
func bounds(since, until time.Time) (first, last uint32) {
	last = ^uint32(0)
	if !until.IsZero() {
		last = seconds(until)
	}
	return seconds(since), last
}
