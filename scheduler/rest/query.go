package rest

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/view"
)

// pageOf parses $top and $skip.
func pageOf(r *http.Request) (view.Page, error) {
	var p view.Page
	q := r.URL.Query()
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

// flag parses a parameter that is true or false; false if absent.
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

// linkAfter returns the URL of the page after a position (a name, or the sequence of a record), which is stable under
// concurrent changes. skip is the number of entries to skip after it.
func linkAfter(r *http.Request, place string, skip int) string {
	q := r.URL.Query()
	q.Del("$skip")
	if skip > 0 {
		q.Set("$skip", strconv.Itoa(skip))
	}
	q.Set("$skiptoken", place)
	return linkTo(r, q)
}

func linkTo(r *http.Request, q url.Values) string {
	return here(r, (&url.URL{Path: r.URL.Path, RawPath: r.URL.RawPath, RawQuery: q.Encode()}).String())
}

// here returns the URL of a path from the client's perspective. A proxy that terminates TLS sets X-Forwarded-Proto; a
// client that forges it misleads only itself.
func here(r *http.Request, path string) string {
	scheme := "http"
	outside, _, _ := strings.Cut(r.Header.Get("X-Forwarded-Proto"), ",")
	if r.TLS != nil || strings.EqualFold(strings.TrimSpace(outside), "https") {
		scheme = "https"
	}
	return scheme + "://" + r.Host + path
}
