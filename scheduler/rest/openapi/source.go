package openapi

import (
	_ "embed"
	"encoding/json"
)

// source is what the sources tell of a type.
type source struct {
	Text   string            `json:"text,omitempty"`   // its comment
	Fields map[string]string `json:"fields,omitempty"` // the comments of its fields, by their names in JSON
	Values []string          `json:"values,omitempty"` // its constants, of a type of texts
}

// sourcesJSON is made of the sources by the test TestSources.
//
//go:embed sources.json
var sourcesJSON []byte

// sources returns what the sources tell of the types that answers are made of, by their names with that of their package.
func sources() map[string]source {
	var all map[string]source
	if err := json.Unmarshal(sourcesJSON, &all); err != nil {
		panic("openapi: " + err.Error()) // a defect: the file is part of the program
	}
	return all
}
