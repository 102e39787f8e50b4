package store

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"

	"github.com/carillon-sched/carillon/scheduler"
)

// Newest is [Store.Recent] for a job from its newest record on, of which none is
// missing that was stored: the server that leads the history is asked for the newest
// of each outcome, and not any that has a copy, which may be behind.
func (s *Store) Newest(ctx context.Context, k scheduler.Key, outcomes []scheduler.Outcome, f func(*scheduler.Record) bool) error {
	if s.replicas == 1 {
		return s.Recent(ctx, k, 0, outcomes, f)
	}
	heads := make([]*scheduler.Record, len(outcomes))
	var g errgroup.Group
	for i, o := range outcomes {
		g.Go(func() (err error) {
			heads[i], err = s.newestRecord(ctx, k, o)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return s.walk(ctx, k, slices.DeleteFunc(heads, func(r *scheduler.Record) bool { return r == nil }), outcomes, f)
}

// newestRecord asks the leader of the history for the newest record of one outcome;
// nil when there is none.
func (s *Store) newestRecord(ctx context.Context, k scheduler.Key, o scheduler.Outcome) (*scheduler.Record, error) {
	req, err := json.Marshal(map[string]string{"last_by_subj": s.historySubject(k, o)})
	if err != nil {
		return nil, err
	}
	var answer struct {
		Error   *jetstream.APIError `json:"error"`
		Message *struct {
			Subject  string    `json:"subject"`
			Sequence uint64    `json:"seq"`
			Data     []byte    `json:"data"`
			Time     time.Time `json:"time"`
		} `json:"message"`
	}
	err = s.askDirect(ctx, publishTimeout, func(ctx context.Context) error {
		m, err := s.nc.RequestWithContext(ctx, "$JS.API.STREAM.MSG.GET."+s.cfg.stream("HISTORY"), req)
		if err != nil {
			return err
		}
		return json.Unmarshal(m.Data, &answer)
	})
	switch {
	case err != nil:
		return nil, translate(err)
	case answer.Error != nil && answer.Error.ErrorCode == jetstream.JSErrCodeMessageNotFound:
		return nil, nil //nolint:nilnil // absence is an answer
	case answer.Error != nil:
		return nil, translate(answer.Error)
	case answer.Message == nil:
		return nil, translate(errors.New("the leader of the history answers with no message"))
	}
	m := answer.Message
	return s.record(&jetstream.RawStreamMsg{Subject: m.Subject, Sequence: m.Sequence, Time: m.Time, Data: m.Data})
}
