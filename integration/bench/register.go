package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"
)

// publishWindow is how many specs are under way to the server at once.
const publishWindow = 4000

// publishPatience is how long the window may be full: as long as all else may take on a busy machine.
const publishPatience = time.Minute

// register publishes specs, which the scheduler takes in meanwhile.
func register(ctx context.Context, b *bench) ([]part, error) {
	published, err := b.part(ctx, partPublished, func(st *stage, sys *system) (figures, error) { return st.publishJobs(ctx, sys) })
	if err != nil {
		return nil, err
	}
	called, err := b.part(ctx, partCalled, func(st *stage, sys *system) (figures, error) { return st.putJobs(ctx, sys) })
	return []part{published, called}, err
}

// The parts of register.
const (
	partPublished = "published" // specs
	partCalled    = "called"    // the API, which answers each call
)

// putJobs puts jobs through the API, and waits for each answer.
func (s *stage) putJobs(ctx context.Context, sys *system) (figures, error) {
	end, err := s.profile(ctx, partCalled, profileHerd+time.Duration(s.n)*profilePerJob)
	if err != nil {
		return nil, err
	}
	m := s.startMeter(ctx)
	took, err := sys.putAll(ctx, s.progress, s.distant(), s.sink.url)
	used := m.stop(ctx)
	if err := errors.Join(err, end()); err != nil {
		return nil, err
	}
	batons, err := sys.messages(ctx, timersStream)
	fs := figures{
		{"register_s", took.Seconds()},
		{"register_per_s", float64(s.n) / took.Seconds()},
		{"rejected", float64(s.n - batons)},
	}
	return append(fs, used.per(s.n, "job")...), err
}

func (s *stage) publishJobs(ctx context.Context, sys *system) (fs figures, err error) {
	stop := sys.ingest(ctx)
	defer func() { err = errors.Join(err, stop()) }()

	end, err := s.profile(ctx, partPublished, profileHerd+time.Duration(s.n)*profilePerJob)
	if err != nil {
		return nil, err
	}
	m := s.startMeter(ctx)
	took, err := s.publishAll(ctx, sys, s.distant())
	used := m.stop(ctx)
	if err := errors.Join(err, end()); err != nil {
		return nil, err
	}
	rejected, err := sys.rejected(ctx, s.n)
	if err != nil {
		return nil, err
	}
	fs = figures{
		{"published_s", took.published.Seconds()},
		{"published_per_s", float64(s.n) / took.published.Seconds()},
		{"armed_s", took.armed.Seconds()},
		{"armed_per_s", float64(s.n) / took.armed.Seconds()},
		{"accepted_s", took.accepted.Seconds()},
		{"accepted_per_s", float64(s.n) / took.accepted.Seconds()},
		{"rejected", float64(rejected)},
	}
	each, err := sys.sizes(ctx)
	return append(append(fs, used.per(s.n, "job")...), each...), err
}

// taken is how long it took, from the first publish, until all specs were stored, all their jobs had a baton, and all had a
// result.
type taken struct{ published, armed, accepted time.Duration }

// publishAll publishes a spec for each job on a connection of its own, and
// waits until all have a result.
func (s *stage) publishAll(ctx context.Context, sys *system, c calendar) (took taken, err error) {
	nc, err := s.engine.connect()
	if err != nil {
		return took, err
	}
	defer nc.Close()
	js, err := jetstream.New(nc, jetstream.WithPublishAsyncMaxPending(publishWindow))
	if err != nil {
		return took, err
	}
	stop := s.progress.follow("results", c.jobs, func() int {
		n, _ := sys.messages(ctx, resultStream)
		return n
	})
	defer stop()
	began := time.Now()
	until := began.Add(time.Minute + 2*time.Duration(c.jobs)*time.Millisecond)
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { // the timers are watched from the start: the last may be armed before the last spec is stored
		at, _, err := sys.reach(ctx, timersStream, until, func(s jetstream.StreamState) bool { return s.Msgs >= uint64(c.jobs) })
		took.armed = at.Sub(began)
		return err
	})
	g.Go(func() (err error) {
		took.published, err = s.publish(ctx, js, c)
		return err
	})
	g.Go(func() error {
		at, _, err := sys.reach(ctx, resultStream, until, func(s jetstream.StreamState) bool { return s.Msgs >= uint64(c.jobs) })
		took.accepted = at.Sub(began)
		return err
	})
	return took, g.Wait()
}

// publish publishes a spec for each job and returns how long it took until the server had stored them.
func (s *stage) publish(ctx context.Context, js jetstream.JetStream, c calendar) (time.Duration, error) {
	began := time.Now()
	acks := make([]jetstream.PubAckFuture, c.jobs)
	var err error
	for i := range c.jobs {
		subject := "carillon.spec.put." + c.collection + "." + c.prefix + strconv.Itoa(i)
		if acks[i], err = js.PublishAsync(subject, c.document(i, s.sink.url), jetstream.WithStallWait(publishPatience)); err != nil {
			return 0, err
		}
	}
	err = stored(ctx, acks)
	return time.Since(began), err
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
