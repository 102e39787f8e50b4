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
const summary = `Carillon is a job scheduler on NATS JetStream. The short paths are those of a default subscription and resource ` +
	`group; below /subscriptions there are those of Azure's resource manager, and below /api/v2 those of AWX.

* Wherever there is GET, HEAD is answered with the same headers. Another method that a path does not have is 405, with ` +
	`Allow; a path that is not here is 404 UnknownRoute.
* Query parameters that an operation does not have are 400, but on the paths of AWX. On the short paths api-version is ` +
	`taken, and has no effect.
* Bodies are JSON or YAML, told apart by how they begin and not by Content-Type; on the paths of AWX they are JSON.
* A last slash may be left out on the paths of AWX.
* Answers may get members that are not here yet; those that are here stay.`

// tags are the groups of operations.
var tags = []Tag{
	{"Collections", "Groups of jobs, with quotas and rules."},
	{"Jobs", "Definitions and manual runs."},
	{"History", "Past runs, planned runs, and explanations."},
	{"Administration", "Secrets, tokens, and the process itself."},
	{"Azure", "The paths of Azure's resource manager, for clients of Azure Scheduler."},
	{"AWX", "Schedules as AWX has them."},
}

// New returns the document of an API with the given version and routes. types are answer types that only package rest
// knows.
func New(version string, routes []Route, types []reflect.Type) *Document {
	d := &Document{
		OpenAPI: "3.1.1", Info: Info{"Carillon", summary, version}, Servers: []Server{{"/", "the scheduler that serves this document"}},
		Tags: tags, Security: []map[string][]string{{"bearer": {}}, {"certificate": {}}, {}},
		Paths: map[string]map[string]*Described{},
		Components: Components{
			Schemas: schemas(types), Responses: refusals(), Headers: headers(),
			SecuritySchemes: map[string]map[string]string{
				"bearer":      {"type": "http", "scheme": "bearer", "description": "A token of the scheduler, or of its issuer."},
				"certificate": {"type": "mutualTLS", "description": "A client certificate, where the scheduler asks for one."},
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
