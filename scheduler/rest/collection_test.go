package rest_test

import "testing"

// TestPutKeepsStateOfCollection shows that a document that names no state does
// not enable what an operator has disabled.
func TestPutKeepsStateOfCollection(t *testing.T) {
	const c = "/jobCollections/c"
	newHarness(t).steps([]step{
		{"PUT", c, `{"properties": {"state": "Disabled"}}`, `201 "state":"disabled"`},
		{"PUT", c, "", `200 "state":"disabled"`},
		{"PUT", c, `{"tags": {"team": "a"}, "properties": {"quota": {"maxJobCount": 2}}}`, `200 "state":"disabled"|"maxJobCount":2|"team":"a"`},
		{"PUT", c, `{"properties": {"state": null}}`, `200 "state":"disabled"`},
		{"PUT", c, `{"properties": {"state": "enabled"}}`, `200 "state":"enabled"`},
		{"PUT", c, "", `200 "properties":{"state":"enabled"}`},
		{"PUT", c, `{"properties": {"state": "suspended"}}`, `200 "state":"suspended"`},
		{"PUT", c, "", `200 "state":"suspended"`},
		{"POST", c + "/enable", "", `200 "state":"enabled"`},
		{"PUT", c, `{"properties": {"state": "deleted"}}`, `400 "path":"properties.state"`},
	})
}

// TestPatchCollection merges into a collection as RFC 7396 says.
func TestPatchCollection(t *testing.T) {
	const c = "/jobCollections/c"
	newHarness(t).steps([]step{
		{"PATCH", c, `{}`, `404 "ResourceNotFound"`},
		{"PUT", c, `{"location": "here", "tags": {"a": "1", "b": "2"}, "properties": {"sku": {"name": "standard"}, "quota": {"maxJobCount": 5,
			"maxRecurrence": {"frequency": "hour", "interval": 2}}}}`, `201`},
		{
			"PATCH", c, `{"tags": {"b": null, "c": "3"}, "properties": {"Quota": {"maxJobCount": 6, "maxRecurrence": null}}}`,
			`200 {"id":"/jobCollections/c","type":"Microsoft.Scheduler/jobCollections","name":"c","etag":"\"r3\"","location":"here","tags":{"a":"1","c":"3"},` +
				`"properties":{"sku":{"name":"Standard"},"quota":{"maxJobCount":6},"state":"enabled"}}`,
		},
		{"PATCH", c, `{"properties": {"minRetryInterval": "PT2M", "state": "disabled"}}`, `200 "minRetryInterval":"PT2M"|"state":"disabled"`},
		{"PATCH", c, `{"location": null}`, `200 "state":"disabled"`},
		{"PATCH", c, `{"name": "d"}`, `400 "path":"name"|is \"d\", but the collection is called \"c\"`},
		{"PATCH", c, `{"id": "/jobCollections/d"}`, `400 "path":"id"`},
		{"PATCH", c, `{"id": "/subscriptions/s/resourceGroups/g/providers/Microsoft.Scheduler/jobCollections/c", "type": "x"}`, `200`},
		{"PATCH", c, `{"properties": {"quota": {"maxJobCount": 0}}}`, `400 "path":"properties.quota.maxJobCount"`},
		{"PATCH", c, `[]`, `400 must be an object`},
		{"PATCH", c, ``, `400`},
		{"PATCH", "/jobCollections/c.d", `{}`, `400 "path":"collection"`},
		{"POST", "/jobCollections/c.d/enable", "", `400 "path":"collection"`},
		{"GET", c, "", `200 "tags":{"a":"1","c":"3"}|"maxJobCount":6|"minRetryInterval":"PT2M"|"state":"disabled"`},
		{"PATCH", c, `{"properties": null}`, `200 "properties":{"state":"enabled"}`},
	})
}

// TestDeleteOnlyEmptyCollection keeps a collection that has jobs when the
// request says so.
func TestDeleteOnlyEmptyCollection(t *testing.T) {
	const c, job = "/jobCollections/c", "/jobCollections/c/jobs/job"
	newHarness(t).steps([]step{
		{"PUT", c, "", `201`},
		{"PUT", job, later, `201`},
		{"DELETE", c + "?onlyEmpty=true", "", `409 "message":"collection c: conflict: it has jobs (1), which would be deleted with it"`},
		{"DELETE", c + "?onlyEmpty=x", "", `400 "path":"onlyEmpty"`},
		{"GET", job, "", `200`},
		{"DELETE", job, "", `200`},
		{"DELETE", c + "?onlyEmpty=true", "", `200`},
		{"GET", c, "", `404`},
	})
}
