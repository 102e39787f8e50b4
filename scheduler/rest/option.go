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
	"github.com/carillon-sched/carillon/scheduler/forecast"
	"github.com/carillon-sched/carillon/scheduler/intake"
	"github.com/carillon-sched/carillon/scheduler/rest/openapi"
	"github.com/carillon-sched/carillon/scheduler/view"
)

// options are the query parameters of an operation, by method and path. An operation that is not here has none.
var options = map[string][]openapi.Parameter{
	"PUT /jobCollections/{c}":                  {dryRunOption},
	"PATCH /jobCollections/{c}":                {dryRunOption},
	"DELETE /jobCollections/{c}":               {openapi.Query("onlyEmpty", openapi.Truth, "409 while it has any jobs")},
	"GET /jobCollections/{c}/history":          historyOptions,
	"GET /jobCollections/{c}/audit":            auditOptions,
	"GET /jobCollections/{c}/jobs":             searchOptions,
	"POST /jobCollections/{c}/jobs":            editOptions,
	"PUT /jobCollections/{c}/jobs/{j}":         editOptions,
	"PATCH /jobCollections/{c}/jobs/{j}":       editOptions,
	"GET /jobCollections/{c}/jobs/{j}/history": historyOptions,
	"GET /jobCollections/{c}/jobs/{j}/audit":   auditOptions,
	"GET /jobCollections/{c}/jobs/{j}/why":     {whyOption},
	"GET /jobCollections/{c}/jobs/{j}/account": accountOptions,
	"GET /jobs":    searchOptions,
	"GET /history": historyOptions,
	"GET /audit":   auditOptions,
	"GET /jobCollections/{c}/jobs/{j}/runs.ics": runsOptions,
	"GET /jobCollections/{c}/runs.ics":          runsOptions,
	"GET /runs.ics":                             runsOptions,
	"GET /forecast": {
		openapi.Query("hours", openapi.Between(1, forecast.MaxHours), fmt.Sprintf("how far ahead; default: %d", forecast.DefaultHours)),
		openapi.Query("from", openapi.Instant, "where it begins; default: now"),
		openapi.Query("collection", openapi.Text, "only the jobs of that collection"),
		openapi.Query("proposals", openapi.Between(0, forecast.MaxProposals),
			fmt.Sprintf("how many edits it proposes at most; default: %d", forecast.DefaultProposals)),
	},
	"POST /operations":             {operationOption},
	"GET /operations":              {operationOption},
	"GET /operations/{id}":         {operationOption},
	"POST /operations/{id}/cancel": {operationOption},
	"POST /doctor":                 {openapi.Query("fix", openapi.Truth, "mend what is found")},
	"DELETE /secrets/{name}":       {openapi.Query("force", openapi.Truth, "also while jobs refer to it")},
}

// Options that several operations have.
var (
	whyOption = openapi.Query("at", openapi.Text,
		"when, such as 2026-03-02T09:00, now or -2h; default: the latest instant that did not run, else the next one")
	accountOptions = []openapi.Parameter{
		openapi.Query("from", openapi.Text, "where the period begins, such as 2026-03-02T09:00Z or -24h; required"),
		openapi.Query("to", openapi.Text, "where it ends, exclusive; default: now"),
	}
	operationOption = openapi.Query("collection", openapi.Text, "with the rights on that collection only")
	dryRunOption    = openapi.Query("dryRun", openapi.Truth, "check everything, and write nothing")
	editOptions     = []openapi.Parameter{openapi.Query("strict", openapi.Truth, "warnings are errors"), dryRunOption}
	pageOptions     = []openapi.Parameter{
		openapi.Query("$top", openapi.Between(1, view.MaxPage),
			fmt.Sprintf("how many entries the page has at most; default: %d", view.MaxPage)),
		openapi.Query("$skip", openapi.AtLeast(0), "how many to leave out before it"),
		openapi.Query("$skiptoken", openapi.Text, "where the page begins: that of a nextLink"),
	}
	searchOptions = append(slices.Clone(pageOptions),
		openapi.Query("$filter", openapi.Text, "state eq enabled|disabled|completed|faulted|damaged|paused"),
		openapi.Query("labelSelector", openapi.Text, "what the labels must meet, as in Kubernetes: team=billing,env!=prod"),
		openapi.Query("prefix", openapi.Text, "how the names begin"),
		openapi.Query("actionType", openapi.Text, "type of the action, such as Http"),
		openapi.Query("nextAfter", openapi.Text, "the next run is then or later: an instant, or a length of time from now on, such as 24h"),
		openapi.Query("nextBefore", openapi.Text, "the next run is before that: likewise"),
		openapi.Query("text", openapi.Text,
			"what a name, a label (name=value) or a target (host, queue, topic, subject) has in it, in any letter case"),
		openapi.Query("lastOutcome", openapi.Text,
			"how what the job did last ended: completed, failed, faulted, skipped, postponed or never"),
	)
	runsOptions = []openapi.Parameter{
		openapi.Query("days", openapi.Between(1, maxRunDays), fmt.Sprintf("how far ahead; default: %d", defaultRunDays)),
		openapi.Query("max", openapi.Between(1, maxRuns), fmt.Sprintf("how many runs at most; default: %d", defaultRuns)),
	}
	followOptions = []openapi.Parameter{
		openapi.Query("follow", openapi.Truth, "a live tail instead of a page"),
		openapi.Query("after", openapi.AtLeast(0), "of a live tail: the sequence after which it begins; default: from now on"),
	}
	historyOptions = slices.Concat(pageOptions, []openapi.Parameter{
		openapi.Query("$filter", openapi.Text,
			"status|actionType|actionName|target|manual|late eq VALUE, startTime|endTime ge|gt|le|lt TIME, joined by and, "+
				"alternatives by or"),
		openapi.Query("uid", openapi.Text, "only those of the job of that uid, and not of an earlier one of its name"),
		openapi.Query("earlier", openapi.Truth, "also those of earlier jobs of the name"),
	}, followOptions, []openapi.Parameter{openapi.Query("as", openapi.OneOf("ndjson", "sse"), "the form of a live tail")})
	tailOptions = []string{"$filter", "uid", "earlier", "follow", "after", "as"} // of a history that is followed
)

// anyVersion is the parameter that Azure's clients add to every request. There is one version of the API.
const anyVersion = "api-version"

// bare are the operations of POST that take no document.
var bare = map[string]bool{
	"/jobCollections/{c}/jobs/{j}/enable":  true,
	"/jobCollections/{c}/jobs/{j}/disable": true, "/doctor": true, "/operations/{id}/cancel": true,
	"/jobCollections/{c}/enable": true, "/jobCollections/{c}/disable": true,
}

// strict returns operations that refuse what nobody would look at: a page, an order or a condition that is left out
// would pass for the one that was asked for.
func strict(operations []operation) []operation {
	checked := slices.Clone(operations)
	for i, op := range checked {
		known := names(options[op.method+" "+op.path])
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

// names are those of parameters.
func names(options []openapi.Parameter) []string {
	all := make([]string, len(options))
	for i := range options {
		all[i] = options[i].Name
	}
	return all
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
