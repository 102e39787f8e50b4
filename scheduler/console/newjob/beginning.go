package newjob

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/access"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/console/words"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// beginning is a template of a new job.
type beginning struct {
	Name, Text, Path string
	Current          bool
}

// beginnings are the templates, with the action types that they need. The first one is the default.
var beginnings = []struct{ name, kind, document string }{
	{"http", "http", `{"action": {"type": "http", "request": {"method": "POST", "headers": {"Content-Type": "application/json"}}}}`},
	{"servicebus", "serviceBusQueue", `{"action": {"type": "serviceBusQueue", "serviceBusQueueMessage": {"message": "",
		"authentication": {"type": "sharedAccessKey", "sasKeyName": "RootManageSharedAccessKey"}}}}`},
	{"storagequeue", "storageQueue", `{"action": {"type": "storageQueue", "queueMessage": {"message": ""}}}`},
	{"nats", "natsMessage", `{"action": {"type": "natsMessage", "natsMessage": {"mode": "publish", "message": ""}}}`},
}

// beginning returns the document of the requested template, and lists the templates.
func (r room) beginning(c *frame.Call, s *shown) (document.Value, error) {
	if from := c.Query("from"); from != "" {
		return r.copyOf(c, s, from)
	}
	name, doc := c.Query("template"), document.ObjectValue()
	known := map[string]bool{}
	for _, kind := range r.service.ActionTypes() {
		known[strings.ToLower(kind)] = true
	}
	for _, b := range beginnings {
		if !known[strings.ToLower(b.kind)] {
			continue
		}
		if name == "" {
			name = b.name
		}
		to := url.Values{"template": {b.name}}
		if collection := c.Query("collection"); collection != "" {
			to.Set("collection", collection)
		}
		s.Beginnings = append(s.Beginnings, beginning{b.name, words.Say("newjob.from." + b.name), Path + "?" + to.Encode(), b.name == name})
		if b.name == name {
			v, err := document.Parse([]byte(b.document))
			if err != nil {
				return doc, fmt.Errorf("the template %s: %w", name, err)
			}
			doc = v
		}
	}
	collection := c.Query("collection")
	if collection == "" && len(s.Collections) > 0 {
		if collection = s.Collections[0]; slices.Contains(s.Collections, scheduler.DefaultCollection) {
			collection = scheduler.DefaultCollection
		}
	}
	return doc.With(document.StringValue(collection), "collection"), nil
}

// copyOf returns the document of a job as a template. It has no secrets and no name.
func (r room) copyOf(c *frame.Call, s *shown, from string) (document.Value, error) {
	collection, job, _ := strings.Cut(from, "/")
	if err := access.Check(c.Context(), access.Read, collection); err != nil {
		return document.Value{}, err
	}
	v, err := r.service.Get(c.Context(), scheduler.Key{Collection: collection, Job: job})
	if err != nil {
		return document.Value{}, err
	}
	if v.Job.State == scheduler.Damaged {
		return document.Value{}, frame.Problem{Status: http.StatusConflict, Text: c.Say("newjob.damaged", from)}
	}
	s.From = from
	doc, err := document.Parse(v.Job.Def.Document().JSON()) // without secrets
	if err != nil {
		return document.Value{}, err
	}
	if v.Job.State == scheduler.Disabled {
		doc = doc.With(document.StringValue(string(scheduler.Disabled)), "state")
	}
	if slices.Contains(s.Collections, collection) {
		doc = doc.With(document.StringValue(collection), "collection")
	}
	return doc, nil
}
