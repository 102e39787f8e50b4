package edit

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/console/builder"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/console/jobform"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// The views of a job.
const (
	asForm = "form"
	asYAML = "yaml"
)

// editing is the state of the page of a job that is being changed.
type editing struct {
	fields

	section section
	call    *frame.Request

	Key  scheduler.Key
	Path string // of the job's page
	As   string

	ETag     string   // of the opened job
	Stored   []string // paths of its secrets
	Reviewed string   // seal of the last review

	Text text // YAML

	Problem  *frame.Problem // of the whole document
	Wrong    []wrong        // problems of single fields
	Review   *review
	Conflict *conflict
	Notes    []string

	base  document.Value // the opened job: its properties without secrets
	from  document.Value // source of the fields
	mine  document.Value // the typed document, which may contain secrets
	typed []string       // paths of the typed secrets
	valid bool           // mine is a valid document
}

func (r section) editing(c *frame.Request) *editing {
	k := scheduler.Key{Collection: c.Request.PathValue("c"), Job: c.Request.PathValue("j")}
	return &editing{section: r, call: c, Key: k, Path: frame.JobPath(k)}
}

// open shows the editor with the current job.
func (r section) open(c *frame.Request) error {
	e := r.editing(c)
	if err := e.load(); err != nil {
		return err
	}
	e.As = c.Choice("as", asForm, asYAML)
	e.begin(e.base)
	return e.show(http.StatusOK)
}

// change performs the action of a button.
func (r section) change(c *frame.Request, values url.Values) error {
	e := r.editing(c)
	if err := e.reopen(values); err != nil {
		return err
	}
	return e.do(values.Get(jobform.Do))
}

// BaseJSON, FromJSON and StoredJSON are hidden fields of the form.
func (e *editing) BaseJSON() string { return e.base.String() }

// FromJSON returns the source of the fields, without secrets; "" if it is the base.
func (e *editing) FromJSON() string {
	from := jobform.Without(e.from, e.section.form().SecretsIn(e.from))
	if from.Equal(e.base) {
		return ""
	}
	return from.String()
}

// StoredJSON returns the paths of stored secrets.
func (e *editing) StoredJSON() string { return string(v1.JSON(e.Stored)) }

// load reads the current job.
func (e *editing) load() error {
	v, err := e.section.service.Get(e.call.Context(), e.Key)
	if err != nil {
		return err
	}
	if v.Job.State == scheduler.Damaged {
		return frame.Problem{Status: http.StatusConflict, Text: v.Status.Message, Hint: e.call.Text("edit.damaged")}
	}
	e.base, e.Stored = opened(v)
	e.ETag = v.ETag()
	return nil
}

// reopen reads the hidden fields of the form.
func (e *editing) reopen(values url.Values) error {
	broken := frame.Problem{Status: http.StatusBadRequest, Text: e.call.Text("frame.form")}
	for _, name := range []string{"base", "from", "stored"} {
		if len(values.Get(name)) > maxCarried {
			return broken
		}
	}
	var err error
	if e.base, err = document.Parse([]byte(values.Get("base"))); err != nil || e.base.Kind() != document.KindObject {
		return broken
	}
	if e.Stored = nil; json.Unmarshal([]byte(values.Get("stored")), &e.Stored) != nil {
		return broken
	}
	e.ETag, e.As, e.Reviewed = values.Get("etag"), values.Get("as"), values.Get("reviewed")
	e.from = e.base
	if from, err := document.Parse([]byte(values.Get("from"))); err == nil && from.Kind() == document.KindObject {
		e.from = from
	}
	if e.As == asYAML {
		e.readYAML(values.Get("text"))
		return nil
	}
	e.As = asForm
	e.readForm(values)
	return nil
}

// maxCarried limits the hidden fields of the form, in bytes; a job is smaller.
const maxCarried = 4 * scheduler.MaxJobSize

// begin fills the fields, or the text, from a document.
func (e *editing) begin(from document.Value) {
	e.from, e.mine, e.valid = from, from, true
	if e.As == asYAML {
		e.typed = nil
		e.writeYAML(from)
		return
	}
	e.As = asForm
	e.fill(e.section, e.input(nil), builder.Fields(from))
	e.typed = e.Reading.Typed
}

// input returns the input of the fields.
func (e *editing) input(values url.Values) jobform.Input {
	return jobform.Input{
		Document: e.from, Stored: e.Stored, Values: values, Except: builder.Members(), Secrets: e.section.secrets(e.call),
	}
}

// readForm parses the submitted fields.
func (e *editing) readForm(values url.Values) {
	e.mine = e.submitted(e.section, e.input(values), builder.Fields(e.from).Read())
	e.typed, e.valid = e.Reading.Typed, e.usable()
	e.checkLists()
}

// patch returns the merge patch from the opened job to the typed one.
func (e *editing) patch() (document.Value, bool) {
	mine := e.mine
	for _, path := range e.Stored { // remove fields that another action type does not have
		around := outer(path)
		was, had := jobform.At(e.base, around).Member("type")
		is, has := jobform.At(mine, around).Member("type")
		if had && has && !strings.EqualFold(was.Text(), is.Text()) && jobform.At(mine, path).Kind() == document.KindNull {
			mine = mine.With(document.Value{}, path)
		}
	}
	return document.Patch(e.base, mine)
}

// outer returns the path of the object that contains the field of a path, or that contains the field's list.
func outer(path string) string {
	for strings.HasSuffix(path, "]") && !strings.HasSuffix(path, `"]`) {
		path = jobform.Outer(path)
	}
	return jobform.Outer(path)
}

// reviewHash identifies a reviewed change: another change has another seal. It reveals no secrets.
func (e *editing) reviewHash(patch document.Value) string {
	sum := sha256.Sum256([]byte(e.ETag + "\n" + jobform.Replaced(patch, e.typed, masked).String()))
	return hex.EncodeToString(sum[:])
}

// do performs the action of a button.
func (e *editing) do(what string) error {
	switch what {
	case "save":
		return e.save()
	case "merge":
		return e.merge("")
	case "merge:" + pickTheirs, "merge:" + pickMine:
		return e.merge(strings.TrimPrefix(what, "merge:"))
	case "as:" + asForm, "as:" + asYAML:
		return e.turn(strings.TrimPrefix(what, "as:"))
	case "", "review":
		return e.review()
	}
	return e.show(http.StatusOK)
}

// turn switches between form and YAML.
func (e *editing) turn(as string) error {
	if e.As == as || !e.legible() {
		return e.show(http.StatusOK)
	}
	if len(e.typed) > 0 && as == asYAML {
		e.Notes = append(e.Notes, e.call.Text("edit.untyped"))
	}
	e.As = as
	e.begin(e.mine)
	return e.show(http.StatusOK)
}

// legible reports whether the typed text is a document. If not, its problem is already shown.
func (e *editing) legible() bool { return e.As == asForm || e.Text.parsed }

// send patches the job if it has not changed since it was opened.
func (e *editing) send(ctx context.Context, patch document.Value, dry bool) (*v1.Job, error) {
	if e.ETag == "" {
		return nil, frame.Problem{Status: http.StatusBadRequest, Text: e.call.Text("frame.form")}
	}
	when, err := scheduler.ReadCondition([]string{e.ETag}, nil)
	if err != nil {
		return nil, err
	}
	return e.section.service.If(when).Patch(ctx, control.Edit{Key: e.Key, Body: patch.JSON(), DryRun: dry, KeepInLists: e.inLists()})
}

// save saves the change if it is the reviewed one.
func (e *editing) save() error {
	patch, changed := e.patch()
	if !e.valid {
		return e.failed(nil)
	}
	if e.Reviewed != e.reviewHash(patch) && (changed || e.Reviewed != "") {
		e.Notes = append(e.Notes, e.call.Text("edit.reviewed.other"))
		return e.review()
	}
	if !changed {
		return e.leave(e.call.Text("common.unchanged"))
	}
	if _, err := e.send(e.call.Lasting(), patch, false); err != nil {
		return e.failed(err)
	}
	return e.leave(e.call.Text("edit.saved", e.Key))
}

// leave leads to the job with a note.
func (e *editing) leave(note string) error {
	e.call.Note(note)
	return e.call.Lead(e.Path)
}

// failed shows the typed document with an error.
func (e *editing) failed(err error) error {
	e.Review = nil
	switch {
	case err == nil:
	case errors.Is(err, scheduler.ErrPrecondition):
		return e.showConflict()
	case errors.Is(err, scheduler.ErrInvalid):
		e.place(scheduler.ProblemsIn(err))
		if len(scheduler.ProblemsIn(err)) == 0 {
			p := e.call.Describe(err)
			e.Problem = &p
		}
	default:
		p := e.call.Describe(err)
		if p.Status == http.StatusInternalServerError {
			return err // logged by the caller
		}
		if errors.Is(err, scheduler.ErrNotFound) {
			p.Hint = e.call.Text("edit.gone")
		}
		e.Problem = &p
		return e.show(p.Status)
	}
	return e.show(http.StatusBadRequest)
}

// place assigns problems to their fields.
func (e *editing) place(problems document.Problems) {
	problems = slices.Clone(problems.Short())
	for i := range problems {
		problems[i].Path = strings.TrimPrefix(problems[i].Path, "properties.")
	}
	if e.As == asForm {
		e.fields.place(problems)
		return
	}
	for _, p := range problems {
		e.Text.add(p)
	}
}

// wrongs returns the problems with links.
func (e *editing) wrongs() (list []wrong) {
	if e.As != asYAML {
		return e.fields.wrongs()
	}
	for _, l := range e.Text.Wrong {
		list = append(list, wrong{l.Link(), e.call.Text("edit.line", l.Line), l.Message})
	}
	return list
}

// show sends the page, or the part that a script requests.
func (e *editing) show(status int) error {
	if e.As == asForm {
		s := e.Schedule.Form.Read()
		// an error recurs at the next change of the schedule
		e.Outlook, _ = s.Look(e.call.Context(), e.section.service.Previewer, e.Key.Job, e.call.Zone())
	}
	e.Wrong = e.wrongs()
	return e.call.Show(&frame.Page{
		Status: status, Title: e.call.Text("edit.title", e.Key), Template: changePage, Fragment: "editor", Data: e,
		Scripts: append(slices.Clip(scripts), "edit/complete.js"), Styles: styles,
	})
}
