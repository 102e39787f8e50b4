package jobs

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/explain"
)

// verbs are the verbs without parameters.
var verbs = []string{v1.VerbEnable, v1.VerbDisable, v1.VerbRun, v1.VerbDelete}

// samples limits the jobs in a confirmation.
const samples = 10

// ask creates a proposed bulk operation and redirects to its confirmation.
func (r section) ask(c *frame.Request, form url.Values) error {
	op := v1.Operation{Verb: form.Get("do")}
	f := readFilter(form)
	if op.Verb == v1.VerbLabel && form.Get("tag") == "" && form.Get("until") != "" { // Enter submits the first button
		op.Verb = v1.VerbPause
	}
	back := origin(f, form)
	if wrong := complete(c, &op, form, r.service.Now()); wrong != "" {
		return c.Done(wrong, back)
	}
	if !slices.Contains(v1.OperationVerbs, op.Verb) {
		return unknown(c, "do", op.Verb)
	}
	picked, err := r.pick(c, &op, f, form)
	if err != nil {
		return err
	}
	if !picked {
		return c.Done(c.Text("jobs.pick.none"), back)
	}
	made, err := r.service.ProposeOperation(c.Lasting(), op)
	if err != nil {
		return err
	}
	if made.ID == "" {
		return c.Done(c.Text("jobs.many.none"), back)
	}
	return c.Redirect(manyPath + "/" + made.ID)
}

// origin returns the URL of the page that has the form, with the typed values: of a failure group, a target, or the list.
func origin(f filter, form url.Values) string {
	page := frame.Root + "/failures/" + url.PathEscape(form.Get("failure"))
	if form.Get("page") == "target" {
		page = frame.TargetPath(f.Target)
	} else if form.Get("failure") == "" {
		return f.here()
	}
	return frame.Address(page, nil, "pauseUntil", form.Get("until"), "failedSince", form.Get("since"), "rate", form.Get("rate"))
}

// complete reads the parameters of a verb. It returns a message if one is invalid.
func complete(c *frame.Request, op *v1.Operation, form url.Values, now time.Time) (wrong string) {
	switch op.Verb {
	case v1.VerbLabel, v1.VerbUnlabel:
		name, value, _ := strings.Cut(form.Get("tag"), "=")
		if op.Label = strings.TrimSpace(name); op.Label == "" {
			return c.Text("jobs.tag.missing")
		}
		if op.Verb == v1.VerbLabel {
			op.Label += "=" + strings.TrimSpace(value)
		}
	case v1.VerbPause:
		op.Until = strings.TrimSpace(form.Get("until"))
		if _, err := explain.ParseFuture(op.Until, c.Zone(), now); err != nil { // the clock of each job applies
			return c.Text("jobs.until.wrong", err.Error())
		}
	case v1.VerbResubmit:
		if rate := form.Get("rate"); rate != "" {
			var err error
			op.Rate, err = strconv.ParseFloat(rate, 64)
			if valid := op.Rate > 0 && op.Rate <= maxRate; err != nil || !valid { // also not a number
				return c.Text("jobs.rate.wrong")
			}
		}
		since, err := frame.ParsePast(form.Get("since"), c.Zone(), now)
		if err != nil {
			return c.Text("jobs.until.wrong", err.Error())
		}
		op.FailedSince = since.UTC()
	}
	if op.FailedSince.After(now) {
		return c.Text("jobs.since.wrong")
	}
	return ""
}

// maxRate limits the rate of a bulk operation, in occurrences per second.
const maxRate = 10_000

// pickFailure selects the jobs of a failure group.
func (r section) pickFailure(c *frame.Request, op *v1.Operation, id string) error {
	g, err := r.service.Failure(c.Context(), id)
	if err != nil {
		return err
	}
	op.Jobs, op.Target, op.Action = g.Selection.Jobs, g.Selection.Target, g.Selection.Action
	switch op.Verb {
	case v1.VerbResubmit:
		op.Target = g.Target
	case v1.VerbEnable:
		op.Filter = v1.OnlyPaused
	}
	return nil
}

// pick sets the selected jobs of an operation. It returns false for none.
func (r section) pick(c *frame.Request, op *v1.Operation, f filter, form url.Values) (picked bool, err error) {
	if id := form.Get("failure"); id != "" {
		return true, r.pickFailure(c, op, id)
	}
	if form.Get("all") == "" {
		if len(form["job"]) > maxPicked { // before each is compared with the others
			return false, frame.Problem{Status: http.StatusBadRequest, Text: c.Text("jobs.toomany", maxPicked)}
		}
		for _, text := range form["job"] {
			k, ok := readKey(text)
			if !ok {
				return false, unknown(c, "job", text)
			}
			if !slices.Contains(op.Jobs, k.String()) {
				op.Jobs = append(op.Jobs, k.String())
			}
		}
		return len(op.Jobs) > 0, nil
	}
	if _, err := r.query(c, &f); err != nil {
		return false, err
	}
	op.Collection, op.JobSearch = f.Collection, f.search()
	return true, nil
}

// maxPicked limits the individually selected jobs.
const maxPicked = 1000

// operation returns the operation in the path of a request.
func (r section) operation(c *frame.Request) (*v1.Operation, error) {
	op, err := r.service.Operation(c.Context(), c.Request.PathValue("id"))
	if errors.Is(err, scheduler.ErrNotFound) {
		return nil, frame.Problem{Status: http.StatusNotFound, Text: c.Text("jobs.many.unknown"), Hint: c.Text("jobs.many.unknown.hint")}
	}
	return op, err
}

// progress is the content of an operation's page.
type progress struct {
	*v1.Operation

	Proposed, Running, Stopped bool
	MayStop                    bool
	All                        bool
	Count                      int
	Verdicts                   []counted
	LeftOut                    int // failures that are not shown
	Confirms                   bool
	Wrong                      bool // the typed confirmation is wrong
	Samples                    []scheduler.Key
	Others                     int       // jobs in addition to the samples
	MayNot                     int       // selected jobs without the right
	Ends                       time.Time // of the pause; zero: no pause, or its end depends on the zone of each job
}

// ends returns the end of the pause if it does not depend on a zone.
func (p progress) ends() time.Time {
	at, err := explain.ParseFuture(p.Until, time.UTC, p.Created)
	elsewhere, _ := explain.ParseFuture(p.Until, time.FixedZone("", 3600), p.Created)
	if err != nil || !at.Equal(elsewhere) {
		return time.Time{}
	}
	return at
}

// Undoes reports whether the page offers to enable the paused or disabled jobs: they were selected one by one or by a failure,
// because a filter could select others now, and none of them had this state before.
func (p progress) Undoes() bool {
	return (p.Verb == v1.VerbPause || p.Verb == v1.VerbDisable) && !p.Proposed && !p.Running && !p.All &&
		p.Counts[v1.ResultChanged] > 0 && p.Counts[v1.ResultUnchanged] == 0
}

// Does returns the verb of the texts: enabling paused jobs only is "resume".
func (p progress) Does() string {
	if p.Verb == v1.VerbEnable && p.Filter == v1.OnlyPaused {
		return "resume"
	}
	return p.Verb
}

// counted is the number of occurrences of a result.
type counted struct {
	Result string
	N      int
}

// shownFailures limits the failures of a page.
const shownFailures = 200

func progressOf(op *v1.Operation) progress {
	p := progress{
		Operation: op, Proposed: op.State == v1.Proposed, Running: op.State == v1.Running, Stopped: op.State == v1.Canceled,
		All: op.Jobs == nil, Count: max(op.Expected, op.Done), Confirms: op.Verb == v1.VerbDelete,
	}
	for _, result := range v1.OperationResults {
		if n := op.Counts[result]; n > 0 {
			p.Verdicts = append(p.Verdicts, counted{result, n})
		}
	}
	if shown := *op; len(op.Failures) > shownFailures {
		shown.Failures = op.Failures[:shownFailures]
		p.Operation = &shown
	}
	p.LeftOut = op.Counts[v1.ResultFailed] - len(p.Failures)
	return p
}

// listMany shows the operations that the user may see, newest first.
func (r section) listMany(c *frame.Request) error {
	all, err := r.service.Operations(c.Context())
	if err != nil {
		return err
	}
	rows := make([]progress, len(all))
	for i, op := range all {
		rows[i] = progressOf(op)
		rows[i].MayStop = rows[i].Running && c.May(auth.Operate, op.Collection)
	}
	return c.Show(&frame.Page{Title: c.Text("jobs.operations"), Template: operations, Data: rows, Styles: []string{"jobs/jobs.css"}})
}

// showMany shows an operation: its confirmation, its progress, or its end.
func (r section) showMany(c *frame.Request) error {
	op, err := r.operation(c)
	if err != nil {
		return err
	}
	return r.show(c, op, false)
}

func (r section) show(c *frame.Request, op *v1.Operation, wrong bool) error {
	p := progressOf(op)
	p.Wrong = wrong
	if p.Proposed {
		if err := r.sample(c, &p); err != nil {
			return err
		}
		p.Ends = p.ends()
	}
	page := &frame.Page{
		Title: c.Text("jobs.do." + p.Does()), Template: manyPage, Data: p, NoHeading: true,
		Styles: []string{"jobs/jobs.css"}, Scripts: []string{"jobs/kept.js"},
	}
	if wrong {
		page.Status = http.StatusUnprocessableEntity
	}
	return c.Show(page)
}

// sample returns some of the selected jobs.
func (r section) sample(c *frame.Request, p *progress) error {
	for _, text := range p.Jobs {
		k, _ := readKey(text)
		if len(p.Samples) < samples {
			p.Samples = append(p.Samples, k)
		}
		if !c.May(auth.Operate, k.Collection) {
			p.MayNot++
		}
	}
	if p.All && p.Verb != v1.VerbResubmit {
		q, err := p.Query(p.Created)
		if err != nil {
			return err
		}
		q.Sees = auth.Sees(c.Context())
		if p.Collection != "" {
			q.Collections = []string{p.Collection}
		}
		page, err := r.service.Browse(c.Context(), q, "", false, samples)
		if errors.Is(err, scheduler.ErrUnavailable) {
			return nil // the confirmation works without samples
		}
		if err != nil {
			return err
		}
		for _, v := range page.Jobs {
			p.Samples = append(p.Samples, v.Job.Key)
		}
	}
	of := p.Count
	if p.Verb == v1.VerbResubmit { // which counts occurrences
		of = len(p.Jobs)
	}
	if p.Samples != nil {
		p.Others = max(0, of-len(p.Samples))
	}
	return nil
}

// start starts a confirmed operation, unless it has already started.
func (r section) start(c *frame.Request, form url.Values) error {
	op, err := r.operation(c)
	if err != nil {
		return err
	}
	if op.Verb == v1.VerbDelete {
		typed := strings.TrimSpace(form.Get("typed"))
		if typed != strconv.Itoa(op.Expected) && !strings.EqualFold(typed, c.Text("jobs.confirm.word")) {
			return r.show(c, op, true)
		}
	}
	if _, err := r.service.StartOperation(c.Lasting(), op.ID); err != nil {
		return err
	}
	return c.Redirect(manyPath + "/" + op.ID)
}

// stop cancels the rest of the operation.
func (r section) stop(c *frame.Request) error {
	op, err := r.operation(c)
	if err == nil {
		_, err = r.service.CancelOperation(c.Lasting(), op.ID)
	}
	if err != nil {
		return err
	}
	return c.Redirect(manyPath + "/" + op.ID)
}

// undo proposes to enable the jobs that an operation has paused or disabled, except those that have another state by now.
func (r section) undo(c *frame.Request) error {
	op, err := r.operation(c)
	if err != nil {
		return err
	}
	back := v1.Operation{Verb: v1.VerbEnable, Jobs: op.Jobs, JobSearch: v1.JobSearch{Target: op.Target, Action: op.Action}}
	switch {
	case !progressOf(op).Undoes():
		return frame.Problem{Status: http.StatusConflict, Text: c.Text("jobs.undo.not")}
	case op.Verb == v1.VerbPause:
		back.Filter = v1.OnlyPaused
	default:
		back.Filter = "state eq " + string(scheduler.Disabled)
	}
	made, err := r.service.ProposeOperation(c.Lasting(), back)
	if err != nil {
		return err
	}
	if made.ID == "" {
		return c.Done(c.Text("jobs.many.none"), manyPath+"/"+op.ID)
	}
	return c.Redirect(manyPath + "/" + made.ID)
}

// followEvery is the interval of progress updates.
const followEvery = 300 * time.Millisecond

// followMany sends progress updates.
func (r section) followMany(c *frame.Request) error {
	op, err := r.operation(c)
	if err != nil {
		return err
	}
	l := c.Live()
	return l.Every(followEvery, func() error {
		if now, err := r.operation(c); err == nil { // else keep the last state
			op = now
		}
		return errors.Join(l.Part("progress", manyPage, "progress", progressOf(op)), l.Held())
	})
}
