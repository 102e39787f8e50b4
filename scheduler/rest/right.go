package rest

import (
	"net/http"
	"strings"

	"github.com/carillon-sched/carillon/scheduler/access"
	"github.com/carillon-sched/carillon/scheduler/awx"
	"github.com/carillon-sched/carillon/scheduler/service"
)

// rights are what operations need of who asks, by method and path, that without its last slash. One that is not here is
// refused to everybody. The collection is that of the path. Where the path names none, [access.Read] and the like are
// asked for on all collections; with [access.ReadAny] the operation leaves out what may not be seen, and with
// [access.OperateAny] it asks for the collection that it finds.
var rights = map[string]access.Right{
	"GET /jobCollections":                             access.ReadAny,
	"PUT /jobCollections/{c}":                         access.Administer,
	"GET /jobCollections/{c}":                         access.Read,
	"PATCH /jobCollections/{c}":                       access.Administer,
	"DELETE /jobCollections/{c}":                      access.Administer,
	"POST /jobCollections/{c}/enable":                 access.Administer,
	"POST /jobCollections/{c}/disable":                access.Administer,
	"GET /jobCollections/{c}/history":                 access.Read,
	"GET /jobCollections/{c}/jobs":                    access.Read,
	"PUT /jobCollections/{c}/jobs/{j}":                access.Operate,
	"GET /jobCollections/{c}/jobs/{j}":                access.Read,
	"PATCH /jobCollections/{c}/jobs/{j}":              access.Operate,
	"DELETE /jobCollections/{c}/jobs/{j}":             access.Operate,
	"POST /jobCollections/{c}/jobs/{j}/run":           access.Operate,
	"POST /jobCollections/{c}/jobs/{j}/resubmit":      access.Operate,
	"POST /jobCollections/{c}/jobs/{j}/enable":        access.Operate,
	"POST /jobCollections/{c}/jobs/{j}/disable":       access.Operate,
	"GET /jobCollections/{c}/jobs/{j}/history":        access.Read,
	"GET /jobCollections/{c}/jobs/{j}/why":            access.Read,
	"GET /history":                                    access.ReadAny,
	"GET /secrets":                                    access.Administer,
	"PUT /secrets/{name}":                             access.Administer,
	"DELETE /secrets/{name}":                          access.Administer,
	"POST /secrets/{name}":                            access.Administer,
	"POST /preview":                                   access.Known,
	"POST /doctor":                                    access.Administer,
	"GET /healthz":                                    access.Open,
	"GET /readyz":                                     access.Open,
	"POST /api/v2/schedules/preview":                  access.Known,
	"GET /api/v2/schedules/zoneinfo":                  access.Known,
	"GET /api/v2/schedules":                           access.ReadAny,
	"POST /api/v2/schedules":                          access.OperateAny,
	"GET /api/v2/schedules/{id}":                      access.ReadAny,
	"PUT /api/v2/schedules/{id}":                      access.OperateAny,
	"PATCH /api/v2/schedules/{id}":                    access.OperateAny,
	"DELETE /api/v2/schedules/{id}":                   access.OperateAny,
	"GET /api/v2/job_templates/{template}/schedules":  access.Read,
	"POST /api/v2/job_templates/{template}/schedules": access.Operate,
}

// rightOf returns what an operation needs; "" is nobody's.
func rightOf(op operation) access.Right {
	return rights[op.method+" "+strings.TrimSuffix(strings.TrimSuffix(op.path, "{$}"), "/")]
}

// guarded returns the operation's action for those who may have it done: it is known who asks then. [access.From] tells
// it to whatever is done.
func guarded(op operation) action {
	right := rightOf(op)
	return func(a *api, w http.ResponseWriter, r *http.Request) error {
		if right == access.Open {
			return op.do(a, w, r)
		}
		who, err := a.identify(r)
		if err != nil {
			return err
		}
		ctx := access.With(r.Context(), who)
		if who.Name != "" {
			ctx = service.WithCaller(ctx, who.String())
		}
		if err := access.Check(ctx, right, collectionIn(r)); err != nil {
			return err
		}
		return op.do(a, w, r.WithContext(ctx))
	}
}

// collectionIn returns the collection that a path names, "" if it names none. A template that is none has the job ""
// of no collection: then only who may do it on all learns so.
func collectionIn(r *http.Request) string {
	if template := r.PathValue("template"); template != "" {
		k, _ := awx.TemplateKey(template)
		return k.Collection
	}
	return r.PathValue("c")
}

// anybody is who asks where nobody is asked for anything.
func anybody(r *http.Request) (*access.Principal, error) {
	return access.Anybody(access.ViaOpen, caller(r)), nil
}
