package openapi

import (
	"encoding/json"
	"maps"
	"strings"

	"github.com/carillon-sched/carillon/scheduler/schema"
)

// definitions are the components of the schemas of what users write (package schema), by their names there. Others are
// called as there, with Job before that.
var definitions = map[string]string{
	"job": "PlainJob", "envelopedJob": "EnvelopedJob", "job.properties": "JobProperties",
	"collection": "Collection", "collection.properties": "CollectionProperties",
}

func definition(name string) string {
	if component, ok := definitions[name]; ok {
		return component
	}
	return "Job." + name
}

// written adds the components of what users write.
func written(all map[string]Schema) {
	var jobs struct {
		Definitions map[string]map[string]any `json:"$defs"`
	}
	if err := json.Unmarshal(schema.JobText, &jobs); err != nil {
		panic("openapi: " + err.Error()) // a defect: the text is part of the program
	}
	for name, s := range jobs.Definitions {
		all[definition(name)] = referring(s).(map[string]any)
	}
	all["Job"] = Schema{
		"description": "A job, with or without an envelope, properties, around its members.",
		"if":          Schema{"properties": map[string]Schema{"properties": {"type": "object"}}, "required": []string{"properties"}},
		"then":        reference("EnvelopedJob"), "else": reference("PlainJob"),
	}
	all["JobPatch"] = Schema{
		"type": "object", "description": "What changes of a job (RFC 7396): null removes. Its members are those of Job.",
	}
	all["CollectionPatch"] = Schema{
		"type": "object", "description": "What changes of a collection (RFC 7396): null removes. Its members are those of Collection.",
	}
	all["PreviewRequest"] = with(object(map[string]Schema{
		"now":   with(Instant, "description", "when the job is made; default: now"),
		"after": with(Instant, "description", "only what is after that"),
		"count": with(AtLeast(1), "description", "how many instants"),
	}), "description", "A job, or its timing alone: recurrence, startTime, timeZone, dst. Its members are those of Job.")
}

// referring returns a schema whose references to definitions are to components.
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

// shown returns the schema of the properties of a resource as it is shown: those that users write, but for some. What is
// written and not shown (writeOnly) is not required then.
func shown(written Schema, others map[string]Schema, required ...string) Schema {
	properties := maps.Clone(written["properties"].(map[string]any))
	for name, s := range others {
		properties[name] = s
	}
	return with(with(written, "properties", properties), "required", required)
}
