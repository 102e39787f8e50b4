package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"

	"github.com/carillon-sched/carillon/scheduler/natsapi"
)

// publishWindow is how many specs are under way to the server at once.
const publishWindow = 4000

// register publishes specs, which the scheduler takes in meanwhile.
func register(ctx context.Context, b *bench) ([]part, error) {
	return b.alone(ctx, func(st *stage, sys *system) (figures, error) { return b.publishJobs(ctx, st, sys) })
}

func (b *bench) publishJobs(ctx context.Context, st *stage, sys *system) (fs figures, err error) {
	stop := sys.ingest(ctx)
	defer func() { err = errors.Join(err, stop()) }()

	end, err := b.profile()
	if err != nil {
		return nil, err
	}
	m := startMeter()
	published, accepted, err := b.publishAll(ctx, st, sys, b.distant())
	used := m.stop()
	if err := errors.Join(err, end()); err != nil {
		return nil, err
	}
	rejected, err := sys.rejected(ctx, b.n)
	if err != nil {
		return nil, err
	}
	fs = figures{
		{"published_s", published.Seconds()},
		{"accepted_s", accepted.Seconds()},
		{"accepted_per_s", float64(b.n) / accepted.Seconds()},
		{"rejected", float64(rejected)},
	}
	return append(fs, used.per(b.n, "job")...), nil
}

// ingest lets the scheduler take in published specs until the returned
// function is called.
func (s *system) ingest(ctx context.Context) (stop func() error) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var g errgroup.Group
	in := natsapi.NewIngest(natsapi.IngestConfig{Service: s.service, Source: s.store, Logger: s.log})
	g.Go(func() error { return in.Run(ctx) })
	return func() error {
		cancel()
		return g.Wait()
	}
}

// publishAll publishes a spec for each job on a connection of its own, and
// waits until all have a result. It returns when the last spec, and the last
// result, was stored.
func (b *bench) publishAll(ctx context.Context, st *stage, sys *system, c calendar) (published, accepted time.Duration, err error) {
	nc, err := st.engine.connect()
	if err != nil {
		return 0, 0, err
	}
	defer nc.Close()
	js, err := jetstream.New(nc, jetstream.WithPublishAsyncMaxPending(publishWindow))
	if err != nil {
		return 0, 0, err
	}
	stop := b.progress.follow("results", c.jobs, func() int {
		n, _ := sys.messages(ctx, resultStream)
		return n
	})
	defer stop()
	began := time.Now()
	acks := make([]jetstream.PubAckFuture, c.jobs)
	for i := range c.jobs {
		subject := "carillon.spec.put." + c.collection + "." + c.prefix + strconv.Itoa(i)
		if acks[i], err = js.PublishAsync(subject, c.document(i, st.sink.url)); err != nil {
			return 0, 0, err
		}
	}
	if err := stored(ctx, acks); err != nil {
		return 0, 0, err
	}
	published = time.Since(began)
	until := time.Now().Add(30*time.Second + time.Duration(c.jobs)*time.Millisecond)
	at, _, err := sys.reach(ctx, resultStream, until, func(s jetstream.StreamState) bool { return s.Msgs >= uint64(c.jobs) })
	return published, at.Sub(began), err
}

// stored waits until the server has stored everything.
func stored(ctx context.Context, acks []jetstream.PubAckFuture) error {
	for i, ack := range acks {
		select {
		case <-ack.Ok():
		case err := <-ack.Err():
			return fmt.Errorf("spec %d: %w", i, err)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// rejected counts the specs that were not accepted, and the jobs without a
// baton.
func (s *system) rejected(ctx context.Context, n int) (int, error) {
	st, err := s.js.Stream(ctx, resultStream)
	if err != nil {
		return 0, err
	}
	info, err := st.Info(ctx, jetstream.WithSubjectFilter("carillon.spec-result.accepted.>"))
	if err != nil {
		return 0, err
	}
	batons, err := s.messages(ctx, timersStream)
	return max(n-len(info.State.Subjects), n-batons), err
}
