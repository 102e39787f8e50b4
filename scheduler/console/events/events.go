// Package events has the console's pages of published events, and of the sources that store events.
//
//	list ──► event ──► jobs that it started, or why not ──► test, replay
//	sources ──► source ──► enable, disable
//
// Anyone who can publish events, or call a webhook, chooses the text of an event: the pages show control characters and
// characters that change the text direction as signs, and limit the size.
package events

import (
	"embed"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/console/records"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/scheduler/document"
)

//go:embed *.html
var files embed.FS

var page = frame.Templates(files, "*.html")

// The paths of the lists.
const (
	root        = frame.Root + "/events"
	sourcesRoot = frame.Root + "/sources"
)

type section struct {
	service *control.Service
}

// Section returns the pages.
func Section(s *control.Service) frame.Section {
	r := section{s}
	const source = sourcesRoot + "/{c}/{s}"
	return frame.Section{Name: "events", Path: root, Key: "e", Right: auth.ReadAny, Routes: []frame.Route{
		frame.Get(root, auth.ReadAny, r.list),
		frame.Get(root+"/{c}/{n}", auth.Read, r.show),
		frame.Get(root+"/new", auth.OperateAny, func(c *frame.Request) error {
			return r.draft(c, c.Params("collection", "event", "id", "type", "body"), nil)
		}),
		frame.Post(root+"/new", auth.OperateAny, frame.WithShortForm(r.publish)),
		frame.Post(root+"/replay", auth.OperateAny, frame.WithShortForm(r.replay)),
		frame.Get(sourcesRoot, auth.ReadAny, r.sources),
		frame.Get(source, auth.Read, r.source),
		frame.Post(source, auth.Operate, frame.WithShortForm(r.turn)),
	}}
}

func shown(title, main string, data any) *frame.Page {
	return &frame.Page{Title: title, Template: page, Main: main, Data: data, NoHeading: true}
}

// line is an event in the list.
type line struct{ *scheduler.Event }

// Path returns the path of the event's page.
func (l line) Path() string {
	return root + "/" + url.PathEscape(l.Topic.Collection) + "/" + strconv.FormatUint(l.Sequence, 10)
}

// Name returns the topic. Any NATS client can publish an event with any name.
func (l line) Name() string { return frame.Visible(l.Topic.String()) }

// Size returns the size of the body in bytes.
func (l line) Size() int64 { return int64(len(l.Data)) }

// lineText is the length of the text of an event in a list, in bytes.
const lineText = 80

// Begin returns the beginning of the body.
func (l line) Begin() string { return document.Cut(string(l.Data), lineText) }

// list is the list of events.
type list struct {
	Collections            []string
	Collection, Name, Text string
	Lines                  []line
	First, Older           string // the URLs of the first and the next page; "": this page, and none
	Publish                bool
	Problem                *frame.Problem
}

// pageSize is the number of events in the list.
const pageSize = 50

func (r section) list(c *frame.Request) (err error) {
	l := &list{Collection: c.Query("collection"), Name: c.Query("event"), Text: c.Query("text"), Publish: c.May(auth.OperateAny, "")}
	p := shown(c.Text("events.menu"), "events-list", l)
	if l.Problem, p.Status, err = c.Inside(r.find(c, l)); err != nil {
		return err
	}
	l.Collections, err = c.Collections(r.service, auth.Read)
	if p.Fragment = "events-found"; err != nil {
		return err
	}
	return c.Show(p)
}

// find reads the requested page of the list.
func (r section) find(c *frame.Request, l *list) error {
	q := control.EventQuery{
		Topic: scheduler.Topic{Collection: l.Collection, Name: l.Name}, Text: l.Text, Sees: auth.Sees(c.Context()),
	}
	if l.Collection != "" && !q.Sees(l.Collection) {
		return auth.Check(c.Context(), auth.Read, l.Collection)
	}
	before, err := v1.ReadSequence(records.Before, c.Query(records.Before))
	if err != nil {
		return err
	}
	found, next, err := r.service.Events(c.Context(), q, v1.Page{Top: pageSize, Before: before})
	for _, e := range found {
		l.Lines = append(l.Lines, line{e})
	}
	link := func(before string) string {
		return frame.Address(root, nil, "collection", l.Collection, "event", l.Name, "text", l.Text, records.Before, before)
	}
	if before > 0 {
		l.First = link("")
	}
	if next > 0 {
		l.Older = link(strconv.FormatUint(next, 10))
	}
	return err
}

// bodyMost limits a shown body, in bytes.
const bodyMost = 64 << 10

// event is the page of an event.
type event struct {
	line

	Body   string
	Cut    bool
	Jobs   []control.AffectedJob
	More   bool // further jobs listen to it
	Job    string
	Test   *v1.TestedEvent // with Job
	Wrong  *frame.Problem  // of the test
	Replay bool
}

// eventAt returns the event with a sequence that the caller may see.
func (r section) eventAt(c *frame.Request, sequence string, sees func(collection string) bool) (*scheduler.Event, error) {
	n, err := v1.ReadSequence("sequence", sequence)
	if err != nil {
		return nil, err
	}
	return r.service.Event(c.Context(), n, sees)
}

func (r section) show(c *frame.Request) error {
	e, err := r.eventAt(c, c.Request.PathValue("n"), func(collection string) bool { return collection == c.Request.PathValue("c") })
	if err != nil {
		return err
	}
	s := &event{line: line{e}, Job: c.Query("job"), Replay: c.May(auth.OperateAny, "")}
	body := frame.Pretty(string(e.Data))
	s.Body = frame.Visible(scheduler.CutText(body, bodyMost))
	s.Cut = len(body) > bodyMost
	p := shown(c.Text("events.one", s.Name(), e.Sequence), "events-one", s)
	if s.Job != "" {
		if s.Wrong, p.Status, err = c.Inside(r.test(c, s)); err != nil {
			return err
		}
	}
	if s.Jobs, s.More, err = r.service.Affected(c.Context(), e, auth.Sees(c.Context())); err != nil {
		return err
	}
	return c.Show(p)
}

func (r section) test(c *frame.Request, s *event) (err error) {
	k := scheduler.KeyIn(s.Topic.Collection, s.Job)
	if err := auth.Check(c.Context(), auth.Read, k.Collection); err != nil {
		return err
	}
	s.Test, err = r.service.TestEvent(c.Context(), k, fmt.Appendf(nil, `{"sequence": %d}`, s.Sequence))
	return err
}

// replay starts a run of a job with a stored event.
func (r section) replay(c *frame.Request, form url.Values) error {
	e, err := r.eventAt(c, form.Get("sequence"), auth.Sees(c.Context()))
	if err != nil {
		return err
	}
	k := scheduler.KeyIn(e.Topic.Collection, strings.TrimSpace(form.Get("job")))
	if err := auth.Check(c.Context(), auth.Operate, k.Collection); err != nil {
		return err
	}
	v, err := r.service.ReplayEvent(c.Lasting(), k, fmt.Appendf(nil, `{"sequence": %d}`, e.Sequence), false)
	switch {
	case err != nil:
		return err
	case !v.Starts:
		return c.Done(c.Text("events.did.nothing", k, frame.Shown(v.Message)), line{e}.Path())
	}
	return c.Done(c.Text("events.did.replay", e.Sequence), frame.JobPath(k))
}

// draft is the form of a new event.
type draft struct {
	Collections []string
	Typed       url.Values
	Wrong       *frame.Problem
}

// draft shows the form of a new event, with the problem of the last attempt; nil for none.
func (r section) draft(c *frame.Request, typed url.Values, wrong error) (err error) {
	d := &draft{Typed: typed}
	p := shown(c.Text("events.new"), "events-new", d)
	if d.Wrong, p.Status, err = c.Inside(wrong); err != nil {
		return err
	}
	if d.Collections, err = c.Collections(r.service, auth.Operate); err != nil {
		return err
	}
	return c.Show(p)
}

func (r section) publish(c *frame.Request, form url.Values) error {
	t := scheduler.Topic{Collection: form.Get("collection"), Name: strings.TrimSpace(form.Get("event"))}
	if err := auth.Check(c.Context(), auth.Operate, t.Collection); err != nil {
		return err
	}
	header := map[string][]string{}
	for name, field := range map[string]string{"Nats-Msg-Id": "id", "content-type": "type"} {
		if text := strings.TrimSpace(form.Get(field)); text != "" {
			header[name] = []string{text}
		}
	}
	v, err := r.service.PublishEvent(c.Lasting(), t, header, []byte(form.Get("body")))
	if errors.Is(err, scheduler.ErrInvalid) || errors.Is(err, scheduler.ErrUnavailable) {
		return r.draft(c, form, err)
	}
	if err != nil {
		return err
	}
	note := c.Text("events.did.publish")
	if v.Duplicate {
		note = c.Text("events.did.duplicate")
	}
	return c.Done(note, line{&scheduler.Event{Topic: t, Sequence: v.Sequence}}.Path())
}
