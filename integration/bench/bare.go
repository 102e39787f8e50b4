package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"
)

// bare is the baseline: what JetStream, a consumer and an HTTP client can do
// alone. A message waits as a schedule, fires, is called for, and acknowledged.
type bare struct {
	js     jetstream.JetStream
	stream jetstream.Stream
	client *http.Client
	url    string
	fired  chan jetstream.Msg
}

// The bounds of the baseline.
const (
	bareCalls   = 64   // HTTP calls at once: what Carillon allows one target
	bareWindow  = 4000 // publishes under way
	barePrefix  = "bare."
	bareAckWait = 10 * time.Minute // nothing is to come twice
	bareQuiet   = time.Second
)

func herdOfBare(ctx context.Context, b *bench) (p part, err error) {
	st, err := b.newStage(ctx)
	if err != nil {
		return p, err
	}
	defer st.close()
	nc, err := st.engine.connect()
	if err != nil {
		return p, err
	}
	defer nc.Close()
	s, err := newBare(ctx, nc, st.sink.url)
	if err != nil {
		return p, err
	}
	defer s.client.CloseIdleConnections()
	h := st.newHerd(orderBare, bareQuiet)
	h.register = func(ctx context.Context) (time.Duration, error) { return s.publish(ctx, h.calendar) }
	h.settle = func(context.Context, time.Time) (figures, error) { return nil, nc.Flush() }
	if b.apart() {
		worker, profiles, err := spawnChild(ctx, processWorker, st.dir, childBare, st.engine.url, st.sink.url)
		if err != nil {
			return p, err
		}
		worker.pprof = profiles
		st.adopt(worker)
		p, err := h.measure(ctx)
		return p, errors.Join(err, worker.alive())
	}
	calls, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- s.run(calls, func() error { return nil }) }()
	p, err = h.measure(ctx)
	stop()
	if failure := <-ended; err == nil {
		err = failure
	}
	return p, err
}

// newBare makes the stream of the baseline, unless it is there.
func newBare(ctx context.Context, nc *nats.Conn, url string) (*bare, error) {
	js, err := jetstream.New(nc, jetstream.WithPublishAsyncMaxPending(bareWindow))
	if err != nil {
		return nil, err
	}
	s := &bare{js: js, url: url, fired: make(chan jetstream.Msg, bareCalls), client: &http.Client{Transport: &http.Transport{
		DialContext:         (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
		MaxIdleConns:        4096, // the settings of actions/web
		MaxIdleConnsPerHost: 1024,
		IdleConnTimeout:     4 * time.Second,
		DisableCompression:  true,
		ForceAttemptHTTP2:   true,
	}}}
	s.stream, err = js.CreateStream(ctx, jetstream.StreamConfig{
		Name: "BARE", Subjects: []string{barePrefix + ">"}, Retention: jetstream.WorkQueuePolicy, AllowMsgSchedules: true,
	})
	return s, err
}

// publish publishes the schedules of a calendar. The body is the key of the
// call.
func (s *bare) publish(ctx context.Context, c calendar) (time.Duration, error) {
	began := time.Now()
	for i := range c.jobs {
		due := c.start(i)
		m := nats.NewMsg(barePrefix + "timer." + strconv.Itoa(i))
		m.Data = []byte(c.occurrence(i, due))
		m.Header.Set(jetstream.ScheduleHeader, "@at "+due.Format(time.RFC3339Nano))
		m.Header.Set(jetstream.ScheduleTargetHeader, barePrefix+"fire."+strconv.Itoa(i))
		if _, err := s.js.PublishMsgAsync(m); err != nil {
			return 0, err
		}
	}
	select {
	case <-s.js.PublishAsyncComplete():
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
	took := time.Since(began)
	info, err := s.stream.Info(ctx)
	if err == nil && int(info.State.Msgs) != c.jobs {
		err = fmt.Errorf("the server has stored %d of %d schedules", info.State.Msgs, c.jobs)
	}
	return took, err
}

// run makes the calls of what fires until ctx is done. It calls ready once it takes them.
func (s *bare) run(ctx context.Context, ready func() error) error {
	consumer, err := s.stream.CreateOrUpdateConsumer(ctx, jetstream.ConsumerConfig{
		Durable: "workers", FilterSubject: barePrefix + "fire.>", AckPolicy: jetstream.AckExplicitPolicy,
		AckWait: bareAckWait, MaxAckPending: -1,
	})
	if err != nil {
		return err
	}
	consuming, err := consumer.Consume(func(m jetstream.Msg) {
		select {
		case s.fired <- m:
		case <-ctx.Done():
		}
	}, jetstream.PullMaxMessages(bareWindow))
	if err != nil {
		return err
	}
	defer consuming.Stop()
	if err := ready(); err != nil {
		return err
	}
	g, calls := errgroup.WithContext(ctx)
	for range bareCalls {
		g.Go(func() error { return s.work(calls) })
	}
	return g.Wait()
}

func (s *bare) work(ctx context.Context) error {
	for {
		select {
		case m := <-s.fired:
			if err := s.call(ctx, string(m.Data())); err != nil && ctx.Err() == nil {
				return err
			}
			if err := m.Ack(); err != nil {
				return err
			}
		case <-ctx.Done():
			return nil
		}
	}
}

// call posts the body that Carillon's jobs post.
func (s *bare) call(ctx context.Context, key string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url, strings.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Idempotency-Key", key)
	resp, err := s.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("the sink answered %s", resp.Status)
	}
	return nil
}
