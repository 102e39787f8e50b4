package control

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/jobcache/index"
)

// Search returns a page of matching jobs, by collection and name. next requests the following page; nil if there is
// none. A page ends early, and may be empty, after many jobs that do not match. Search returns ErrNotFound if the query
// names one collection that does not exist; of several, it ignores missing ones.
//
// The next page starts after a job's name if the query names one collection, otherwise after its collection and name
// ([v1.Page.After]).
//
// The index selects candidates, and the store decides whether they match. Without an index, Search examines all jobs.
func (r Reader) Search(ctx context.Context, q scheduler.JobQuery, p v1.Page) (views []*v1.Job, next *v1.Page, err error) {
	at, err := r.checkSearch(ctx, &q, p)
	if err != nil {
		return nil, nil, err
	}
	release, err := takeTurn(ctx, r.shared.searching)
	if err != nil {
		return nil, nil, err
	}
	defer release()
	s := &jobSearch{reader: r, query: &q, page: p, at: at}
	generation := r.shared.index.Generation()
	current, err := r.shared.index.Current(ctx)
	switch {
	case err != nil:
		return nil, nil, err
	case current:
		s.source = &indexed{index: r.shared.index, query: &q}
	default:
		if s.source, err = r.scan(ctx, &q, s); err != nil {
			return nil, nil, err
		}
	}
	more, err := s.run(ctx)
	if err == nil && current && r.shared.index.Generation() != generation { // the result may be incomplete
		s = &jobSearch{reader: r, query: &q, page: p, at: at}
		if s.source, err = r.scan(ctx, &q, s); err != nil {
			return nil, nil, err
		}
		more, err = s.run(ctx)
	}
	if err != nil || !more {
		return s.views, nil, err
	}
	s.page.After = After(&q, s.at)
	return s.views, &s.page, nil
}

// Indexed reports whether searches have an index.
func (r Reader) Indexed() bool { return r.shared.index.Ready() }

// IndexProgress returns the progress of the search index.
func (r Reader) IndexProgress() index.Progress { return r.shared.index.Progress() }

// Due counts the jobs that run within given durations from now.
type Due = index.Due

// Due counts the visible jobs (sees nil: all) by their next run. known is false without an index. It returns
// ErrUnavailable if too many requests wait.
func (r Reader) Due(ctx context.Context, sees func(collection string) bool, lengths ...time.Duration) (due Due, known bool, err error) {
	release, err := takeTurn(ctx, r.shared.searching)
	if err != nil {
		return due, false, err
	}
	defer release()
	return r.shared.index.Due(ctx, sees, lengths...)
}

// checkSearch validates the query, and returns the job after which the page starts.
func (r Reader) checkSearch(ctx context.Context, q *scheduler.JobQuery, p v1.Page) (at scheduler.Key, err error) {
	problems := []error{p.Validate()}
	for _, c := range q.Collections {
		problems = append(problems, scheduler.ValidateCollection(c))
	}
	if err := errors.Join(problems...); err != nil {
		return at, err
	}
	if !q.From.IsZero() && !q.Before.IsZero() && !q.From.Before(q.Before) {
		return at, scheduler.Invalid("nextAfter", "is not before nextBefore: no job can be between them")
	}
	if wrong := r.unknownAction(q.Action); q.Action != "" && wrong != "" {
		return at, scheduler.Invalid("actionType", wrong)
	}
	if q.Outcome != "" && !slices.Contains(scheduler.LastOutcomes, q.Outcome) {
		return at, scheduler.Invalid("lastOutcome", fmt.Sprintf("%q is none; there are %s", q.Outcome, words(scheduler.LastOutcomes)))
	}
	q.Collections, q.Inherited = sorted(q.Collections), r.shared.Collections.Labels
	if !alone(q) {
		at.Collection, at.Job, _ = strings.Cut(p.After, "/")
		if p.After != "" && at.Job == "" {
			return at, scheduler.Invalid("$skiptoken", fmt.Sprintf("%q is not a collection/job after which the list can continue", p.After))
		}
		return at, nil
	}
	return scheduler.Key{Collection: q.Collections[0], Job: p.After}, r.shared.exists(ctx, q.Collections[0])
}

// ActionTypes returns the supported action types, sorted.
func (r Reader) ActionTypes() []string { return r.shared.Actions.Types() }

// unknownAction returns a problem if no action type has this name in any letter case, otherwise "".
func (r Reader) unknownAction(asked string) string {
	kinds := r.shared.Actions.Types()
	if slices.ContainsFunc(kinds, func(kind string) bool { return strings.EqualFold(kind, asked) }) {
		return ""
	}
	return fmt.Sprintf("%q is none; there are %s", asked, strings.Join(kinds, ", "))
}

func words(outcomes []scheduler.Outcome) string {
	all := make([]string, len(outcomes))
	for i, o := range outcomes {
		all[i] = string(o)
	}
	return strings.Join(all, ", ")
}

// sorted returns collections in order and without duplicates; nil for nil.
func sorted(collections []string) []string {
	if collections == nil {
		return nil
	}
	return slices.Compact(slices.Sorted(slices.Values(collections)))
}

// alone reports whether the query names one collection.
func alone(q *scheduler.JobQuery) bool { return len(q.Collections) == 1 }

// After returns the place after a job, as a page of a search has it ([v1.Page.After]).
func After(q *scheduler.JobQuery, k scheduler.Key) string {
	if alone(q) {
		return k.Job
	}
	return k.String()
}

// scan lists the jobs with matching names from the store's index, which has only names.
func (r Reader) scan(ctx context.Context, q *scheduler.JobQuery, s *jobSearch) (candidates, error) {
	collection := ""
	if alone(q) {
		collection = q.Collections[0]
	}
	var keys []scheduler.Key
	err := r.shared.Store.EachJob(ctx, collection, func(k scheduler.Key) error {
		if q.Within(k.Collection) && strings.HasPrefix(k.Job, q.Prefix) && compareKeys(k, s.at) > 0 {
			keys = append(keys, k)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(keys, compareKeys)
	if s.page.Skip > 0 && q.ByName() { // skip the part before the page without examining it
		if keys, err = r.existing(ctx, keys, s.page.Skip+s.page.Size()+1); err != nil {
			return nil, err
		}
		keys, s.page.Skip = keys[min(s.page.Skip, len(keys)):], 0
	}
	return &scanned{keys}, nil
}

// compareKeys orders jobs by collection and name.
func compareKeys(a, b scheduler.Key) int {
	return cmp.Or(cmp.Compare(a.Collection, b.Collection), cmp.Compare(a.Job, b.Job))
}

// candidates lists jobs that may match, in the order of their names.
type candidates interface {
	// next returns up to most candidates after a place, and the place of the next ones. more reports that others may
	// follow, even if it returns none. It omits candidates to skip if it need not examine them, and decrements skip.
	next(ctx context.Context, at scheduler.Key, skip *int, most int) (hits []index.Hit, to scheduler.Key, more bool, err error)
}

// scanned is a source of all jobs.
type scanned struct{ keys []scheduler.Key }

func (s *scanned) next(
	_ context.Context, at scheduler.Key, _ *int, most int,
) (hits []index.Hit, to scheduler.Key, more bool, err error) {
	n := min(len(s.keys), most)
	for _, k := range s.keys[:n] {
		hits = append(hits, index.Hit{Key: k})
	}
	s.keys = s.keys[n:]
	if n > 0 {
		at = hits[n-1].Key
	}
	return hits, at, len(s.keys) > 0, nil
}

// staleReach limits the jobs with outdated index data that are read for a page.
const staleReach = 2048

// indexed is a source of the jobs that the index does not exclude.
type indexed struct {
	index *index.Index
	query *scheduler.JobQuery
	stale int // jobs that were read
}

func (s *indexed) next(
	ctx context.Context, at scheduler.Key, skip *int, most int,
) (hits []index.Hit, to scheduler.Key, more bool, err error) {
	for {
		var skipped int
		hits, skipped, more = s.index.Find(s.query, at, *skip, most)
		*skip -= skipped
		if len(hits) == 0 {
			return nil, at, false, nil
		}
		at = hits[len(hits)-1].Key
		stale := 0
		for _, h := range hits {
			if h.Stale {
				stale++
			}
		}
		if stale == 0 {
			return hits, at, more, nil
		}
		s.stale += stale
		if err := s.index.Refresh(ctx, s.query, hits); err != nil {
			return nil, at, false, err
		}
		if hits = s.index.Recheck(s.query, hits); len(hits) > 0 || !more || s.stale >= staleReach {
			return hits, at, more, nil
		}
	}
}
