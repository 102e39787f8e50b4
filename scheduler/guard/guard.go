package guard

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/scheduler/throttle"
)

// Guard authenticates and authorizes the callers of requests. Identify is required.
type Guard struct {
	// Identify authenticates the caller. The error is a [*auth.Unknown] for an unknown caller, or one of the store.
	Identify func(r *http.Request) (*auth.Principal, error)

	// Rate limits the requests of each caller. Limited is the error message for further ones. Default: no limit.
	Rate    *throttle.Throttle
	Limited string

	// Grants: a change of the caller's grants ends each request, because they determine its answer. By default, it ends only
	// requests about many collections.
	Grants bool
}

// Admit checks the rate of an identified caller, and its right on a collection. The context of the returned request has
// the caller and ends when the caller has lost the right. Call leave at the end of the request. Errors:
// [*throttle.Exceeded] beyond the rate, and those of [auth.Check].
func (g *Guard) Admit(
	r *http.Request, who *auth.Principal, right auth.Right, collection string,
) (in *http.Request, leave func(), err error) {
	if wait, ok := g.Rate.Allow(RateLimitKey(who)); !ok {
		return nil, nil, &throttle.Exceeded{After: wait, Message: g.Limited}
	}
	ctx := auth.With(r.Context(), who)
	if who.Name != "" {
		ctx = control.WithCaller(ctx, who.String())
	} else {
		ctx = control.WithCaller(ctx, Address(r))
	}
	if err := auth.Check(ctx, right, collection); err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	stop := g.Watch(r, who, right, collection, cancel)
	return r.WithContext(ctx), func() { stop(); cancel() }, nil
}

// askAgainEvery is the interval at which the rights of a request's caller are checked again, because live answers last
// long.
const askAgainEvery = 2 * time.Second

// Watch calls end when the caller has lost the right to its request, for example by the revocation of a token. If the
// grants select the content of the answer, it also calls end when they differ from the grants of asked. It checks every
// two seconds; an unavailable store ends no request. The returned function stops the watch.
func (g *Guard) Watch(r *http.Request, asked *auth.Principal, right auth.Right, collection string, end func()) (stop func()) {
	var mu sync.Mutex
	var again *time.Timer
	stopped := false
	look := func() {
		who, err := g.Identify(r)
		_, unknown := errors.AsType[*auth.Unknown](err)
		selects := g.Grants || right == auth.ReadAny
		if unknown || err == nil && (!auth.May(who, right, collection) || selects && !auth.SameGrants(who, asked)) {
			end()
			return
		}
		mu.Lock()
		defer mu.Unlock()
		if !stopped {
			again.Reset(askAgainEvery)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	again = time.AfterFunc(askAgainEvery, look)
	return func() {
		mu.Lock()
		defer mu.Unlock()
		stopped = true
		again.Stop()
	}
}

// Anonymous returns the anonymous caller, for [Guard].Identify without authentication.
func Anonymous(r *http.Request) (*auth.Principal, error) {
	return auth.Anonymous(auth.ViaOpen, Address(r)), nil
}

// RateLimitKey identifies the caller for limits.
func RateLimitKey(who *auth.Principal) string {
	if who.ID == "" && who.Name == "" {
		return throttle.Network(who.Address)
	}
	return who.Via + " " + who.ID + " " + who.Name
}

// Address returns the address of the caller without the port.
func Address(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

// RetryAfter rounds a duration up to whole seconds, for the header Retry-After.
func RetryAfter(wait time.Duration) string {
	return strconv.Itoa(max(1, int((wait+time.Second-1)/time.Second)))
}
