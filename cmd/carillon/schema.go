package main

import (
	"encoding/json"
	"io"
	"slices"

	"github.com/alecthomas/kong"

	"github.com/carillon-sched/carillon/cmd/carillon/settings"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler/rest"
	"github.com/carillon-sched/carillon/scheduler/schema"
)

type schemaCmd struct {
	Document string `arg:"" optional:"" help:"The document: job, collection, config or openapi." enum:"job,collection,config,openapi" default:"job"`
}

// Help shows examples.
func (schemaCmd) Help() string {
	return `Prints the JSON Schema (draft 2020-12) of jobs, or of collections: what this version takes, for editors and other programs.
It needs no scheduler. A scheduler answers with the same at /schemas/job.json and /schemas/collection.json.

With config it prints that of the file of settings of "carillon serve --config".

With openapi it prints what the REST API is, as an OpenAPI 3.1 document: /openapi.json of a scheduler of this version.

Editors that know the YAML language server find it by a line at the top of a job file:

    # yaml-language-server: $schema=job.schema.json

Examples:

    carillon schema > job.schema.json
    carillon schema collection
    carillon schema config > serve.schema.json
    carillon schema openapi > openapi.json
    carillon schema --json           in one line`
}

// Run prints a schema.
func (c schemaCmd) Run(t *terminal.Terminal) error {
	var text []byte
	var err error
	switch c.Document {
	case "job":
		text = schema.JobText
	case "collection":
		text = schema.CollectionText
	case "config":
		text, err = settingsSchema()
	case "openapi":
		text = append(rest.OpenAPI(thisBuild().Version), '\n')
	}
	if err != nil {
		return err
	}
	if t.JSON {
		return t.PrintJSON(json.RawMessage(text))
	}
	t.Printf("%s", text)
	return nil
}

// settingsSchema is the schema of the file of settings: what the flags of serve are.
func settingsSchema() ([]byte, error) {
	parser, _ := newParser(&terminal.Terminal{Out: io.Discard, Err: io.Discard})
	i := slices.IndexFunc(parser.Model.Children, func(n *kong.Node) bool { return n.Name == "serve" })
	return settings.Schema(parser.Model.Children[i])
}
