package main

import (
	"context"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"
)

// How many jobs are asked for whether the API shows them as completed, evenly
// spread over all, and how many at once.
const (
	settleSample = 500
	settleAsk    = 16
)

// settle waits until each of the one-shots of c has its record, none has a
// baton, and the API shows those of a sample as completed.
func (s *system) settle(ctx context.Context, c calendar, until time.Time) (figures, error) {
	n := uint64(c.jobs)
	settled, history, err := s.reach(ctx, historyStream, until, func(st jetstream.StreamState) bool { return st.Msgs >= n })
	if err != nil {
		return nil, err
	}
	_, timers, err := s.reach(ctx, timersStream, until, func(st jetstream.StreamState) bool { return st.Msgs == 0 })
	if err != nil {
		return nil, err
	}
	drained, open, err := s.shown(ctx, c, until)
	missing := n - min(n, history.Msgs) + timers.Msgs + uint64(open)
	return figures{
		{"settled_s", settled.Sub(c.first).Seconds()},
		{"drained_s", drained.Sub(c.first).Seconds()},
		{"unsettled", float64(missing)},
		{"surplus_records", float64(history.Msgs - min(n, history.Msgs))},
	}, err
}

// shown waits until the API shows the jobs of a sample as completed, and no
// longer than until. It returns when it did, and how many are still open.
func (s *system) shown(ctx context.Context, c calendar, until time.Time) (at time.Time, open int, err error) {
	left := sampleOf(c.jobs, settleSample)
	tick := time.Tick(lookAgain)
	for {
		if left, err = s.open(ctx, c, left); err != nil {
			return at, len(left), err
		}
		at = time.Now()
		if len(left) == 0 || at.After(until) {
			return at, len(left), nil
		}
		select {
		case <-tick:
		case <-ctx.Done():
			return at, len(left), context.Cause(ctx)
		}
	}
}

// open returns those of the jobs that are not shown as completed.
func (s *system) open(ctx context.Context, c calendar, numbers []int) (left []int, err error) {
	var mu sync.Mutex
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(settleAsk)
	for _, i := range numbers {
		g.Go(func() error {
			done, err := s.completed(ctx, c.job(i))
			if err != nil || done {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			left = append(left, i)
			return nil
		})
	}
	err = g.Wait()
	return left, err
}

// sampleOf returns so many numbers below n, or all if there are fewer, evenly spread, the first and the last among them.
func sampleOf(n, most int) []int {
	m := min(n, most)
	numbers := make([]int, 0, m)
	for i := range m {
		at := 0
		if m > 1 {
			at = i * (n - 1) / (m - 1)
		}
		numbers = append(numbers, at)
	}
	return numbers
}
