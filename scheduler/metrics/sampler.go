package metrics

import (
	"context"
	"sync"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// The limits of load requests.
const (
	loadKept    = 5 * time.Second // how long scrapes share an answer, or a failure
	loadTimeout = 2 * time.Second
)

// sampler shares one load request between concurrent scrapes.
type sampler struct {
	ask func(ctx context.Context) (scheduler.Load, error)

	mu       sync.Mutex // held during the request
	at       time.Time // of the last answer
	load     scheduler.Load
	known    bool // the last request succeeded
	failures uint64
}

// get returns the load, whether it is known, and the number of failed requests since the start.
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
