package rest

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/carillon-sched/carillon/scheduler/access"
	"github.com/carillon-sched/carillon/scheduler/awx"
	"github.com/carillon-sched/carillon/scheduler/service"
	"github.com/carillon-sched/carillon/scheduler/throttle"
)

// rights are what operations need of who asks, by method and path, that without its last slash. One that is not here is
// refused to everybody. The collection is that of the path. Where the path names none, [access.Read] and the like are
// asked for on all collections; with [access.ReadAny] the operation leaves out what may not be seen, and with
// [access.OperateAny] it asks for the collection that it finds.
var rights = map[string]access.Right{
	"GET /jobCollections":                        access.ReadAny,
	"PUT /jobCollections/{c}":                    access.Administer,
	"GET /jobCollections/{c}":                    access.Read,
	"PATCH /jobCollections/{c}":                  access.Administer,
	"DELETE /jobCollections/{c}":                 access.Administer,
	"POST /jobCollections/{c}/enable":            access.Administer,
	"POST /jobCollections/{c}/disable":           access.Administer,
	"GET /jobCollections/{c}/history":            access.Read,
	"GET /jobCollections/{c}/audit":              access.Administer,
	"GET /jobCollections/{c}/jobs":               access.Read,
	"PUT /jobCollections/{c}/jobs/{j}":           access.Operate,
	"GET /jobCollections/{c}/jobs/{j}":           access.Read,
	"PATCH /jobCollections/{c}/jobs/{j}":         access.Operate,
	"DELETE /jobCollections/{c}/jobs/{j}":        access.Operate,
	"POST /jobCollections/{c}/jobs/{j}/run":      access.Operate,
	"POST /jobCollections/{c}/jobs/{j}/resubmit": access.Operate,
	"POST /jobCollections/{c}/jobs/{j}/enable":   access.Operate,
	"POST /jobCollections/{c}/jobs/{j}/disable":  access.Operate,
	"POST /jobCollections/{c}/jobs/{j}/pause":    access.Operate,
	"POST /jobCollections/{c}/jobs/{j}/cancel":   access.Operate,
	"POST /jobCollections/{c}/cancel":            access.Operate,
	"POST /jobCollections/{c}/jobs/{j}/try":      access.Operate,
	"GET /jobCollections/{c}/jobs/{j}/history":   access.Read,
	"GET /jobCollections/{c}/jobs/{j}/audit":     access.Administer,
	"GET /jobCollections/{c}/jobs/{j}/why":       access.Read,
	"GET /jobCollections/{c}/jobs/{j}/account":   access.Read,
	"GET /jobs":              access.ReadAny,
	"GET /history":           access.ReadAny,
	"GET /audit":             access.Administer,
	"GET /secrets":           access.Administer,
	"PUT /secrets/{name}":    access.Administer,
	"DELETE /secrets/{name}": access.Administer,
	"POST /secrets/{name}":   access.Administer,
	"GET /jobCollections/{c}/jobs/{j}/runs.ics": access.Read,
	"GET /jobCollections/{c}/runs.ics":          access.Read,
	"GET /runs.ics":                             access.ReadAny,
	"GET /forecast":                             access.ReadAny,
	"GET /tokens":                               access.Administer,
	"POST /tokens":                              access.Administer,
	"DELETE /tokens/{id}":                       access.Administer,
	"POST /preview":                             access.Known,
	"POST /doctor":                              access.Administer,
	"GET /openapi.json":                         access.Open,
	"GET /healthz":                              access.Open,
	"GET /readyz":                               access.Open,
	"GET /metrics":                              access.Read,
	"GET /schemas/job.json":                     access.Open,
	"GET /schemas/collection.json":              access.Open,
	"POST /api/v2/schedules/preview":            access.Known,
	"GET /api/v2/schedules/zoneinfo":            access.Known,
	"GET /api/v2/schedules":                     access.ReadAny,
	"POST /api/v2/schedules":                    access.OperateAny,
	"GET /api/v2/schedules/{id}":                access.ReadAny,
	"PUT /api/v2/schedules/{id}":                access.OperateAny,
	"PATCH /api/v2/schedules/{id}":              access.OperateAny,
	"DELETE /api/v2/schedules/{id}":             access.OperateAny,
	"GET /api/v2/{kind}/{template}/schedules":   access.Read,
	"POST /api/v2/{kind}/{template}/schedules":  access.Operate,

	"POST /operations":             access.OperateAny,
	"GET /operations":              access.ReadAny,
	"GET /operations/{id}":         access.ReadAny,
	"POST /operations/{id}/cancel": access.OperateAny,

	"GET /subscriptions":                                       access.ReadAny,
	"GET " + armSubscription:                                   access.Known,
	"GET " + armSubscription + "/resourceGroups":               access.ReadAny,
	"GET " + armGroup:                                          access.Known,
	"PUT " + armGroup:                                          access.Known,
	"DELETE " + armGroup:                                       access.Administer,
	"GET " + armSubscription + "/providers":                    access.Known,
	"GET " + armSubscription + armProvider:                     access.Known,
	"POST " + armSubscription + armProvider + "/register":      access.Known,
	"GET " + armSubscription + armProvider + "/jobCollections": access.ReadAny,
	"POST /jobCollections/{c}/jobs":                            access.Operate,
}

// rightOf returns what an operation needs; "" is nobody's.
func rightOf(op operation) access.Right {
	return rights[op.name()]
}

// guarded returns the operation's action for those who may have it done: it is known who asks then. [access.From] tells
// it to whatever is done.
func guarded(op operation) action {
	right, name := rightOf(op), op.name()
	return func(a *api, w http.ResponseWriter, r *http.Request) error {
		askingOf(r.Context()).operation = name
		collection := collectionIn(r) // before anybody changes what the path says
		if right == access.Open {
			return op.do(a, w, r)
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
		return op.do(a, w, r.WithContext(ctx))
	}
}

// askAgainEvery is how often who asks must still be allowed to, while they are answered: a live tail lasts.
const askAgainEvery = 2 * time.Second

// watchOver ends a request whose caller may not ask for it any more, as when a token is revoked. It also ends one about many
// collections whose caller has other grants than asked had: they select the records that it shows. The function returned stops it. A
// store that does not answer ends nothing.
func (a *api) watchOver(r *http.Request, asked *access.Principal, right access.Right, collection string, end func()) (stop func()) {
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
