package openapi

import (
	"strings"

	"github.com/carillon-sched/carillon/scheduler/api"
	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/awx"
)

// Route is an operation with its served path.
type Route struct {
	*api.Operation

	Path     string
	Style    api.Style
	Versions []string // valid values of api-version; none: not required
}

// name returns the route's operationId. An operation also has a route below a resource group, with another operationId.
func (r *Route) name() string {
	if r.Style == api.Managed && r.Operation.Style == api.Short {
		return "arm" + strings.ToUpper(r.ID[:1]) + r.ID[1:]
	}
	return r.ID
}

// needs describe rights.
var needs = map[auth.Right]string{
	auth.Open:       "No role required.",
	auth.Known:      "Requires a role on any collection.",
	auth.Read:       "Requires the role reader on the collection.",
	auth.Operate:    "Requires the role operator on the collection.",
	auth.Administer: "Requires the role admin on the collection, or on all collections if the path names none.",
	auth.ReadAny:    "Requires the role reader on any collection. The answer contains only resources visible to the caller.",
	auth.OperateAny: "Requires the role operator on each affected collection.",
}

// Parameter is a parameter of the query, the path or the headers.
type Parameter struct {
	Name        string `json:"name"`
	In          string `json:"in"`
	Required    bool   `json:"required,omitempty"`
	Description string `json:"description"`
	Schema      Schema `json:"schema"`
}

// query returns a query parameter.
func query(p *api.Param) Parameter {
	s := Text
	switch p.Kind {
	case api.Flag:
		s = Truth
	case api.Instant:
		s = Instant
	case api.Word:
		s = OneOf(p.Words...)
	case api.Number:
		s = AtLeast(p.Min)
		if p.Max > 0 {
			s = Between(p.Min, p.Max)
		}
	case api.Sequence:
		s = AtLeast(0)
	case api.Text:
	}
	return Parameter{Name: p.Name, In: "query", Description: p.Description(), Schema: s}
}

func header(name, text string) Parameter {
	return Parameter{Name: name, In: "header", Description: text, Schema: Text}
}

// nameSchemas are the schemas of names in paths that have a restricted form.
var nameSchemas = map[string]Schema{"c": name, "j": name, "n": name, "kind": {"type": "string", "enum": awx.TemplateKinds}}

// parameters returns the parameters of a route: of its path, its query and its headers.
func (r *Route) parameters() []Parameter {
	var all []Parameter
	for _, in := range api.NamesIn(r.Path) {
		s, ok := nameSchemas[in]
		if !ok {
			s = Text
		}
		all = append(all, Parameter{Name: in, In: "path", Required: true, Description: api.Names[in], Schema: s})
	}
	if r.Versions != nil {
		all = append(all, Parameter{
			Name: "api-version", In: "query", Required: true, Description: "version of Azure's API, such as " + r.Versions[0],
			Schema: Schema{"type": "string", "examples": r.Versions},
		})
	}
	for i := range r.Query {
		p := query(&r.Query[i])
		if r.Style != api.Managed || !r.Query[i].HTTP && !r.Query[i].Tail { // live tails exist at the short paths only
			all = append(all, p)
		}
	}
	switch {
	case r.Conditional, r.Tagged && !r.Changes():
		all = append(all,
			header("If-Match", "proceed only if the ETag is in this list, or exists for *; otherwise 412"),
			header("If-None-Match", "proceed only if the ETag is not in this list, or does not exist for *; otherwise 412, or 304 for GET"))
	case r.Tag304:
		all = append(all, header("If-None-Match", "proceed only if the ETag is not in this list; otherwise 304"))
	}
	if r.Events && r.Style == api.Short {
		all = append(all, header("Last-Event-ID", "for server-sent events: the sequence to resume after; overrides the parameter after"))
	}
	return append(all,
		header("X-Ms-Client-Request-Id", "a request ID of the client; returned in the response"),
		header("X-Ms-Correlation-Request-Id", "a correlation ID of the client; returned in the response"))
}
