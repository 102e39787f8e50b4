package job

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/audit"
	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/console/admin"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/console/look"
	"github.com/carillon-sched/carillon/scheduler/console/records"
	"github.com/carillon-sched/carillon/scheduler/console/table"
	"github.com/carillon-sched/carillon/scheduler/console/words"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/scheduler/spec"
)

//go:embed *.html
var files embed.FS

//go:embed assets
var assets embed.FS

var page = frame.Templates(files, "*.html")

// Config configures the page. Service is required.
type Config struct {
	Service *control.Service

	// Prefix is the prefix of the NATS subjects of published specs. Default: carillon.
	Prefix string

	// TraceURL is where traces are shown. Default: nowhere.
	TraceURL frame.TraceURL
}

type section struct {
	service *control.Service
	prefix  string
	traces  frame.TraceURL
	graphs  *look.Looks[*v1.Graph]
}

// root is the path of jobs.
const root = frame.Root + "/jobs"

// Section returns the page.
func Section(cfg Config) frame.Section {
	r := section{cfg.Service, cmp.Or(cfg.Prefix, "carillon"), cfg.TraceURL, &look.Looks[*v1.Graph]{}}
	const of = root + "/{c}/{j}"
	return frame.Section{Name: "job", Right: auth.ReadAny, Assets: assets, Routes: []frame.Route{
		frame.Get(root+"/graph", auth.ReadAny, r.showGraph),
		frame.Get(of, auth.Read, r.show),
		frame.Stream(of+"/events", auth.Read, r.events),
		frame.Get(of+"/next", auth.Read, r.showNext),
		frame.Get(of+"/why", auth.Read, r.showWhy),
		frame.Get(of+"/copy", auth.Read, r.showCopy),
		frame.Get(of+"/runs/{occurrence}", auth.Read, r.showOccurrence),
		frame.Get(of+"/delete", auth.Operate, r.confirmDelete),
		frame.Post(of+"/run", auth.Operate, act(r.run)),
		frame.Post(of+"/enable", auth.Operate, act(turn(cfg.Service.Enable, "enable"))),
		frame.Post(of+"/disable", auth.Operate, act(turn(cfg.Service.Disable, "disable"))),
		frame.Post(of+"/pause", auth.Operate, act(r.pause)),
		frame.Post(of+"/resume", auth.Operate, act(turn(cfg.Service.Enable, "resume"))), // which ends a pause
		frame.Post(of+"/resubmit", auth.Operate, act(r.resubmit)),
		frame.Post(of+"/cancel", auth.Operate, act(r.cancel)),
		frame.Post(of+"/delete", auth.Operate, frame.WithForm(r.remove)),
	}}
}

// key returns the job in the path of a request.
func key(c *frame.Request) scheduler.Key {
	return scheduler.Key{Collection: c.Request.PathValue("c"), Job: c.Request.PathValue("j")}
}

// shown returns a page of the section.
func shown(title, main, fragment string, data any) *frame.Page {
	return &frame.Page{
		Title: title, Template: page, NoHeading: true, Main: main, Fragment: fragment, Data: data,
		Scripts: []string{"job/job.js"}, Styles: []string{"job/job.css"},
	}
}

// name is the heading of the page.
type name struct {
	Key     scheduler.Key
	Path    string
	Operate bool
	Admin   bool
}

func nameOf(c *frame.Request, k scheduler.Key) name {
	return name{k, frame.JobPath(k), c.May(auth.Operate, k.Collection), c.May(auth.Administer, k.Collection)}
}

// status is the part of a job that changes while it runs.
type status struct {
	name

	Is       standing
	Job      *scheduler.Job
	Now      v1.Status
	Detached []control.DetachedRun
	Etag     string
	Paused   bool
	Active   []string // occurrences that the user can cancel
}

// jobPage is the whole page.
type jobPage struct {
	status

	Schedule string
	Labels   map[string]string
	Warnings []spec.Warning
	Actions  []action
	Settings []setting
	Next     *coming
	Timeline *timeline
	History  *history
	Chain    *chain // nil: none
	Audit    *table.Table
	After    uint64 // the history position after which the events begin
	Reading  string // the URL of the page that waits for the past runs; "": they have been read
}

// show answers with the page, or with its history alone.
func (r section) show(c *frame.Request) error {
	k := key(c)
	if c.Part() {
		h, err := r.historyOf(c.Context(), c, k, nil)
		if err != nil {
			return err
		}
		return c.Show(&frame.Page{Template: page, Part: "job-history", Data: h})
	}
	s, err := r.sheetOf(c, k)
	if err != nil {
		return gone(c, err)
	}
	return c.Show(shown(k.Job+" · "+k.Collection, "job-sheet", "", s))
}

// gone explains a missing job.
func gone(c *frame.Request, err error) error {
	if !errors.Is(err, scheduler.ErrNotFound) {
		return err
	}
	p := c.Describe(err)
	p.Hint = c.Text("job.gone.hint")
	return p
}

// statusOf returns the job and its status.
func (r section) statusOf(ctx context.Context, c *frame.Request, k scheduler.Key) (*v1.Job, *status, error) {
	v, err := r.service.Get(ctx, k)
	if err != nil {
		return nil, nil, err
	}
	beside, err := r.service.DetachedRuns(ctx, k)
	if err != nil {
		return nil, nil, err
	}
	var active []string
	if v.Status.Running || v.Status.Retry > 0 || v.Status.WaitsFor != "" || len(beside) > 0 {
		if active, err = r.active(ctx, c, k); err != nil {
			return nil, nil, err
		}
	}
	now := r.service.Now()
	return v, &status{
		name: nameOf(c, k), Is: standingOf(v, beside, now), Job: v.Job, Now: v.Status, Detached: beside, Etag: v.ETag(),
		Paused: v.Job.PausedAt(now) && v.Job.State == scheduler.Enabled, Active: active,
	}, nil
}

func (r section) sheetOf(c *frame.Request, k scheduler.Key) (*jobPage, error) {
	ctx := c.Context()
	v, st, err := r.statusOf(ctx, c, k)
	if err != nil {
		return nil, err
	}
	s := &jobPage{status: *st}
	if v.Job.Plan != nil {
		s.Schedule, s.Warnings = v.Job.Schedule(), v.Job.Def.Warnings(v.Job.Plan)
		s.Actions, s.Settings, s.Labels = actionsOf(v.Job.Def), settingsOf(v.Job), v.Job.Def.Labels
	}
	if s.Next, err = r.nextOf(ctx, c, v, nextFew); err != nil {
		return nil, err
	}
	changes, err := r.changesOf(ctx, c, k)
	if err != nil {
		return nil, err
	}
	s.Audit = table.New(table.Without(admin.Changes, admin.ObjectLabel), changes, words.Text("common.no-changes"))
	if err := r.readPast(ctx, c, s, changes); err != nil {
		return nil, err
	}
	if g, failed := r.graph(c); failed == nil { // the page of the graph shows its error
		s.Chain, err = r.draw(c, connected(g.Edges, k.String()))
	}
	return s, err
}

// pageWait is how long a page waits for the past runs. If they take longer, the events deliver them: records that are spread
// over a long history take seconds to read.
const pageWait = 200 * time.Millisecond

// readPast reads the past runs of the page.
func (r section) readPast(ctx context.Context, c *frame.Request, s *jobPage, changes []*audit.Entry) error {
	reading, cancel := ctx, context.CancelFunc(func() {})
	if c.Query("wait") == "" {
		reading, cancel = context.WithTimeout(ctx, pageWait)
	}
	defer cancel()
	past, err := r.recentOf(reading, s.Key)
	past.changes = changes
	if err == nil {
		s.Timeline, err = r.drawn(reading, c, s.Key, past, s.Next)
	}
	if err == nil {
		s.History, err = r.historyOf(reading, c, s.Key, &past)
	}
	s.After = past.newest
	if err == nil || reading.Err() == nil || ctx.Err() != nil {
		return err
	}
	s.After, err = r.service.LastRecord(ctx)
	s.Timeline = &timeline{Audit: admin.AuditOf(s.Key)}
	s.History = &history{Filter: filterOf(c), Outcomes: scheduler.Outcomes, Key: s.Key, Path: s.Path}
	s.Reading = s.History.Filter.Address(s.Path, "wait", "true")
	return err
}

// showNext answers with the next runs.
func (r section) showNext(c *frame.Request) error {
	k := key(c)
	v, err := r.service.Get(c.Context(), k)
	if err != nil {
		return gone(c, err)
	}
	n := nextFew
	if many := strconv.Itoa(nextMany); c.Choice("n", strconv.Itoa(nextFew), many) == many {
		n = nextMany
	}
	next, err := r.nextOf(c.Context(), c, v, n)
	if err != nil {
		return err
	}
	return c.Show(shown(c.Text("common.next-runs")+" · "+k.Job, "job-next-page", "job-next", struct {
		name

		Next *coming
	}{nameOf(c, k), next}))
}

// occurrencePage is one run with the runs that repeated it.
type occurrencePage struct {
	name

	Run     *run
	Repeats []*run                // newest first
	Active  []control.DetachedRun // repeats without an end
	Success *lastSuccess          // of the job, to compare a failure with; nil: none
	After   uint64                // the sequence that live events resume after
	Cancel  bool                  // the user can cancel it
}

// Repeated reports whether a repeat succeeded.
func (p occurrencePage) Repeated() bool {
	return slices.ContainsFunc(p.Repeats, func(o *run) bool { return o.State == string(scheduler.OutcomeCompleted) })
}

// showOccurrence answers with all records of one run.
func (r section) showOccurrence(c *frame.Request) error {
	k := key(c)
	before, err := v1.ReadSequence(records.Before, c.Query(records.Before))
	if err != nil {
		return err
	}
	p := occurrencePage{name: nameOf(c, k)}
	if p.Run, err = r.occurrenceOf(c.Context(), k, c.Request.PathValue("occurrence"), before); err != nil {
		return err
	}
	recent, err := r.recentOf(c.Context(), k)
	if err != nil {
		return err
	}
	if p.After = recent.newest; p.After != 0 {
		if p.Repeats, err = r.repeatsOf(c.Context(), k, p.Run); err != nil {
			return err
		}
	}
	if p.Active, err = r.service.Reruns(c.Context(), k, p.Run.Occurrence); err != nil {
		return err
	}
	if p.Run.State == string(scheduler.OutcomeFailed) || p.Run.State == string(scheduler.OutcomeFaulted) {
		if p.Success, err = r.lastSuccess(c.Context(), k, recent); err != nil {
			return err
		}
	}
	if p.Run.State == string(scheduler.OutcomeFailed) || p.Run.State == string(scheduler.OutcomePostponed) {
		active, err := r.active(c.Context(), c, k)
		if err != nil && !errors.Is(err, scheduler.ErrNotFound) { // the job may be deleted
			return err
		}
		p.Cancel = slices.Contains(active, p.Run.Occurrence)
	}
	return c.Show(shown(p.Run.Occurrence, "job-occurrence-page", "job-occurrence", p))
}
