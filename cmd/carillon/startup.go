package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/carillon-sched/carillon/cmd/carillon/node"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/store"
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
// away by itself. Each wait is logged once, with its reason and what to do about it.
func (s startup) try(ctx context.Context, attempt func() error, passing func(error) bool) error {
	said, since := "", time.Now()
	for {
		err := attempt()
		left := time.Until(s.deadline)
		switch {
		case err != nil && ctx.Err() != nil:
			return context.Cause(ctx)
		case err == nil, left <= 0, !passing(err):
			return err
		}
		reason, hint := err.Error(), terminal.Hint(err)
		if reason != said {
			said = reason
			s.log.Info("waiting for NATS", told(left, reason, hint)...)
		}
		if s.say != nil {
			s.say(sentence(since, reason, hint))
		}
		select {
		case <-time.After(between):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// open opens a node, once the store can be opened.
func (s startup) open(ctx context.Context, cfg node.Config) (n *node.Node, err error) {
	err = s.try(ctx, func() (failed error) {
		n, failed = node.Open(ctx, cfg)
		return failed
	}, store.Passing)
	return n, err
}

// told is what the log has of a wait.
func told(left time.Duration, reason, hint string) []any {
	attributes := []any{"atMost", left.Round(time.Second), "reason", reason}
	if hint != "" {
		attributes = append(attributes, "hint", hint)
	}
	return attributes
}

// sentence is what /readyz says of a wait.
func sentence(since time.Time, reason, hint string) string {
	text := "starting, and waiting since " + since.UTC().Format("15:04:05Z") + ": " + reason
	if hint != "" {
		text += "; " + hint
	}
	return text
}
