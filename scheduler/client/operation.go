package client

import (
	"encoding/json"
	"net/url"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/carillon-sched/carillon/scheduler/api"
)

// request is a request of the REST API for an operation that the micro service has, too.
type request struct {
	*api.Operation

	verb  string
	kinds []string // of the names
	names []string // in the path, which follow the verb in the subject
}

// kinds are what messages call the names in paths.
var kinds = map[string]string{"{c}": "collection", "{j}": "job", "{name}": "secret", "{id}": "operation"}

// requestOf finds the operation of a method and a path.
func requestOf(method, path string) (r request, ok bool) {
	for i := range api.Operations {
		op := &api.Operations[i]
		if op.Method != method || op.Subject == "" {
			continue
		}
		r = request{Operation: op, verb: api.Verb(op.Subject)}
		if r.match(path) {
			return r, true
		}
	}
	return request{}, false
}

// match reports whether a path belongs to the operation, and keeps its names.
func (r *request) match(path string) bool {
	own, parts := strings.Split(r.Path, "/"), strings.Split(path, "/")
	if len(own) != len(parts) {
		return false
	}
	for i, part := range parts {
		if kind := kinds[own[i]]; kind != "" {
			r.kinds, r.names = append(r.kinds, kind), append(r.names, part)
		} else if own[i] != part {
			return false
		}
	}
	return true
}

// Headers of a put or patch, in place of the options strict and dryRun.
var editHeaders = map[string]string{"strict": "Carillon-Strict", "dryRun": "Carillon-Dry-Run"}

// scope moves the collection that limits the request from q to the names.
func (r *request) scope(q url.Values) {
	if name := q.Get("collection"); r.Scoped && name != "" {
		r.kinds, r.names = append(r.kinds, "collection"), append(r.names, name)
		q.Del("collection")
	}
}

// follow makes the request one for a live tail if q asks for it, and removes that from q.
func (r *request) follow(q url.Values) {
	if q.Has("follow") {
		r.verb = api.Verb(r.Follow)
		q.Del("follow")
	}
}

// ask puts the options of a request where the micro service wants them: into the
// headers beside a document, else into the body.
func (r *request) ask(m *nats.Msg, q url.Values) error {
	if len(q) == 0 {
		return nil
	}
	body := map[string]any{}
	for name := range q {
		value := q.Get(name)
		if header := editHeaders[name]; header != "" {
			m.Header.Set(header, value)
			continue
		}
		body[name] = value
		p, _ := r.Param(name)
		if n, err := strconv.ParseUint(value, 10, 64); err == nil && p.Kind == api.Number {
			body[name] = n
		} else if on, err := strconv.ParseBool(value); err == nil && p.Kind == api.Flag {
			body[name] = on
		}
	}
	if len(body) == 0 {
		return nil
	}
	var err error
	m.Data, err = json.Marshal(body)
	return err
}
