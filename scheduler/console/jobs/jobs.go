package jobs

import (
	"embed"
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
	"github.com/carillon-sched/carillon/scheduler/control"
)

//go:embed *.html
var files embed.FS

//go:embed assets
var assets embed.FS

var (
	listPage   = frame.Templates(files, "list.html", "row.html")
	manyPage   = frame.Templates(files, "many.html")
	operations = frame.Templates(files, "operations.html")
)

// The paths of the section.
const (
	listPath = frame.Root + "/jobs"
	manyPath = frame.Root + "/many"
)

type section struct {
	service *control.Service
}

// Section returns the pages.
func Section(s *control.Service) frame.Section {
	r := section{s}
	return frame.Section{Name: "jobs", Path: listPath, Key: "j", Right: auth.ReadAny, Assets: assets, Routes: []frame.Route{
		{Method: http.MethodGet, Path: listPath, Right: auth.ReadAny, Do: r.list},
		{Method: http.MethodPost, Path: manyPath, Right: auth.OperateAny, Do: frame.WithForm(r.ask)},
		{Method: http.MethodGet, Path: manyPath, Right: auth.OperateAny, Do: r.listMany},
		{Method: http.MethodGet, Path: manyPath + "/{id}", Right: auth.OperateAny, Do: r.showMany},
		{Method: http.MethodGet, Path: manyPath + "/{id}/events", Right: auth.OperateAny, Do: r.followMany, Live: true},
		{Method: http.MethodPost, Path: manyPath + "/{id}/start", Right: auth.OperateAny, Do: frame.WithForm(r.start)},
		{Method: http.MethodPost, Path: manyPath + "/{id}/stop", Right: auth.OperateAny, Do: r.stop},
		{Method: http.MethodPost, Path: manyPath + "/{id}/undo", Right: auth.OperateAny, Do: r.undo},
	}, Views: parameters}
}

// filter selects and sorts the jobs of the table, as in its URL.
type filter struct {
	Text       string // q
	Collection string
	State      string
	Action     string
	Target     string
	Label      string
	Outcome    string
	Within     string

	Sort       string // name, next or last; "": name
	Descending bool

	Hide []string // the hidden columns

	Place string // start of the page, or its end with Back
	Back  bool
}

// states are the selectable states.
var states = []scheduler.State{
	scheduler.Enabled, v1.Paused, scheduler.Disabled, scheduler.Completed, scheduler.Faulted, scheduler.Damaged,
}

// lengths are the selectable periods of the next run.
var lengths = []string{"1m", "1h", "24h", "168h"}

// The orders of the table.
const (
	byName = "name"
	byNext = "next"
	byLast = "last"

	ascending  = "ascending"
	descending = "descending"
)

var orders = map[string]scheduler.JobOrder{
	"": scheduler.OrderByName, byName: scheduler.OrderByName, byNext: scheduler.OrderByNext, byLast: scheduler.OrderByLast,
}

// parametersOf returns the fields by the names of their parameters, without order and position.
func parametersOf(f *filter) map[string]*string {
	return map[string]*string{
		"q": &f.Text, "collection": &f.Collection, "state": &f.State, "action": &f.Action, "target": &f.Target, "label": &f.Label,
		"outcome": &f.Outcome, "within": &f.Within,
	}
}

// parameters are the parameters of the table without the position.
var parameters = append(slices.Collect(maps.Keys(parametersOf(&filter{}))), "sort", "order", "hide")

// columns are the columns that can be hidden. Their labels are the texts jobs.column.NAME.
var columns = []string{"does", "schedule", "next", "last", "runs", "labels"}

// readFilter parses the parameters of a URL, or of a form with them.
func readFilter(of url.Values) filter {
	get := func(name string) string { return strings.TrimSpace(of.Get(name)) }
	f := filter{Sort: get("sort"), Descending: get("order") == descending, Place: get("after"), Hide: of["hide"]}
	for name, field := range parametersOf(&f) {
		*field = get(name)
	}
	f.State = strings.ToLower(f.State)
	if f.Place == "" {
		f.Place = get("before")
		f.Back = f.Place != ""
	}
	if f.Sort == byName {
		f.Sort = ""
	}
	return f
}

// Fields returns the parameters without order and position, as hidden fields of forms.
func (f filter) Fields() url.Values {
	v := url.Values{}
	for name, field := range parametersOf(&f) {
		if *field != "" {
			v.Set(name, *field)
		}
	}
	if len(f.Hide) > 0 {
		v["hide"] = f.Hide
	}
	return v
}

// Any reports whether the filter excludes jobs.
func (f filter) Any() bool {
	f.Hide = nil
	return len(f.Fields()) > 0
}

// Hides reports whether a column is hidden.
func (f filter) Hides(column string) bool { return slices.Contains(f.Hide, column) }

// address returns the URL of the table with the filter and additional parameters: names and values.
func (f filter) address(pairs ...string) string { return frame.Address(listPath, f.Fields(), pairs...) }

// Order returns the value of the parameter order.
func (f filter) Order() string {
	if f.Descending {
		return descending
	}
	return ""
}

// SortLink returns the URL of the first page sorted by a column, reversed if it is the current one.
func (f filter) SortLink(column string) string {
	order := ""
	if f.sorted(column) && !f.Descending || column == byLast && !f.sorted(column) { // latest first
		order = descending
	}
	if column == byName {
		column = ""
	}
	return f.address("sort", column, "order", order)
}

func (f filter) sorted(column string) bool {
	return f.Sort == column || f.Sort == "" && column == byName
}

// AriaSort returns the order of a column as the attribute aria-sort.
func (f filter) AriaSort(column string) string {
	switch {
	case !f.sorted(column):
		return "none"
	case f.Descending:
		return descending
	}
	return ascending
}

// PageLink returns the URL of the page after or before a position.
func (f filter) PageLink(side, place string) string {
	return f.address("sort", f.Sort, "order", f.Order(), side, place)
}

// here returns the URL of the same page.
func (f filter) here() string {
	if f.Back {
		return f.PageLink("before", f.Place)
	}
	return f.PageLink("after", f.Place)
}

// LabelLink returns the URL of the jobs with a label.
func (filter) LabelLink(name, value string) string {
	return filter{Label: name + "=" + value}.address()
}

// search returns the filter as the APIs have it.
func (f filter) search() v1.JobSearch {
	s := v1.JobSearch{Labels: f.Label, Action: f.Action, Target: f.Target, NextBefore: f.Within, Text: f.Text, Outcome: f.Outcome}
	if f.State != "" {
		s.Filter = "state eq " + f.State
	}
	return s
}

// query returns the query of the filter. The error names the parameter of the page.
func (r section) query(c *frame.Request, f *filter) (q scheduler.JobQuery, err error) {
	if err := r.check(c, f); err != nil {
		return q, err
	}
	s := f.search()
	if q, err = s.Query(r.service.Now()); err != nil {
		return q, err
	}
	q.Descending, q.WithOutcome, q.Sees = f.Descending, true, auth.Sees(c.Context())
	if f.Collection != "" {
		q.Collections, err = []string{f.Collection}, auth.Check(c.Context(), auth.Read, f.Collection)
	}
	q.Order = orders[f.Sort]
	return q, err
}

// check checks the parameters that the APIs name differently or do not have.
func (r section) check(c *frame.Request, f *filter) error {
	within, err := time.ParseDuration(f.Within)
	_, ordered := orders[f.Sort]
	wrong := func(text string) error {
		return frame.Problem{Status: 400, Text: text, Hint: c.Text("jobs.unknown.hint")}
	}
	switch kinds := r.service.ActionTypes(); {
	case f.State != "" && !slices.Contains(states, scheduler.State(f.State)):
		return wrong(frame.NotOneOf("state", f.State, states))
	case f.Action != "" && !slices.ContainsFunc(kinds, func(t string) bool { return strings.EqualFold(t, f.Action) }):
		return wrong(frame.NotOneOf("action", f.Action, kinds))
	case f.Outcome != "" && !slices.Contains(scheduler.LastOutcomes, scheduler.Outcome(f.Outcome)):
		return wrong(frame.NotOneOf("outcome", f.Outcome, scheduler.LastOutcomes))
	case f.Within != "" && (err != nil || within <= 0):
		return wrong(frame.NotOneOf("within", f.Within, lengths))
	case slices.ContainsFunc(f.Hide, func(column string) bool { return !slices.Contains(columns, column) }):
		return wrong(frame.NotOneOf("hide", strings.Join(f.Hide, ", "), columns))
	case !ordered:
		return wrong(frame.NotOneOf("sort", f.Sort, []string{byName, byNext, byLast}))
	}
	_, err = scheduler.ParseSelector(f.Label)
	for _, p := range scheduler.ProblemsIn(err) {
		return scheduler.Invalid("label", p.Message)
	}
	return nil
}

func unknown(c *frame.Request, name, value string) error {
	return frame.Problem{Status: 400, Text: c.Text("jobs.unknown", name, fmt.Sprintf("%q", value)), Hint: c.Text("jobs.unknown.hint")}
}
