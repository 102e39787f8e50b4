package openapi

import (
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/carillon-sched/carillon/scheduler/access"
	"github.com/carillon-sched/carillon/scheduler/awx"
)

// Style says whose ways an operation has.
type Style int

// The styles.
const (
	Short   Style = iota // the scheduler's own
	Managed              // a resource below a resource group, as Azure's resource manager has it
	Manager              // the resource manager's own
	AWX
)

// Route is an operation as it is served.
type Route struct {
	Method, Path string
	Key          string // method and path in the tables here: the path below its prefix
	Style        Style
	Right        access.Right
	Options      []Parameter // of its query
	Versions     []string    // that its api-version may have; none: it needs none
	Conditional  bool        // it changes what has an ETag, and heeds If-Match and If-None-Match
	Bare         bool        // it takes no document
	Silent       bool        // it answers with a status alone
}

// Open reports whether anybody may ask, also who is unknown.
func (r *Route) Open() bool { return r.Right == access.Open }

// changes reports whether it may change something: a browser does not do that for a page of another origin.
func (r *Route) changes() bool { return r.Method != http.MethodGet && r.Method != http.MethodHead }

// operation returns what the tables tell of the route.
func (r *Route) operation() (Operation, bool) {
	var op Operation
	var ok bool
	switch r.Style {
	case AWX:
		op, ok = awxOperations[r.Key]
	case Manager:
		op, ok = managerOperations[r.Key]
	case Managed:
		if op, ok = managerOperations[r.Key]; !ok {
			op, ok = operations[r.Key]
			op.ID = "arm" + strings.ToUpper(op.ID[:min(1, len(op.ID))]) + op.ID[min(1, len(op.ID)):]
		}
	case Short:
		op, ok = operations[r.Key]
	}
	return op, ok
}

// needs say what a right is, for people.
var needs = map[access.Right]string{
	access.Open:       "Open to anybody.",
	access.Known:      "Needs a role on any collection.",
	access.Read:       "Needs the role reader on the collection.",
	access.Operate:    "Needs the role operator on the collection.",
	access.Administer: "Needs the role admin: on the collection or, where there is none in the path, on all.",
	access.ReadAny:    "Needs the role reader on any collection; the answer has what the caller may see.",
	access.OperateAny: "Needs the role operator on the collection that is found.",
}

// Parameter is one of the query, the path or the headers.
type Parameter struct {
	Name        string `json:"name"`
	In          string `json:"in"`
	Required    bool   `json:"required,omitempty"`
	Description string `json:"description"`
	Schema      Schema `json:"schema"`
}

// Query returns a parameter of the query that may be left out.
func Query(name string, schema Schema, text string) Parameter {
	return Parameter{Name: name, In: "query", Description: text, Schema: schema}
}

func header(name, text string) Parameter {
	return Parameter{Name: name, In: "header", Description: text, Schema: Text}
}

// wildcard is a part of a path that stands for a name.
var wildcard = regexp.MustCompile(`\{(\w+)\}`)

var kindSchema = Schema{"type": "string", "enum": awx.TemplateKinds}

// wildcards are what the names in paths are.
var wildcards = map[string]Parameter{
	"c":        {Description: "name of a collection", Schema: name},
	"j":        {Description: "name of a job", Schema: name},
	"s":        {Description: "subscription", Schema: Text},
	"g":        {Description: "resource group", Schema: Text},
	"name":     {Description: "name of a shared secret", Schema: Text},
	"id":       {Description: "id", Schema: Text},
	"kind":     {Description: "what AWX calls the template; it makes no difference", Schema: kindSchema},
	"template": {Description: "a job: collection.job, or job for one of the collection default; N is the job template-N", Schema: Text},
}

// parameters returns those of an operation of a route: of its path, its query and its headers.
func (op *Operation) parameters(r *Route, path string) []Parameter {
	var all []Parameter
	for _, found := range wildcard.FindAllStringSubmatch(path, -1) {
		p := wildcards[found[1]]
		p.Name, p.In, p.Required = found[1], "path", true
		all = append(all, p)
	}
	if r.Versions != nil {
		version := Query("api-version", Schema{"type": "string", "examples": r.Versions}, "version of Azure's API, such as "+r.Versions[0])
		version.Required = true
		all = append(all, version)
	}
	for _, p := range slices.Concat(r.Options, op.Options) {
		if r.Style != Managed || p.Name != "follow" && p.Name != "after" && p.Name != "as" {
			all = append(all, p)
		}
	}
	switch {
	case r.Conditional, op.Tagged && !r.changes():
		all = append(all,
			header("If-Match", "only while the ETag is one of these, or * for any: else 412"),
			header("If-None-Match", "only while it is none of these, or * for none at all: else 412, and 304 for GET"))
	case op.Tag304:
		all = append(all, header("If-None-Match", "only when it is none of these: else 304"))
	}
	if op.Events && r.Style == Short {
		all = append(all, header("Last-Event-ID", "of server-sent events: the place after which to begin, before that of after"))
	}
	return append(all,
		header("X-Ms-Client-Request-Id", "an id of the caller's, which is given back"),
		header("X-Ms-Correlation-Request-Id", "an id of what the request is part of, which is given back"))
}
