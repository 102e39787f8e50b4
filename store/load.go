package store

import (
	"context"

	"golang.org/x/sync/errgroup"

	"github.com/carillon-sched/carillon/scheduler"
)

// Load returns how much there is to do. It asks for the state of each lane's stream and consumer, and reads no message. The two
// are asked one after the other, so what fires in between may be counted twice.
func (s *Store) Load(ctx context.Context) (scheduler.Load, error) {
	load := scheduler.Load{Lanes: make([]scheduler.LaneLoad, len(s.timers))}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(checkAtOnce)
	g.Go(func() error {
		info, err := s.specs.Info(ctx)
		if err == nil {
			load.Specs = int(info.State.Msgs)
		}
		return err
	})
	for lane := range s.timers {
		g.Go(func() (err error) {
			load.Lanes[lane], err = s.laneLoad(ctx, lane)
			return err
		})
	}
	return load, translate(g.Wait())
}

func (s *Store) laneLoad(ctx context.Context, lane int) (scheduler.LaneLoad, error) {
	consumer, err := s.timers[lane].Consumer(ctx, workers)
	if err != nil {
		return scheduler.LaneLoad{}, err
	}
	info, err := s.timers[lane].Info(ctx)
	if err != nil {
		return scheduler.LaneLoad{}, err
	}
	fired := consumer.CachedInfo()
	running := int(fired.NumPending) + fired.NumAckPending
	return scheduler.LaneLoad{
		Waiting: max(0, int(info.State.Msgs)-running), Running: running, Pending: int(fired.NumPending),
	}, nil
}
