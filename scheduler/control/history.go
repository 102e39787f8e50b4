package control

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/historyindex"
)

// HistoryQuery selects history records.
type HistoryQuery struct {
	scheduler.RecordFilter

	Key scheduler.Key // a job; a collection if Job is empty; all jobs if it is the zero Key

	Sees func(collection string) bool // visible collections; nil: all
}

// Admits reports whether a record matches and is visible.
func (q *HistoryQuery) Admits(r *scheduler.Record, incarnation string, exists bool) bool {
	return (q.Sees == nil || q.Sees(r.Job.Collection)) && q.RecordFilter.Admits(r, incarnation, exists)
}

// check checks whether the query's job or collection exists.
func (r Reader) check(ctx context.Context, q *HistoryQuery) error {
	for _, kind := range q.ActionTypes {
		if wrong := r.unknownAction(kind); wrong != "" {
			return scheduler.Invalid("$filter", "actionType "+wrong)
		}
	}
	if err := checkScope(q.Key); err != nil || q.Key.Job != "" || q.Key.Collection == "" {
		return err
	}
	return r.shared.exists(ctx, q.Key.Collection)
}

// isFound reports whether an index helps. It does not if the query matches all stored records, or records of deleted
// jobs, which the index does not distinguish. present is the incarnation of the query's job, or "".
func (q *HistoryQuery) isFound(present string) bool {
	return (q.NeedsJob() || q.Names(present)) && (q.Key.Collection != "" || len(q.Outcomes) > 0 || q.IsSelective() || q.Sees != nil)
}

// The limits of a history page.
const (
	historyChunk = 64   // records of many jobs that are examined together
	historyReach = 2048 // examined records, some 40 ms of processor time

	// historyTime is the time after which a page ends. Records that are spread over a history of millions take some
	// milliseconds each.
	historyTime = 2 * time.Second
)

// History returns a page of records, newest first. next is the sequence before which the next page starts, 0 if there
// is none. A page ends early, and may be empty, after many records that do not match, or if records take long to read.
//
// The history of a job has the records of its current incarnation, unless the query selects others. History returns
// ErrNotFound if neither the job nor any such record exists.
func (r Reader) History(ctx context.Context, q HistoryQuery, p v1.Page) (records []*scheduler.Record, next uint64, err error) {
	if err := errors.Join(r.check(ctx, &q), p.Validate()); err != nil {
		return nil, 0, err
	}
	release, err := takeTurn(ctx, r.shared.searching)
	if err != nil {
		return nil, 0, err
	}
	defer release()
	s := &historySearch{
		store: r.shared.Store, query: &q, page: p, skip: p.Skip, chunk: historyChunk, began: r.shared.Store.Now(),
		jobs: &incarnations{r.shared.Store, map[scheduler.Key]presence{}},
	}
	if q.Key.Job != "" {
		s.chunk = 1 // the job is known
		if err := s.jobs.learn(ctx, []scheduler.Key{q.Key}); err != nil {
			return nil, 0, err
		}
		if s.missing() && q.NeedsJob() {
			return nil, 0, notThere(q.Key)
		}
	}
	if q.isFound(s.jobs.known[q.Key].incarnation) {
		s.index, s.current = r.shared.histories.ask(ctx, p.Before)
	}
	if err = s.run(ctx); err == nil && q.Key.Job != "" && s.seen == 0 && p.Before == 0 && s.missing() {
		err = notThere(q.Key)
	}
	return s.records, s.next, err
}

// Occurrence returns the records of an occurrence of a job, newest first, or nil if there are none. It examines the
// records from the occurrence's time on, as many as [Reader.Why] does, and may miss later ones.
func (r Reader) Occurrence(ctx context.Context, k scheduler.Key, nominal time.Time) (own []*scheduler.Record, err error) {
	if err := k.Validate(); err != nil {
		return nil, err
	}
	release, err := takeTurn(ctx, r.shared.searching)
	if err != nil {
		return nil, err
	}
	defer release()
	seen := 0
	err = r.shared.Store.RecordsSince(ctx, k, nominal.Add(-clockSkew), func(rec *scheduler.Record) bool {
		if rec.Occurrence != "" && rec.Nominal.Equal(nominal) {
			own = append(own, rec)
		}
		seen++
		return seen < whyReach
	})
	slices.Reverse(own)
	return own, err
}

// LastRecord returns the sequence of the last record of all histories, or 0.
func (r Reader) LastRecord(ctx context.Context) (uint64, error) {
	span, err := r.shared.Store.HistorySpan(ctx)
	return span.Last, err
}

func notThere(k scheduler.Key) error { return fmt.Errorf("job %s: %w", k, scheduler.ErrNotFound) }

// historySearch fills a page.
type historySearch struct {
	store   scheduler.Store
	query   *HistoryQuery
	page    v1.Page
	skip    int
	jobs    *incarnations
	chunk   int                 // records whose jobs are looked up together
	index   *historyindex.Index // nil: no index
	current bool                // the store has no newer records than the index

	began   time.Time
	seen    int
	pending []*scheduler.Record // records whose jobs must be looked up
	records []*scheduler.Record
	full    bool
	ended   bool // examine no further record
	next    uint64
}

// complete reports whether the page is complete.
func (s *historySearch) complete() bool { return s.full || s.ended }

func (s *historySearch) missing() bool { return !s.jobs.known[s.query.Key].exists }

// run finds the records, newest first: in the index for its range, and otherwise in the store.
func (s *historySearch) run(ctx context.Context) error {
	before := s.page.Before
	if s.index == nil {
		return s.scan(ctx, before, 0)
	}
	from, to := s.index.Span()
	if !s.current && (before == 0 || before > to) {
		if err := s.scan(ctx, before, to); err != nil || s.complete() {
			return err
		}
	}
	if before == 0 || before > to {
		before = to
	}
	if before > from {
		if err := s.lookUp(ctx, before); err != nil || s.complete() {
			return err
		}
		before = from
	}
	if before <= 1 { // nothing precedes the first record
		return nil
	}
	return s.scan(ctx, before, 0)
}

// scan reads the records of the store before a sequence and not before down.
func (s *historySearch) scan(ctx context.Context, before, down uint64) error {
	var failed error
	outcomes := s.query.Outcomes
	if s.query.Key.Job != "" && len(outcomes) > 1 {
		outcomes = nil // they are read in any case, and must be counted
	}
	err := s.store.Recent(ctx, s.query.Key, before, outcomes, func(r *scheduler.Record) bool {
		if r.Sequence < down {
			return false
		}
		more := s.visit(r)
		if len(s.pending) >= s.chunk {
			failed = s.settle(ctx)
		}
		return more && failed == nil && !s.full
	})
	if err = errors.Join(err, failed); err != nil {
		return err
	}
	return s.settle(ctx)
}

// lookUp adds the records before a sequence that the index finds.
func (s *historySearch) lookUp(ctx context.Context, before uint64) error {
	q := historyindex.Query{RecordFilter: s.query.RecordFilter, Key: s.query.Key, Sees: s.query.Sees}
	for removed := 0; ; {
		sequences, done := s.index.Search(&q, before, min(s.page.Size()-len(s.records)+s.skip+1, lookUpMost))
		records, err := s.store.RecordsAt(ctx, sequences)
		if err != nil {
			return err
		}
		for _, r := range records {
			if !s.visit(r) {
				return s.settle(ctx)
			}
		}
		if err := s.settle(ctx); err != nil || done || s.full {
			return err
		}
		before = sequences[len(sequences)-1]
		if removed += len(sequences) - len(records); removed >= historyReach {
			s.next, s.ended = before, true
			return nil
		}
	}
}

// lookUpMost limits the records that are read together.
const lookUpMost = 256

// visit examines the next record, and reports whether to continue.
func (s *historySearch) visit(r *scheduler.Record) bool {
	s.seen++
	if s.query.Passed(r) {
		s.ended = true
		return false
	}
	s.pending = append(s.pending, r)
	if s.seen == historyReach || s.store.Now().Sub(s.began) > historyTime {
		s.next, s.ended = r.Sequence, true
		return false
	}
	return true
}

// settle decides which of the pending records match.
func (s *historySearch) settle(ctx context.Context) error {
	keys := make([]scheduler.Key, len(s.pending))
	for i, r := range s.pending {
		keys[i] = r.Job
	}
	if err := s.jobs.learn(ctx, keys); err != nil {
		return err
	}
	for _, r := range s.pending {
		present := s.jobs.known[r.Job]
		switch {
		case s.full || !s.query.Admits(r, present.incarnation, present.exists):
		case s.skip > 0:
			s.skip--
		case len(s.records) == s.page.Size():
			s.full, s.next = true, s.records[len(s.records)-1].Sequence
		default:
			s.records = append(s.records, r)
		}
	}
	s.pending = s.pending[:0]
	return nil
}

// presence states whether a job exists, and its incarnation.
type presence struct {
	incarnation string
	exists      bool
}

// incarnations caches the presence of jobs, to distinguish them from earlier jobs with the same name.
type incarnations struct {
	store scheduler.Store
	known map[scheduler.Key]presence
}

// learn looks up the unknown jobs in one request.
func (i *incarnations) learn(ctx context.Context, keys []scheduler.Key) error {
	var unknown []scheduler.Key
	for _, k := range keys {
		if _, ok := i.known[k]; !ok {
			i.known[k] = presence{}
			unknown = append(unknown, k)
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	return i.store.LoadJobs(ctx, unknown, func(st scheduler.Stored) { i.known[st.Key] = presenceOf(st) })
}

// present looks up a job.
func present(ctx context.Context, store scheduler.Store, k scheduler.Key) (presence, error) {
	st, err := store.LoadJob(ctx, k)
	switch {
	case errors.Is(err, scheduler.ErrNotFound):
		return presence{}, nil
	case err != nil:
		return presence{}, fmt.Errorf("job %s: %w", k, err)
	}
	return presenceOf(st), nil
}

func presenceOf(st scheduler.Stored) presence {
	return presence{scheduler.StoredIncarnation(st.Data), true}
}
