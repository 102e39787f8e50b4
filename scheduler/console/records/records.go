// Package records has the filter of the pages that show records of the history: its parameters in a URL, and the query
// of the service. The page of a job and the live tail share it.
package records

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/console/words"
	"github.com/carillon-sched/carillon/scheduler/control"
)

// Before is the parameter with the sequence that the records of a page precede.
const Before = "before"

// outcomes are the words of the parameter outcome.
var outcomes = strings.Fields(strings.Trim(fmt.Sprint(scheduler.Outcomes), "[]"))

// Filter selects records.
type Filter struct {
	Collection string
	Job        string // in the collection, or the default one; or collection/job; or a part of it
	Outcomes   []string
	Type       string
	Target     string
	Phase      string // MainAction or ErrorAction
	Manual     string // true or false
	Since      string // a time, or a duration before now
	Until      string
	Text       string // an additional $filter of the APIs
}

// parameters are the fields with one value by the names of their parameters.
func (f *Filter) parameters() map[string]*string {
	return map[string]*string{
		"collection": &f.Collection, "job": &f.Job, "type": &f.Type, "target": &f.Target, "action": &f.Phase, "manual": &f.Manual,
		"since": &f.Since, "until": &f.Until, "$filter": &f.Text,
	}
}

// Parameters returns the names of all parameters.
func Parameters() []string {
	return append(slices.Collect(maps.Keys((&Filter{}).parameters())), "outcome")
}

// ReadURL returns the filter of the requested URL, whose page takes the parameters with these names; none: all. Dates and local
// times are in the browser's zone.
func ReadURL(c *frame.Request, names ...string) (f Filter) {
	if names == nil {
		names = Parameters()
	}
	f = Read(c.Params(names...))
	for _, at := range []*string{&f.Since, &f.Until} {
		if n := len(time.DateOnly); len(*at) < n || strings.ContainsAny((*at)[n:], "Zz+-") {
			continue
		}
		if t, err := frame.ParsePast(*at, c.Zone(), time.Now()); err == nil { // the API takes no local times
			*at = t.UTC().Format(time.RFC3339)
		}
	}
	return f
}

// Read parses the parameters of a URL.
func Read(v url.Values) (f Filter) {
	for name, field := range f.parameters() {
		*field = strings.TrimSpace(v.Get(name))
	}
	for _, at := range []*string{&f.Since, &f.Until} { // because people write "24 h" and "2026-03-08 10:00"
		sep := ""
		if strings.Contains(*at, ":") {
			sep = "T"
		}
		*at = strings.Join(strings.Fields(*at), sep)
	}
	for _, o := range v["outcome"] {
		if o = strings.ToLower(strings.TrimSpace(o)); o != "" && !slices.Contains(f.Outcomes, o) {
			f.Outcomes = append(f.Outcomes, o)
		}
	}
	return f
}

// Values is the inverse of [Read].
func (f *Filter) Values() url.Values {
	v := url.Values{"outcome": f.Outcomes}
	for name, field := range f.parameters() {
		v.Set(name, *field)
	}
	return v
}

// Address returns the URL of a path with the filter and additional parameters.
func (f *Filter) Address(path string, pairs ...string) string {
	return frame.Address(path, f.Values(), pairs...)
}

// IsEmpty reports whether the filter selects all records.
func (f *Filter) IsEmpty() bool { return f.Address("") == "" }

// Has reports whether the filter selects an outcome.
func (f *Filter) Has(outcome scheduler.Outcome) bool {
	return slices.Contains(f.Outcomes, string(outcome))
}

// Bounded reports whether no new record can match.
func (f *Filter) Bounded() bool { return f.Until != "" }

// Query returns the query of the filter, limited to the collections of the caller. A job that does not exist is a part of
// other names.
func (f *Filter) Query(ctx context.Context, s *control.Service) (q control.HistoryQuery, err error) {
	q.Key, q.Sees = scheduler.KeyIn(f.Collection, f.Job), auth.Sees(ctx)
	if q.Key.Collection != "" {
		if err := auth.Check(ctx, auth.Read, q.Key.Collection); err != nil {
			return q, err
		}
	}
	part := ""
	if q.Key.Job != "" {
		_, err := s.Get(ctx, q.Key)
		if errors.Is(err, scheduler.ErrNotFound) || errors.Is(err, scheduler.ErrInvalid) {
			q.Key, part = scheduler.Key{Collection: f.Collection}, f.Job
		}
	}
	var terms []string
	for _, one := range []struct {
		field, comparison string
		values            []string
		name              string   // of the parameter, if it takes some words only
		takes             []string // these
	}{
		{"job", "eq", []string{part}, "", nil},
		{"status", "eq", f.Outcomes, "outcome", outcomes},
		{"actionType", "eq", []string{f.Type}, "", nil},
		{"actionName", "eq", []string{f.Phase}, "action", scheduler.ActionNames},
		{"target", "eq", []string{f.Target}, "", nil},
		{"manual", "eq", []string{f.Manual}, "manual", []string{"true", "false"}},
		{"startTime", "ge", []string{f.Since}, "", nil},
		{"startTime", "le", []string{f.Until}, "", nil},
	} {
		var choices []string
		for _, v := range one.values {
			is := func(word string) bool { return strings.EqualFold(word, v) }
			if v != "" && one.takes != nil && !slices.ContainsFunc(one.takes, is) {
				return q, frame.Problem{Status: http.StatusBadRequest, Text: frame.NotOneOf(one.name, v, one.takes)}
			}
			if strings.ContainsAny(v, " '()") { // no field has such a value, and the parser would misread it
				return q, frame.Problem{Status: http.StatusBadRequest, Text: words.Text("live.word", one.field, v)}
			}
			if v != "" {
				choices = append(choices, one.field+" "+one.comparison+" "+v)
			}
		}
		if len(choices) > 0 {
			terms = append(terms, "("+strings.Join(choices, " or ")+")")
		}
	}
	if f.Text != "" {
		terms = append(terms, f.Text)
	}
	q.RecordFilter, err = v1.HistoryFilter(strings.Join(terms, " and "), s.Now())
	return q, err
}
