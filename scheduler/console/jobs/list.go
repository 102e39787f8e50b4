package jobs

import (
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/console/table"
	"github.com/carillon-sched/carillon/scheduler/control"
)

// pageSize limits the jobs of a page.
const pageSize = 50

// content is the content of the page.
type content struct {
	found

	Filter                        filter
	Files                         *table.Files
	Collections, Actions, Lengths []string
	Columns                       []string
	States                        []scheduler.State
	Outcomes                      []scheduler.Outcome
	Verbs                         []string
	MayAct                        bool // on any collection
}

// found is the part of the page that depends on the search.
type found struct {
	Problem *frame.Problem
	Rows    []row

	Count, Unread int
	Least         int    // the known number of matches
	ByName        bool   // the index is incomplete: no sorting and no count
	Before, After string // positions
	MayPick       bool   // any row is selectable

	Behind  bool // the index is incomplete, so that the script retries after this many milliseconds
	Again   int64
	Asked   bool // a retry, which screen readers announce only at the end
	Percent int  // indexed share of all jobs
}

// The delay before the script retries while the index is incomplete: a multiple of the duration of the last answer,
// within bounds.
const (
	againShare = 20
	againLeast = 2 * time.Second
	againMost  = 30 * time.Second
)

// list shows a page of the table, or the search results, or the current rows of some jobs.
func (r section) list(c *frame.Request) error {
	params := c.Params(append([]string{"after", "before"}, parameters...)...)
	if params.Has("shown") {
		return r.refresh(c)
	}
	t := &content{
		Filter: readFilter(params), Lengths: lengths, Columns: columns, States: states, Outcomes: scheduler.LastOutcomes, Verbs: verbs,
		MayAct: c.May(auth.OperateAny, ""),
	}
	t.Filter.Descending = c.Choice("order", ascending, descending) == descending
	if sent, err := r.export(c, t.Filter); sent || err != nil {
		return err
	}
	t.Files = table.FilesOf(listPath, t.Filter.Fields())
	began := time.Now()
	t.Asked = params.Has("again") // by the script
	if err := r.find(c, t); err != nil {
		_, known := errors.AsType[frame.Problem](err)
		if !known && !errors.Is(err, scheduler.ErrInvalid) && !errors.Is(err, scheduler.ErrNotFound) {
			return err
		}
		p := c.Describe(err)
		t.Problem = &p
	}
	t.Again = min(max(againShare*time.Since(began), againLeast), againMost).Milliseconds()
	if c.Part() {
		return c.Show(&frame.Page{Template: listPage, Part: "found", Data: t})
	}
	t.Actions = r.service.ActionTypes()
	var err error
	if t.Collections, err = c.Collections(r.service, auth.Read); err != nil {
		return err
	}
	if t.Filter.Collection != "" && !slices.Contains(t.Collections, t.Filter.Collection) {
		t.Collections = append(t.Collections, t.Filter.Collection)
	}
	return c.Show(&frame.Page{
		Title: c.Text("jobs.menu"), Template: listPage, Data: t, NoHeading: true,
		Styles: []string{"jobs/jobs.css"}, Scripts: []string{"jobs/jobs.js", "jobs/kept.js", "frame/views.js"},
	})
}

// find fills a table.
func (r section) find(c *frame.Request, t *content) error {
	q, err := r.query(c, &t.Filter)
	if err != nil {
		return err
	}
	if !r.service.Indexed() {
		return r.findWithoutIndex(c, t, q)
	}
	place := t.Filter.Place
	if after, ok := strings.CutPrefix(place, unindexed); ok { // the index has been completed in the meantime
		place = "0/" + after
	}
	page, err := r.service.Browse(c.Context(), q, place, t.Filter.Back, pageSize)
	if err != nil {
		return err
	}
	t.Before, t.After = page.Before, page.After
	t.Count, t.Unread, t.Least = page.Count, page.Unread, max(page.Count-page.Unread, len(page.Jobs))
	if t.Count != t.Least { // because of running jobs, or because counting is too expensive
		far := r.service.IndexProgress()
		t.Behind, t.Percent = 2*far.Behind > t.Unread, far.Percent
	}
	t.take(c, page.Jobs, r.service.Now())
	return nil
}

// unindexed is the prefix of positions of pages without the index, followed by collection/job.
const unindexed = "name:"

// findWithoutIndex fills a table by name while the index is incomplete.
func (r section) findWithoutIndex(c *frame.Request, t *content, q scheduler.JobQuery) error {
	t.ByName, t.Behind, t.Percent = true, true, r.service.IndexProgress().Percent
	q.Order, q.Descending = scheduler.OrderByName, false
	p := v1.Page{Top: pageSize}
	if after, ok := strings.CutPrefix(t.Filter.Place, unindexed); ok {
		k, _ := readKey(after)
		p.After = control.After(&q, k)
	}
	jobs, next, err := r.service.Search(c.Context(), q, p)
	if err != nil {
		return err
	}
	if next != nil {
		if t.After = unindexed + next.After; len(q.Collections) == 1 {
			t.After = unindexed + q.Collections[0] + "/" + next.After
		}
	}
	t.take(c, jobs, r.service.Now())
	return nil
}

func (t *content) take(c *frame.Request, jobs []*v1.Job, now time.Time) {
	for _, v := range jobs {
		one := newRow(c, v, now)
		t.Rows = append(t.Rows, one)
		t.MayPick = t.MayPick || one.MayAct
	}
}

// refresh shows the current rows of some jobs, with their last runs if the URL asks for them: they take a read of the history,
// which would delay the first page.
func (r section) refresh(c *frame.Request) error {
	asked := c.Request.URL.Query()["shown"]
	if len(asked) > v1.MaxPage {
		return frame.Problem{Status: http.StatusBadRequest, Text: c.Text("jobs.toomany", v1.MaxPage)}
	}
	var keys []scheduler.Key
	for _, text := range asked {
		if k, ok := readKey(text); ok && c.May(auth.Read, k.Collection) {
			keys = append(keys, k)
		}
	}
	jobs, err := r.service.Some(c.Context(), keys)
	if err != nil {
		return err
	}
	last, known := map[scheduler.Key][]*scheduler.Record(nil), c.Query("runs") != ""
	if known {
		if last, err = r.service.LastRecords(c.Context(), keys); err != nil {
			return err
		}
	}
	rows := make([]row, 0, len(keys))
	for _, k := range keys {
		i := slices.IndexFunc(jobs, func(v *v1.Job) bool { return v.Job.Key == k })
		if i < 0 {
			rows = append(rows, row{Key: k, State: "deleted"})
			continue
		}
		one := newRow(c, jobs[i], r.service.Now())
		if known {
			one.Runs = stripOf(jobs[i], last[k])
		}
		rows = append(rows, one)
	}
	return c.Show(&frame.Page{Template: listPage, Part: "shown", Data: rows})
}

// readKey parses collection/job.
func readKey(text string) (k scheduler.Key, ok bool) {
	k.Collection, k.Job, ok = strings.Cut(text, "/")
	return k, ok && k.Validate() == nil
}

// row is a job in the table.
type row struct {
	Key      scheduler.Key
	State    string // also running, retrying and paused
	Action   string
	Address  string
	Schedule string
	Paused   time.Time // end of the pause; zero: not paused
	Next     time.Time
	Due      bool   // the next run is due
	Waits    string // precondition of the next run, in place of its time
	OnEvents bool   // the next run is on events
	Last     time.Time
	Outcome  scheduler.Outcome // "": unknown
	Runs     *frame.Spark      // the last runs; nil: unknown, or none
	Labels   []scheduler.Label
	MayAct   bool
}

// ID returns the id of the row's element.
func (r row) ID() string { return "job-" + r.Key.Collection + "." + r.Key.Job }

// Never reports whether the job has never run.
func (r row) Never() bool { return r.Outcome == scheduler.NeverRan }

// units are long words for times in schedules, and how they are abbreviated.
var units = strings.NewReplacer("at once, then ", "", " seconds", " s", " minutes", " min", " hours", " h", " days", " d")

// Brief returns the schedule in short: "every 2 min". The row shows all of it on hover.
func (r row) Brief() string { return units.Replace(strings.TrimSuffix(r.Schedule, ", UTC")) }

func newRow(c *frame.Request, v *v1.Job, now time.Time) row {
	j, s := v.Job, &v.Status
	r := row{
		Key: j.Key, State: string(j.State), Schedule: s.Schedule, Next: s.Next, Due: s.Running, Waits: s.WaitsFor, Last: s.Last,
		Outcome: v.Outcome, MayAct: c.May(auth.Operate, j.Key.Collection),
	}
	r.OnEvents = j.State == scheduler.Enabled && s.Next.IsZero() && j.OnlyEvents()
	switch {
	case s.Running:
		r.State = "running"
	case s.Retry > 0:
		r.State = "retrying"
	case j.State == scheduler.Enabled && j.PausedAt(now):
		r.State, r.Paused = string(v1.Paused), j.PausedUntil
	case j.State == scheduler.Enabled && s.AlwaysFails():
		r.State = "failing"
	}
	if j.Plan != nil {
		r.Schedule = j.Schedule()
	}
	if j.State == scheduler.Damaged || j.Def == nil {
		r.Schedule = s.Message
		return r
	}
	r.Action, r.Address = j.Def.Action.Type, j.Def.Address()
	for _, name := range slices.Sorted(maps.Keys(j.Def.Labels)) {
		r.Labels = append(r.Labels, scheduler.Label{Name: name, Value: j.Def.Labels[name]})
	}
	return r
}
