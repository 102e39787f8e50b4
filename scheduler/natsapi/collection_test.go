package natsapi_test

import (
	"strings"
	"testing"
)

// TestCollections follows a collection through every endpoint.
func TestCollections(t *testing.T) {
	w := newWorld(t)
	w.api()
	for _, step := range []struct{ subject, body, want string }{ // want: status and parts of the answer
		{"collection-get.c", "", `404 "code":"ResourceNotFound"`},
		{"collection-put.c", "", `201 {"id":"/jobCollections/c" "state":"enabled"`},
		{"collection-disable.c", "", `200 "state":"disabled"`},
		{"collection-put.c", `{"properties": {"quota": {"maxJobCount": 1}}}`, `200 "maxJobCount":1 "state":"disabled"`},
		{"collection-patch.c", `{"properties": {"quota": null}, "tags": {"a": "b"}}`, `200 "tags":{"a":"b"} "properties":{"state":"disabled"}`},
		{"collection-patch.d", `{}`, `404 "code":"ResourceNotFound"`},
		{"collection-patch.c", `{"properties": {"quotas": null, "other": 1}}`, `400 "path":"properties.other"`},
		{"collection-enable.c", `{"until": 1}`, `400 "path":"until" document`},
		{"collection-enable.c", "", `200 "state":"enabled"`},
		{"collection-get.c", "", `200 "name":"c"`},
		{"collection-list", "", `200 {"value":[{"id":"/jobCollections/c" {"id":"/jobCollections/default" "nextLink":null`},
		{"collection-list", `{"$top": 1}`, `200 "name":"c" "nextLink":"{\"$skip\":1,\"$top\":1}"`},
		{"put.c.job", later, `201`},
		{"collection-delete.c", `{"onlyEmpty": true}`, `409 "code":"Conflict"`},
		{"collection-delete.c", `{"onlyEmpty": 1}`, `400 "path":"onlyEmpty"`},
		{"collection-delete.c", "", `200`},
		{"get.c.job", "", `404`},
		{"collection-delete.c", "", `404`},
		{"collection-put.my.own", "", `400 "path":"collection" must not contain '.'`},
		{"collection-get.my.own.one", "", `400 "path":"collection" must not contain '.'`},
		{"collection-disable.my.own", "", `400 "path":"collection"`},
	} {
		status, body := w.ask(t, step.subject, step.body)
		got := status + " " + string(body)
		for part := range strings.SplitSeq(step.want, " ") {
			if !strings.Contains(got, part) {
				t.Errorf("%s %s: got %s, want %s", step.subject, step.body, got, part)
			}
		}
	}
}
