package metrics

import (
	"context"
	"sync"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// The bounds of asking for the load.
const (
	loadKept    = 5 * time.Second // an answer is for all scrapes of that time, also one that there was none
	loadTimeout = 2 * time.Second
)

// sampler asks for the load once for all that scrape at about the same time.
type sampler struct {
	ask func(ctx context.Context) (scheduler.Load, error)

	mu       sync.Mutex // held while it asks
	at       time.Time  // of the last answer
	load     scheduler.Load
	known    bool // the last answer was one
	failures uint64
}

// get returns the load, whether it is known, and how often it could not be had since the start.
func (s *sampler) get() (load scheduler.Load, known bool, failures uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.at.IsZero() || time.Since(s.at) >= loadKept {
		ctx, cancel := context.WithTimeout(context.Background(), loadTimeout)
		defer cancel()
		var err error
		s.load, err = s.ask(ctx)
		if s.known = err == nil; !s.known {
			s.failures++
		}
		s.at = time.Now()
	}
	return s.load, s.known, s.failures
}
