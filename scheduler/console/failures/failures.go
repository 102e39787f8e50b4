// Package failures shows failed attempts, grouped by cause: a list of groups, a page for each with what to do about it, and
// a page for each target. The overview shows the first open groups.
package failures

import (
	"cmp"
	"context"
	"embed"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/console/table"
	"github.com/carillon-sched/carillon/scheduler/console/words"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/scheduler/explain"
	"github.com/carillon-sched/carillon/scheduler/stats"
)

//go:embed *.html
var files embed.FS

//go:embed assets
var assets embed.FS

var pages = With(frame.Templates(files, "failures.html", "target.html"))

// With adds the templates "groups" and "health" to a set. They show lists of [Group] and of [stats.Target].
func With(s frame.Set) frame.Set { return s.With(files, "groups.html") }

// Style is the asset that "groups" needs.
const Style = "failures/failures.css"

const root = frame.Root + "/failures"

// Source provides the health of targets.
type Source interface {
	// Board returns the live statistics of all schedulers. With an error, it has the last known ones.
	Board(ctx context.Context) (*stats.Board, error)
}

type section struct {
	service *control.Service
	source  Source // nil: none
}

// Section returns the pages.
func Section(s *control.Service, source Source) frame.Section {
	r := section{s, source}
	const one, target = root + "/{id}", frame.Root + "/targets/{target}"
	return frame.Section{Name: "failures", Path: root, Key: "x", Ranged: true, Right: auth.ReadAny, Assets: assets, Routes: []frame.Route{
		frame.Get(root, auth.ReadAny, r.list),
		frame.Stream(root+"/events", auth.ReadAny, r.follow(r.groups, "list")),
		frame.Get(one, auth.ReadAny, r.show),
		frame.Stream(one+"/events", auth.ReadAny, r.follow(r.group, "facts", "jobs")),
		frame.Post(one+"/{verb}", auth.OperateAny, frame.WithShortForm(r.change)),
		frame.Get(target, auth.ReadAny, r.showTarget),
		frame.Stream(target+"/events", auth.ReadAny, r.follow(r.now, "now")),
	}}
}

// Group is a group as the pages show it.
type Group struct {
	*v1.FailureGroup

	Spark *frame.Spark // failures per minute
}

// Groups returns groups as the pages show them.
func Groups(all []*v1.FailureGroup) []Group {
	shown := make([]Group, len(all))
	for i, g := range all {
		shown[i] = Group{g, spark(g.Minutes)}
	}
	return shown
}

// Path is the path of the group's page.
func (g Group) Path() string { return root + "/" + g.ID }

// Mark is the state whose mark the group has.
func (g Group) Mark() string {
	return map[v1.FailureState]string{
		v1.FailureOpen: "failed", v1.FailureAcknowledged: "active", v1.FailureMuted: "paused", v1.FailureResolved: "completed",
	}[g.State]
}

// spark returns the chart of failures per minute.
func spark(all []uint64) *frame.Spark {
	s := &frame.Spark{Text: words.Text("failures.hour"), Paths: map[string]string{}}
	most := max(1, slices.Max(append(slices.Clone(all), 0)))
	for i, n := range all {
		if n > 0 {
			s.Bar("bar-failed", i, 1, int(max(1, n*16/most)))
		}
	}
	return s
}

// ranged is the list of groups in a time range.
type ranged struct {
	Groups []Group
	Range  *frame.TimeRange
	Files  *table.Files
	Events string
}

func (r section) groups(c *frame.Request) (any, error) {
	of, err := c.TimeRange(r.service.Now(), "")
	if err != nil {
		return nil, err
	}
	all, err := r.service.Failures(c.Context())
	all = slices.DeleteFunc(all, func(g *v1.FailureGroup) bool { return g.Last.Before(of.From) || g.First.After(of.To) })
	query := url.Values{"since": {of.Since}, "until": {of.Until}}
	return &ranged{Groups(all), of, table.FilesOf(root, query), frame.Address(root+"/events", query, "follow", "1")}, err
}

func (r section) list(c *frame.Request) error {
	list, err := r.groups(c)
	if err != nil {
		return err
	}
	shown := list.(*ranged)
	sent, err := table.List[*v1.FailureGroup, int]{
		Name: "failures",
		Fields: []string{
			"state", "target", "class", "actionType", "attempts", "faulted", "jobs", "first", "last", "example.job", "example.answer",
			"acknowledged.by", "acknowledged.note", "mutedUntil",
		},
		Next: func(int) (all []*v1.FailureGroup, none int, err error) {
			for _, g := range shown.Groups {
				all = append(all, g.FailureGroup)
			}
			return all, none, nil
		},
	}.Export(c)
	if sent || err != nil {
		return err
	}
	return c.Show(&frame.Page{
		Title: c.Text("failures.menu"), Template: pages, Data: shown, Range: shown.Range, Styles: []string{Style},
	})
}

// page is the content of the page of a group.
type page struct {
	Group

	Operate bool
	Typed   typed
	List    list
}

// typed are the values of the forms.
type typed struct{ Until, Since, Rate, Note, Mute string }

// typedIn returns the values that were typed before an error. Failures are rerun since a time otherwise.
func typedIn(c *frame.Request, since string) typed {
	v := c.Params("pauseUntil", "failedSince", "rate", "note", "mute")
	return typed{
		cmp.Or(v.Get("pauseUntil"), "2h"), cmp.Or(v.Get("failedSince"), since), v.Get("rate"), v.Get("note"), cmp.Or(v.Get("mute"), "2h"),
	}
}

// list is a list of jobs.
type list struct {
	Names  []string
	Others int // jobs that are not shown
}

// shownJobs limits the jobs on a page.
const shownJobs = 50

func (r section) group(c *frame.Request) (any, error) {
	g, err := r.service.Failure(c.Context(), c.Request.PathValue("id"))
	if err != nil {
		return nil, err
	}
	p := page{
		Group: Groups([]*v1.FailureGroup{g})[0], Operate: c.May(auth.OperateAny, ""),
		Typed: typedIn(c, g.First.In(c.Zone()).Format(time.DateTime)),
	}
	p.List = list{p.Selection.Jobs[:min(len(p.Selection.Jobs), shownJobs)], max(0, g.Jobs-shownJobs)}
	return p, nil
}

func (r section) show(c *frame.Request) error {
	p, err := r.group(c)
	if err != nil {
		return err
	}
	return c.Show(&frame.Page{
		Title: c.Text("failures.menu"), Template: pages, Main: "group", Data: p, NoHeading: true, Styles: []string{Style},
	})
}

// followEvery is the interval of updates.
const followEvery = 2 * time.Second

// follow sends parts of a page when they change.
func (section) follow(read func(*frame.Request) (any, error), parts ...string) func(*frame.Request) error {
	return func(c *frame.Request) error {
		l := c.Live()
		return l.Every(followEvery, func() error {
			data, err := read(c)
			if err != nil {
				return nil //nolint:nilerr // the last state stays
			}
			return l.Parts(pages, data, parts...)
		})
	}
}

// change acknowledges, mutes or reopens a group.
func (r section) change(c *frame.Request, form url.Values) (err error) {
	id := c.Request.PathValue("id")
	back := root + "/" + url.PathEscape(id)
	switch c.Request.PathValue("verb") {
	case "acknowledge":
		_, err = r.service.AcknowledgeFailure(c.Lasting(), id, v1.JSON(v1.AcknowledgeRequest{Note: form.Get("note")}))
	case "mute":
		until, wrong := explain.ParseFuture(form.Get("mute"), c.Zone(), r.service.Now())
		if wrong != nil {
			err = scheduler.Invalid("until", wrong.Error())
			break
		}
		_, err = r.service.MuteFailure(c.Lasting(), id, v1.JSON(v1.MuteRequest{Until: until.Format(time.RFC3339)}))
	case "reopen":
		_, err = r.service.ReopenFailure(c.Lasting(), id)
	default:
		return frame.Problem{Status: http.StatusNotFound, Text: c.Text("frame.nothing", c.Request.URL.Path)}
	}
	if wrong := scheduler.ProblemsIn(err); wrong != nil {
		return c.Done(c.Text("failures.wrong", wrong[0].Message), frame.Address(back, form))
	}
	if err != nil {
		return err
	}
	return c.Redirect(back)
}
