package main

import (
	"encoding/json"

	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler/rest"
	"github.com/carillon-sched/carillon/scheduler/schema"
)

type schemaCmd struct {
	Document string `arg:"" optional:"" help:"The document: job, collection or openapi." enum:"job,collection,openapi" default:"job"`
}

// Help shows examples.
func (schemaCmd) Help() string {
	return `Prints the JSON Schema (draft 2020-12) of jobs, or of collections: what this version takes, for editors and other programs.
It needs no scheduler. A scheduler answers with the same at /schemas/job.json and /schemas/collection.json.

With openapi it prints what the REST API is, as an OpenAPI 3.1 document: /openapi.json of a scheduler of this version.

Editors that know the YAML language server find it by a line at the top of a job file:

    # yaml-language-server: $schema=job.schema.json

Examples:

    carillon schema > job.schema.json
    carillon schema collection
    carillon schema openapi > openapi.json
    carillon schema --json           in one line`
}

// Run prints a schema.
func (c schemaCmd) Run(t *terminal.Terminal) error {
	var text []byte
	switch c.Document {
	case "job":
		text = schema.JobText
	case "collection":
		text = schema.CollectionText
	case "openapi":
		text = append(rest.OpenAPI(thisBuild().Version), '\n')
	}
	if t.JSON {
		return t.PrintJSON(json.RawMessage(text))
	}
	t.Printf("%s", text)
	return nil
}
