package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/store/embedded"
)

// bareCalls is the number of calls in flight: Carillon's default for one target.
const bareCalls = 64

// herdBare is the herd of bare JetStream: a message waits as a schedule, fires, is called for, and acknowledged.
func herdBare(ctx context.Context, s *stage) (figures, error) {
	_, err := s.js.CreateStream(ctx, jetstream.StreamConfig{
		Name: "BARE", Subjects: []string{"bare.>"}, Retention: jetstream.WorkQueuePolicy, AllowMsgSchedules: true,
	})
	if err != nil {
		return nil, err
	}
	if _, err = s.spawnChild(ctx, roleWorker, "__bare", s.url, s.target.url); err != nil {
		return nil, err
	}
	h := s.newHerd()
	h.settle = func(context.Context, calendar, time.Time) (figures, error) { return figures{}, nil }
	h.register = func(ctx context.Context, c calendar) (time.Duration, error) {
		return s.publishAll(ctx, c, func(i int) error {
			m := nats.NewMsg("bare.timer." + strconv.Itoa(i))
			m.Data = []byte(c.key(i, c.first))
			m.Header.Set(jetstream.ScheduleHeader, "@at "+c.first.Format(time.RFC3339Nano))
			m.Header.Set(jetstream.ScheduleTargetHeader, "bare.fire."+strconv.Itoa(i))
			_, err := s.js.PublishMsgAsync(m, jetstream.WithStallWait(patience))
			return err
		})
	}
	return h.measure(ctx)
}

// runBare is the worker process: it makes the calls of messages that fire. args are the URLs of NATS and of the target.
func runBare(ctx context.Context, ready func(string) error, args []string) error {
	nc, err := nats.Connect(args[0], embedded.ConnectOptions()...)
	if err != nil {
		return err
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		return err
	}
	consumer, err := js.CreateConsumer(ctx, "BARE", jetstream.ConsumerConfig{
		Durable: "workers", FilterSubject: "bare.fire.>", AckPolicy: jetstream.AckExplicitPolicy, AckWait: patience, MaxAckPending: -1,
	})
	if err != nil {
		return err
	}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: bareCalls, DisableCompression: true}}
	calls := make(chan struct{}, bareCalls)
	consuming, err := consumer.Consume(func(m jetstream.Msg) {
		calls <- struct{}{}
		go func() {
			defer func() { <-calls }()
			if err := errors.Join(callBare(ctx, client, args[1], string(m.Data())), m.Ack()); err != nil {
				fmt.Fprintln(os.Stderr, err) // the call is lost
			}
		}()
	}, jetstream.PullMaxMessages(publishWindow))
	if err != nil {
		return err
	}
	defer consuming.Stop()
	err = ready("")
	<-ctx.Done()
	return err
}

// callBare makes the call that Carillon makes for the job of a key.
func callBare(ctx context.Context, client *http.Client, target, key string) error {
	name, _, _ := strings.Cut(strings.TrimPrefix(key, "default/"), "@")
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, target+name, strings.NewReader(jobBody(name)))
	if err != nil {
		return err
	}
	req.Header.Set("Idempotency-Key", key)
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	if err = resp.Body.Close(); err == nil && resp.StatusCode != http.StatusOK { // the body is empty
		err = fmt.Errorf("the target answered %s", resp.Status)
	}
	return err
}
