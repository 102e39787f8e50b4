package client

import (
	"encoding/json"
	"net/url"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/carillon-sched/carillon/scheduler/api"
)

// request is a REST request for an operation that the micro service has, too.
type request struct {
	*api.Operation

	verb  string
	kinds []string // of the names
	names []string // of the path; they follow the verb in the subject
}

// kinds maps the names in paths to their words in messages.
var kinds = map[string]string{"{c}": "collection", "{j}": "job", "{n}": "source", "{name}": "secret", "{id}": "operation"}

// requestOf returns the operation of a method and a path.
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

// match reports whether a path belongs to the operation, and stores its names.
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

// Headers of a put or patch that replace the options strict and dryRun.
var editHeaders = map[string]string{"strict": "Carillon-Strict", "dryRun": "Carillon-Dry-Run"}

// scope moves the collection that limits the request from q to the names.
func (r *request) scope(q url.Values) {
	if name := q.Get("collection"); r.Scoped && name != "" {
		r.kinds, r.names = append(r.kinds, "collection"), append(r.names, name)
		q.Del("collection")
	}
}

// follow turns the request into one for a live tail if q has the option, and removes it from q.
func (r *request) follow(q url.Values) {
	if q.Has("follow") {
		r.verb = api.Verb(r.Follow)
		q.Del("follow")
	}
}

// ask converts the options of a request: to headers if it has a document, else to fields of the body.
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
		if n, err := strconv.ParseUint(value, 10, 64); err == nil && (p.Kind == api.Number || p.Kind == api.Sequence) {
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
