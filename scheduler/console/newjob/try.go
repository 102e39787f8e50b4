package newjob

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/access"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/console/jobform"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/view"
)

// mainAction is the path of the main action, the default of a test run. Other paths are those of error actions.
const mainAction = "action"

// try executes one attempt of a typed action and returns the target's answer. It stores nothing. It returns no answer
// and no error if the form has problems; problems of the schedule are ignored.
func (r room) try(c *frame.Call, t *typed, s *shown, path string) (*trial, error) {
	k := t.key
	if missing(k) != nil { // a test run needs no name
		k = scheduler.Key{Collection: k.Collection, Job: nameless}
		if k.Collection == "" {
			k.Collection = scheduler.DefaultCollection
		}
	}
	if err := access.Check(c.Context(), access.Operate, k.Collection); err != nil {
		return nil, err
	}
	if len(s.Job.Problems) > 0 {
		return nil, nil //nolint:nilnil // there is nothing to try yet
	}
	switch _, err := r.service.Get(c.Context(), k); {
	case err == nil: // the job's secrets would replace those missing here
		return nil, &scheduler.PreconditionError{What: "job " + k.String(), ETag: "*"}
	case !errors.Is(err, scheduler.ErrNotFound):
		return nil, err
	}
	doc := t.doc.Without(scheduled...).With(document.StringValue(farAway), "startTime")
	if path != mainAction {
		action := jobform.At(t.doc, path)
		if action.Kind() != document.KindObject || !strings.HasPrefix(path, mainAction+".errorAction") {
			return nil, frame.Problem{Status: http.StatusBadRequest, Text: c.Say("frame.form")}
		}
		doc = doc.With(action.Without("errorAction"), mainAction)
	}
	v, err := r.service.Try(c.Context(), k, doc.JSON())
	if err != nil {
		return nil, at(path, err)
	}
	return &trial{v, time.Duration(v.Duration), path != mainAction}, nil
}

// at converts the paths of an error's problems to paths in the job.
func at(path string, err error) error {
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
	*view.Trial

	Took  time.Duration
	Other bool // the action is an error action
}

// Answer returns the target's answer; JSON is indented.
func (t *trial) Answer() string {
	var b bytes.Buffer
	if text := strings.TrimSpace(t.Body); strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") {
		if json.Indent(&b, []byte(text), "", "  ") == nil {
			return b.String()
		}
	}
	return t.Body
}

// farAway is the start time of a tested job, because its own schedule has no effect and may be invalid.
const farAway = "9999-01-01T00:00:00Z"
