package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// eventPause is the length of a group of events that are published together.
const eventPause = 10 * time.Millisecond

// events is the scenario of jobs that events start.
func events(ctx context.Context, s *stage) (figures, error) {
	if _, err := s.startWorker(ctx); err != nil {
		return nil, err
	}
	for i := range s.n {
		name := fmt.Sprint("job-", i)
		const job = `{"trigger":{"on":{"source":"orders"}},"action":{"type":"http","request":{"uri":%q,"method":"POST","body":%q}}}`
		body := fmt.Appendf(nil, job, s.target.url+name, jobBody(name))
		m, err := s.request(ctx, "put", name, body)
		if err == nil && m.Header.Get("Nats-Service-Error") != "" {
			err = fmt.Errorf("job %s: %s", name, m.Header.Get("Nats-Service-Error"))
		}
		if err != nil {
			return nil, err
		}
	}
	before, err := s.readUsage(ctx)
	if err != nil {
		return nil, err
	}
	published, err := s.publishEvents(ctx)
	if err != nil {
		return nil, err
	}
	var t tally
	_, err = poll(ctx, look, time.Now().Add(patience), func() (bool, error) {
		_, err := s.target.read()
		t = s.target.accountEvents(published * s.n)
		return t.lost == 0, err
	})
	if err != nil {
		return nil, err
	}
	used, err := s.usageSince(ctx, before, published*s.n, "run")
	return merge(figures{"occurrences": float64(published * s.n)}, t.figures(), used), err
}

// publishEvents publishes -rate events a second for -seconds, and returns their number.
func (s *stage) publishEvents(ctx context.Context) (published int, err error) {
	began := time.Now()
	for published < int(s.seconds*float64(s.rate)) {
		due := int(time.Since(began).Seconds() * float64(s.rate))
		for ; published < due; published++ {
			if _, err := s.js.PublishAsync("carillon.event.default.orders", fmt.Appendf(nil, `{"n":%d}`, published)); err != nil {
				return published, err
			}
		}
		if err := sleep(ctx, time.Now().Add(eventPause)); err != nil {
			return published, err
		}
	}
	select {
	case <-s.js.PublishAsyncComplete():
		return published, nil
	case <-ctx.Done():
		return published, context.Cause(ctx)
	}
}

// accountEvents compares the calls that arrived with the expected number. The time when an event was stored is in the key of its
// calls.
func (t *target) accountEvents(expected int) (a tally) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for key, call := range t.arrivals {
		_, instant, _ := strings.Cut(key, "@")
		stored, err := time.Parse(time.RFC3339Nano, instant)
		if err != nil || !strings.HasPrefix(key, scheduler.DefaultCollection+"/") {
			a.unexpected++
			continue
		}
		a.late = append(a.late, call.first.Sub(stored))
		a.repeated += call.calls - 1
		if call.first.After(a.last) {
			a.last = call.first
		}
	}
	a.lost = max(0, expected-len(a.late))
	slices.Sort(a.late)
	return a
}
