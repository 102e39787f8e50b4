package newjob

import (
	"cmp"
	"errors"
	"net/http"
	"strings"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/access"
	"github.com/carillon-sched/carillon/scheduler/console/builder"
	"github.com/carillon-sched/carillon/scheduler/console/command"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/console/jobform"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/service"
	"github.com/carillon-sched/carillon/scheduler/spec"
	"github.com/carillon-sched/carillon/scheduler/variable"
	"github.com/carillon-sched/carillon/scheduler/view"
)

// The actions of the page's buttons.
const (
	doCheck = "check"
	doShow  = "show"
	doSave  = "save"
	doTry   = "try"
)

// checked is the result of a check without problems.
type checked struct {
	Key      string
	Warnings []spec.Warning
}

// text is the job for use in other programs, without secrets.
type text struct {
	YAML, Curl string
	Secrets    []string // paths of the omitted secrets
}

// take performs the action of a button.
func (r room) take(c *frame.Call) error {
	values, err := c.ShortForm()
	if err != nil {
		return err
	}
	s := &shown{From: c.Query("from")}
	in, err := r.input(c, s)
	if err != nil {
		return err
	}
	t := r.read(in, values, s)
	if doc, name, ok := pasted(values.Get(builder.Prefix + "paste")); ok {
		return r.takePasted(c, s, in, t, doc, name)
	}
	status := http.StatusOK
	do, part, _ := strings.Cut(cmp.Or(values.Get(jobform.Do), doCheck), ":")
	switch {
	case s.Job.Reshaped, do == doPaste:
	case do == doTry:
		if s.Trial, err = r.try(c, t, s, cmp.Or(part, mainAction)); err != nil {
			status = r.refused(c, err, t, s)
		} else if s.Trial == nil {
			status = http.StatusUnprocessableEntity
		}
	case do == doSave, do == doCheck, do == doShow:
		v, err := r.put(c, t, s, do != doSave)
		switch {
		case err != nil:
			status = r.refused(c, err, t, s)
		case v == nil:
			status = http.StatusUnprocessableEntity
		case do == doSave:
			return r.saved(c, s, v)
		case do == doShow:
			if s.Text, err = written(c, v); err != nil {
				return err
			}
		default:
			s.Checked = &checked{t.key.String(), v.Warnings}
		}
	}
	return r.answer(c, s, t, status)
}

// answer shows the form with the result of the action.
func (r room) answer(c *frame.Call, s *shown, t *typed, status int) (err error) {
	if s.Outlook, err = t.schedule.Look(c.Context(), r.service.Previewer, t.key.Job, c.Zone()); err != nil {
		return err
	}
	s.Schedule = t.schedule.Form
	s.places()
	return r.show(c, s, status)
}

// nameless replaces a missing name, so that the rest of the job can be checked.
const nameless = "job-without-a-name"

// put creates the job, or checks it in a dry run. It returns no job and no error if the form has problems.
func (r room) put(c *frame.Call, t *typed, s *shown, dry bool) (*view.Job, error) {
	k := t.key
	if problems := missing(k); problems != nil {
		s.Job.Place(problems)
		k = scheduler.Key{Collection: cmp.Or(k.Collection, scheduler.DefaultCollection), Job: nameless}
	}
	if err := access.Check(c.Context(), access.Operate, k.Collection); err != nil {
		return nil, err
	}
	wrong := len(t.schedule.Problems)+len(s.Job.Problems) > 0
	none, err := scheduler.ReadCondition(nil, []string{"*"}) // an existing job is never replaced
	if err != nil {
		return nil, err
	}
	ctx := c.Context()
	if dry = dry || wrong; !dry {
		ctx = c.Lasting()
	}
	v, _, err := r.service.If(none).Put(ctx, service.Edit{Key: k, Body: t.doc.JSON(), DryRun: dry})
	if err != nil || wrong {
		return nil, err
	}
	return v, nil
}

// missing returns the problems of a missing or invalid name.
func missing(k scheduler.Key) document.Problems {
	var list document.Problems
	if err := scheduler.ValidateName("name", k.Job); err != nil {
		list = append(list, scheduler.ProblemsIn(err)...)
	}
	if k.Collection == "" {
		list = append(list, document.Problem{Path: "collection", Message: document.ErrRequired.Error()})
	}
	return list
}

// refused assigns an error to fields, and returns the status of the answer.
func (r room) refused(c *frame.Call, err error, t *typed, s *shown) int {
	p := c.Describe(err)
	switch {
	case errors.Is(err, scheduler.ErrInvalid):
		s.Job.Place(t.schedule.Invalid(news(scheduler.ProblemsIn(err), t.schedule)))
		return http.StatusUnprocessableEntity
	case errors.Is(err, scheduler.ErrPrecondition):
		s.Job.Place(document.Problems{{Path: "name", Message: c.Say("newjob.exists", t.key.Job, t.key.Collection)}})
	case errors.Is(err, scheduler.ErrNotFound):
		s.Job.Place(document.Problems{{Path: "collection", Message: c.Say("newjob.collection", t.key.Collection)}})
	default:
		s.Wrong = &p
	}
	return p.Status
}

// news returns the problems of fields without an earlier problem, because others may be consequences.
func news(problems document.Problems, had builder.Schedule) document.Problems {
	var list document.Problems
	for _, p := range problems {
		path := strings.TrimPrefix(p.Path, "properties.")
		if !builder.Owns(path) || len(had.Form.Wrong(had.Form.Place(path))) == 0 {
			list = append(list, p)
		}
	}
	return list
}

// places lists the problems of fields in the order of the page.
func (s *shown) places() {
	var rest []place
	for _, w := range s.Job.Problems {
		one := place{w.Field, cmp.Or(w.Label, w.Path), w.Message}
		if strings.HasPrefix(w.Path, "action") {
			rest = append(rest, one)
		} else {
			s.Places = append(s.Places, one)
		}
	}
	for _, p := range s.Schedule.Problems {
		s.Places = append(s.Places, place{"wrong-" + builder.Prefix + s.Schedule.Place(p.Path), s.Schedule.Label(p.Path), p.Message})
	}
	s.Places = append(s.Places, rest...)
}

// saved redirects to the created job.
func (r room) saved(c *frame.Call, s *shown, v *view.Job) error {
	k := v.Job.Key
	notes := []string{c.Say("newjob.saved", k)}
	for _, w := range v.Warnings {
		notes = append(notes, c.Say("newjob.warning", w.Path, w.Message))
	}
	c.Note(strings.Join(notes, " "))
	to := frame.JobPath(k)
	if c.Part() { // a script follows it
		s.Go = to
		return c.Show(&frame.Page{Template: page, Part: "newjob-go", Data: s})
	}
	return c.Redirect(to)
}

// written returns a job as a file and as a request. The scheduler has parsed it and omits its secrets.
func written(c *frame.Call, v *view.Job) (*text, error) {
	doc, err := document.Parse(v.Job.Def.Document().JSON())
	if err != nil {
		return nil, err
	}
	if v.Job.State == scheduler.Disabled {
		doc = doc.With(document.StringValue(string(scheduler.Disabled)), "state")
	}
	k := v.Job.Key
	name := document.Member{Name: "name", Value: document.StringValue(k.String())}
	file := document.ObjectValue(append([]document.Member{name}, variable.Escape(doc).Members()...)...)
	t := &text{YAML: string(file.YAML())}
	t.Secrets, _ = v.Job.Def.Document().SecretPaths()
	open := c.Who.Via == access.ViaOpen || c.Who.Via == access.ViaLoopback
	t.Curl = command.Put(c.Server(), k, !open, "If-None-Match: *", string(doc.JSON()))
	return t, nil
}
