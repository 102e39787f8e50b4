package load

import (
	"context"
	"embed"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/console/look"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/scheduler/forecast"
)

//go:embed *.html
var files embed.FS

//go:embed assets
var assets embed.FS

var (
	loadPage     = frame.Templates(files, "load.html", "counting.html")
	reviewPage   = frame.Templates(files, "review.html")
	calendarPage = frame.Templates(files, "calendar.html", "counting.html")
)

// The paths of the pages.
const (
	loadPath     = frame.Root + "/load"
	calendarPath = frame.Root + "/calendar"
)

type section struct {
	service *control.Service
	reports *look.Looks[*forecast.Report]
	agendas *look.Looks[*counted]
}

// Sections returns the calendar and the forecast.
func Sections(s *control.Service) []frame.Section {
	r := section{s, &look.Looks[*forecast.Report]{}, &look.Looks[*counted]{}}
	return []frame.Section{
		{Name: "calendar", Path: calendarPath, Key: "c", Ranged: true, Right: auth.ReadAny, Routes: []frame.Route{
			frame.Get(calendarPath, auth.ReadAny, r.calendar),
		}},
		{Name: "load", Path: loadPath, Key: "f", Right: auth.ReadAny, Assets: assets, Routes: []frame.Route{
			frame.Get(loadPath, auth.ReadAny, r.show),
			frame.Post(loadPath+"/renew", auth.ReadAny, frame.WithForm(r.renew)),
			frame.Post(loadPath+"/review", auth.OperateAny, frame.WithForm(r.each(false, r.dryRun))),
			frame.Post(loadPath+"/apply", auth.OperateAny, frame.WithForm(r.each(true, r.carryOut))),
		}},
	}
}

// How long a request waits for a computation before it shows the progress.
const (
	pageWait = 25 * time.Millisecond
	partWait = 2 * time.Second
	askWait  = 5 * time.Minute // for a browser without scripts
)

// hoursOffered and proposalsOffered are the choices of the form.
var (
	hoursOffered     = []int{6, 12, 24, 48, 72, forecast.MaxHours}
	proposalsOffered = []int{0, forecast.DefaultProposals, 500, 1000}
)

// asked is the submitted form.
type asked struct {
	Collection string
	Hours      int
	Proposals  int
}

// shown is the content of the page.
type shown struct {
	asked

	Collections      []string
	HoursOffered     []int
	ProposalsOffered []int
	Report           part
}

// part is the part of the page that depends on the form.
type part struct {
	*forecast.Report

	counting

	Address string // of the page
	Wait    string // the URL of the page once the result is ready
	Problem *frame.Problem

	Made     time.Time
	Map      heatMap
	Rough    []string // approximate parts
	Choices  []proposal
	MayApply bool
}

// counting is the progress of a computation.
type counting struct {
	Again   bool   // not ready
	Old     bool   // an older result is shown
	Counted int64  // jobs so far
	Since   string // elapsed time
}

// proposal is a proposal on the page.
type proposal struct {
	forecast.Proposal

	Value   string // of its checkbox
	Text    string
	Allowed bool
}

func (r section) show(c *frame.Request) error {
	q, err := readAsked(c)
	s := shown{asked: q, HoursOffered: hoursOffered, ProposalsOffered: proposalsOffered}
	if err == nil {
		s.Report, err = r.report(c, q)
	}
	var status int
	if s.Report.Problem, status, err = c.Inside(err); err != nil {
		return err
	}
	if s.Collections, err = c.Collections(r.service, auth.Read); err != nil {
		return err
	}
	if !slices.Contains(hoursOffered, q.Hours) {
		s.HoursOffered = slices.Sorted(slices.Values(append([]int{q.Hours}, hoursOffered...)))
	}
	return c.Show(&frame.Page{
		Status: status, Title: c.Text("load.title"), Template: loadPage, Fragment: "report", Data: &s,
		Scripts: []string{"load/load.js"}, Styles: []string{"load/load.css"},
	})
}

// readAsked parses the URL.
func readAsked(c *frame.Request) (q asked, err error) {
	q = asked{Collection: c.Query("collection"), Hours: forecast.DefaultHours, Proposals: forecast.DefaultProposals}
	for _, one := range []struct {
		name  string
		to    *int
		least int
		most  int
	}{{"hours", &q.Hours, 1, forecast.MaxHours}, {"proposals", &q.Proposals, 0, pickedMost}} {
		text := c.Query(one.name)
		if text == "" {
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < one.least || n > one.most {
			return q, frame.Problem{Status: http.StatusBadRequest, Text: c.Text("load.number", one.name, text, one.least, one.most)}
		}
		*one.to = n
	}
	if q.Collection != "" {
		err = auth.Check(c.Context(), auth.Read, q.Collection)
	}
	return q, err
}

// address returns the URL of the page.
func (q *asked) address(pairs ...string) string {
	if q.Hours != forecast.DefaultHours {
		pairs = append(pairs, "hours", strconv.Itoa(q.Hours))
	}
	if q.Proposals != forecast.DefaultProposals {
		pairs = append(pairs, "proposals", strconv.Itoa(q.Proposals))
	}
	return frame.Address(loadPath, url.Values{"collection": {q.Collection}}, pairs...)
}

// report returns the forecast, or the progress of its computation.
func (r section) report(c *frame.Request, q asked) (p part, err error) {
	p = part{Address: q.address(), Wait: q.address("wait", "true")}
	sees, whose, err := c.Seen(r.service)
	if err != nil {
		return p, err
	}
	key := strings.Join([]string{q.Collection, strconv.Itoa(q.Hours), strconv.Itoa(q.Proposals), whose}, " ")
	one := r.reports.At(c, key, func(ctx context.Context, counted func(int)) (*forecast.Report, error) {
		return r.service.Forecast(ctx, control.ForecastQuery{
			Collection: q.Collection, Hours: q.Hours, Proposals: q.Proposals, Sees: sees, Counted: counted,
		})
	})
	if one, p.counting, err = settled(c, one); err != nil || one == nil {
		return p, err
	}
	p.Report, p.Made, p.Map = one.Value, one.Ended, newHeatMap(one.Value, c.Zone())
	for _, note := range one.Value.Notes {
		if strings.HasPrefix(note, "jitter ") { // the other notes have numbers only
			p.Rough = append(p.Rough, note)
		}
	}
	for _, each := range one.Value.Proposals {
		collection, _, _ := strings.Cut(each.Job, "/")
		way := proposal{Proposal: each, Value: each.Job + " " + string(each.Patch)}
		way.Allowed = c.May(auth.Operate, collection)
		p.MayApply = p.MayApply || way.Allowed
		if way.Text, err = patchText(each.Patch); err != nil {
			return p, err
		}
		p.Choices = append(p.Choices, way)
	}
	return p, nil
}

// settled returns the result of a computation or an older one, nil for none, and the progress.
func settled[T any](c *frame.Request, one *look.Look[T]) (shown *look.Look[T], far counting, err error) {
	patience := pageWait
	if c.Part() {
		patience = partWait
	}
	if c.Query("wait") != "" {
		patience = askWait
		leave, err := c.Lasts()
		if err != nil {
			return nil, far, err
		}
		defer leave()
	}
	if shown = one.Shown(c.Context(), patience); shown == one {
		return one, far, one.Err
	}
	took := frame.Took(time.Since(one.Began).Round(time.Second))
	return shown, counting{Again: true, Old: shown != nil, Counted: one.Counted(), Since: took}, nil
}

// renew restarts all computations.
func (r section) renew(c *frame.Request, form url.Values) error {
	r.reports.Renew()
	r.agendas.Renew()
	to := form.Get("to")
	if u, err := url.Parse(to); err != nil || u.IsAbs() || u.Host != "" || u.Path != loadPath && u.Path != calendarPath {
		to = loadPath
	}
	return c.Redirect(to)
}
