package rest

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/view"
)

// The parameters of a list that begin with a dollar sign.
var (
	listOptions = []string{"$top", "$skip", "$filter"}
	jobOptions  = append(listOptions[:3:3], "$skiptoken")
)

// checkOptions refuses what looks like an option of a list and is none: a page
// or an order that nobody asked for would pass for the right one. Parameters of
// other kinds are let be, as clients add some of their own.
func checkOptions(q url.Values, options []string) error {
	for _, name := range slices.Sorted(maps.Keys(q)) {
		switch {
		case name == "" && q.Get(name) != "":
			return scheduler.Invalid("query", "has a value without a name; in a shell, $top is a variable, but not in single quotes")
		case strings.HasPrefix(name, "$") && !slices.Contains(options, name):
			return scheduler.Invalid(name, "unknown option; there are "+strings.Join(options, ", "))
		case slices.Contains(options, "$"+name):
			return scheduler.Invalid(name, fmt.Sprintf("unknown option; did you mean %q?", "$"+name))
		}
	}
	return nil
}

// pageOf reads $top and $skip, and $skiptoken if it is among the options.
func pageOf(r *http.Request, options []string) (view.Page, error) {
	var p view.Page
	q := r.URL.Query()
	if err := checkOptions(q, options); err != nil {
		return p, err
	}
	p.After = q.Get("$skiptoken")
	if q.Has("$top") {
		n, err := strconv.Atoi(q.Get("$top"))
		if err != nil || n < 1 || n > view.MaxPage {
			return p, scheduler.Invalid("$top", fmt.Sprintf("%q is not a number in 1-%d", q.Get("$top"), view.MaxPage))
		}
		p.Top = n
	}
	if q.Has("$skip") {
		n, err := strconv.ParseInt(q.Get("$skip"), 10, 32)
		if err != nil || n < 0 {
			return p, scheduler.Invalid("$skip", fmt.Sprintf("%q is not a number of entries", q.Get("$skip")))
		}
		p.Skip = int(n)
	}
	return p, nil
}

// flag reads a parameter that is true or false; false when it is absent.
func flag(r *http.Request, name string) (bool, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return false, nil
	}
	on, err := strconv.ParseBool(text)
	if err != nil {
		return false, scheduler.Invalid(name, fmt.Sprintf("%q is neither true nor false", text))
	}
	return on, nil
}

// linkBehind returns the URL of the page that begins behind n entries of this
// one.
func linkBehind(r *http.Request, p view.Page, n int) string {
	q := r.URL.Query()
	q.Set("$skip", strconv.Itoa(p.Skip+n))
	return linkTo(r, q)
}

// linkAfter returns the URL of the page that begins after a name, whatever is
// put and deleted before it meanwhile.
func linkAfter(r *http.Request, name string) string {
	q := r.URL.Query()
	q.Del("$skip")
	q.Set("$skiptoken", name)
	return linkTo(r, q)
}

func linkTo(r *http.Request, q url.Values) string {
	u := url.URL{Scheme: "http", Host: r.Host, Path: r.URL.Path, RawPath: r.URL.RawPath, RawQuery: q.Encode()}
	if r.TLS != nil {
		u.Scheme = "https"
	}
	return u.String()
}
