package rest

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/carillon-sched/carillon/scheduler/schema"
)

// operation is one thing that can be done at a path.
type operation struct {
	method string
	path   string // below a prefix
	do     action
}

// name is the operation's in [rights]: method and path, that without its last slash.
func (op operation) name() string {
	return op.method + " " + strings.TrimSuffix(strings.TrimSuffix(op.path, "{$}"), "/")
}

// action answers a request, or returns the error to answer with.
type action func(*api, http.ResponseWriter, *http.Request) error

// resources are the operations on collections and jobs. Their paths may begin
// with a prefix, whose wildcards they do not know.
var resources = []operation{
	{http.MethodGet, "/jobCollections", (*api).listCollections},
	{http.MethodPut, "/jobCollections/{c}", (*api).putCollection},
	{http.MethodGet, "/jobCollections/{c}", (*api).getCollection},
	{http.MethodPatch, "/jobCollections/{c}", (*api).patchCollection},
	{http.MethodDelete, "/jobCollections/{c}", (*api).deleteCollection},
	{http.MethodPost, "/jobCollections/{c}/enable", (*api).enableCollection},
	{http.MethodPost, "/jobCollections/{c}/disable", (*api).disableCollection},
	{http.MethodGet, "/jobCollections/{c}/history", (*api).history},
	{http.MethodGet, "/jobCollections/{c}/audit", (*api).audit},
	{http.MethodGet, "/jobCollections/{c}/jobs", (*api).listJobs},
	{http.MethodPost, "/jobCollections/{c}/jobs", (*api).createJob},
	{http.MethodPut, "/jobCollections/{c}/jobs/{j}", (*api).putJob},
	{http.MethodGet, "/jobCollections/{c}/jobs/{j}", (*api).getJob},
	{http.MethodPatch, "/jobCollections/{c}/jobs/{j}", (*api).patchJob},
	{http.MethodDelete, "/jobCollections/{c}/jobs/{j}", (*api).deleteJob},
	{http.MethodPost, "/jobCollections/{c}/jobs/{j}/run", (*api).runJob},
	{http.MethodPost, "/jobCollections/{c}/jobs/{j}/resubmit", resubmitJob},
	{http.MethodPost, "/jobCollections/{c}/jobs/{j}/enable", (*api).enableJob},
	{http.MethodPost, "/jobCollections/{c}/jobs/{j}/disable", (*api).disableJob},
	{http.MethodPost, "/jobCollections/{c}/jobs/{j}/pause", pauseJob},
	{http.MethodPost, "/jobCollections/{c}/jobs/{j}/cancel", cancelJob},
	{http.MethodPost, "/jobCollections/{c}/cancel", cancelCollection},
	{http.MethodPost, "/jobCollections/{c}/jobs/{j}/try", tryJob},
	{http.MethodGet, "/jobCollections/{c}/jobs/{j}/history", (*api).jobHistory},
	{http.MethodGet, "/jobCollections/{c}/jobs/{j}/audit", (*api).audit},
	{http.MethodGet, "/jobCollections/{c}/jobs/{j}/why", (*api).why},
	{http.MethodGet, "/jobCollections/{c}/jobs/{j}/account", (*api).account},
	{http.MethodGet, "/jobCollections/{c}/jobs/{j}/runs.ics", (*api).runs},
	{http.MethodGet, "/jobCollections/{c}/runs.ics", (*api).runs},
}

// process are the operations on the process as a whole, and on no job.
var process = []operation{
	{http.MethodPost, "/preview", (*api).preview},
	{http.MethodGet, "/jobs", (*api).listAllJobs},
	{http.MethodGet, "/history", (*api).history},
	{http.MethodGet, "/audit", (*api).audit},
	{http.MethodGet, "/forecast", (*api).forecast},
	{http.MethodGet, "/runs.ics", (*api).runs},
	{http.MethodPost, "/operations", (*api).createOperation},
	{http.MethodGet, "/operations", (*api).listOperations},
	{http.MethodGet, "/operations/{id}", (*api).getOperation},
	{http.MethodPost, "/operations/{id}/cancel", (*api).cancelOperation},
	{http.MethodPost, "/doctor", (*api).doctor},
	{http.MethodGet, "/openapi.json", (*api).openAPI},
	{http.MethodGet, "/healthz", (*api).health},
	{http.MethodGet, "/readyz", (*api).readiness},
	{http.MethodGet, "/metrics", (*api).showMetrics},
	{http.MethodGet, "/schemas/job.json", serveSchema(schema.JobText)},
	{http.MethodGet, "/schemas/collection.json", serveSchema(schema.CollectionText)},
}

// register adds operations to mux under a prefix. A method that a path does
// not have is refused, with those that it has. Methods are told apart here and
// not by mux, which takes GET /x/{id} and /x/preview for a conflict.
func (a *api) register(mux *http.ServeMux, prefix string, operations []operation, refuse refusal) {
	paths := map[string]map[string]action{}
	for _, op := range operations {
		op.do = guarded(op)
		if paths[op.path] == nil {
			paths[op.path] = map[string]action{}
		}
		paths[op.path][op.method] = op.do
		if op.method == http.MethodGet {
			paths[op.path][http.MethodHead] = op.do
		}
	}
	for path, methods := range paths {
		mux.Handle(prefix+path, a.handler(byMethod(methods), refuse))
	}
}

// byMethod returns the action that does what the request's method asks for.
func byMethod(methods map[string]action) action {
	allow := strings.Join(slices.Sorted(maps.Keys(methods)), ", ")
	return func(a *api, w http.ResponseWriter, r *http.Request) error {
		if do, ok := methods[r.Method]; ok {
			return do(a, w, r)
		}
		w.Header().Set("Allow", allow)
		return fault{http.StatusMethodNotAllowed, "MethodNotAllowed", r.Method + " is not possible here, only " + allow}
	}
}
