package rest

import (
	"fmt"
	"net"
	"net/http"
	"sync"
)

// DefaultMaxTails is the default of [Config] MaxTails.
const DefaultMaxTails = 256

// callersShare is the part of all live tails that one caller may have: one in so many.
const callersShare = 4

// tailCount counts the live tails. Each costs the store a consumer, and the process a connection.
type tailCount struct {
	most int

	mu       sync.Mutex
	all      int
	byCaller map[string]int
}

func newTailCount(most int) *tailCount { return &tailCount{most: most, byCaller: map[string]int{}} }

// perCaller is how many live tails one caller may have.
func (c *tailCount) perCaller() int { return max(1, c.most/callersShare) }

// begin counts a live tail in, or says why there may not be one more. end is to be called when it is over.
func (c *tailCount) begin(r *http.Request) (end func(), err error) {
	caller := callerOf(r)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.byCaller[caller] >= c.perCaller():
		return nil, fault{http.StatusTooManyRequests, "TooManyTails", fmt.Sprintf(
			"%s follows the history %d times already, which is as often as one caller may; end one of these first", caller, c.perCaller(),
		)}
	case c.all >= c.most:
		return nil, fault{http.StatusServiceUnavailable, "TooManyTails", fmt.Sprintf(
			"the history is followed %d times already, which is as often as this process lets it be; try again later", c.most,
		)}
	}
	c.all++
	c.byCaller[caller]++
	return func() { c.end(caller) }, nil
}

func (c *tailCount) end(caller string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all--
	c.byCaller[caller]--
	if c.byCaller[caller] == 0 {
		delete(c.byCaller, caller)
	}
}

// callerOf is whom a request is from: the machine, whatever its port.
func callerOf(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}
