package actiontest

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/bubble"
	"github.com/carillon-sched/carillon/scheduler"
)

// Tripper is an [http.RoundTripper] that is a function.
type Tripper func(*http.Request) (*http.Response, error)

// RoundTrip implements [http.RoundTripper].
func (f Tripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// Stuck is a host that never answers.
var Stuck = Tripper(func(req *http.Request) (*http.Response, error) {
	<-req.Context().Done()
	return nil, req.Context().Err()
})

// Interruptions ends attempts on a host that never answers: by their own timeout, their caller's deadline, and by being
// canceled. open returns an action that uses a transport, and check gets the result with the reason it must give. All is on
// fake time, without sockets.
func Interruptions(
	t *testing.T, open func(t *testing.T, transport http.RoundTripper) scheduler.Action,
	check func(t *testing.T, result scheduler.Result, reason string),
) {
	t.Helper()
	stops := errors.New("the worker stops")
	for name, test := range map[string]struct {
		timeout, deadline time.Duration // of the attempt, and of the worker; 0: none
		canceled          time.Duration // when the worker stops; 0: it does not
		want              string
		after             time.Duration
	}{
		"own":             {time.Minute, 0, 0, "timed out after 60s", time.Minute},
		"caller's":        {time.Minute, time.Minute, 0, "timed out after 60s", time.Minute},
		"caller's sooner": {time.Minute, 59 * time.Second, 0, "timed out after 60s", 59 * time.Second},
		"caller's much":   {time.Minute, 1500 * time.Millisecond, 0, "timed out after 1.5s", 1500 * time.Millisecond},
		"long":            {30 * time.Minute, time.Hour, 0, "timed out after 1800s", 30 * time.Minute},
		"canceled":        {time.Minute, 0, time.Second, "canceled: the worker stops", time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				if test.deadline > 0 {
					var end context.CancelFunc
					ctx, end = context.WithTimeout(ctx, test.deadline)
					defer end()
				}
				if test.canceled > 0 {
					time.AfterFunc(test.canceled, func() { cancel(stops) })
				}
				at := Attempt()
				at.Timeout = test.timeout
				result := Invoke(ctx, open(t, Stuck), at)
				check(t, result, test.want)
				if result.Duration != test.after {
					t.Errorf("took %v, want %v", result.Duration, test.after)
				}
			})
		})
	}
}
