package rest

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/carillon-sched/carillon/scheduler"
)

// armWords are the fixed parts of paths in their canonical spelling; the resource manager ignores letter case. A name
// follows each word of armNamed and keeps its spelling.
var (
	armNamed = []string{"subscriptions", "resourceGroups", "jobCollections", "jobs", "events", "sources"}
	armWords = append([]string{
		"providers", "Microsoft.Scheduler", "register", "enable", "disable", "pause", "cancel", "try", "run", "resubmit", "history",
		"try-event", "replay",
	}, armNamed...)
)

// isManaged reports whether a path belongs to the resource manager.
func isManaged(path string) bool {
	first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return strings.EqualFold(first, armNamed[0])
}

// armSpelled serves paths of the resource manager in any letter case, with or without a trailing slash.
func armSpelled(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isManaged(r.URL.Path) {
			spelled := *r.URL
			spelled.RawPath = armSpelling(r.URL.EscapedPath())
			if path, err := url.PathUnescape(spelled.RawPath); err == nil {
				spelled.Path = path
				again := *r
				again.URL = &spelled
				r = &again
			}
		}
		next.ServeHTTP(w, r)
	})
}

// armSpelling returns an escaped path in the spelling of the routes.
func armSpelling(path string) string {
	parts := strings.Split(strings.TrimSuffix(path, "/"), "/")
	for i := 1; i < len(parts); i++ {
		at := slices.IndexFunc(armWords, func(word string) bool { return strings.EqualFold(word, parts[i]) })
		if at < 0 {
			continue
		}
		parts[i] = armWords[at]
		if slices.Contains(armNamed, parts[i]) {
			i++ // skip the name
		}
	}
	return strings.Join(parts, "/")
}

// armScope returns the scope that a path names.
func armScope(r *http.Request) (scheduler.Scope, error) {
	return scheduler.NewScope(r.PathValue("s"), r.PathValue("g"))
}

// armVersions are the versions of Azure Scheduler's API in the resource manager. They support different fields, but the
// same field has the same meaning in all.
var armVersions = []string{"2016-03-01", "2016-01-01", "2014-08-01-preview"}

// checkVersion checks the parameter api-version like the resource manager.
func checkVersion(r *http.Request) error {
	given := r.URL.Query()[anyVersion]
	switch {
	case len(given) == 0 || given[0] == "":
		return fault{
			http.StatusBadRequest, "MissingApiVersionParameter",
			"The api-version query parameter (?api-version=) is required for all requests.",
		}
	case len(given) > 1:
		return scheduler.Invalid(anyVersion, "is given more than once")
	case slices.Contains(armVersions, strings.ToLower(given[0])):
		return nil
	}
	return fault{
		http.StatusBadRequest, "InvalidApiVersionParameter",
		"The api-version '" + given[0] + "' is invalid. The supported versions are '" + strings.Join(armVersions, ",") + "'.",
	}
}
