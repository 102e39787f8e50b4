package rest

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/carillon-sched/carillon/scheduler/guard"
	"github.com/carillon-sched/carillon/scheduler/throttle"
)

// DefaultMaxTails is the default of [Config] MaxTails.
const DefaultMaxTails = 256

// tailCount counts the live tails. Each costs the store a consumer, and the process a connection.
type tailCount struct{ places *throttle.Places }

func newTailCount(most int) *tailCount { return &tailCount{throttle.NewPlaces(most)} }

// begin counts a live tail until end is called, or returns the limit that refuses it.
func (c *tailCount) begin(r *http.Request) (end func(), err error) {
	caller := guard.Address(r)
	end, err = c.places.Take(caller)
	askingOf(r.Context()).tail = err == nil
	full, ok := errors.AsType[*throttle.Full](err)
	switch {
	case !ok:
		return end, err
	case full.Own:
		return nil, fault{http.StatusTooManyRequests, "TooManyTails", fmt.Sprintf(
			"%s has reached its limit of %d live tails; end one first", caller, full.Most,
		)}
	}
	return nil, fault{http.StatusServiceUnavailable, "TooManyTails", fmt.Sprintf(
		"this process has reached its limit of %d live tails; try again later", full.Most,
	)}
}
