package api

import (
	"net/http"
	"reflect"
	"regexp"
	"strings"

	"github.com/carillon-sched/carillon/scheduler/auth"
)

// Operation is a row of the table.
type Operation struct {
	ID      string // what generated clients call it: unique, in lower camel case
	Summary string // its effect, in the imperative
	Text    string // details, one or two sentences. Default: none
	Group   string // of the documentation. Default: the group of the Style
	Style   Style

	Method, Path string
	Served       string // the pattern of the path in the HTTP server, where it differs
	Right        auth.Right

	// Subject is the request's subject over NATS, below <prefix>.api. Default: the operation is not available over NATS.
	Subject   string
	Follow    string // subject of the live tail. Default: it has none
	Scoped    bool   // over NATS, the parameter collection is the last name in the subject
	Published bool   // it is also available as a published spec
	Returns   string // what endpoints of the NATS service say of the answer

	// Query lists the query parameters, which over NATS are fields of the body. The scheduler refuses any other.
	Query []Param

	Body     *Type // of its document. Default: it takes none
	MayEmpty bool  // the document may be left out
	Bare     bool  // it takes a body, which must be empty or an object without fields
	Raw      bool  // it takes any content as its body, and keeps it as it is

	Foreign bool // others decide the form of its requests: it ignores unknown parameters and conditions

	Abortable bool // it ends when its caller disconnects; by default, only operations that change nothing do

	// Conditional operations change something that has an ETag. They heed If-Match and If-None-Match; others that change
	// something refuse these: an ignored condition would pass for a met condition.
	Conditional     bool
	ConditionalNATS bool // it is conditional over NATS only
	Tagged          bool // the answer has the ETag of the object
	Tag304          bool // the answer has another ETag, and only If-None-Match is heeded

	Answer   *Type  // Default: it answers a status alone
	Statuses []int  // of success. Default: 200
	Media    string // media type of the answer. Default: JSON
	Line     *Type  // of a line of its live tail. Default: it has none
	Events   bool   // its live tail may be server-sent events
	Located  bool   // the created object has another path, in Location
	Silent   bool   // on Azure's paths it answers a status alone

	Errors      []int // statuses of its errors, without those that every operation of its kind has
	ShortErrors []int // statuses of its errors on the short paths only
}

// Type is the type of a document.
type Type struct {
	Go   reflect.Type // it encodes the document
	Name string       // without a Go type: the component that package openapi composes, as from the schemas of user input
	List bool         // the document is a page of these
}

// Item is the type of the items of a page.
func (t *Type) Item() *Type { return &Type{Go: t.Go, Name: t.Name} }

func of[T any]() *Type { return &Type{Go: reflect.TypeFor[T]()} }

func composed(name string) *Type { return &Type{Name: name} }

func listOf(t *Type) *Type { return &Type{Go: t.Go, Name: t.Name, List: true} }

// Style is the API whose conventions an operation follows.
type Style int

// The styles.
const (
	Short   Style = iota // the scheduler's own
	Managed              // a resource below a resource group, as in Azure's resource manager
	Manager              // the resource manager's own
	AWX
)

// Changes reports whether the operation may change something. A browser does not perform it for a page of another origin.
func (op *Operation) Changes() bool { return op.Method != http.MethodGet }

// Pattern is the pattern of the path in the HTTP server.
func (op *Operation) Pattern() string {
	if op.Served != "" {
		return op.Served
	}
	return op.Path
}

// Name is the operation's name in metrics and traces: its method and pattern, without the last slash.
func (op *Operation) Name() string { return op.Method + " " + strings.TrimSuffix(op.Pattern(), "/") }

// Param returns a query parameter by its name.
func (op *Operation) Param(name string) (Param, bool) {
	for _, p := range op.Query {
		if p.Name == name {
			return p, true
		}
	}
	return Param{}, false
}

// Params are the query parameters of a page, or of a live tail; over HTTP or over NATS.
func (op *Operation) Params(tail, overHTTP bool) []Param {
	var all []Param
	for _, p := range op.Query {
		if (!p.Page || !tail) && (!p.Tail || tail) && (!p.HTTP || overHTTP) {
			all = append(all, p)
		}
	}
	return all
}

// wildcard is a name in a path.
var wildcard = regexp.MustCompile(`\{(\w+)\}`)

// NamesIn are the names that a path has, as keys of [Names].
func NamesIn(path string) []string {
	var names []string
	for _, found := range wildcard.FindAllStringSubmatch(path, -1) {
		names = append(names, found[1])
	}
	return names
}

// Names describes the names in paths.
var Names = map[string]string{
	"c":        "name of a collection",
	"j":        "name of a job",
	"e":        "name of an event",
	"n":        "name of a source",
	"s":        "subscription",
	"g":        "resource group",
	"name":     "name of a shared secret",
	"id":       "id",
	"kind":     "what AWX calls the template; it makes no difference",
	"template": "a job: collection.job, or job for one of the collection default; N is the job template-N",
}
