package rest

import (
	"crypto/sha256"
	"fmt"
	"net/http"

	"github.com/carillon-sched/carillon/scheduler/schema"
)

// constant is an answer that changes with the version only.
type constant struct {
	media, etag string
	text        []byte
}

func newConstant(media string, text []byte) constant {
	return constant{media, fmt.Sprintf(`"%x"`, sha256.Sum256(text)), text}
}

// constantAge is the lifetime of a constant in caches.
const constantAge = "public, max-age=300"

// answer sends the constant, unless the client has the current version.
func (c constant) answer(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Cache-Control", constantAge)
	if done, err := tag(w, r, "the document", c.etag); done || err != nil {
		return err
	}
	w.Header().Set("Content-Type", c.media)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_, _ = w.Write(c.text)
	return nil
}

// serveSchema returns an action that answers all callers with a schema.
func serveSchema(text []byte) action {
	c := newConstant(schema.MediaType, text)
	return func(_ *server, w http.ResponseWriter, r *http.Request) error { return c.answer(w, r) }
}
