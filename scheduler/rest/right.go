package rest

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/carillon-sched/carillon/scheduler/access"
	"github.com/carillon-sched/carillon/scheduler/api"
	"github.com/carillon-sched/carillon/scheduler/awx"
	"github.com/carillon-sched/carillon/scheduler/service"
	"github.com/carillon-sched/carillon/scheduler/throttle"
)

// guarded returns the operation's action for those who may have it done: it is known who asks then. [access.From] tells
// it to whatever is done.
func guarded(op *api.Operation, do action) action {
	right := op.Right
	return func(a *server, w http.ResponseWriter, r *http.Request) error {
		askingOf(r.Context()).operation = op
		collection := collectionIn(r) // before anybody changes what the path says
		if right == access.Open {
			return do(a, w, r)
		}
		who, err := a.identify(r)
		if err != nil {
			return err
		}
		if wait, ok := a.rate.Allow(payer(who)); !ok {
			return &throttle.Exceeded{After: wait, Message: "too many requests at once; wait a moment, or have --http-rate raised"}
		}
		ctx := access.With(r.Context(), who)
		if who.Name != "" {
			ctx = service.WithCaller(ctx, who.String())
		}
		if err := access.Check(ctx, right, collection); err != nil {
			return err
		}
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		stop := a.watchOver(r, who, right, collection, cancel)
		defer stop()
		return do(a, w, r.WithContext(ctx))
	}
}

// askAgainEvery is how often who asks must still be allowed to, while they are answered: a live tail lasts.
const askAgainEvery = 2 * time.Second

// watchOver ends a request whose caller may not ask for it any more, as when a token is revoked. It also ends one about many
// collections whose caller has other grants than asked had: they select the records that it shows. The function returned stops it. A
// store that does not answer ends nothing.
func (a *server) watchOver(r *http.Request, asked *access.Principal, right access.Right, collection string, end func()) (stop func()) {
	var mu sync.Mutex
	var again *time.Timer
	stopped := false
	look := func() {
		who, err := a.identify(r)
		_, unknown := errors.AsType[*access.Unknown](err)
		if unknown || err == nil && (!access.May(who, right, collection) || right == access.ReadAny && !access.SameGrants(who, asked)) {
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

// payer is whose requests count together.
func payer(who *access.Principal) string {
	if who.ID == "" && who.Name == "" {
		return throttle.Network(who.Address)
	}
	return who.Via + " " + who.ID + " " + who.Name
}

// seconds is a time to wait in whole seconds, as Retry-After has it.
func seconds(wait time.Duration) string {
	return strconv.Itoa(max(1, int((wait+time.Second-1)/time.Second)))
}

// collectionIn returns the collection that a path names, under the name that its subscription and resource group give
// it, "" if it names none. A template that is none has the job ""
// of no collection: then only who may do it on all learns so.
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

// anybody is who asks where nobody is asked for anything.
func anybody(r *http.Request) (*access.Principal, error) {
	return access.Anybody(access.ViaOpen, caller(r)), nil
}
