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

// pageOf reads $top and $skip.
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

// linkAfter returns the URL of the page that goes on after a place, whatever is
// added and removed before it meanwhile: a name, or the sequence of a record.
// skip is how many entries after it are to be left out yet.
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

// here is the URL of a path as the client reaches this server. What ends TLS before it says so in X-Forwarded-Proto; whoever
// says it wrongly misleads nobody else.
func here(r *http.Request, path string) string {
	scheme := "http"
	outside, _, _ := strings.Cut(r.Header.Get("X-Forwarded-Proto"), ",")
	if r.TLS != nil || strings.EqualFold(strings.TrimSpace(outside), "https") {
		scheme = "https"
	}
	return scheme + "://" + r.Host + path
}
