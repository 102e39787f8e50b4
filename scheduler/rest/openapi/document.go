package openapi

import (
	"reflect"
	"strconv"
	"strings"

	"github.com/carillon-sched/carillon/scheduler/auth"
)

// Document is an OpenAPI document; it has the used fields only (OpenAPI Specification 3.1.1, section 4.8).
type Document struct {
	OpenAPI    string                           `json:"openapi"`
	Info       Info                             `json:"info"`
	Servers    []Server                         `json:"servers"`
	Tags       []Tag                            `json:"tags"`
	Security   []map[string][]string            `json:"security"`
	Paths      map[string]map[string]*Described `json:"paths"` // by path, then by method in lower case
	Components Components                       `json:"components"`
}

// Info names the API.
type Info struct {
	Title       string `json:"title"`
	Description string `json:"description"`
	Version     string `json:"version"`
}

// Server is the address of the API.
type Server struct {
	URL         string `json:"url"`
	Description string `json:"description,omitempty"`
}

// Tag is a group of operations.
type Tag struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

// Components are shared objects, by name.
type Components struct {
	Schemas         map[string]Schema            `json:"schemas"`
	Responses       map[string]*Response         `json:"responses"`
	Headers         map[string]*Header           `json:"headers"`
	SecuritySchemes map[string]map[string]string `json:"securitySchemes"`
}

// Described is an operation.
type Described struct {
	ID          string                `json:"operationId"`
	Summary     string                `json:"summary"`
	Description string                `json:"description,omitempty"`
	Tags        []string              `json:"tags"`
	Right       string                `json:"x-carillon-right"` // required right (package auth)
	Security    []map[string][]string `json:"security,omitempty"`
	Parameters  []Parameter           `json:"parameters,omitempty"`
	Body        *Body                 `json:"requestBody,omitempty"`
	Responses   map[string]*Response  `json:"responses"` // by status
}

// Body is the request body of an operation.
type Body struct {
	Description string           `json:"description,omitempty"`
	Required    bool             `json:"required"`
	Content     map[string]Media `json:"content"`
}

// Response is an answer, or a reference to one.
type Response struct {
	Ref         string             `json:"$ref,omitempty"`
	Description string             `json:"description,omitempty"`
	Headers     map[string]*Header `json:"headers,omitempty"`
	Content     map[string]Media   `json:"content,omitempty"`
}

// Media describes a body of a media type.
type Media struct {
	Schema Schema `json:"schema"`
}

// Header is a header, or a reference to one.
type Header struct {
	Ref         string `json:"$ref,omitempty"`
	Description string `json:"description,omitempty"`
	Required    bool   `json:"required,omitempty"`
	Schema      Schema `json:"schema,omitempty"`
}

// summary describes the API as a whole.
const summary = `Carillon is a job scheduler on NATS JetStream. The short paths refer to a default subscription and resource ` +
	`group. Paths below /subscriptions follow Azure Resource Manager, paths below /api/v2 follow AWX.

* Every GET path also answers HEAD, with the same headers. Other unsupported methods return 405 with Allow; unknown ` +
	`paths return 404 UnknownRoute.
* Unknown query parameters return 400, except on AWX paths. Short paths accept and ignore api-version.
* Bodies are JSON or YAML, detected from their content, not from Content-Type. On AWX paths they are JSON.
* The trailing slash is optional on AWX paths.
* Future versions may add fields to answers, but do not remove fields.`

// tags are the groups of operations.
var tags = []Tag{
	{"Collections", "Groups of jobs, with quotas and rules."},
	{"Jobs", "Definitions and manual runs."},
	{"History", "Past runs, planned runs, and explanations."},
	{"Events", "Published events, which start jobs."},
	{"Administration", "Secrets, tokens, and the process itself."},
	{"Azure", "Azure Resource Manager paths, for clients of Azure Scheduler."},
	{"AWX", "Schedules in the format of AWX."},
}

// New returns the document of an API with the given version and routes. types are answer types private to package rest.
func New(version string, routes []Route, types []reflect.Type) *Document {
	d := &Document{
		OpenAPI: "3.1.1", Info: Info{"Carillon", summary, version}, Servers: []Server{{"/", "the scheduler that serves this document"}},
		Tags: tags, Security: []map[string][]string{{"bearer": {}}, {"certificate": {}}, {}},
		Paths: map[string]map[string]*Described{},
		Components: Components{
			Schemas: schemas(types), Responses: refusals(), Headers: headers(),
			SecuritySchemes: map[string]map[string]string{
				"bearer":      {"type": "http", "scheme": "bearer", "description": "A token from the scheduler or its OIDC issuer."},
				"certificate": {"type": "mutualTLS", "description": "A client certificate, if the scheduler requests one."},
			},
		},
	}
	for i := range routes {
		r := &routes[i]
		if d.Paths[r.Path] == nil {
			d.Paths[r.Path] = map[string]*Described{}
		}
		d.Paths[r.Path][strings.ToLower(r.Method)] = r.described()
	}
	return d
}

// described returns the operation of a route.
func (r *Route) described() *Described {
	t := &Described{
		ID: r.name(), Summary: r.Summary, Description: strings.TrimSpace(r.Text + " " + needs[r.Right]), Tags: []string{r.tag()},
		Right: string(r.Right), Parameters: r.parameters(), Body: r.body(), Responses: map[string]*Response{},
	}
	if r.Right == auth.Open {
		t.Security = []map[string][]string{{}}
	}
	for status, schema := range r.answers() {
		t.Responses[strconv.Itoa(status)] = r.answer(status, schema)
	}
	for _, status := range r.faults() {
		t.Responses[strconv.Itoa(status)] = &Response{Ref: "#/components/responses/" + refusalName(r.Style, status)}
	}
	return t
}
