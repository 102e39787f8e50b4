package openapi

import (
	"cmp"
	"net/http"
	"slices"
)

// Media types.
const (
	typeJSON     = "application/json"
	typeYAML     = "application/yaml"
	typePatch    = "application/merge-patch+json"
	typeLines    = "application/x-ndjson"
	typeEvents   = "text/event-stream"
	typeCalendar = "text/calendar"
	typeMetrics  = "text/plain"
)

// Operation is what the tables tell of an operation, beside what its route does.
type Operation struct {
	ID, Summary, Text string
	Path              string // where it differs from the route's
	Tag               string // "": that of its style

	Body     string // the schema of what it takes; "": nothing
	MayEmpty bool   // the body may be left out

	Answers map[int]string // schemas by status; "": nothing but the status
	Media   string         // media type of the answer; "": JSON
	Lines   string         // the schema of a line of a live tail; "": there is none
	Events  bool           // the live tail may be server-sent events
	Tagged  bool           // the answer has the ETag of a job or a collection
	Tag304  bool           // it has another ETag, and only If-None-Match is heeded
	Located bool           // what was created has another path, in Location

	Options     []Parameter // of the query, where the route does not know them
	Faults      []int       // that can come beside those that the route tells
	ShortFaults []int       // likewise, on the short paths alone
}

func (op *Operation) tag(r *Route) string {
	switch {
	case r.Style == AWX:
		return "AWX"
	case r.Style != Short:
		return "Azure"
	}
	return op.Tag
}

// answers returns the schemas of what is answered where nothing is wrong.
func (op *Operation) answers(r *Route) map[int]string {
	all := map[int]string{}
	for status, schema := range op.Answers {
		if r.Silent {
			schema = ""
		}
		all[status] = schema
	}
	if (op.Tagged || op.Tag304) && !r.changes() {
		all[http.StatusNotModified] = ""
	}
	return all
}

// meanings are what statuses mean.
var meanings = map[int]string{
	http.StatusOK: "It is done, or so it is.", http.StatusCreated: "It was created.", http.StatusNoContent: "It is so.",
	http.StatusNotModified: "It is as the caller has it.",
}

// answer returns what is answered with a status.
func (op *Operation) answer(r *Route, status int, schema string) *Response {
	a := &Response{Description: meanings[status], Headers: identified()}
	if op.Tagged || op.Tag304 {
		a.Headers["ETag"] = &Header{Ref: "#/components/headers/ETag"}
	}
	if status == http.StatusNotModified {
		return a
	}
	if op.Located && status == http.StatusCreated {
		a.Headers["Location"] = &Header{Ref: "#/components/headers/Location"}
	}
	a.Content = map[string]Media{}
	switch {
	case schema != "":
		a.Content[cmp.Or(op.Media, typeJSON)] = Media{reference(schema)}
	case op.Media != "":
		a.Content[op.Media] = Media{Text}
	}
	if r.Style == Short && op.Lines != "" {
		a.Content[typeLines] = Media{Schema{
			"description": "a line of a live tail", "oneOf": []any{reference(op.Lines), reference("End")},
		}}
		a.Headers["Carillon-Sequence"] = &Header{Ref: "#/components/headers/CarillonSequence"}
	}
	if r.Style == Short && op.Events {
		a.Content[typeEvents] = Media{Schema{
			"description": "the data of an event: a record, or of an event gap or end what it says",
			"oneOf":       []any{reference(op.Lines), reference("Gap"), reference("Error")},
		}}
		a.Headers["Carillon-First-Sequence"] = &Header{Ref: "#/components/headers/CarillonFirstSequence"}
	}
	return a
}

// body returns what an operation takes.
func (op *Operation) body(r *Route) *Body {
	switch {
	case r.Bare:
		nothing := Schema{"type": "object", "maxProperties": 0}
		return &Body{Description: "nothing, or an object without members", Content: map[string]Media{typeJSON: {nothing}}}
	case op.Body == "":
		return nil
	}
	b := &Body{Required: !op.MayEmpty, Content: map[string]Media{typeJSON: {reference(op.Body)}}}
	if r.Style != AWX {
		b.Content[typeYAML] = b.Content[typeJSON]
	}
	if r.Method == http.MethodPatch {
		b.Content[typePatch] = b.Content[typeJSON]
	}
	return b
}

// faults returns the statuses of what can be wrong.
func (op *Operation) faults(r *Route) []int {
	all := append([]int{http.StatusMisdirectedRequest}, op.Faults...)
	if r.Style != AWX {
		all = append(all, http.StatusBadRequest)
	}
	if r.Style == Short {
		all = append(all, op.ShortFaults...)
	}
	if r.changes() {
		all = append(all, http.StatusForbidden)
	}
	if r.Bare || op.Body != "" {
		all = append(all, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType)
	}
	if r.Conditional || op.Tagged && !r.changes() {
		all = append(all, http.StatusPreconditionFailed)
	}
	if !r.Open() {
		all = append(all, http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests,
			http.StatusInternalServerError, http.StatusServiceUnavailable)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
