package edit

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/console/builder"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/console/jobform"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// mainAction is the path of the main action, the default of a test run. Other paths are those of error actions.
const mainAction = "action"

// try executes one attempt of a typed action and returns the target's answer. It stores nothing. It returns no answer
// and no error if the form has problems; problems of the schedule are ignored.
func (r section) try(c *frame.Request, t *draft, s *creating, path string) (*trial, error) {
	k := t.named() // a test run needs none
	if err := auth.Check(c.Context(), auth.Operate, k.Collection); err != nil {
		return nil, err
	}
	if len(s.Reading.Problems) > 0 {
		return nil, nil //nolint:nilnil // there is nothing to try yet
	}
	switch _, err := r.service.Get(c.Context(), k); {
	case err == nil: // the job's secrets would replace those missing here
		return nil, &scheduler.PreconditionError{What: "job " + k.String(), ETag: "*"}
	case !errors.Is(err, scheduler.ErrNotFound):
		return nil, err
	}
	doc := t.doc.Without(builder.Members()...).With(document.StringValue(farAway), "startTime")
	if path != mainAction {
		action := jobform.At(t.doc, path)
		if action.Kind() != document.KindObject || !strings.HasPrefix(path, mainAction+".errorAction") {
			return nil, frame.Problem{Status: http.StatusBadRequest, Text: c.Text("frame.form")}
		}
		doc = doc.With(action.Without("errorAction"), mainAction)
	}
	v, err := r.service.TestRun(c.Context(), k, doc.JSON())
	if err != nil {
		return nil, within(path, err)
	}
	return &trial{v, time.Duration(v.Duration), path != mainAction}, nil
}

// within converts the paths of an error's problems to paths in the job.
func within(path string, err error) error {
	problems := slices.Clone(scheduler.ProblemsIn(err))
	if len(problems) == 0 {
		return err
	}
	for i, p := range problems {
		if rest, ok := strings.CutPrefix(strings.TrimPrefix(p.Path, "properties."), mainAction); ok {
			problems[i].Path = path + rest
		}
	}
	return scheduler.AsInvalid(problems)
}

// trial is the result of a test run.
type trial struct {
	*v1.Trial

	Took  time.Duration
	Other bool // the action is an error action
}

// Answer returns the target's answer; JSON is indented.
func (t *trial) Answer() string { return frame.Pretty(t.Body) }

// farAway is the start time of a tested job, because its own schedule has no effect and may be invalid.
const farAway = "9999-01-01T00:00:00Z"

// doPaste is the script's action after the paste of a whole job.
const doPaste = "paste"

// envelopeFields are the fields of a job's document outside its properties.
var envelopeFields = []string{"id", "type", "name", "collection", "etag", "tags", "properties"}

// pasted detects a whole job with an action in a text that was pasted into the schedule fields: JSON or YAML, including
// Azure Scheduler's form. It returns the properties, and the name if any.
func pasted(text string) (properties document.Value, name string, ok bool) {
	v, err := document.Parse([]byte(text))
	if err != nil || v.Kind() != document.KindObject {
		return document.Value{}, "", false
	}
	name = jobform.At(v, "name").Text()
	if inner := jobform.At(v, "properties"); inner.Kind() == document.KindObject {
		v = inner
	}
	return v, name[strings.LastIndexByte(name, '/')+1:], jobform.At(v, "action").Kind() == document.KindObject
}

// takePasted shows the form of a pasted job, with its problems. The name and collection that were typed or selected
// before stay.
func (r section) takePasted(c *frame.Request, s *creating, in jobform.Input, before *draft, doc document.Value, name string) error {
	s.Pasted = true
	doc = jobform.Without(doc, envelopeFields)
	t := &draft{key: before.key, doc: doc}
	if t.key.Job == "" {
		t.key.Job = name
	}
	in.Document = jobform.Without(doc, builder.Members()).
		With(document.StringValue(t.key.Job), "name").With(document.StringValue(t.key.Collection), "collection")
	s.Reading, s.Schedule = r.form().Read(in), builder.Fields(doc).Read()
	s.Again = len(s.Reading.Typed) > 0
	status := http.StatusOK
	checked := *t
	if checked.key.Job == "" { // the user has not typed it yet
		checked.key = scheduler.Key{Collection: t.key.Collection, Job: placeholderName}
	}
	if _, err := r.put(c, &checked, s, true); err != nil {
		status = r.refused(c, err, &checked, s)
	}
	return r.answer(c, s, t, status)
}
