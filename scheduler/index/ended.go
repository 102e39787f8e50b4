package index

import (
	"context"
	"slices"

	"github.com/carillon-sched/carillon/scheduler"
)

// ended is an index into [scheduler.LastOutcomes], the result of a job's last run.
type ended uint8

const (
	untold  ended = iota // the baton does not contain the result, and the history has not been read
	nowhere // the history does not contain it either
	firstEnded
)

// endedAs returns the number of an outcome.
func endedAs(o scheduler.Outcome) ended {
	if i := slices.Index(scheduler.LastOutcomes, o); i >= 0 {
		return firstEnded + ended(i)
	}
	return untold
}

// ending is the result and the time of a job's last run, as far as known.
type ending struct {
	last  int64 // in Unix seconds
	ended ended
}

// endingOf derives it from the job's progress and its baton, which may be nil.
func endingOf(p *scheduler.Progress, b *scheduler.Baton) ending {
	e := ending{ended: endedAs(scheduler.LastOutcome(p, b, nil))}
	if !p.Last.IsZero() {
		e.last = max(p.Last.Unix(), 1)
	}
	return e
}

// readEndings reads the history of the jobs whose last result is otherwise unknown.
func (x *Index) readEndings(ctx context.Context, hits []Hit) error {
	before := map[scheduler.Key]record{}
	var keys []scheduler.Key
	x.mu.RLock()
	for _, h := range hits {
		if r := x.get(h.Key); r != nil && r.ended == untold {
			before[h.Key] = *r
			keys = append(keys, h.Key)
		}
	}
	x.mu.RUnlock()
	if len(keys) == 0 {
		return nil
	}
	newest := map[scheduler.Key]*scheduler.Record{}
	err := x.cfg.Store.LastRecords(ctx, keys, scheduler.Outcomes, func(r *scheduler.Record) {
		was := before[r.Job]
		if tag := tagOf(r.UID); tag != 0 && was.tag != 0 && tag != was.tag {
			return // of an earlier job with the same name
		}
		if old := newest[r.Job]; old == nil || r.Sequence > old.Sequence {
			newest[r.Job] = r
		}
	})
	if err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for k, was := range before {
		r := x.get(k)
		if r == nil || r.ended != untold || r.next != was.next || r.told != was.told || r.last != was.last {
			continue
		}
		r.ended = nowhere
		if last := newest[k]; last != nil {
			r.ended = endedAs(last.Outcome)
		}
	}
	return nil
}
