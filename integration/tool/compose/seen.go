package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// kinds are the prefixes of the consumer's delivery lines, one per action type.
var kinds = []string{"http ", "queue ", "topic ", "storage queue ", "subject "}

// seen collects the consumer's output.
type seen struct {
	mu       sync.Mutex
	last     map[string]time.Time // when a delivery of each kind was printed last
	all      []time.Time
	arrivals map[string]int // how often each occurrence arrived
	changed  chan struct{}
}

func newSeen() *seen {
	return &seen{last: map[string]time.Time{}, arrivals: map[string]int{}, changed: make(chan struct{}, 1)}
}

// line takes a line of the consumer's log.
func (s *seen) line(line string) {
	kind, id, ok := delivery(line)
	if !ok {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	s.last[kind] = now
	s.all = append(s.all, now)
	s.arrivals[id]++
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// delivery returns the kind and the id of a delivery in a line: "queue orders  default/nightly@…".
func delivery(line string) (kind, id string, ok bool) {
	for _, kind := range kinds {
		if rest, found := strings.CutPrefix(line, kind); found {
			_, id, ok = strings.Cut(rest, "  ")
			return kind, id, ok && id != ""
		}
	}
	return "", "", false
}

// wait returns when a delivery of each kind was printed after a time.
func (s *seen) wait(ctx context.Context, after time.Time, kinds ...string) error {
	return s.until(ctx, func() []string { return s.missing(after, kinds) })
}

// waitFor returns when all these occurrences were printed.
func (s *seen) waitFor(ctx context.Context, occurrences []string) error {
	return s.until(ctx, func() []string {
		counts := s.counts()
		return slices.DeleteFunc(slices.Clone(occurrences), func(occurrence string) bool { return counts[occurrence] > 0 })
	})
}

// until returns when nothing is missing.
func (s *seen) until(ctx context.Context, missing func() []string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		lacks := missing()
		if len(lacks) == 0 {
			return nil
		}
		select {
		case <-s.changed:
		case <-ctx.Done():
			return fmt.Errorf("%w: no delivery: %s", context.Cause(ctx), strings.Join(lacks, ", "))
		}
	}
}

// missing returns the kinds that have no delivery after a time.
func (s *seen) missing(after time.Time, kinds []string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(kinds), func(kind string) bool { return s.last[kind].After(after) })
}

// longestGap returns the longest time between two deliveries since a time.
func (s *seen) longestGap(since time.Time) (longest time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := since
	for _, at := range s.all {
		if at.After(since) {
			longest = max(longest, at.Sub(before))
			before = at
		}
	}
	return longest
}

// counts returns how often each occurrence arrived.
func (s *seen) counts() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.arrivals)
}
