package natsapi

import (
	"encoding/json"
	"sync"
	"time"

	"github.com/carillon-sched/carillon/scheduler/api/v1"
)

// counters are the statistics of an endpoint.
type counters struct {
	mu       sync.Mutex
	requests int
	errors   int
	running  int
	last     string
	busy     time.Duration
}

func (c *counters) begin() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running++
	return time.Now()
}

func (c *counters) end(began time.Time, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running--
	c.requests++
	c.busy += time.Since(began)
	if err != nil {
		c.errors++
		c.last = v1.DescribeError(err).Message
	}
}

// endpointStats is the data of an endpoint in the service's statistics.
type endpointStats struct {
	Answered int           `json:"answered"`
	Errors   int           `json:"errors"`
	Last     string        `json:"last_error,omitempty"`
	Running  int           `json:"running"`
	Time     time.Duration `json:"processing_time"`         // nanoseconds, as in the framework's own statistics
	Average  time.Duration `json:"average_processing_time"` // nanoseconds
}

func (c *counters) snapshot() json.RawMessage {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := endpointStats{Answered: c.requests, Errors: c.errors, Last: c.last, Running: c.running, Time: c.busy}
	if c.requests > 0 {
		s.Average = c.busy / time.Duration(c.requests)
	}
	data, err := json.Marshal(s)
	if err != nil {
		return nil // plain fields: cannot happen
	}
	return data
}
