package rest

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/flow"
)

// anyVersion is the parameter that Azure's clients add to every request. The API has a single version.
const anyVersion = "api-version"

// checkOptions refuses unknown and repeated query parameters.
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

// names returns the names of parameters.
func names(params []api.Param) []string {
	all := make([]string, len(params))
	for i := range params {
		all[i] = params[i].Name
	}
	return all
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

// checkBare refuses a body other than an empty object.
func checkBare(w http.ResponseWriter, r *http.Request) error {
	body, err := readBody(w, r)
	if err != nil {
		return err
	}
	return flow.CheckNoDocument(r.Context(), body)
}
