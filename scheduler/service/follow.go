package service

import (
	"context"
	"fmt"
	"sync"

	"github.com/carillon-sched/carillon/scheduler"
)

// Follow calls ready once, with the sequence of the last record that is not told,
// and then f for every record after it, in their order and as they come, until
// ctx is done. That is after, or the last record of all when after is nil. f may
// be called a last time while Follow returns.
//
// Records of a job are those of the job that has the name now, unless the query
// asks for others. ErrNotFound when there is none, and when it is deleted: then
// nothing more can come.
func (r Reader) Follow(
	ctx context.Context, q HistoryQuery, after *uint64, ready func(after uint64), f func(*scheduler.Record),
) error {
	if err := r.check(ctx, &q); err != nil {
		return err
	}
	last, err := r.shared.Store.LastRecord(ctx)
	if err != nil {
		return err
	}
	if after == nil {
		after = &last
	} else if *after > last {
		return scheduler.Invalid("after", fmt.Sprintf("%d is not the sequence of a record: the last one is %d", *after, last))
	}
	followed, stop := context.WithCancelCause(ctx)
	t := &follower{store: r.shared.Store, query: &q, stop: stop, known: map[scheduler.Key]presence{}}
	var watch sync.WaitGroup
	defer watch.Wait()
	defer stop(nil)
	stands := make(chan struct{})
	watch.Go(func() {
		changed := func(k scheduler.Key, _ uint64) { t.changed(followed, k) }
		if err := r.shared.Store.WatchJobs(followed, func() { close(stands) }, changed); err != nil {
			stop(err)
		}
	})
	select {
	case <-stands:
	case <-followed.Done():
		return t.outcome(ctx, followed)
	}
	t.begin(followed)
	if followed.Err() == nil {
		ready(*after)
		if err := r.shared.Store.Follow(followed, q.Key, *after, func(rec *scheduler.Record) { t.take(followed, rec, f) }); err != nil {
			return err
		}
	}
	return t.outcome(ctx, followed)
}

// follower picks the records that are wanted out of those that come.
type follower struct {
	store scheduler.Store
	query *HistoryQuery
	stop  context.CancelCauseFunc
	own   presence // of the query's job, at the beginning

	mu      sync.Mutex
	known   map[scheduler.Key]presence
	changes int // of definitions
}

// outcome is what following ended with: nil when it was asked to end.
func (t *follower) outcome(asked, followed context.Context) error {
	if asked.Err() == nil {
		return context.Cause(followed)
	}
	return nil
}

// begin makes sure that there is a job to follow.
func (t *follower) begin(ctx context.Context) {
	k := t.query.Key
	if k.Job == "" || !t.query.NeedsJob() {
		return
	}
	p, err := t.present(ctx, k)
	switch {
	case err != nil:
		t.stop(err)
	case !p.exists:
		t.stop(notThere(k))
	default:
		t.mu.Lock()
		t.own = p
		t.mu.Unlock()
		t.verify(ctx) // it may have been deleted meanwhile
	}
}

// changed forgets a job whose definition was written or deleted.
func (t *follower) changed(ctx context.Context, k scheduler.Key) {
	t.forget(k)
	t.mu.Lock()
	own := t.own
	t.mu.Unlock()
	if k == t.query.Key && own.exists {
		t.verify(ctx)
	}
}

func (t *follower) forget(k scheduler.Key) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.known, k)
	t.changes++
}

// verify stops following when the job that was followed is not there any more.
func (t *follower) verify(ctx context.Context) {
	now, err := t.present(ctx, t.query.Key)
	t.mu.Lock()
	own := t.own
	t.mu.Unlock()
	switch {
	case err != nil:
		t.stop(err)
	case now != own:
		t.stop(fmt.Errorf("%w: it was deleted", notThere(t.query.Key)))
	}
}

// take takes the next record.
func (t *follower) take(ctx context.Context, r *scheduler.Record, f func(*scheduler.Record)) {
	p, err := t.present(ctx, r.Job)
	foreign := !p.exists || !scheduler.SameIncarnation(r.UID, p.incarnation)
	if err == nil && foreign { // or of a job so new that nobody has told of it
		t.forget(r.Job)
		p, err = t.present(ctx, r.Job)
	}
	if err != nil {
		t.stop(err)
	}
	if ctx.Err() == nil && t.query.Admits(r, p.incarnation, p.exists) {
		f(r)
	}
}

// knownMost is how many jobs a follower knows at once.
const knownMost = 1 << 16

// present looks up a job, unless it is known.
func (t *follower) present(ctx context.Context, k scheduler.Key) (presence, error) {
	t.mu.Lock()
	p, ok := t.known[k]
	changes := t.changes
	t.mu.Unlock()
	if ok {
		return p, nil
	}
	p, err := present(ctx, t.store, k)
	t.mu.Lock()
	defer t.mu.Unlock()
	if err == nil && changes == t.changes {
		if len(t.known) >= knownMost {
			clear(t.known)
		}
		t.known[k] = p
	}
	return p, err
}
