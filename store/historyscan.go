package store

import (
	"context"
	"slices"

	"github.com/carillon-sched/carillon/scheduler"
)

// scanAll calls f for the records of many jobs with one of the outcomes, newest
// first, from the record before the sequence before on (0: from the newest),
// until f returns false.
func (s *Store) scanAll(
	ctx context.Context, k scheduler.Key, before uint64, outcomes []scheduler.Outcome, f func(*scheduler.Record) bool,
) error {
	if before == 1 {
		return nil
	}
	info, err := s.history.Info(ctx)
	if err != nil {
		return translate(err)
	}
	first, end := max(info.State.FirstSeq, 1), info.State.LastSeq+1
	if before > 0 {
		end = min(end, before)
	}
	var cursors []*cursor
	for _, filter := range s.scanFilters(k, outcomes) {
		cursors = append(cursors, &cursor{store: s, filter: filter, first: first, end: end, width: firstWidth})
	}
	for {
		newest, err := newestOf(ctx, cursors)
		if newest == nil || err != nil {
			return err
		}
		if !f(newest.pop()) {
			return nil
		}
	}
}

// scanFilters are the subjects that have all records that are looked for.
func (s *Store) scanFilters(k scheduler.Key, outcomes []scheduler.Outcome) []string {
	if len(outcomes) == 0 || len(outcomes) == len(scheduler.Outcomes) {
		if k.Collection == "" {
			return []string{anySubject}
		}
		return []string{s.historyFilter(k)}
	}
	collection := k.Collection
	if collection == "" {
		collection = "*"
	}
	filters := make([]string, len(outcomes))
	for i, o := range outcomes {
		filters[i] = s.historySubject(scheduler.Key{Collection: collection, Job: "*"}, o)
	}
	return filters
}

// newestOf returns the cursor whose next record is the newest; nil when all are
// at their end.
func newestOf(ctx context.Context, cursors []*cursor) (newest *cursor, err error) {
	for _, c := range cursors {
		r, err := c.head(ctx)
		if err != nil {
			return nil, err
		}
		if r != nil && (newest == nil || r.Sequence > newest.records[len(newest.records)-1].Sequence) {
			newest = c
		}
	}
	return newest, nil
}

// The bounds of a cursor's steps.
const (
	firstWidth = 64      // sequences of the first one
	batchSize  = 1024    // records of one, at most
	maxWidth   = 1 << 40 // sequences of one, at most
)

// cursor goes backwards through the messages of a stream that match a filter,
// which the server can only read forwards. It looks at ranges of sequences, the
// latest first: a range with few matches makes the next one wider, and one with
// more than fit into a batch is narrowed. So the work is that of the records
// which are read, and a few requests besides, however rare they are.
type cursor struct {
	store  *Store
	filter string
	first  uint64 // of the stream
	end    uint64 // what is from here on was read
	width  uint64

	records []*scheduler.Record // read, and not yet taken, the oldest first
}

// head returns the next record without taking it; nil at the end.
func (c *cursor) head(ctx context.Context) (*scheduler.Record, error) {
	for len(c.records) == 0 {
		if c.end <= c.first {
			return nil, nil //nolint:nilnil // the end
		}
		if err := c.step(ctx); err != nil {
			return nil, err
		}
	}
	return c.records[len(c.records)-1], nil
}

// pop takes the next record.
func (c *cursor) pop() *scheduler.Record {
	r := c.records[len(c.records)-1]
	c.records = c.records[:len(c.records)-1]
	return r
}

// step reads the range before the last one, or finds it to be too wide.
func (c *cursor) step(ctx context.Context) error {
	from := c.first
	if c.end-c.first > c.width {
		from = c.end - c.width
	}
	messages, all, err := c.store.forward(ctx, c.store.cfg.stream("HISTORY"), c.filter, from, c.end, batchSize)
	if err != nil {
		return err
	}
	if !all && len(messages) > 0 {
		c.width = max(1, (messages[len(messages)-1].Sequence-from)/2) // as many as there should be room for
		return nil
	}
	c.records = slices.Grow(c.records, len(messages))
	for _, m := range messages {
		r, err := c.store.record(m)
		if err != nil {
			return err
		}
		c.records = append(c.records, r)
	}
	c.end = from
	if 4*len(messages) <= batchSize {
		c.width = min(4*c.width, maxWidth)
	}
	return nil
}
