package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
)

// startup is what a process waits for while it starts, all of it until one deadline.
type startup struct {
	deadline time.Time
	log      *slog.Logger
	say      func(what string) // tells whoever asks what is waited for; nil: nobody does
}

// between is the pause between attempts.
const between = 250 * time.Millisecond

// try makes attempts until one succeeds, fails for good, or fails at the deadline. passing tells whether an error may go
// away by itself. Each wait is logged once, with its reason.
func (s startup) try(ctx context.Context, attempt func() error, passing func(error) bool) error {
	said, since := "", time.Time{}
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
			if said == "" {
				since = time.Now()
			}
			said = reason
			s.wait(left, since, reason, terminal.Hint(err))
		}
		select {
		case <-time.After(between):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// wait tells what is waited for.
func (s startup) wait(left time.Duration, since time.Time, reason, hint string) {
	told := []any{"atMost", left.Round(time.Second), "reason", reason}
	text := "starting, and waiting since " + since.UTC().Format("15:04:05Z") + ": " + reason
	if hint != "" {
		told = append(told, "hint", hint)
		text += "; " + hint
	}
	s.log.Info("waiting for NATS", told...)
	if s.say != nil {
		s.say(text)
	}
}
