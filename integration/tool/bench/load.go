package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"golang.org/x/sync/errgroup"

	"github.com/carillon-sched/carillon/scheduler"
)

// calendar is a set of numbered jobs: job i is due at first + i*step, cut to milliseconds, and then every interval, or once.
type calendar struct {
	prefix         string // of names
	jobs           int
	first          time.Time
	step, interval time.Duration
}

func (c calendar) name(i int) string { return c.prefix + strconv.Itoa(i) }

// start is the first instant of job i.
func (c calendar) start(i int) time.Time {
	return c.first.Add((time.Duration(i) * c.step).Truncate(time.Millisecond))
}

// key is the Idempotency-Key of job i at an instant.
func (c calendar) key(i int, due time.Time) string {
	return scheduler.OccurrenceID(scheduler.Key{Collection: "default", Job: c.name(i)}, due)
}

// jobBody is the body of the calls of a job.
func jobBody(name string) string { return fmt.Sprintf(`{"order":%q,"amount":12.5}`, name) }

// document is the definition of job i. The target's URL ends with a slash.
func (c calendar) document(i int, target string) []byte {
	recurrence, name := "", c.name(i)
	if c.interval > 0 {
		recurrence = fmt.Sprintf(`"recurrence":{"frequency":"second","interval":%d},`, int(c.interval/time.Second))
	}
	return fmt.Appendf(nil, `{"startTime":%q,%s"action":{"type":"http","request":{"uri":%q,"method":"POST","body":%q}}}`,
		c.start(i).Format(time.RFC3339Nano), recurrence, target+name, jobBody(name))
}

// within iterates over the keys and instants in [from, to).
func (c calendar) within(from, to time.Time) iter.Seq2[string, time.Time] {
	return func(yield func(string, time.Time) bool) {
		for i := range c.jobs {
			for due := c.start(i); due.Before(to); due = due.Add(c.interval) {
				if !due.Before(from) && !yield(c.key(i, due), due) {
					return
				}
				if c.interval == 0 {
					break
				}
			}
		}
	}
}

// due returns the instant of a key. ok is false if the calendar has no such job or instant.
func (c calendar) due(key string) (due time.Time, ok bool) {
	name, instant, _ := strings.Cut(strings.TrimPrefix(key, "default/"), "@")
	i, err := strconv.Atoi(strings.TrimPrefix(name, c.prefix))
	due, timeErr := time.Parse(time.RFC3339Nano, instant)
	if err != nil || timeErr != nil || i < 0 || i >= c.jobs || c.key(i, due) != key {
		return due, false
	}
	since := due.Sub(c.start(i))
	return due, since == 0 || since > 0 && c.interval > 0 && since%c.interval == 0
}

// The numbers of messages in flight.
const (
	requestWindow = 64   // requests without an answer
	publishWindow = 4000 // published messages without an acknowledgement
)

// putAll creates the jobs of a calendar by API requests and returns the time that this took.
func (s *stage) putAll(ctx context.Context, c calendar) (time.Duration, error) {
	return s.putEach(ctx, c.jobs, func(ctx context.Context, i int) error { return s.put(ctx, c, i) })
}

// putEach creates n jobs by API requests and returns the time that this took.
func (s *stage) putEach(ctx context.Context, n int, put func(ctx context.Context, i int) error) (time.Duration, error) {
	s.log.Printf("%s: create %d jobs", s.side, n)
	began := time.Now()
	g, requests := errgroup.WithContext(ctx)
	g.SetLimit(requestWindow)
	for i := 0; i < n && requests.Err() == nil; i++ {
		g.Go(func() error { return put(requests, i) })
	}
	err := errors.Join(g.Wait(), ctx.Err())
	return time.Since(began), err
}

// put creates a job of a calendar.
func (s *stage) put(ctx context.Context, c calendar, i int) error {
	return s.putJob(ctx, c.name(i), c.document(i, s.target.url))
}

// putJob creates a job.
func (s *stage) putJob(ctx context.Context, name string, document []byte) error {
	m, err := s.request(ctx, "put", name, document)
	if err == nil && m.Header.Get("Nats-Service-Error") != "" {
		err = fmt.Errorf("job %s: %s", name, m.Header.Get("Nats-Service-Error"))
	}
	return err
}

// request sends a request for a job of the default collection to the API on NATS.
func (s *stage) request(ctx context.Context, verb, job string, body []byte) (*nats.Msg, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return s.nc.RequestWithContext(ctx, "carillon.api."+verb+".default."+job, body)
}

// publishAll calls publish for each job of a calendar, and waits until the server has stored all messages.
func (s *stage) publishAll(ctx context.Context, c calendar, publish func(i int) error) (time.Duration, error) {
	began := time.Now()
	for i := range c.jobs {
		if err := publish(i); err != nil {
			return 0, err
		}
	}
	err := s.stored(ctx)
	return time.Since(began), err
}

// stored waits until the server has stored all published messages.
func (s *stage) stored(ctx context.Context) error {
	select {
	case <-s.js.PublishAsyncComplete():
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
