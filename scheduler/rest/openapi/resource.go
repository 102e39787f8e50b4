package openapi

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/audit"
	"github.com/carillon-sched/carillon/scheduler/awx"
	"github.com/carillon-sched/carillon/scheduler/explain"
	"github.com/carillon-sched/carillon/scheduler/forecast"
	"github.com/carillon-sched/carillon/scheduler/spec"
)

// named maps types with ambiguous Go names to component names.
var named = map[reflect.Type]string{
	reflect.TypeFor[v1.Document]():          "ErrorBody",
	reflect.TypeFor[v1.Finding]():           "AuditFinding",
	reflect.TypeFor[v1.AuditReport]():       "DoctorReport",
	reflect.TypeFor[v1.Status]():            "JobStatus",
	reflect.TypeFor[explain.Answer]():       "Why",
	reflect.TypeFor[explain.Time]():         "ClockTime",
	reflect.TypeFor[explain.Gap]():          "AccountGap",
	reflect.TypeFor[scheduler.RecordForm](): "Record",
	reflect.TypeFor[audit.Entry]():          "AuditRecord",
	reflect.TypeFor[audit.By]():             "AuditBy",
	reflect.TypeFor[forecast.Report]():      "Forecast",
	reflect.TypeFor[forecast.Target]():      "ForecastTarget",
	reflect.TypeFor[forecast.Peak]():        "ForecastPeak",
	reflect.TypeFor[forecast.Proposal]():    "ForecastProposal",
	reflect.TypeFor[forecast.TargetRuns]():  "ForecastTargetRuns",
	reflect.TypeFor[forecast.LeftOut]():     "ForecastLeftOut",
	reflect.TypeFor[awx.Schedule]():         "AWXSchedule",
	reflect.TypeFor[awx.List]():             "AWXScheduleList",
}

// parts are the types within composed documents. The table of operations provides all other types.
var parts = []reflect.Type{
	reflect.TypeFor[v1.Document](), reflect.TypeFor[v1.Status](), reflect.TypeFor[v1.DryRun](), reflect.TypeFor[spec.Warning](),
	reflect.TypeFor[v1.RecordProperties](), reflect.TypeFor[v1.Gap](), reflect.TypeFor[v1.End](),
}

// documents returns the documents of all operations.
func documents() []*api.Type {
	var all []*api.Type
	for i := range api.Operations {
		op := &api.Operations[i]
		all = append(all, op.Body, op.Answer, op.Line)
	}
	return slices.DeleteFunc(all, func(t *api.Type) bool { return t == nil })
}

// typesOf returns the Go types of documents, and parts.
func typesOf(documents []*api.Type) []reflect.Type {
	all := slices.Clone(parts)
	for _, d := range documents {
		if d.Go != nil {
			all = append(all, d.Go)
		}
	}
	return all
}

// componentOf returns the name of the component for a document; "" for nil.
func componentOf(t *api.Type) string {
	switch {
	case t == nil:
		return ""
	case t.List:
		return strings.TrimPrefix(componentOf(t.Item()), "Shown") + "List"
	case t.Go != nil:
		return nameOf(t.Go)
	}
	return t.Name
}

// schemas returns the components for schemas. own are answer types private to package rest.
func schemas(own []reflect.Type) map[string]Schema {
	r, documents := reflected{map[string]Schema{}, sources()}, documents()
	for _, t := range append(typesOf(documents), own...) {
		r.component(t)
	}
	all := r.components
	all["JobStatus"]["properties"].(map[string]Schema)["secrets"] = Schema{
		"type": "array", "items": Text, "description": "the paths of the job's secrets, whose values are never returned",
	}
	all["JobStatus"]["properties"].(map[string]Schema)["inherited"] = Schema{
		"type": "object", "description": "the collection's defaults that apply to the job",
	}
	written(all)
	all["ShownJobProperties"] = shown(all["JobProperties"], map[string]Schema{
		"state": {"type": "string", "enum": r.sources["scheduler.State"].Values}, "status": reference("JobStatus"),
	}, "state", "status")
	all["ShownJob"] = resource("Job", reference("ShownJobProperties"), map[string]Schema{
		"result": with(OneOf(v1.Created, v1.Updated, v1.Unchanged),
			"description", "the effect of an edit, including enable, disable and pause"),
		"warnings": {"type": "array", "items": reference("Warning"), "description": "warnings about an edit"},
		"dryRun":   with(reference("DryRun"), "description", "the result of a dry run"),
	})
	all["ShownCollectionProperties"] = shown(all["CollectionProperties"], map[string]Schema{
		"state": with(Text, "description", "enabled, disabled, suspended, deleting or damaged; capitalized on Azure paths"),
	}, "state")
	all["ShownCollection"] = resource("Collection", reference("ShownCollectionProperties"), map[string]Schema{
		"location": Text, "tags": {"type": "object", "additionalProperties": Text},
		"result": with(OneOf(v1.Created, v1.Updated, v1.Unchanged), "description", "the effect of a put"),
		"dryRun": with(object(map[string]Schema{"changes": {"type": "array", "items": reference("Change")}}, "changes"),
			"description", "the changes that a dry run found"),
	})
	all["HistoryRecord"] = resource("Record of a history", reference("RecordProperties"), nil)
	all["AWXError"] = Schema{"description": "an error in the format of AWX: by field, or as detail", "anyOf": []any{
		object(map[string]Schema{"detail": Text}, "detail"),
		Schema{"type": "object", "additionalProperties": Schema{"type": "array", "items": Text}},
	}}
	for _, d := range documents {
		if d.List {
			all[componentOf(d)] = page(componentOf(d.Item()))
		}
	}
	all["JSONSchema"] = Schema{"type": "object", "description": "a JSON Schema (draft 2020-12)"}
	all["OpenAPI"] = Schema{"type": "object", "description": "an OpenAPI document"}
	all["AwxZoneList"] = Schema{"type": "array", "items": reference("AwxZone")}
	search := all["OperationRequest"]["properties"].(map[string]Schema)
	for _, name := range v1.JobSearchOptions {
		search[name] = Text
	}
	search["$filter"] = with(Text, "description", "as in the list of jobs")
	search["verb"] = OneOf(v1.OperationVerbs...)
	return all
}

// page returns the schema of a page of a list.
func page(item string) Schema {
	return object(map[string]Schema{
		"value": {"type": "array", "items": reference(item)},
		"nextLink": {
			"type": []string{"string", "null"}, "description": "URL of the next page; null on the last page",
		},
	}, "value", "nextLink")
}

// object returns the schema of an object.
func object(properties map[string]Schema, required ...string) Schema {
	s := Schema{"type": "object", "properties": properties}
	if len(required) > 0 {
		s["required"] = required
	}
	return s
}

// resource returns the schema of a resource in the form of Azure Resource Manager. outer has the fields next to properties.
func resource(title string, properties Schema, outer map[string]Schema) Schema {
	members := map[string]Schema{
		"id": with(Text, "description", "the path of the resource"), "type": Text, "name": Text, "properties": properties,
		"etag": with(Text, "description", "as in the ETag header"),
	}
	maps.Copy(members, outer)
	return with(object(members, "id", "type", "name", "properties"), "title", title)
}
