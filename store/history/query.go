package history

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/store/conn"
)

// Newest is [History.Recent] for a job, from its newest record on, without missing any stored record: it asks the leader
// of the history stream for the newest record of each outcome. Other replicas may lag.
func (s *History) Newest(ctx context.Context, k scheduler.Key, outcomes []scheduler.Outcome, f func(*scheduler.Record) bool) error {
	if s.conn.Replicas == 1 {
		return s.Recent(ctx, k, 0, outcomes, f)
	}
	if len(outcomes) == 0 {
		outcomes = scheduler.Outcomes
	}
	heads := make([]*scheduler.Record, len(outcomes))
	var g errgroup.Group
	for i, o := range outcomes {
		g.Go(func() (err error) {
			heads[i], err = s.askLeader(ctx, map[string]any{"last_by_subj": s.HistorySubject(k, o)})
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return s.scanFrom(ctx, k, slices.DeleteFunc(heads, func(r *scheduler.Record) bool { return r == nil }), outcomes, f)
}

// recordsAtOnce limits the concurrent requests of [History.RecordsAt].
const recordsAtOnce = 16

// RecordsAt returns the stored records among those with the given sequences, in the same order.
func (s *History) RecordsAt(ctx context.Context, sequences []uint64) ([]*scheduler.Record, error) {
	records := make([]*scheduler.Record, len(sequences))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(recordsAtOnce)
	for i, sequence := range sequences {
		g.Go(func() error {
			m, err := s.conn.MessageAt(ctx, s.conn.Config.Stream("HISTORY"), sequence)
			switch {
			case err == nil:
				records[i], err = s.record(m)
			case !errors.Is(err, jetstream.ErrMsgNotFound):
				err = conn.Translate(err)
			case s.conn.Replicas > 1: // the replica may lag
				records[i], err = s.askLeader(ctx, map[string]any{"seq": sequence})
			default:
				err = nil // it was removed
			}
			return err
		})
	}
	err := g.Wait()
	return slices.DeleteFunc(records, func(r *scheduler.Record) bool { return r == nil }), err
}

// askLeader asks the leader of the history stream for a record. It returns nil if the record does not exist.
func (s *History) askLeader(ctx context.Context, get map[string]any) (*scheduler.Record, error) {
	var answer struct {
		Message *struct {
			Subject  string    `json:"subject"`
			Sequence uint64    `json:"seq"`
			Data     []byte    `json:"data"`
			Time     time.Time `json:"time"`
		} `json:"message"`
	}
	err := s.conn.AskDirect(ctx, conn.PublishTimeout, func(ctx context.Context) error {
		return s.conn.Ask(ctx, "$JS.API.STREAM.MSG.GET."+s.conn.Config.Stream("HISTORY"), get, &answer)
	})
	api, told := errors.AsType[*jetstream.APIError](err)
	switch {
	case told && api.ErrorCode == jetstream.JSErrCodeMessageNotFound:
		return nil, nil //nolint:nilnil // absence is an answer
	case err != nil:
		return nil, conn.Translate(err)
	case answer.Message == nil:
		return nil, conn.Translate(errors.New("the leader of the history answers with no message"))
	}
	m := answer.Message
	return s.record(&jetstream.RawStreamMsg{Subject: m.Subject, Sequence: m.Sequence, Time: m.Time, Data: m.Data})
}

// sinceBatch is the number of records per request of [History.RecordsSince].
const sinceBatch = 64

// RecordsSince calls f for the records of a job that were stored at or after since (store clock), oldest first, until f
// returns false.
func (s *History) RecordsSince(ctx context.Context, k scheduler.Key, since time.Time, f func(*scheduler.Record) bool) error {
	return s.onward(ctx, conn.DirectRequest{Filter: s.historyFilter(k), Since: &since, Batch: sinceBatch}, f)
}

// Kept returns the time since which the history of a job is complete. Older records have expired ([Config.HistoryAge])
// or were displaced by newer ones with the same outcome ([Config.HistoryPerJob]).
func (s *History) Kept(ctx context.Context, k scheduler.Key) (since time.Time, err error) {
	since = s.conn.Now().Add(-s.conn.Config.HistoryAge).UTC() //nolint:contextcheck // what Now asks the server is for later calls
	if s.conn.Config.HistoryPerJob <= 0 {
		return since, nil
	}
	info, err := s.stream.Info(ctx, jetstream.WithSubjectFilter(s.historyFilter(k)))
	if err != nil {
		return since, conn.Translate(err)
	}
	for subject, n := range info.State.Subjects {
		if n < uint64(s.conn.Config.HistoryPerJob) {
			continue
		}
		oldest, _, err := s.conn.Forward(ctx, s.conn.Config.Stream("HISTORY"), subject, 1, math.MaxInt64, 1)
		if err != nil {
			return since, err
		}
		if len(oldest) > 0 && oldest[0].Time.After(since) {
			since = oldest[0].Time.UTC()
		}
	}
	return since, nil
}

// scan calls f for records with the given outcomes (none: all), newest first, until f returns false. It starts before the
// given sequence (0: with the newest). k selects a job, a collection or all jobs.
func (s *History) scan(
	ctx context.Context, k scheduler.Key, before uint64, outcomes []scheduler.Outcome, f func(*scheduler.Record) bool,
) error {
	if before == 1 {
		return nil
	}
	filters := s.scanFilters(k, outcomes)
	return backwards(ctx, s.conn, s.stream, filters, before, k.Job != "", func(m *jetstream.RawStreamMsg) (bool, error) {
		r, err := s.record(m)
		if err == nil && len(outcomes) > 0 && !slices.Contains(outcomes, r.Outcome) {
			return true, nil
		}
		return err == nil && f(r), err
	})
}

// scanFilters returns the subject filters for a scan. Several outcomes of one job have one filter: for each outcome, the server
// would search a long history back to the last record of a rare outcome.
func (s *History) scanFilters(k scheduler.Key, outcomes []scheduler.Outcome) []string {
	if len(outcomes) == 0 || len(outcomes) == len(scheduler.Outcomes) || k.Job != "" && len(outcomes) > 1 {
		if k.Collection == "" {
			return []string{conn.AnySubject}
		}
		return []string{s.historyFilter(k)}
	}
	of := scheduler.Key{Collection: cmp.Or(k.Collection, "*"), Job: cmp.Or(k.Job, "*")}
	filters := make([]string, len(outcomes))
	for i, o := range outcomes {
		filters[i] = s.HistorySubject(of, o)
	}
	return filters
}
