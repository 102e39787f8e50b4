package main

import (
	"encoding/json"

	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler/schema"
)

type schemaCmd struct {
	Document string `arg:"" optional:"" help:"The document: job or collection." enum:"job,collection" default:"job"`
}

// Help shows examples.
func (schemaCmd) Help() string {
	return `Prints the JSON Schema (draft 2020-12) of jobs, or of collections: what this version takes, for editors and other programs.
It needs no scheduler. A scheduler answers with the same at /schemas/job.json and /schemas/collection.json.

Editors that know the YAML language server find it by a line at the top of a job file:

    # yaml-language-server: $schema=job.schema.json

Examples:

    carillon schema > job.schema.json
    carillon schema collection
    carillon schema --json           in one line`
}

// Run prints a schema.
func (c schemaCmd) Run(t *terminal.Terminal) error {
	text := schema.JobText
	if c.Document == "collection" {
		text = schema.CollectionText
	}
	if t.JSON {
		return t.PrintJSON(json.RawMessage(text))
	}
	t.Printf("%s", text)
	return nil
}
