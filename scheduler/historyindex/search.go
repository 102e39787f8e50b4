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

// Search returns the sequences of up to most candidates before a sequence, newest first. It ignores the query's
// incarnations. The range must contain the sequence or end with it. done reports that the index has no more candidates:
// for earlier records, read the store.
func (x *Index) Search(q *Query, before uint64, most int) (sequences []uint64, done bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	subjects, traits := x.subjects.matching(q.admitsSubject), x.traits.matching(q.AdmitsTrait)
	since, until := bounds(q.Since, q.Until)
	endSince, endUntil := bounds(q.EndedSince, q.EndedUntil)
	last, _ := slices.BinarySearchFunc(x.chunks, before, func(c []row, before uint64) int {
		if c[0].sequence < before {
			return -1
		}
		return 1
	})
	for _, c := range slices.Backward(x.chunks[:last]) {
		for _, r := range slices.Backward(c) {
			if !subjects[r.subject] || !traits[r.trait] || r.at < since || r.at > until ||
				r.ended < endSince || r.ended > endUntil || r.sequence >= before || r.sequence < x.from {
				continue
			}
			if len(sequences) == most {
				return sequences, false
			}
			sequences = append(sequences, r.sequence)
		}
	}
	return sequences, true
}

// admitsSubject reports whether the records of a subject may match.
func (q *Query) admitsSubject(s subject) bool {
	return (q.Key.Collection == "" || s.job.Collection == q.Key.Collection) && (q.Key.Job == "" || s.job.Job == q.Key.Job) &&
		(len(q.Outcomes) == 0 || slices.Contains(q.Outcomes, s.outcome)) &&
		(q.Sees == nil || q.Sees(s.job.Collection)) && q.AdmitsJob(s.job)
}

// bounds rounds times to whole seconds. The record itself is checked exactly.
func bounds(since, until time.Time) (first, last uint32) {
	last = ^uint32(0)
	if !until.IsZero() {
		last = seconds(until)
	}
	return seconds(since), last
}
