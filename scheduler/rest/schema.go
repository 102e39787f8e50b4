package rest

import (
	"crypto/sha256"
	"fmt"
	"net/http"

	"github.com/carillon-sched/carillon/scheduler/schema"
)

// schemaAge is for how long a schema is fresh. It changes with the version only.
const schemaAge = "public, max-age=300"

// serveSchema returns an operation that answers with a schema, to anybody.
func serveSchema(text []byte) action {
	etag := fmt.Sprintf(`"%x"`, sha256.Sum256(text))
	return func(_ *api, w http.ResponseWriter, r *http.Request) error {
		w.Header().Set("Cache-Control", schemaAge)
		if done, err := tag(w, r, "the schema", etag); done || err != nil {
			return err
		}
		w.Header().Set("Content-Type", schema.MediaType)
		w.Header().Set("X-Content-Type-Options", "nosniff")
		_, _ = w.Write(text)
		return nil
	}
}
