package openapi

import (
	"cmp"
	"net/http"
	"slices"

	"github.com/carillon-sched/carillon/scheduler/api"
	"github.com/carillon-sched/carillon/scheduler/auth"
)

// Media types.
const (
	typeJSON   = "application/json"
	typeYAML   = "application/yaml"
	typePatch  = "application/merge-patch+json"
	typeLines  = "application/x-ndjson"
	typeEvents = "text/event-stream"
)

func (r *Route) tag() string {
	switch {
	case r.Style == api.AWX:
		return "AWX"
	case r.Style != api.Short:
		return "Azure"
	}
	return r.Group
}

// answers returns the schemas of successful answers, by status.
func (r *Route) answers() map[int]string {
	all, schema := map[int]string{}, componentOf(r.Answer)
	if r.Silent && r.Style == api.Managed {
		schema = ""
	}
	for _, status := range r.Statuses {
		all[status] = schema
	}
	if len(r.Statuses) == 0 {
		all[http.StatusOK] = schema
	}
	if (r.Tagged || r.Tag304) && !r.Changes() {
		all[http.StatusNotModified] = ""
	}
	return all
}

// meanings describe statuses.
var meanings = map[int]string{
	http.StatusOK: "Success.", http.StatusCreated: "Created.", http.StatusAccepted: "Stored.",
	http.StatusNoContent:   "Success, without content.",
	http.StatusNotModified: "Not modified since the caller's version.",
}

// answer returns the response for a status.
func (r *Route) answer(status int, schema string) *Response {
	a := &Response{Description: meanings[status], Headers: identified()}
	if r.Tagged || r.Tag304 {
		a.Headers["ETag"] = &Header{Ref: "#/components/headers/ETag"}
	}
	if status == http.StatusNotModified {
		return a
	}
	if r.Located && status == http.StatusCreated {
		a.Headers["Location"] = &Header{Ref: "#/components/headers/Location"}
	}
	a.Content = map[string]Media{}
	switch {
	case schema != "":
		a.Content[cmp.Or(r.Media, typeJSON)] = Media{reference(schema)}
	case r.Media != "":
		a.Content[r.Media] = Media{Text}
	}
	if r.Style == api.Short && r.Line != nil {
		a.Content[typeLines] = Media{Schema{
			"description": "a line of a live tail", "oneOf": []any{reference(componentOf(r.Line)), reference("End")},
		}}
		a.Headers["Carillon-Sequence"] = &Header{Ref: "#/components/headers/CarillonSequence"}
	}
	if r.Style == api.Short && r.Events {
		a.Content[typeEvents] = Media{Schema{
			"description": "the data of an event: a record, or the details of a gap or end event",
			"oneOf":       []any{reference(componentOf(r.Line)), reference("Gap"), reference("Error")},
		}}
		a.Headers["Carillon-First-Sequence"] = &Header{Ref: "#/components/headers/CarillonFirstSequence"}
	}
	return a
}

// body returns the request body of an operation.
func (r *Route) body() *Body {
	switch {
	case r.Bare:
		nothing := Schema{"type": "object", "maxProperties": 0}
		return &Body{Description: "empty, or an empty object", Content: map[string]Media{typeJSON: {nothing}}}
	case r.Raw:
		return &Body{Description: "any content", Content: map[string]Media{"*/*": {Schema{}}}}
	case r.Body == nil:
		return nil
	}
	b := &Body{Required: !r.MayEmpty, Content: map[string]Media{typeJSON: {reference(componentOf(r.Body))}}}
	if r.Style != api.AWX {
		b.Content[typeYAML] = b.Content[typeJSON]
	}
	if r.Method == http.MethodPatch {
		b.Content[typePatch] = b.Content[typeJSON]
	}
	return b
}

// faults returns the statuses of possible errors.
func (r *Route) faults() []int {
	if r.Foreign {
		return r.Errors
	}
	all := append([]int{http.StatusMisdirectedRequest}, r.Errors...)
	if r.Style != api.AWX {
		all = append(all, http.StatusBadRequest)
	}
	if r.Style == api.Short {
		all = append(all, r.ShortErrors...)
	}
	if r.Changes() {
		all = append(all, http.StatusForbidden)
	}
	if r.Bare || r.Body != nil {
		all = append(all, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType)
	}
	if r.Raw {
		all = append(all, http.StatusRequestEntityTooLarge)
	}
	if r.Conditional || r.Tagged && !r.Changes() {
		all = append(all, http.StatusPreconditionFailed)
	}
	if r.Right != auth.Open {
		all = append(all, http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests,
			http.StatusInternalServerError, http.StatusServiceUnavailable)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
