package load

import (
	"encoding/json"
	"errors"
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
	"github.com/carillon-sched/carillon/scheduler/document"
)

// pickedMost limits the proposals that are applied together.
const pickedMost = 1000

// picked is a selected proposal with its effect.
type picked struct {
	Key   scheduler.Key
	Patch string
	ETag  string // of the job at the dry run

	Text    string // description of the patch
	Changes []document.Change
	Before  []time.Time // the current next runs
	After   []time.Time // the next runs after the change
	Notes   []string
	Done    bool // it was applied
	Problem *frame.Problem
}

// Value returns the proposal as a hidden field of the review.
func (p *picked) Value() string { return p.Key.String() + " " + p.ETag + " " + p.Patch }

// reviewed is the page of a review or of its results.
type reviewed struct {
	Picked []picked
	Ready  int // proposals that can be applied, or were
	Wrong  int
	Back   string
	Done   bool
}

// proposed is the form of a proposal's patch (package forecast).
type proposed struct {
	Properties struct {
		Jitter     string `json:"jitter,omitempty"`
		Recurrence *struct {
			Cron    string `json:"cron"`
			Dialect string `json:"dialect"`
		} `json:"recurrence,omitempty"`
	} `json:"properties"`
}

// errPatch refuses a form that the page did not create.
var errPatch = errors.New("it is no proposal")

// patchText describes a patch. It returns errPatch for a patch in another form than a proposal's, because the form
// accepts only those.
func patchText(patch []byte) (string, error) {
	var p proposed
	decoder := json.NewDecoder(strings.NewReader(string(patch)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&p); err != nil || decoder.More() {
		return "", errPatch
	}
	switch r := p.Properties.Recurrence; {
	case r == nil && p.Properties.Jitter != "":
		return "jitter: " + p.Properties.Jitter, nil
	case r != nil && p.Properties.Jitter == "" && r.Cron != "":
		return "cron: " + r.Cron + " (" + r.Dialect + ")", nil
	}
	return "", errPatch
}

// readPicked parses the selected proposals of a form: job, ETag (of a review) and patch.
func readPicked(c *frame.Request, form url.Values, tagged bool) (all []picked, err error) {
	values := form["pick"]
	if len(values) > pickedMost {
		return nil, frame.Problem{Status: http.StatusBadRequest, Text: c.Text("load.pick.many", pickedMost)}
	}
	for _, value := range values {
		var p picked
		job, rest, _ := strings.Cut(value, " ")
		if tagged {
			p.ETag, rest, _ = strings.Cut(rest, " ")
		}
		p.Key.Collection, p.Key.Job, _ = strings.Cut(job, "/")
		p.Patch = rest
		p.Text, err = patchText([]byte(rest))
		if err != nil || p.Key.Validate() != nil {
			return nil, wrong(c.Text("load.pick.wrong"), c.Text("load.pick.none.hint"))
		}
		if !slices.ContainsFunc(all, func(other picked) bool { return other.Key == p.Key }) {
			all = append(all, p)
		}
	}
	return all, nil
}

// each returns the operation of a form that does something with each selected proposal. done: the proposals were reviewed.
func (r section) each(done bool, do func(c *frame.Request, p *picked) error) func(*frame.Request, url.Values) error {
	return func(c *frame.Request, form url.Values) error {
		all, err := readPicked(c, form, done)
		if err != nil {
			return err
		}
		title, page := c.Text("load.review"), reviewed{Picked: all, Back: form.Get("back"), Done: done}
		if !strings.HasPrefix(page.Back, loadPath) {
			page.Back = loadPath
		}
		if done {
			title = c.Text("load.applied")
			defer r.reports.Forget()
			defer r.agendas.Forget()
		}
		if len(all) == 0 {
			return c.Done(c.Text("load.pick.none"), page.Back)
		}
		for i := range all {
			p := &all[i]
			err := auth.Check(c.Context(), auth.Operate, p.Key.Collection)
			if err == nil {
				err = do(c, p)
			}
			if err == nil {
				page.Ready++
				continue
			}
			if c.Context().Err() != nil {
				return err
			}
			problem := c.Describe(err)
			if errors.Is(err, scheduler.ErrPrecondition) {
				problem.Hint = c.Text("load.changed.hint")
			}
			p.Problem = &problem
			page.Wrong++
		}
		return c.Show(&frame.Page{Title: title, Template: reviewPage, Data: &page, Styles: []string{"load/load.css"}})
	}
}

// dryRun performs the dry run.
func (r section) dryRun(c *frame.Request, p *picked) error {
	now, err := r.service.Get(c.Context(), p.Key)
	if err != nil {
		return err
	}
	v, err := r.service.Patch(c.Context(), control.Edit{Key: p.Key, Body: []byte(p.Patch), DryRun: true})
	if err != nil {
		return err
	}
	p.ETag = now.ETag()
	if v.DryRun != nil {
		p.Changes, p.Before, p.After, p.Notes = v.DryRun.Changes, v.DryRun.Before, v.DryRun.NextRuns, v.DryRun.Notes
	}
	for _, w := range v.Warnings {
		p.Notes = append(p.Notes, w.Message)
	}
	return nil
}

// carryOut applies the change if the job has not changed since its dry run.
func (r section) carryOut(c *frame.Request, p *picked) error {
	when, err := scheduler.ReadCondition([]string{p.ETag}, nil)
	if err != nil {
		return err
	}
	v, err := r.service.If(when).Patch(c.Lasting(), control.Edit{Key: p.Key, Body: []byte(p.Patch)})
	if err != nil {
		return err
	}
	p.Done = v.Result != v1.Unchanged
	p.After = nil
	if !v.Status.Next.IsZero() {
		p.After = []time.Time{v.Status.Next}
	}
	return nil
}
