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

// mainAction is the path of what is tried when nobody says otherwise. The others are those of errorActions.
const mainAction = "action"

// try makes one attempt of an action that was typed, and returns what the target has answered. Nothing is stored. No answer
// and no error is a form with mistakes of its own; those of the schedule do not matter here.
func (r room) try(c *frame.Call, t *typed, s *shown, path string) (*trial, error) {
	k := t.key
	if missing(k) != nil { // a name is not needed yet
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
	case err == nil: // its secrets would be taken for those that are missing here
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

// at returns an error of what was tried with the paths of the problems where that stands in the job.
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

// trial is what a target has answered.
type trial struct {
	*view.Trial

	Took  time.Duration
	Other bool // it was an errorAction
}

// Answer is the text that the target has answered; JSON in lines.
func (t *trial) Answer() string {
	var b bytes.Buffer
	if text := strings.TrimSpace(t.Body); strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") {
		if json.Indent(&b, []byte(text), "", "  ") == nil {
			return b.String()
		}
	}
	return t.Body
}

// farAway is when a job begins that is tried out: its schedule does not matter, and may have mistakes yet.
const farAway = "9999-01-01T00:00:00Z"
