package main

import (
	"context"
	"log/slog"
	"time"
)

// startup is what a process waits for while it starts, all of it until one deadline.
type startup struct {
	deadline time.Time
	log      *slog.Logger
}

// between is the pause between attempts.
const between = 250 * time.Millisecond

// try makes attempts until one succeeds, fails for good, or fails at the deadline. passing tells whether an error may go
// away by itself. Each wait is logged once, with its reason.
func (s startup) try(ctx context.Context, attempt func() error, passing func(error) bool) error {
	said := ""
	for {
		err := attempt()
		left := time.Until(s.deadline)
		switch {
		case err != nil && ctx.Err() != nil:
			return context.Cause(ctx)
		case err == nil, left <= 0, !passing(err):
			return err
		}
		if reason := err.Error(); reason != said {
			said = reason
			s.log.Info("waiting for NATS", "atMost", left.Round(time.Second), "reason", reason)
		}
		select {
		case <-time.After(between):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
