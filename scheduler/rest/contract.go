package rest

import (
	"net/http"
	"reflect"

	"github.com/carillon-sched/carillon/scheduler/api"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/rest/openapi"
)

// OpenAPI returns the OpenAPI 3.1 document of the API as JSON, the answer to GET /openapi.json.
func OpenAPI(version string) []byte {
	types := []reflect.Type{reflect.TypeFor[processStatus](), reflect.TypeFor[armResource](), reflect.TypeFor[awxZone]()}
	var all []openapi.Route
	for _, r := range routes() {
		served := openapi.Route{Operation: r.Operation, Path: r.prefix + r.Path, Style: r.style}
		if r.style == api.Managed || r.style == api.Manager {
			served.Versions = armVersions
		}
		all = append(all, served)
	}
	return v1.JSON(openapi.New(version, all, types))
}

// openAPI answers with the OpenAPI document.
func (a *server) openAPI(w http.ResponseWriter, r *http.Request) error {
	return a.document().answer(w, r)
}
