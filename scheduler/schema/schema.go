package schema

import (
	_ "embed" // the schemas as files

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/source"
)

// The schemas of all action types of this module, as indented JSON.
var (
	//go:embed job.json
	JobText []byte
	//go:embed collection.json
	CollectionText []byte
)

// MediaType is the media type of a schema.
const MediaType = "application/schema+json"

const draft = "https://json-schema.org/draft/2020-12/schema"

// Job returns the schema of a job with the action types of a registry, with and without an envelope. It also accepts
// the other content of job files, a collection, a source or a list of these, and the documents of REST and NATS. $defs contains
// job, without an envelope, and envelopedJob; source and envelopedSource as well.
func Job(actions scheduler.ActionReader) document.Value {
	w := writer{}
	shape := scheduler.JobShape(actions)
	w.define("job", w.plainJob(shape))
	w.define("envelopedJob", w.object("job", shape.Members, "object"))
	sources := source.Shape()
	plain := w.object("source", sources.Flat(envelope).Members, "object")
	w.define("source", plain.With(object(is("type", text("null"))), "properties."+envelope))
	w.define("envelopedSource", w.object("source", sources.Members, "object"))
	w.define("collection", w.object("collection", scheduler.CollectionShape(actions, shape).Members, "object"))
	return object(
		is("$schema", text(draft)), is("$id", text("urn:carillon:job")), is("title", text("Carillon job")),
		is("description", text("A Carillon job, as in job files and in the APIs, with or without an envelope \"properties\" around "+
			"its fields. Field names are case-insensitive; the schema shows the canonical spelling.")),
		is("type", text("object")),
		is("if", has("value", text("array"))),
		is("then", object(is("properties", object(
			is("value", object(is("type", text("array")), is("items", reference("#")))),
		)))),
		is("else", object(
			is("if", object(
				is("properties", object(is("type", object(is("type", text("string")), is("pattern", text(anyCase(v1.CollectionType))))))),
				is("required", texts("type")),
			)),
			is("then", w.ref("collection")),
			is("else", object(
				is("if", object(
					is("properties", object(is("kind", object(is("pattern", text(anyCase(source.Kind))))))), is("required", texts("kind")),
				)),
				is("then", w.either("envelopedSource", "source")),
				is("else", w.either("envelopedJob", "job")),
			)),
		)),
		is("$defs", object(w.defs...)),
	)
}

// Collection returns the schema of a collection, whose defaults have the action types of a registry.
func Collection(actions scheduler.ActionReader) document.Value {
	w := writer{}
	schema := w.object("collection", scheduler.CollectionShape(actions, scheduler.JobShape(actions)).Members, "object")
	return object(append([]document.Member{
		is("$schema", text(draft)), is("$id", text("urn:carillon:collection")), is("title", text("Carillon collection")),
		is("description", text("A collection of jobs with quotas and target limits, as in job files and in the APIs. Field names are "+
			"case-insensitive; the schema shows the canonical spelling.")),
	}, append(schema.Members(), is("$defs", object(w.defs...)))...)...)
}

// envelope is the field that wraps the other fields of a document.
const envelope = "properties"

// plainJob returns the schema of a job without an envelope: the fields of properties and those next to it.
func (w *writer) plainJob(shape *document.Shape) document.Value {
	return w.object("job", shape.Flat(envelope).Members, "object").With(object(is("type", text("null"))), "properties."+envelope)
}

// either refers to the schema of documents with an envelope, or without one.
func (w *writer) either(enveloped, plain string) document.Value {
	return object(is("if", has(envelope, text("object"))), is("then", w.ref(enveloped)), is("else", w.ref(plain)))
}

// has returns the schema of objects with a field of a type.
func has(name string, kind document.Value) document.Value {
	return object(is("properties", object(is(name, object(is("type", kind))))), is("required", texts(name)))
}
