package rest

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/intake"
)

// options are the query parameters of an operation, by method and path. An operation that is not here has none.
var options = map[string][]string{
	"PUT /jobCollections/{c}":                   {"dryRun"},
	"PATCH /jobCollections/{c}":                 {"dryRun"},
	"DELETE /jobCollections/{c}":                {"onlyEmpty"},
	"GET /jobCollections/{c}/history":           historyOptions,
	"GET /jobCollections/{c}/audit":             auditOptions,
	"GET /jobCollections/{c}/jobs":              {"$top", "$skip", "$filter", "$skiptoken", "labelSelector"},
	"POST /jobCollections/{c}/jobs":             editOptions,
	"PUT /jobCollections/{c}/jobs/{j}":          editOptions,
	"PATCH /jobCollections/{c}/jobs/{j}":        editOptions,
	"GET /jobCollections/{c}/jobs/{j}/history":  historyOptions,
	"GET /jobCollections/{c}/jobs/{j}/audit":    auditOptions,
	"GET /jobCollections/{c}/jobs/{j}/why":      {"at"},
	"GET /history":                              historyOptions,
	"GET /audit":                                auditOptions,
	"GET /jobCollections/{c}/jobs/{j}/runs.ics": runsOptions,
	"GET /jobCollections/{c}/runs.ics":          runsOptions,
	"GET /runs.ics":                             runsOptions,
	"GET /forecast":                             {"hours", "from", "collection", "proposals"},
	"POST /doctor":                              {"fix"},
	"DELETE /secrets/{name}":                    {"force"},
}

// Options that several operations have.
var (
	runsOptions    = []string{"days", "max"}
	editOptions    = []string{"strict", "dryRun"}
	historyOptions = []string{"$top", "$skip", "$filter", "$skiptoken", "uid", "earlier", "follow", "after", "as"}
	tailOptions    = []string{"$filter", "uid", "earlier", "follow", "after", "as"} // of a history that is followed
)

// anyVersion is the parameter that Azure's clients add to every request. There is one version of the API.
const anyVersion = "api-version"

// bare are the operations of POST that take no document.
var bare = map[string]bool{
	"/jobCollections/{c}/jobs/{j}/run": true, "/jobCollections/{c}/jobs/{j}/enable": true,
	"/jobCollections/{c}/jobs/{j}/disable": true, "/doctor": true,
	"/jobCollections/{c}/enable": true, "/jobCollections/{c}/disable": true,
}

// strict returns operations that refuse what nobody would look at: a page, an order or a condition that is left out
// would pass for the one that was asked for.
func strict(operations []operation) []operation {
	checked := slices.Clone(operations)
	for i, op := range checked {
		known := options[op.method+" "+op.path]
		checked[i].do = func(a *api, w http.ResponseWriter, r *http.Request) error {
			if err := checkOptions(r.URL.RawQuery, known); err != nil {
				return err
			}
			if err := unconditional(r, op.method+" "+op.path); err != nil {
				return err
			}
			if bare[op.path] {
				if err := checkBare(w, r); err != nil {
					return err
				}
			}
			return op.do(a, w, r)
		}
	}
	return checked
}

// checkOptions refuses a query that has anything but the options, each once.
func checkOptions(query string, options []string) error {
	q, err := url.ParseQuery(query)
	if err != nil {
		return scheduler.Invalid("query", "cannot be read: "+err.Error())
	}
	var wrong document.Problems
	for _, name := range slices.Sorted(maps.Keys(q)) {
		switch {
		case name == "":
			wrong = append(wrong, document.Problem{
				Path: "query", Message: "has a value without a name; in a shell, $top is a variable, but not in single quotes",
			})
		case name != anyVersion && !slices.Contains(options, name):
			wrong = append(wrong, document.Problem{Path: name, Message: unknownOption(name, options)})
		case name != anyVersion && len(q[name]) > 1:
			wrong = append(wrong, document.Problem{Path: name, Message: "is given more than once"})
		}
	}
	if wrong == nil {
		return nil
	}
	return scheduler.AsInvalid(wrong)
}

func unknownOption(name string, options []string) string {
	meant := document.Nearest(name, options)
	if slices.Contains(options, "$"+name) {
		meant = "$" + name
	}
	switch {
	case meant != "":
		return fmt.Sprintf("unknown option; did you mean %q?", meant)
	case len(options) == 0:
		return "unknown option; there are none here"
	}
	return "unknown option; there are " + strings.Join(options, ", ")
}

// checkBare refuses a body, other than an object without members.
func checkBare(w http.ResponseWriter, r *http.Request) error {
	body, err := readBody(w, r)
	if err != nil {
		return err
	}
	return intake.CheckNoDocument(r.Context(), body)
}
