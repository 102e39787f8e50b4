package control

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/jobcache/index"
)

// Browsed is a page of jobs with links in both directions.
type Browsed struct {
	Jobs []*v1.Job

	// Before and After are the positions of the previous and the next page, for [Reader.Browse]; "": none.
	Before, After string

	// Count is the total number of matching jobs. For Unread of them, the index has outdated data: they may not match,
	// or have another position.
	Count, Unread int
}

// browseRounds limits how often a page is sorted again after its jobs are read, and how often it is filled up.
const browseRounds = 4

// browseRead limits the jobs with outdated data that are read for a page. If there are more, reading them would not
// complete the count: then only behindRead are read, and other jobs fill the page. The index catches up with all of
// them sooner.
const (
	browseRead = 4096
	behindRead = 256
)

// Browse returns a page of matching jobs in the query's order, at most size, and their total number. place is After or
// Before of an earlier page, or "" for the first page; back states that it is Before.
//
// A page starts after a job, not after a number of jobs: a job that keeps its position appears on exactly one page,
// even while others come and go. Browse requires the index. While the index is being built, it returns ErrUnavailable.
func (r Reader) Browse(ctx context.Context, q scheduler.JobQuery, place string, back bool, size int) (*Browsed, error) {
	if _, err := r.checkSearch(ctx, &q, v1.Page{Top: size}); err != nil {
		return nil, err
	}
	var from *index.Place
	if place != placeEnd || !back {
		var err error
		if from, err = readPlace(place); err != nil {
			return nil, err
		}
	}
	release, err := takeTurn(ctx, r.shared.searching)
	if err != nil {
		return nil, err
	}
	defer release()
	generation := r.shared.index.Generation()
	current, err := r.shared.index.Current(ctx)
	if err != nil {
		return nil, err
	}
	if !current {
		return nil, fmt.Errorf("%w: the index of jobs is being built", scheduler.ErrUnavailable)
	}
	b := &browsing{search: &jobSearch{reader: r, query: &q, page: v1.Page{Top: size}, work: math.Inf(-1)}, from: from, back: back}
	page, err := b.run(ctx)
	if err == nil && r.shared.index.Generation() != generation {
		return nil, fmt.Errorf("%w: the index of jobs was lost", scheduler.ErrUnavailable)
	}
	return page, err
}

// Some returns the existing jobs among keys with their last result, at most one page.
func (r Reader) Some(ctx context.Context, keys []scheduler.Key) ([]*v1.Job, error) {
	return r.some(ctx, keys, &scheduler.JobQuery{WithOutcome: true})
}

// LastRecords returns the last record of each outcome of jobs, in no particular order. They may be of earlier jobs with the same
// names. It takes one request per 1,024 pairs of job and outcome.
func (r Reader) LastRecords(ctx context.Context, keys []scheduler.Key) (map[scheduler.Key][]*scheduler.Record, error) {
	release, err := takeTurn(ctx, r.shared.searching)
	if err != nil {
		return nil, err
	}
	defer release()
	last := map[scheduler.Key][]*scheduler.Record{}
	return last, r.shared.Store.LastRecords(ctx, keys, scheduler.Outcomes, func(rec *scheduler.Record) {
		last[rec.Job] = append(last[rec.Job], rec)
	})
}

// some is [Reader.Some] for the jobs that match a query.
func (r Reader) some(ctx context.Context, keys []scheduler.Key, q *scheduler.JobQuery) ([]*v1.Job, error) {
	page := v1.Page{Top: len(keys)}
	if err := page.Validate(); err != nil || len(keys) == 0 {
		return nil, err
	}
	hits := make([]index.Hit, len(keys))
	for i, k := range keys {
		if err := k.Validate(); err != nil {
			return nil, err
		}
		hits[i].Key = k
	}
	release, err := takeTurn(ctx, r.shared.searching)
	if err != nil {
		return nil, err
	}
	defer release()
	s := &jobSearch{reader: r, query: q, page: page, work: math.Inf(-1)}
	err = s.examine(ctx, hits)
	return s.views, err
}

// browsing builds a page.
type browsing struct {
	search *jobSearch
	from   *index.Place
	back   bool

	ranked  index.Ranking
	jobs    []*v1.Job
	first   *index.Place // of the examined jobs
	last    *index.Place
	further bool // there are more jobs in the direction of travel
	known   bool // leave out further jobs with outdated data
}

func (b *browsing) run(ctx context.Context) (*Browsed, error) {
	size := b.search.page.Size()
	begun := b.from != nil
	for range browseRounds {
		if err := b.rank(ctx, size-len(b.jobs)); err != nil {
			return nil, err
		}
		if err := b.load(ctx); err != nil {
			return nil, err
		}
		if len(b.jobs) >= size || !b.further || b.known {
			break
		}
		b.known = b.ranked.Unread > browseRead
	}
	page := &Browsed{Jobs: b.jobs, Count: b.ranked.Count, Unread: b.ranked.Unread}
	forwards, backwards := b.further, begun
	if b.back {
		forwards, backwards = begun, b.further
	}
	if forwards && b.last != nil {
		page.After = writePlace(b.last)
	}
	switch {
	case backwards && b.first != nil:
		page.Before = writePlace(b.first)
	case begun && !b.back: // the jobs after the page were deleted
		page.Before = placeEnd
	}
	return page, nil
}

// placeEnd is the place after the last job, from which to browse backward.
const placeEnd = "end"

// rank selects the jobs of the page, and reads up to most of those with outdated data.
func (b *browsing) rank(ctx context.Context, most int) error {
	x := b.search.reader.shared.index
	if b.known {
		b.ranked = x.Rank(b.search.query, b.from, b.back, most, true)
		return nil
	}
	for round := range browseRounds {
		b.ranked = x.Rank(b.search.query, b.from, b.back, most, false)
		doubtful := b.ranked.Stale
		if round == 0 {
			doubtful = append(doubtful, b.ranked.Missing...)
		}
		if len(doubtful) == 0 {
			break
		}
		if b.ranked.Unread > browseRead {
			if round > 0 {
				break
			}
			doubtful = b.nearest()
		}
		if err := x.Refresh(ctx, b.search.query, doubtful); err != nil {
			return err
		}
	}
	return nil
}

// nearest returns the jobs with outdated data in the order of their importance for the page: those on it, then by name.
func (b *browsing) nearest() []index.Hit {
	var near []index.Hit
	for _, h := range b.ranked.Hits {
		if !h.Sure {
			near = append(near, index.Hit{Key: h.Key, Stale: true})
		}
	}
	if left := behindRead - len(near); left > 0 {
		near = append(near, b.ranked.Stale[:min(left, len(b.ranked.Stale))]...)
	}
	return near
}

// load reads the selected jobs, and keeps those that exist and match.
func (b *browsing) load(ctx context.Context) error {
	hits := b.ranked.Hits
	b.further = b.ranked.More
	b.search.views = nil
	for chunk := range slices.Chunk(hits, listBatch) {
		if err := b.search.examine(ctx, chunk); err != nil {
			return err
		}
	}
	if len(hits) == 0 {
		return nil
	}
	first, last := placeOf(hits[0]), placeOf(hits[len(hits)-1])
	if b.back {
		b.jobs = append(slices.Clip(b.search.views), b.jobs...)
		b.first, b.from = first, first
		if b.last == nil {
			b.last = last
		}
		return nil
	}
	b.jobs = append(b.jobs, b.search.views...)
	b.last, b.from = last, last
	if b.first == nil {
		b.first = first
	}
	return nil
}

func placeOf(h index.Hit) *index.Place { return &index.Place{Value: h.Value, Key: h.Key} }

// writePlace encodes a place as value/collection/job.
func writePlace(p *index.Place) string { return strconv.FormatInt(p.Value, 36) + "/" + p.Key.String() }

func readPlace(text string) (*index.Place, error) {
	if text == "" {
		return nil, nil //nolint:nilnil // the first page
	}
	parts := strings.Split(text, "/")
	if len(parts) == 3 {
		if value, err := strconv.ParseInt(parts[0], 36, 64); err == nil {
			return &index.Place{Value: value, Key: scheduler.Key{Collection: parts[1], Job: parts[2]}}, nil
		}
	}
	return nil, scheduler.Invalid("$skiptoken", fmt.Sprintf("%q is no place of a page: open the first one again", text))
}
