package rest_test

import (
	"net/http"
	"testing"

	"github.com/carillon-sched/carillon/scheduler/schema"
)

// TestSchemas has a server answer with the schemas, once to those who ask again.
func TestSchemas(t *testing.T) {
	w := newHarness(t)
	for path, want := range map[string][]byte{"/schemas/job.json": schema.JobText, "/schemas/collection.json": schema.CollectionText} {
		r := w.do(http.MethodGet, path, "")
		if r.status != http.StatusOK || r.header.Get("Content-Type") != schema.MediaType || r.body != string(want) {
			t.Errorf("%s: %d, %s", path, r.status, r.header)
		}
		again := w.do(http.MethodGet, path, "", "If-None-Match: "+r.header.Get("ETag"))
		if again.status != http.StatusNotModified || again.body != "" {
			t.Errorf("%s, again: %d, %s", path, again.status, again.body)
		}
	}
}
