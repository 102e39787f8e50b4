package main

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/bubble"
)

// TestStartupWaits makes attempts that fail for a while.
func TestStartupWaits(t *testing.T) {
	gone, broken := errors.New("no leader"), errors.New("wrong password")
	passing := func(err error) bool { return errors.Is(err, gone) }
	tests := map[string]struct {
		wait, healed time.Duration
		failure      error
		stop         bool
		want         error
		lines        int
	}{
		"at once":        {wait: time.Minute},
		"later":          {wait: time.Minute, healed: 20 * time.Second, failure: gone, lines: 1},
		"too late":       {wait: time.Minute, healed: time.Hour, failure: gone, want: gone, lines: 1},
		"no wait":        {healed: time.Hour, failure: gone, want: gone},
		"for good":       {wait: time.Minute, healed: time.Hour, failure: broken, want: broken},
		"asked to stop":  {wait: time.Hour, healed: 2 * time.Hour, failure: gone, stop: true, want: context.Canceled, lines: 1},
		"heals too late": {wait: time.Second, healed: 2 * time.Second, failure: gone, want: gone, lines: 1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if test.stop {
					time.AfterFunc(time.Minute, cancel) // which is also that of an attempt
				}
				var log bytes.Buffer
				began := time.Now()
				s := startup{deadline: began.Add(test.wait), log: slog.New(slog.NewTextHandler(&log, nil))}
				err := s.try(ctx, func() error {
					if time.Since(began) >= test.healed {
						return nil
					}
					return test.failure
				}, passing)
				if !errors.Is(err, test.want) || (test.want == nil) != (err == nil) {
					t.Errorf("got %v, want %v", err, test.want)
				}
				if n := strings.Count(log.String(), "waiting for NATS"); n != test.lines {
					t.Errorf("%d lines, want %d:\n%s", n, test.lines, log.String())
				}
			})
		})
	}
}
