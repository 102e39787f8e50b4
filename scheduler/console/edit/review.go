package edit

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/console/jobform"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/service"
	"github.com/carillon-sched/carillon/scheduler/spec"
	"github.com/carillon-sched/carillon/scheduler/view"
)

// review is the effect of a change.
type review struct {
	Unchanged bool
	Changes   []difference
	Typed     []string    // paths of typed secrets within new values
	Before    []time.Time // the next runs
	After     []time.Time
	SameRuns  bool
	Notes     []string
	Warnings  []spec.Warning
	Seal      string
}

// difference is a field that would change. It shows no secrets.
type difference struct {
	Path          string
	Before, After string
	New, Gone     bool
	Secret        bool
	Long          bool // a text with several lines
}

// shownRuns limits the shown runs.
const shownRuns = 5

// opened returns the editable part of a job's view, its properties without secrets and status, and the paths of its
// secrets.
func opened(v *view.Job) (properties document.Value, stored []string) {
	doc := v.Job.Def.Document()
	open, locked := doc.SecretPaths()
	properties, err := document.Parse(doc.JSON()) // without secrets
	if err != nil {
		return document.ObjectValue(), nil
	}
	if !v.Job.State.Final() {
		properties = properties.With(document.StringValue(string(v.Job.State)), "state")
	}
	return properties, slices.Concat(open, locked)
}

// review shows the effect of the change, by a dry run.
func (e *editing) review() error {
	patch, changed := e.patch()
	if !e.usable {
		return e.failed(nil)
	}
	if !changed {
		e.Review, e.Reviewed = &review{Unchanged: true}, ""
		return e.show(http.StatusOK)
	}
	s, err := e.patcher()
	if err != nil {
		return e.failed(err)
	}
	v, err := s.Patch(e.call.Context(), service.Edit{Key: e.Key, Body: patch.JSON(), DryRun: true, KeepInLists: e.inLists()})
	if err != nil {
		return e.failed(err)
	}
	r := &review{Unchanged: v.Result == view.Unchanged, Warnings: v.Warnings, Seal: e.seal(patch)}
	if d := v.DryRun; d != nil {
		r.Notes = d.Notes
		r.Before, r.After = d.Before, d.NextRuns
		r.SameRuns = slices.EqualFunc(r.Before, r.After, time.Time.Equal)
		first := min(len(r.Before), len(r.After), shownRuns)
		if r.SameRuns || !slices.EqualFunc(r.Before[:first], r.After[:first], time.Time.Equal) { // otherwise, show all runs
			r.Before, r.After = r.Before[:min(len(r.Before), shownRuns)], r.After[:min(len(r.After), shownRuns)]
		}
		for _, c := range d.Changes {
			r.Changes = append(r.Changes, differenceOf(c))
		}
	}
	disabled := jobform.At(e.mine, "state").Text() == string(scheduler.Disabled)
	if disabled && !jobform.At(e.mine, "recurrence").Equal(jobform.At(e.base, "recurrence")) {
		e.Notes = append(e.Notes, e.call.Say("edit.disabled"))
	}
	for _, path := range e.typed {
		if !slices.ContainsFunc(r.Changes, func(d difference) bool { return d.Path == path }) {
			r.Typed = append(r.Typed, path)
		}
	}
	e.Review, e.Reviewed = r, r.Seal
	return e.show(http.StatusOK)
}

func differenceOf(c document.Change) difference {
	d := difference{
		Path: strings.TrimPrefix(c.Path, "properties."), Before: plain(c.Before), After: plain(c.After),
		New: c.Before == nil && !c.Secret, Gone: c.After == nil && !c.Secret, Secret: c.Secret,
	}
	d.Long = strings.Contains(d.Before+d.After, "\n")
	return d
}

// plain formats a value for users.
func plain(data json.RawMessage) string {
	if data == nil {
		return ""
	}
	v, err := document.Parse(append(append([]byte(`{"v":`), data...), '}'))
	if err != nil {
		return string(data)
	}
	inner, _ := v.Member("v")
	return readable(inner)
}

// readable formats a value for users: a text verbatim, objects and lists as YAML.
func readable(v document.Value) string {
	switch v.Kind() { //nolint:exhaustive // the others are short
	case document.KindString:
		if v.Text() == "" || strings.TrimSpace(v.Text()) != v.Text() {
			return v.String()
		}
		return v.Text()
	case document.KindObject:
		return strings.TrimSuffix(string(v.YAML()), "\n")
	}
	return v.String()
}
