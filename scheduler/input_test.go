package scheduler_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/scheduler"
)

// readInput parses a job with a schema for the data of its runs.
func readInput(t *testing.T, schema string) (*scheduler.Definition, error) {
	t.Helper()
	return decoder("08:00:00").Document(parseDocument(t, `{"action": {"type": "None"}, "input": `+schema+`}`)).Definition()
}

// TestInputRefused checks that a put rejects a schema that is invalid, has external references, or is too expensive,
// with its path.
func TestInputRefused(t *testing.T) {
	var doubling strings.Builder
	doubling.WriteString(`"d0": {"type": "string"}`)
	for i := 1; i < 40; i++ {
		fmt.Fprintf(&doubling, `, "d%d": {"allOf": [{"$ref": "#/$defs/d%d"}, {"$ref": "#/$defs/d%d"}]}`, i, i-1, i-1)
	}
	for schema, want := range map[string]string{
		`1`:               "input: must be an object",
		`{"type": "int"}`: "input.type: ",
		`{"properties": {"a": {"minimum": "1"}}}`:  "input.properties.a.minimum: got string, want number",
		`{"pattern": "("}`:                         "input.pattern: ",
		`{"$ref": "https://example.com/s.json"}`:   "input: $ref",
		`{"$ref": "file:///etc/passwd"}`:           "input: $ref",
		`{"$ref": "#/$defs/none"}`:                 "input: $ref",
		`{"$ref": "#"}`:                            "input: has more than 1000 parts",
		`{"properties": {"a": {"$ref": "#"}}}`:     "input: has more than 1000 parts",
		`{"$defs": {` + doubling.String() + `}}`:   "input: has more than 1000 parts",
		`{"$id": "https://example.com/s.json"}`:    "input: $id is not supported",
		`{"$schema": "https://example.com/draft"}`: "input: $schema",
		`{"minimum": 1e1000000}`:                   "input: the number 1e1000000 is out of range",
	} {
		if _, err := readInput(t, schema); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v, want %q", schema, err, want)
		}
	}
}

// TestInput validates the data of runs.
func TestInput(t *testing.T) {
	def, err := readInput(t, `{"$defs": {"order": {"type": "object", "properties": {"id": {"type": "integer", "maximum": 9}}, "required": ["id"]}},
		"properties": {"orders": {"type": "array", "items": {"$ref": "#/$defs/order"}}, "at": {"format": "date"}}, "additionalProperties": false}`)
	if err != nil {
		t.Fatal(err)
	}
	for data, want := range map[string]string{
		"":                                    "",
		`{"orders": [{"id": 7}, {"id": 8}]}`:  "",
		`{"orders": [{"id": 7}, {"id": 10}]}`: "data.orders.1.id: ",
		`{"orders": [{}]}`:                    "data.orders.0: missing property 'id'",
		`{"at": "today"}`:                     "data.at: ",
		`{"other": 1}`:                        "data: additional properties 'other' not allowed",
		`{"orders": [{"id": 1e1000000}]}`:     "out of range",
	} {
		var given json.RawMessage
		if data != "" {
			given = json.RawMessage(data)
		}
		if err := def.CheckRun(given); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", data, err, want)
		}
	}
}
