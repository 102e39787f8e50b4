package rest

import (
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/carillon-sched/carillon/scheduler/rest/openapi"
	"github.com/carillon-sched/carillon/scheduler/view"
)

// OpenAPI returns the OpenAPI 3.1 document of the API of a version, as JSON: what GET /openapi.json answers with.
func OpenAPI(version string) []byte {
	types := []reflect.Type{reflect.TypeFor[processStatus](), reflect.TypeFor[armResource](), reflect.TypeFor[awxZone]()}
	d, err := openapi.New(version, routes(), types)
	if err != nil {
		panic("rest: " + err.Error()) // a defect: an operation that the tables of package openapi do not have
	}
	return view.JSON(d)
}

// routes are all operations of the API.
func routes() []openapi.Route {
	var all []openapi.Route
	for _, op := range slices.Concat(resources, secrets, accessTokens, process) {
		all = append(all, routeOf(op, "", openapi.Short, nil))
	}
	for _, op := range slices.Concat(awxTools, awxSchedules) {
		all = append(all, routeOf(op, "", openapi.AWX, nil))
	}
	for _, op := range managed() {
		all = append(all, routeOf(op, armGroup+armProvider, openapi.Managed, armVersions))
	}
	for _, op := range manager {
		all = append(all, routeOf(op, "", openapi.Manager, armVersions))
	}
	return all
}

// routeOf returns an operation as it is served below a prefix, with all that the tables here say of it.
func routeOf(op operation, prefix string, style openapi.Style, versions []string) openapi.Route {
	named := op.method + " " + op.path
	return openapi.Route{
		Method: op.method, Path: prefix + op.path, Key: strings.TrimSuffix(strings.TrimSuffix(named, "{$}"), "/"), Style: style,
		Right: rightOf(op), Options: options[named], Versions: versions, Conditional: conditional[named],
		Bare: takesNothing(op), Silent: style == openapi.Managed && silent[named],
	}
}

// takesNothing reports whether an operation refuses a document.
func takesNothing(op operation) bool {
	return op.method == http.MethodPost && (bare[op.path] || op.path == secretPath)
}

// openAPI answers with the document of the API.
func (a *api) openAPI(w http.ResponseWriter, r *http.Request) error { return a.document().answer(w, r) }
