package rest

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/carillon-sched/carillon/scheduler/api"
	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/awx"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/scheduler/throttle"
)

// guarded wraps an operation's action: it authenticates and authorizes the caller and stores it in the context
// ([auth.From]).
func guarded(op *api.Operation, do action) action {
	right := op.Right
	return func(a *server, w http.ResponseWriter, r *http.Request) error {
		askingOf(r.Context()).operation = op
		collection := collectionIn(r) // before the action rewrites the path
		if right == auth.Open {
			return do(a, w, r)
		}
		who, err := a.identify(r)
		if err != nil {
			return err
		}
		if wait, ok := a.rate.Allow(payer(who)); !ok {
			return &throttle.Exceeded{After: wait, Message: "too many requests at once; wait a moment, or have --http-rate raised"}
		}
		ctx := auth.With(r.Context(), who)
		if who.Name != "" {
			ctx = control.WithCaller(ctx, who.String())
		}
		if err := auth.Check(ctx, right, collection); err != nil {
			return err
		}
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		stop := a.watchOver(r, who, right, collection, cancel)
		defer stop()
		return do(a, w, r.WithContext(ctx))
	}
}

// askAgainEvery is the interval at which the rights of a request's caller are checked again, because live tails last
// long.
const askAgainEvery = 2 * time.Second

// watchOver ends a request whose caller has lost the right to it, for example by the revocation of a token. It also
// ends a request about many collections whose caller's grants differ from those of asked, because they select the shown
// records. The returned function stops the watch. An unavailable store ends no request.
func (a *server) watchOver(r *http.Request, asked *auth.Principal, right auth.Right, collection string, end func()) (stop func()) {
	var mu sync.Mutex
	var again *time.Timer
	stopped := false
	look := func() {
		who, err := a.identify(r)
		_, unknown := errors.AsType[*auth.Unknown](err)
		if unknown || err == nil && (!auth.May(who, right, collection) || right == auth.ReadAny && !auth.SameGrants(who, asked)) {
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

// payer identifies the caller for the rate limit.
func payer(who *auth.Principal) string {
	if who.ID == "" && who.Name == "" {
		return throttle.Network(who.Address)
	}
	return who.Via + " " + who.ID + " " + who.Name
}

// seconds rounds a duration up to whole seconds, for Retry-After.
func seconds(wait time.Duration) string {
	return strconv.Itoa(max(1, int((wait+time.Second-1)/time.Second)))
}

// collectionIn returns the collection in a path, under its internal name for its subscription and resource group; "" if
// the path has none. A malformed template name yields collection "", so that only a caller with the right on all
// collections sees the error.
func collectionIn(r *http.Request) string {
	if template := r.PathValue("template"); template != "" {
		k, _ := awx.TemplateKey(template)
		return k.Collection
	}
	if name := r.PathValue("c"); name == "" || r.PathValue("s") == "" {
		return name
	}
	s, err := armScope(r)
	if err != nil {
		return ""
	}
	return s.Collection(r.PathValue("c"))
}

// anybody is the caller if authentication is disabled.
func anybody(r *http.Request) (*auth.Principal, error) {
	return auth.Anybody(auth.ViaOpen, caller(r)), nil
}
