package edit

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/console/jobform"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/spec"
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
}

// shownRuns limits the shown runs.
const shownRuns = 5

// opened returns the editable part of a job's view, its properties without secrets and status, and the paths of its
// secrets.
func opened(v *v1.Job) (properties document.Value, stored []string) {
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
	if !e.valid {
		return e.failed(nil)
	}
	if !changed {
		e.Review, e.Reviewed = &review{Unchanged: true}, ""
		return e.show(http.StatusOK)
	}
	v, err := e.send(e.call.Context(), patch, true)
	if err != nil {
		return e.failed(err)
	}
	r := &review{Unchanged: v.Result == v1.Unchanged, Warnings: v.Warnings, Seal: e.reviewHash(patch)}
	if d := v.DryRun; d != nil {
		r.Notes = d.Notes
		r.Before, r.After = d.Before, d.NextRuns
		r.SameRuns = slices.EqualFunc(r.Before, r.After, time.Time.Equal)
		first := min(len(r.Before), len(r.After), shownRuns)
		if r.SameRuns || !slices.EqualFunc(r.Before[:first], r.After[:first], time.Time.Equal) { // otherwise, show all runs
			r.Before, r.After = r.Before[:min(len(r.Before), shownRuns)], r.After[:min(len(r.After), shownRuns)]
		}
		for _, c := range d.Changes {
			r.Changes = append(r.Changes, difference{
				Path: strings.TrimPrefix(c.Path, "properties."), Before: plain(c.Before), After: plain(c.After),
				New: c.Before == nil && !c.Secret, Gone: c.After == nil && !c.Secret, Secret: c.Secret,
			})
		}
	}
	disabled := jobform.At(e.mine, "state").Text() == string(scheduler.Disabled)
	if disabled && !jobform.At(e.mine, "recurrence").Equal(jobform.At(e.base, "recurrence")) {
		e.Notes = append(e.Notes, e.call.Text("edit.disabled"))
	}
	for _, path := range e.typed {
		if !slices.ContainsFunc(r.Changes, func(d difference) bool { return d.Path == path }) {
			r.Typed = append(r.Typed, path)
		}
	}
	e.Review, e.Reviewed = r, r.Seal
	return e.show(http.StatusOK)
}

// plain formats a value for users.
func plain(data json.RawMessage) string {
	if data == nil {
		return ""
	}
	v, err := document.Parse(data)
	if err != nil {
		return string(data)
	}
	return readable(v)
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

// conflict is a concurrent change of a job.
type conflict struct {
	ETag    string // of the other change
	Choices []choice
	Asked   bool // a choice is still missing
}

// choice is a field that differs: its original value, the value of the other change, and the typed value.
type choice struct {
	Path, Name           string // Name is the name of the radio buttons
	Before, Theirs, Mine string
	NoBefore, NoTheirs   bool // the field is absent
	NoMine               bool
	Both                 bool // both have changed it
	Picked               string
	Missing              bool // the choice is required
}

const (
	pickTheirs = "theirs"
	pickMine   = "mine"
	pickPrefix = "choice:"
)

// at is the value at a path in one of the three documents.
type at struct {
	v  document.Value
	ok bool
}

func (a at) equal(b at) bool { return a.ok == b.ok && a.v.Equal(b.v) }

// merging is a three-way merge by the user's choices.
type merging struct {
	values  url.Values // the form
	all     string     // the choice for all conflicts; "" for none
	secrets []string   // paths of typed secrets in mine, which stay
	choices []choice
}

// merge returns the merged value of a path whose original value is base.
func (m *merging) merge(path string, base, theirs, mine at) at {
	switch {
	case theirs.equal(mine):
		return mine
	case slices.Contains(m.secrets, path) && m.all == pickTheirs:
		return theirs
	case slices.Contains(m.secrets, path):
		return mine
	case m.together(base, theirs, mine):
		return m.members(path, base, theirs, mine)
	}
	c := choice{
		Path: path, Name: pickPrefix + path,
		Before: readable(base.v), Theirs: readable(theirs.v), Mine: readable(m.hidden(path, mine.v)),
		NoBefore: !base.ok, NoTheirs: !theirs.ok, NoMine: !mine.ok,
	}
	if p := cmp.Or(m.all, m.values.Get(c.Name)); p == pickTheirs || p == pickMine {
		c.Picked = p
	}
	theirsChanged, mineChanged := !base.equal(theirs), !base.equal(mine)
	c.Both = theirsChanged && mineChanged
	if c.Picked == "" && !c.Both {
		c.Picked = pickMine
		if theirsChanged {
			c.Picked = pickTheirs
		}
	}
	c.Missing = c.Picked == ""
	m.choices = append(m.choices, c)
	if c.Picked == pickTheirs {
		return theirs
	}
	return mine
}

// hidden returns a value of mine without the typed secrets.
func (m *merging) hidden(path string, v document.Value) document.Value {
	var inner []string
	for _, s := range m.secrets {
		if rest, ok := strings.CutPrefix(s, path); ok {
			inner = append(inner, strings.TrimPrefix(rest, "."))
		}
	}
	return jobform.Replaced(v, inner, masked)
}

// masked replaces a typed secret.
var masked = document.StringValue("***")

// together reports whether three objects have the same kind, so that their fields can be merged individually.
func (m *merging) together(base, theirs, mine at) bool {
	if theirs.v.Kind() != document.KindObject || mine.v.Kind() != document.KindObject || base.ok && base.v.Kind() != document.KindObject {
		return false
	}
	t, _ := theirs.v.Member("type")
	own, _ := mine.v.Member("type")
	return strings.EqualFold(t.Text(), own.Text())
}

// members merges the fields of objects, in the order of mine.
func (m *merging) members(path string, base, theirs, mine at) at {
	var names []string
	known := map[string]bool{}
	for _, v := range []document.Value{mine.v, theirs.v, base.v} {
		for _, member := range v.Members() {
			if !known[member.Name] {
				known[member.Name] = true
				names = append(names, member.Name)
			}
		}
	}
	var all []document.Member
	for _, name := range names {
		now := m.merge(document.MemberPath(path, name), of(base.v, name), of(theirs.v, name), of(mine.v, name))
		if now.ok {
			all = append(all, document.Member{Name: name, Value: now.v})
		}
	}
	return at{document.ObjectValue(all...), true}
}

func of(v document.Value, name string) at {
	inner, ok := v.Member(name)
	return at{inner, ok}
}

// showConflict shows the choices between the other change and the typed values.
func (e *editing) showConflict() error {
	if _, err := e.theirs("", nil); err != nil {
		return e.failed(err)
	}
	return e.show(http.StatusConflict)
}

// theirs merges the typed document with the current job, by the choices of a form, or all of theirs or mine. The page keeps the
// job as it was opened until all choices are made.
func (e *editing) theirs(all string, values url.Values) (merged document.Value, err error) {
	now := e.section.editing(e.call)
	if err := now.load(); err != nil {
		return merged, err
	}
	m := &merging{values: values, all: all, secrets: e.section.form().SecretsIn(e.mine)}
	result := m.merge("", at{e.base, true}, at{now.base, true}, at{e.mine, true})
	asked := slices.ContainsFunc(m.choices, func(c choice) bool { return c.Missing })
	e.Conflict = &conflict{ETag: now.ETag, Choices: m.choices, Asked: asked}
	return result.v, nil
}

// merge applies the choices, or all of theirs or mine. The result is based on the current job and is reviewed again.
func (e *editing) merge(all string) error {
	values := e.call.Request.PostForm
	if !e.legible() {
		return e.show(http.StatusBadRequest)
	}
	seen := values.Get("theirs")
	merged, err := e.theirs(all, values)
	if err != nil {
		return e.failed(err)
	}
	if e.Conflict.ETag != seen { // the job has changed again
		e.Notes = append(e.Notes, e.call.Text("edit.conflict.again"))
		return e.show(http.StatusConflict)
	}
	if e.Conflict.Asked {
		return e.show(http.StatusBadRequest)
	}
	e.Conflict = nil
	if err := e.load(); err != nil {
		return e.failed(err)
	}
	if e.ETag != seen {
		return e.showConflict()
	}
	typed := e.section.form().SecretsIn(merged)
	e.begin(merged)
	e.typed = typed
	e.checkLists()
	return e.review()
}
