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
	register := r.shared.roster.enter(ctx)
	defer r.shared.roster.release(register)
	followed, stop := context.WithCancelCause(ctx)
	t := &follower{register: register, query: &q, tail: &tail, stop: stop, touched: make(chan struct{}, 1)}
	untell := register.tell(t)
	defer untell()
	var watch sync.WaitGroup
	defer watch.Wait()
	defer stop(nil)
	watch.Go(func() { t.watch(followed) })
	select {
	case <-register.stands:
	case <-followed.Done():
		return t.outcome(ctx, followed)
	}
	t.begin(followed)
	if followed.Err() == nil {
		tail.Ready(begins)
		take := func(rec *scheduler.Record) { t.take(followed, rec) }
		if err := r.shared.Store.Follow(followed, q.Key, begins.After, take); err != nil {
			return err
		}
	}
	return t.outcome(ctx, followed)
}

// follower picks the records that are wanted out of those that come.
type follower struct {
	register *register
	query    *HistoryQuery
	tail     *Tail
	stop     context.CancelCauseFunc
	touched  chan struct{} // the definition of the query's job was

	mu  sync.Mutex
	own presence // of the query's job, at the beginning
}

// rouse has it looked whether the query's job is there.
func (t *follower) rouse() {
	select {
	case t.touched <- struct{}{}:
	default:
	}
}

// watch stops following when nobody tells of changes any more, or the query's job is not there any more.
func (t *follower) watch(ctx context.Context) {
	for {
		select {
		case <-t.touched:
			t.mu.Lock()
			own := t.own
			t.mu.Unlock()
			if own.exists {
				t.verify(ctx)
			}
		case <-t.register.ended:
			t.stop(t.register.err)
			return
		case <-ctx.Done():
			return
		}
	}
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
	p, err := t.register.present(ctx, k)
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

// verify stops following when the job that was followed is not there any more.
func (t *follower) verify(ctx context.Context) {
	now, err := t.register.present(ctx, t.query.Key)
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
	p, err := t.register.present(ctx, r.Job)
	foreign := !p.exists || !r.IsOf(p.incarnation)
	if err == nil && foreign { // or of a job so new that nobody has told of it
		t.register.forget(r.Job)
		p, err = t.register.present(ctx, r.Job)
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
