package client

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"
)

// operation is an operation of the micro service, beside that of the REST API which
// it is the same as.
type operation struct {
	method, path string
	verb         string
	kinds        []string // of the names in the path, which follow the verb in the subject
	option       string   // that is a name in the subject, too; "": none is
}

// operations are all that the micro service has. ... in a path stands for a name.
var operations = []operation{
	{http.MethodGet, "/jobCollections", "collection-list", nil, ""},
	{http.MethodPut, "/jobCollections/…", "collection-put", ofCollection, ""},
	{http.MethodGet, "/jobCollections/…", "collection-get", ofCollection, ""},
	{http.MethodPatch, "/jobCollections/…", "collection-patch", ofCollection, ""},
	{http.MethodDelete, "/jobCollections/…", "collection-delete", ofCollection, ""},
	{http.MethodPost, "/jobCollections/…/enable", "collection-enable", ofCollection, ""},
	{http.MethodPost, "/jobCollections/…/disable", "collection-disable", ofCollection, ""},
	{http.MethodGet, "/jobCollections/…/jobs", "list", ofCollection, ""},
	{http.MethodGet, "/jobs", "list", nil, ""},
	{http.MethodPut, "/jobCollections/…/jobs/…", "put", ofJob, ""},
	{http.MethodGet, "/jobCollections/…/jobs/…", "get", ofJob, ""},
	{http.MethodPatch, "/jobCollections/…/jobs/…", "patch", ofJob, ""},
	{http.MethodDelete, "/jobCollections/…/jobs/…", "delete", ofJob, ""},
	{http.MethodPost, "/jobCollections/…/jobs/…/run", "run", ofJob, ""},
	{http.MethodPost, "/jobCollections/…/jobs/…/enable", "enable", ofJob, ""},
	{http.MethodPost, "/jobCollections/…/jobs/…/disable", "disable", ofJob, ""},
	{http.MethodPost, "/jobCollections/…/jobs/…/pause", "pause", ofJob, ""},
	{http.MethodPost, "/jobCollections/…/jobs/…/cancel", "cancel", ofJob, ""},
	{http.MethodPost, "/jobCollections/…/cancel", "collection-cancel", ofCollection, ""},
	{http.MethodPost, "/jobCollections/…/jobs/…/try", "try", ofJob, ""},
	{http.MethodPost, "/jobCollections/…/jobs/…/resubmit", "resubmit", ofJob, ""},
	{http.MethodGet, "/jobCollections/…/jobs/…/why", "why", ofJob, ""},
	{http.MethodGet, "/jobCollections/…/jobs/…/account", "account", ofJob, ""},
	{http.MethodGet, "/jobCollections/…/jobs/…/history", "history", ofJob, ""},
	{http.MethodGet, "/jobCollections/…/history", "history", ofCollection, ""},
	{http.MethodGet, "/history", "history", nil, ""},
	{http.MethodGet, "/jobCollections/…/jobs/…/audit", "audit", ofJob, ""},
	{http.MethodGet, "/jobCollections/…/audit", "audit", ofCollection, ""},
	{http.MethodGet, "/audit", "audit", nil, ""},
	{http.MethodGet, "/forecast", "forecast", nil, "collection"},
	{http.MethodPost, "/operations", "operation-create", nil, "collection"},
	{http.MethodGet, "/operations", "operation-list", nil, "collection"},
	{http.MethodGet, "/operations/…", "operation-get", ofOperation, "collection"},
	{http.MethodPost, "/operations/…/cancel", "operation-cancel", ofOperation, "collection"},
	{http.MethodGet, "/secrets", "secret-list", nil, ""},
	{http.MethodPut, "/secrets/…", "secret-put", ofSecret, ""},
	{http.MethodDelete, "/secrets/…", "secret-delete", ofSecret, ""},
	{http.MethodPost, "/secrets/rotate", "secret-rotate", nil, ""},
	{http.MethodPost, "/preview", "preview", nil, ""},
}

// What the names in a path are of.
var (
	ofCollection = []string{"collection"}
	ofJob        = []string{"collection", "job"}
	ofSecret     = []string{"secret"}
	ofOperation  = []string{"operation"}
)

// operationOf finds the operation of a request, and the names in its path.
func operationOf(method, path string) (o operation, names []string, ok bool) {
	for _, o := range operations {
		if o.method != method {
			continue
		}
		if names, ok := o.names(path); ok {
			return o, names, true
		}
	}
	return operation{}, nil, false
}

// names are those in a path that is the operation's.
func (o operation) names(path string) (names []string, ok bool) {
	own, parts := strings.Split(o.path, "/"), strings.Split(path, "/")
	if len(own) != len(parts) {
		return nil, false
	}
	for i, part := range parts {
		switch {
		case own[i] == "…":
			names = append(names, part)
		case own[i] != part:
			return nil, false
		}
	}
	return names, true
}

// Headers of a put or patch, in place of the options strict and dryRun.
var editHeaders = map[string]string{"strict": "Carillon-Strict", "dryRun": "Carillon-Dry-Run"}

// liveVerbs are the verbs of what is followed, by that of what is there.
var liveVerbs = map[string]string{"history": "follow", "audit": "follow-audit"}

// within adds the name to the others that is an option of the request, and takes that out of q.
func (o operation) within(names []string, q url.Values) (operation, []string) {
	if name := q.Get(o.option); name != "" {
		o.kinds, names = append(slices.Clip(o.kinds), o.option), append(names, name)
		q.Del(o.option)
	}
	return o, names
}

// live is the operation that follows what this one shows, when q says so. It takes that out of q.
func (o operation) live(q url.Values) operation {
	if q.Has("follow") {
		o.verb = liveVerbs[o.verb]
		q.Del("follow")
	}
	return o
}

// ask puts the options of a request where the micro service wants them: into the
// headers beside a document, else into the body.
func (o operation) ask(m *nats.Msg, q url.Values) error {
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
		if n, err := strconv.ParseUint(value, 10, 64); err == nil && numbers[name] {
			body[name] = n
		} else if on, err := strconv.ParseBool(value); err == nil && flags[name] {
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

// The options that are no text.
var (
	flags   = map[string]bool{"earlier": true, "force": true, "onlyEmpty": true}
	numbers = map[string]bool{"$top": true, "$skip": true, "after": true, "hours": true, "proposals": true}
)
