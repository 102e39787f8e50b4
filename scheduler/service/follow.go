package service

import (
	"context"
	"fmt"
	"sync"

	"github.com/carillon-sched/carillon/scheduler"
)

// Tail says where a live tail of a history begins, and what is called.
type Tail struct {
	After *uint64 // the sequence after which it begins; nil: that of the last record

	// Beyond has a place after the last record taken for the last one, as it is of
	// another history: one that was lost. Default: such a place is refused.
	Beyond bool

	Ready  func(Beginning)         // is called once, before the others
	Record func(*scheduler.Record) // for every record that is wanted
	Passed func(sequence uint64)   // for every one that is not; may be nil
}

// Beginning is where a live tail begins.
type Beginning struct {
	After uint64 // what is recorded after this sequence is told
	First uint64 // of what is kept: what was recorded before it is not told
	Last  uint64 // of what was recorded so far
}

// Follow calls t's functions for the records after a place, in their order and as
// they come, until ctx is done. They may be called a last time while Follow
// returns.
//
// Records of a job are those of the job that has the name now, unless the query
// asks for others. ErrNotFound when there is none, and when it is deleted: then
// nothing more can come.
func (r Reader) Follow(ctx context.Context, q HistoryQuery, tail Tail) error {
	if err := r.check(ctx, &q); err != nil {
		return err
	}
	span, err := r.shared.Store.HistorySpan(ctx)
	if err != nil {
		return err
	}
	begins := Beginning{After: span.Last, First: span.First, Last: span.Last}
	switch {
	case tail.After == nil || *tail.After > span.Last && tail.Beyond:
	case *tail.After > span.Last:
		return scheduler.Invalid("after", fmt.Sprintf("%d is not the sequence of a record: the last one is %d", *tail.After, span.Last))
	default:
		begins.After = *tail.After
	}
	followed, stop := context.WithCancelCause(ctx)
	t := &follower{store: r.shared.Store, query: &q, tail: &tail, stop: stop, known: map[scheduler.Key]presence{}}
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
		tail.Ready(begins)
		if err := r.shared.Store.Follow(followed, q.Key, begins.After, func(rec *scheduler.Record) { t.take(followed, rec) }); err != nil {
			return err
		}
	}
	return t.outcome(ctx, followed)
}

// follower picks the records that are wanted out of those that come.
type follower struct {
	store scheduler.Store
	query *HistoryQuery
	tail  *Tail
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
func (t *follower) take(ctx context.Context, r *scheduler.Record) {
	p, err := t.present(ctx, r.Job)
	foreign := !p.exists || !scheduler.SameIncarnation(r.UID, p.incarnation)
	if err == nil && foreign { // or of a job so new that nobody has told of it
		t.forget(r.Job)
		p, err = t.present(ctx, r.Job)
	}
	if err != nil {
		t.stop(err)
	}
	switch {
	case ctx.Err() != nil:
	case t.query.Admits(r, p.incarnation, p.exists):
		t.tail.Record(r)
	case t.tail.Passed != nil:
		t.tail.Passed(r.Sequence)
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
