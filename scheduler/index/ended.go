package index

import (
	"context"
	"slices"

	"github.com/carillon-sched/carillon/scheduler"
)

// ended is how what a job did last ended, by [scheduler.LastOutcomes].
type ended uint8

const (
	untold  ended = iota // what is known of its baton does not tell, and nobody has asked its history
	nowhere              // nor does its history
	firstEnded
)

// endedAs returns the number of an outcome.
func endedAs(o scheduler.Outcome) ended {
	if i := slices.Index(scheduler.LastOutcomes, o); i >= 0 {
		return firstEnded + ended(i)
	}
	return untold
}

// ending is what is known of how a job last ended, and of when.
type ending struct {
	last  int64 // in Unix seconds
	ended ended
}

// endingOf reads it from the progress of a job and its baton, nil for none.
func endingOf(p *scheduler.Progress, b *scheduler.Baton) ending {
	e := ending{ended: endedAs(scheduler.LastOutcome(p, b, nil))}
	if !p.Last.IsZero() {
		e.last = max(p.Last.Unix(), 1)
	}
	return e
}

// readEndings asks the history of those jobs of which nothing else tells how they last ended.
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
			return // of an earlier job of the name
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
