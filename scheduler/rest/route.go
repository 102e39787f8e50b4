package rest

import (
	"net/http"
	"slices"
	"strings"
)

// operation is one thing that can be done at a path.
type operation struct {
	method string
	path   string // below a prefix
	do     action
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
	{http.MethodGet, "/jobCollections/{c}/history", (*api).followOnly},
	{http.MethodGet, "/jobCollections/{c}/jobs", (*api).listJobs},
	{http.MethodPut, "/jobCollections/{c}/jobs/{j}", (*api).putJob},
	{http.MethodGet, "/jobCollections/{c}/jobs/{j}", (*api).getJob},
	{http.MethodPatch, "/jobCollections/{c}/jobs/{j}", (*api).patchJob},
	{http.MethodDelete, "/jobCollections/{c}/jobs/{j}", (*api).deleteJob},
	{http.MethodPost, "/jobCollections/{c}/jobs/{j}/run", (*api).runJob},
	{http.MethodPost, "/jobCollections/{c}/jobs/{j}/enable", (*api).enableJob},
	{http.MethodPost, "/jobCollections/{c}/jobs/{j}/disable", (*api).disableJob},
	{http.MethodGet, "/jobCollections/{c}/jobs/{j}/history", (*api).jobHistory},
}

// process are the operations on the process as a whole, and on no job.
var process = []operation{
	{http.MethodPost, "/preview", (*api).preview},
	{http.MethodGet, "/history", (*api).followOnly},
	{http.MethodPost, "/doctor", (*api).doctor},
	{http.MethodGet, "/healthz", (*api).health},
	{http.MethodGet, "/readyz", (*api).readiness},
}

// register adds operations to mux under a prefix. A method that a path does
// not have is refused, with those that it has.
func (a *api) register(mux *http.ServeMux, prefix string, operations []operation, refuse refusal) {
	methods := map[string][]string{}
	for _, op := range operations {
		mux.Handle(op.method+" "+prefix+op.path, a.handler(op.do, refuse))
		methods[op.path] = append(methods[op.path], op.method)
		if op.method == http.MethodGet { // a pattern for GET serves HEAD too
			methods[op.path] = append(methods[op.path], http.MethodHead)
		}
	}
	for path, allowed := range methods {
		mux.Handle(prefix+path, a.handler(notAllowed(allowed), refuse))
	}
}

func notAllowed(methods []string) action {
	slices.Sort(methods)
	allow := strings.Join(methods, ", ")
	return func(_ *api, w http.ResponseWriter, r *http.Request) error {
		w.Header().Set("Allow", allow)
		return fault{http.StatusMethodNotAllowed, "MethodNotAllowed", r.Method + " is not possible here, only " + allow}
	}
}
