package rest

import (
	"net/http"
	"strings"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api"
	"github.com/carillon-sched/carillon/scheduler/api/dispatch"
	"github.com/carillon-sched/carillon/scheduler/guard"
	"github.com/carillon-sched/carillon/scheduler/schema"
)

// action answers a request, or returns the error to answer with.
type action func(*server, http.ResponseWriter, *http.Request) error

// actions perform the operations that package dispatch does not, by ID.
var actions = map[string]action{
	"jobRuns":          (*server).runs,
	"collectionRuns":   (*server).runs,
	"runs":             (*server).runs,
	"publishEvent":     (*server).publishEvent,
	"receiveWebhook":   (*server).receiveWebhook,
	"challengeWebhook": (*server).challengeWebhook,
	"healthz":          (*server).health,
	"readyz":           (*server).readiness,
	"metrics":          (*server).showMetrics,
	"jobSchema":        serveSchema(schema.JobText),
	"collectionSchema": serveSchema(schema.CollectionText),
	"openapi":          (*server).openAPI,

	"armListCollections":             (*server).listGroup,
	"armListSubscriptions":           (*server).listSubscriptions,
	"armGetSubscription":             (*server).getSubscription,
	"armListResourceGroups":          (*server).listGroups,
	"armGetResourceGroup":            (*server).getGroup,
	"armPutResourceGroup":            (*server).putGroup,
	"armDeleteResourceGroup":         (*server).deleteGroup,
	"armListProviders":               (*server).listProviders,
	"armGetProvider":                 (*server).getProvider,
	"armRegisterProvider":            (*server).getProvider,
	"armListSubscriptionCollections": (*server).listSubscription,

	"awxPreviewSchedule":        (*server).previewAWX,
	"awxListZones":              (*server).zoneInfo,
	"awxListSchedules":          (*server).listSchedules,
	"awxCreateSchedule":         downright((*server).createSchedule),
	"awxGetSchedule":            (*server).getSchedule,
	"awxPutSchedule":            downright((*server).putSchedule),
	"awxPatchSchedule":          downright((*server).patchSchedule),
	"awxDeleteSchedule":         downright((*server).deleteSchedule),
	"awxListTemplateSchedules":  (*server).listTemplateSchedules,
	"awxCreateTemplateSchedule": downright((*server).createTemplateSchedule),
}

// route is an operation with its served path.
type route struct {
	*api.Operation

	style  api.Style
	prefix string // prepended to its pattern
}

// routes returns all routes. Operations on resources have a second route below a resource group.
func routes() []route {
	var all []route
	for i := range api.Operations {
		op := &api.Operations[i]
		r := route{op, op.Style, ""}
		if op.Style == api.Managed {
			r.prefix = managedPath
		}
		all = append(all, r)
		if op.Style == api.Short && strings.HasPrefix(op.Path, "/jobCollections/") {
			all = append(all, route{op, api.Managed, managedPath})
		}
	}
	return all
}

// managedPath is the prefix of paths of resources below a resource group.
const managedPath = api.AzureGroup + api.AzureProvider

// patterns returns the route's patterns in the mux. Paths of AWX end with an optional slash: a redirect would lose the
// body.
func (r *route) patterns() []string {
	path := r.prefix + r.Pattern()
	if r.style == api.AWX {
		return []string{path + "{$}", strings.TrimSuffix(path, "/")}
	}
	return []string{path}
}

// refusal returns the function that sends the route's errors.
func (r *route) refusal() refusal {
	switch r.style {
	case api.AWX:
		return (*server).refuseAWX
	case api.Managed, api.Manager:
		return (*server).refuseARM
	case api.Short:
	}
	return (*server).refuse
}

// serve returns the action of the route with its checks.
func (r *route) serve() action {
	do := actions[r.ID]
	if dispatch.Performs(r.Operation) {
		do = perform(r.Operation)
	}
	switch {
	case r.Foreign:
	case r.style == api.Managed && r.Style == api.Short:
		do = enter(r.Operation, strict(r.Operation, do))
	case r.style == api.Short:
		do = strict(r.Operation, do)
	case r.style == api.Manager:
		do = withoutConditions(r.Operation, do)
	}
	return guarded(r.Operation, do)
}

// register adds all routes to mux.
func (a *server) register(mux *http.ServeMux) {
	all, refusals := guard.Routes{}, map[string]refusal{}
	for _, r := range routes() {
		methods := []string{r.Method}
		if r.Method == http.MethodGet {
			methods = append(methods, http.MethodHead)
		}
		for _, path := range r.patterns() {
			refusals[path] = r.refusal()
			all.Add(path, a.handler(r.serve(), refusals[path]), methods...)
		}
	}
	all.Register(mux, func(path, allow string) http.Handler {
		return a.handler(func(_ *server, _ http.ResponseWriter, r *http.Request) error {
			return fault{http.StatusMethodNotAllowed, "MethodNotAllowed", r.Method + " is not possible here, only " + allow}
		}, refusals[path])
	})
}

// strict refuses unsupported options, bodies and conditions, because a client would assume that an ignored one had an
// effect.
func strict(op *api.Operation, do action) action {
	known := names(op.Query)
	return func(a *server, w http.ResponseWriter, r *http.Request) error {
		if op.Served != "" && r.URL.Path != op.Path {
			return fault{http.StatusNotFound, "UnknownRoute", "there is nothing to " + r.Method + " at " + r.URL.Path}
		}
		if err := checkOptions(r.URL.RawQuery, known); err != nil {
			return err
		}
		if err := unconditional(op, r); err != nil {
			return err
		}
		if op.Bare {
			if err := checkBare(w, r); err != nil {
				return err
			}
		}
		return do(a, w, r)
	}
}

// withoutConditions refuses conditions that the operation does not support.
func withoutConditions(op *api.Operation, do action) action {
	return func(a *server, w http.ResponseWriter, r *http.Request) error {
		if err := unconditional(op, r); err != nil {
			return err
		}
		return do(a, w, r)
	}
}

// unconditional refuses conditions of a change that supports none.
func unconditional(op *api.Operation, r *http.Request) error {
	if op == nil || !op.Changes() || op.Conditional {
		return nil
	}
	for _, header := range []string{scheduler.IfMatch, scheduler.IfNoneMatch} {
		if len(r.Header.Values(header)) > 0 {
			return scheduler.Invalid(header, "this resource has no ETag for a condition")
		}
	}
	return nil
}
