package openapi

import (
	"maps"
	"reflect"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/audit"
	"github.com/carillon-sched/carillon/scheduler/awx"
	"github.com/carillon-sched/carillon/scheduler/explain"
	"github.com/carillon-sched/carillon/scheduler/forecast"
	"github.com/carillon-sched/carillon/scheduler/spec"
)

// named are types whose Go name is too short for the document.
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

// answered are the types of answers.
var answered = []reflect.Type{
	reflect.TypeFor[v1.Document](), reflect.TypeFor[v1.Status](), reflect.TypeFor[v1.DryRun](), reflect.TypeFor[spec.Warning](),
	reflect.TypeFor[v1.AuditReport](), reflect.TypeFor[v1.SharedSecret](), reflect.TypeFor[v1.Rotation](),
	reflect.TypeFor[v1.Token](), reflect.TypeFor[v1.NewToken](), reflect.TypeFor[v1.TokenRequest](),
	reflect.TypeFor[v1.Resubmitted](), reflect.TypeFor[v1.Cancellation](), reflect.TypeFor[v1.Trial](),
	reflect.TypeFor[v1.Operation](),
	reflect.TypeFor[v1.Previewed](), reflect.TypeFor[v1.AWXPreviewed](),
	reflect.TypeFor[v1.RecordProperties](), reflect.TypeFor[v1.Gap](), reflect.TypeFor[v1.End](), reflect.TypeFor[explain.Answer](),
	reflect.TypeFor[explain.Account](), reflect.TypeFor[audit.Entry](), reflect.TypeFor[forecast.Report](), reflect.TypeFor[awx.List](),
}

// schemas returns the components for schemas. own are answer types that only package rest knows.
func schemas(own []reflect.Type) map[string]Schema {
	r := reflected{map[string]Schema{}, named, sources()}
	for _, t := range append(answered, own...) {
		r.component(t)
	}
	all := r.components
	all["JobStatus"]["properties"].(map[string]Schema)["secrets"] = Schema{
		"type": "array", "items": Text, "description": "where the secrets of the job stand, which no answer shows",
	}
	all["JobStatus"]["properties"].(map[string]Schema)["inherited"] = Schema{
		"type": "object", "description": "settings of the collection's defaults that apply to the job, as they stand there",
	}
	written(all)
	all["ShownJobProperties"] = shown(all["JobProperties"], map[string]Schema{
		"state": {"type": "string", "enum": r.sources["scheduler.State"].Values}, "status": reference("JobStatus"),
	}, "state", "status")
	all["ShownJob"] = resource("Job", reference("ShownJobProperties"), map[string]Schema{
		"result": with(OneOf(v1.Created, v1.Updated, v1.Unchanged),
			"description", "of an edit: its effect. Enable, disable and pause answer it, too"),
		"warnings": {"type": "array", "items": reference("Warning"), "description": "likewise: what its writer might not expect"},
		"dryRun":   with(reference("DryRun"), "description", "of a dry run: what would be"),
	})
	all["ShownCollectionProperties"] = shown(all["CollectionProperties"], map[string]Schema{
		"state": with(Text, "description", "enabled, disabled, suspended, deleting or damaged; on Azure's paths with a capital"),
	}, "state")
	all["ShownCollection"] = resource("Collection", reference("ShownCollectionProperties"), map[string]Schema{
		"location": Text, "tags": {"type": "object", "additionalProperties": Text},
		"result": with(OneOf(v1.Created, v1.Updated, v1.Unchanged), "description", "of a put: what became of it"),
		"dryRun": with(object(map[string]Schema{"changes": {"type": "array", "items": reference("Change")}}, "changes"),
			"description", "of a dry run: what would be different"),
	})
	all["HistoryRecord"] = resource("Record of a history", reference("RecordProperties"), nil)
	all["StartedRun"] = object(map[string]Schema{"occurrence": with(Text, "description", "its id")}, "occurrence")
	all["AWXError"] = Schema{"description": "an error as AWX tells it: by field, or as detail", "anyOf": []any{
		object(map[string]Schema{"detail": Text}, "detail"),
		Schema{"type": "object", "additionalProperties": Schema{"type": "array", "items": Text}},
	}}
	for list, item := range lists {
		all[list] = object(map[string]Schema{
			"value": {"type": "array", "items": reference(item)},
			"nextLink": {
				"type": []string{"string", "null"}, "description": "URL of the page that follows; null: there is none",
			},
		}, "value", "nextLink")
	}
	all["JSONSchema"] = Schema{"type": "object", "description": "a JSON Schema (draft 2020-12)"}
	all["OpenAPI"] = Schema{"type": "object", "description": "an OpenAPI document"}
	all["AwxZoneList"] = Schema{"type": "array", "items": reference("AwxZone")}
	maps.Copy(all, requests)
	return all
}

// lists map the names of pages to those of their entries.
var lists = map[string]string{
	"JobList": "ShownJob", "CollectionList": "ShownCollection", "HistoryRecordList": "HistoryRecord", "AuditRecordList": "AuditRecord",
	"SharedSecretList": "SharedSecret", "TokenList": "Token", "ArmResourceList": "ArmResource",
	"OperationList": "Operation",
}

// requests are the schemas of request bodies.
var requests = map[string]Schema{
	"RunRequest": object(map[string]Schema{
		"data": {"type": "object", "description": "values for the job's templates, over the job's data; the history shows them"},
	}),
	"ResubmitRequest": object(map[string]Schema{
		"occurrence": with(Text, "description", "its nominal time, its id, the id of one of its attempts, or of one of its records"),
		"force":      with(Truth, "description", "also when it succeeded"),
	}, "occurrence"),
	"CancelRequest": object(map[string]Schema{
		"occurrence": with(Text, "description", "its nominal time, its id, or that of one of its attempts; default: all"),
		"reason":     with(Text, "description", "for the history and the audit log, at most 256 bytes"),
		"dryRun":     with(Truth, "description", "only name what would be canceled"),
	}),
	"CancelCollectionRequest": object(map[string]Schema{"reason": Text, "dryRun": Truth}),
	"PauseRequest": object(map[string]Schema{
		"until": with(Text, "description", "an instant, or, on the job's clock, 2h, 9:00, tomorrow 9:00 and the like"),
	}, "until"),
	"OperationRequest": object(map[string]Schema{
		"verb":          OneOf(v1.OperationVerbs...),
		"jobs":          {"type": "array", "items": Text, "description": "names, as collection/job; or the jobs of a search:"},
		"collection":    with(Text, "description", "only its jobs"),
		"$filter":       with(Text, "description", "as in a list of jobs, like the following"),
		"labelSelector": Text, "prefix": Text, "actionType": Text, "nextAfter": Text, "nextBefore": Text, "text": Text,
		"lastOutcome":   Text,
		"all":           with(Truth, "description", "required to name all jobs"),
		"until":         with(Text, "description", "of pause"),
		"stopRetries":   with(Truth, "description", "of disable: also cancels the occurrences that have begun"),
		"label":         with(Text, "description", "of label, name=value, and of unlabel, name"),
		"failedSince":   with(Text, "description", "of resubmit: an instant, or a length of time from now on, such as -1h"),
		"failedUntil":   with(Text, "description", "likewise; default: now"),
		"target":        with(Text, "description", "of resubmit: only calls of that host, or host and port"),
		"ratePerSecond": with(Schema{"type": "number"}, "description", "at most so many; default: no limit"),
		"dryRun":        with(Truth, "description", "only count; of resubmit, failures has the occurrences"),
	}, "verb"),
	"SharedSecretRequest": object(map[string]Schema{
		"value": with(Text, "description", "no answer shows it"), "description": Text,
	}, "value"),
	"AWXPreviewRequest": object(map[string]Schema{"rrule": Text}, "rrule"),
	"AWXScheduleRequest": object(map[string]Schema{
		"name": Text, "rrule": Text, "description": Text, "enabled": Truth,
		"unified_job_template": with(Text, "description", "collection/job; needed where the path names none"),
		"extra_data": {
			"type":        []string{"object", "string"},
			"description": "the data of the template's text: an object, or one in JSON or YAML as text",
		},
	}),
}

// object returns the schema of an object.
func object(properties map[string]Schema, required ...string) Schema {
	s := Schema{"type": "object", "properties": properties}
	if len(required) > 0 {
		s["required"] = required
	}
	return s
}

// resource returns the schema of a resource in the form of Azure's resource manager. beside has the fields outside its
// properties.
func resource(title string, properties Schema, beside map[string]Schema) Schema {
	members := map[string]Schema{
		"id": with(Text, "description", "its path"), "type": Text, "name": Text, "properties": properties,
		"etag": with(Text, "description", "as in the header ETag"),
	}
	maps.Copy(members, beside)
	return with(object(members, "id", "type", "name", "properties"), "title", title)
}
