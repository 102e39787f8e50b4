package openapi

import (
	"encoding/json"
	"maps"
	"strings"

	"github.com/carillon-sched/carillon/scheduler/schema"
)

// definitions map the schemas of user input (package schema) to components. Other schemas keep their name, with the
// prefix Job.
var definitions = map[string]string{
	"job": "PlainJob", "envelopedJob": "EnvelopedJob", "job.properties": "JobProperties",
	"source": "PlainSource", "envelopedSource": "EnvelopedSource", "source.properties": "SourceProperties",
	"collection": "Collection", "collection.properties": "CollectionProperties",
}

func definition(name string) string {
	if component, ok := definitions[name]; ok {
		return component
	}
	return "Job." + name
}

// written adds the components of user input.
func written(all map[string]Schema) {
	var jobs struct {
		Definitions map[string]map[string]any `json:"$defs"`
	}
	if err := json.Unmarshal(schema.JobText, &jobs); err != nil {
		panic("openapi: " + err.Error()) // a defect: the text is embedded
	}
	for name, s := range jobs.Definitions {
		all[definition(name)] = referring(s).(map[string]any)
	}
	all["Job"] = Schema{
		"description": "A job, with or without an envelope, properties, around its fields.",
		"if":          Schema{"properties": map[string]Schema{"properties": {"type": "object"}}, "required": []string{"properties"}},
		"then":        reference("EnvelopedJob"), "else": reference("PlainJob"),
	}
	all["Source"] = Schema{
		"description": "A source of events, with or without an envelope, properties, around its fields.",
		"if":          Schema{"properties": map[string]Schema{"properties": {"type": "object"}}, "required": []string{"properties"}},
		"then":        reference("EnvelopedSource"), "else": reference("PlainSource"),
	}
	all["SourcePatch"] = Schema{
		"type": "object", "description": "A merge patch of a source (RFC 7396) with the fields of Source. null removes a field.",
	}
	all["ShownSource"] = Schema{
		"type": "object", "description": "A source, without its secrets: the fields of Source in the envelope properties, with its status.",
		"required": []string{"kind", "name", "collection", "properties"},
	}
	all["JobPatch"] = Schema{
		"type": "object", "description": "A merge patch of a job (RFC 7396) with the fields of Job. null removes a field.",
	}
	all["CollectionPatch"] = Schema{
		"type": "object", "description": "A merge patch of a collection (RFC 7396) with the fields of Collection. null removes a field.",
	}
	all["PreviewRequest"] = with(object(map[string]Schema{
		"now":   with(Instant, "description", "creation time of the job; default: now"),
		"after": with(Instant, "description", "return only times after this time"),
		"count": with(AtLeast(1), "description", "number of times to return"),
	}), "description", "A job with the fields of Job, or only its timing: recurrence, startTime, timeZone, dst.")
	all["AWXPreviewRequest"] = object(map[string]Schema{"rrule": Text}, "rrule")
	all["AWXScheduleRequest"] = object(map[string]Schema{
		"name": Text, "rrule": Text, "description": Text, "enabled": Truth,
		"unified_job_template": with(Text, "description", "collection/job; required if the path does not name a job"),
		"extra_data": {
			"type":        []string{"object", "string"},
			"description": "the data of the template: an object, or a JSON or YAML string",
		},
	})
}

// referring converts references to definitions to references to components.
func referring(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = referring(v[i])
		}
	case map[string]any:
		for name, member := range v {
			v[name] = referring(member)
		}
		if ref, ok := v["$ref"].(string); ok {
			v["$ref"] = reference(definition(strings.TrimPrefix(ref, "#/$defs/")))["$ref"]
		}
	}
	return v
}

// shown returns the schema of a resource's properties in answers: the user-written ones with some replacements. Fields
// that are written only (writeOnly) are not required.
func shown(written Schema, others map[string]Schema, required ...string) Schema {
	properties := maps.Clone(written["properties"].(map[string]any))
	for name, s := range others {
		properties[name] = s
	}
	return with(with(written, "properties", properties), "required", required)
}
