package edit

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/access"
	"github.com/carillon-sched/carillon/scheduler/console/builder"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/console/jobform"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/service"
)

// The ways in which a job is shown.
const (
	asForm = "form"
	asYAML = "yaml"
)

// editing is a job that is being changed: what the page has.
type editing struct {
	room room
	call *frame.Call

	Key  scheduler.Key
	Path string // of the job's page
	As   string

	ETag     string   // of the job that was opened
	Stored   []string // where its secrets are
	Reviewed string   // what the last review was of

	Reading  *jobform.Reading // the fields
	Schedule builder.Form
	Outlook  *builder.Outlook // what it means; nil: it is not known
	Text     text             // YAML

	Problem  *frame.Problem // of the whole
	Wrong    []wrong        // what is wrong with single places
	Review   *review
	Conflict *conflict
	Notes    []string

	base   document.Value // the job as it was opened: its properties, without secrets
	from   document.Value // what the fields were made of
	mine   document.Value // what was typed: it may have secrets
	typed  []string       // where these are
	usable bool           // mine is a document
	others builder.Schedule
}

func (r room) editing(c *frame.Call) *editing {
	k := key(c)
	return &editing{room: r, call: c, Key: k, Path: frame.JobPath(k)}
}

// BaseJSON, FromJSON and StoredJSON are what the form carries.
func (e *editing) BaseJSON() string { return e.base.String() }

// FromJSON is what the fields were made of, without secrets; "" when it is the base.
func (e *editing) FromJSON() string {
	from := jobform.Without(e.from, e.room.form().SecretsIn(e.from))
	if from.Equal(e.base) {
		return ""
	}
	return from.String()
}

// StoredJSON are the paths of secrets.
func (e *editing) StoredJSON() string {
	data, err := json.Marshal(e.Stored)
	if err != nil {
		return "[]"
	}
	return string(data)
}

// load reads the job as it is.
func (e *editing) load() error {
	v, err := e.room.service.Get(e.call.Context(), e.Key)
	if err != nil {
		return err
	}
	if v.Job.State == scheduler.Damaged {
		return frame.Problem{Status: http.StatusConflict, Text: v.Status.Over, Hint: e.call.Say("edit.damaged")}
	}
	e.base, e.Stored = opened(v)
	e.ETag = v.ETag()
	return nil
}

// reopen takes what the form carries.
func (e *editing) reopen(values url.Values) error {
	broken := frame.Problem{Status: http.StatusBadRequest, Text: e.call.Say("frame.form")}
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

// maxCarried is how many bytes the form may carry of a job: more than a job has.
const maxCarried = 4 * scheduler.MaxJobSize

// begin makes the fields, or the text, of a document.
func (e *editing) begin(from document.Value) {
	e.from, e.mine, e.usable = from, from, true
	if e.As == asYAML {
		e.typed = nil
		e.writeYAML(from)
		return
	}
	e.As = asForm
	e.Reading = e.room.form().Read(e.input(nil))
	e.typed = e.Reading.Typed
	e.Schedule = builder.Fields(from.JSON())
}

// input is what the fields are made of.
func (e *editing) input(values url.Values) jobform.Input {
	return jobform.Input{
		Document: e.from, Stored: e.Stored, Values: values, Except: builder.Members(), Secrets: e.shared(),
	}
}

// shared are the names of shared secrets, for who may see them.
func (e *editing) shared() []string {
	if !e.call.May(access.Administer, "") {
		return nil
	}
	all, err := e.room.service.Secrets(e.call.Context())
	if err != nil {
		return nil // the name can be typed
	}
	var names []string
	for _, s := range all {
		names = append(names, s.Name)
	}
	return names
}

// readForm reads what was typed into the fields.
func (e *editing) readForm(values url.Values) {
	e.Reading = e.room.form().Read(e.input(values))
	e.typed = e.Reading.Typed
	e.others = builder.Read(values)
	e.Schedule = e.others.Form
	e.mine = e.scheduled(e.Reading.Document, builder.Fields(e.from.JSON()).Sent())
	e.usable = len(e.Reading.Problems) == 0 && len(e.others.Problems) == 0
	e.checkLists()
}

// scheduled returns a document with the members that the schedule's fields make, where they were changed.
func (e *editing) scheduled(v document.Value, sent url.Values) document.Value {
	before := builder.Read(sent)
	for _, name := range builder.Members() {
		was, is := before.Members[name], e.others.Members[name]
		if string(was) == string(is) {
			continue
		}
		v = v.Without(name)
		if is == nil {
			continue
		}
		if now, err := document.Parse(append(append([]byte(`{"v":`), is...), '}')); err == nil {
			inner, _ := now.Member("v")
			v = v.With(inner, name)
		}
	}
	if e.others.OnRequest && !before.OnRequest { // without a time of its own it runs by hand alone
		v = v.With(document.StringValue(string(scheduler.Disabled)), "state")
	}
	return v
}

// patch is what turns the job that was opened into what was typed.
func (e *editing) patch() (document.Value, bool) {
	mine := e.mine
	for _, path := range e.Stored { // what another type has no use for goes
		around := outer(path)
		was, had := jobform.At(e.base, around).Member("type")
		is, has := jobform.At(mine, around).Member("type")
		if had && has && !strings.EqualFold(was.Text(), is.Text()) && jobform.At(mine, path).Kind() == document.KindNull {
			mine = mine.With(document.Value{}, path)
		}
	}
	return document.Patch(e.base, mine)
}

// outer is the path of the object that has the member at the end of a path.
func outer(path string) string {
	if strings.HasSuffix(path, `"]`) {
		return path[:max(strings.LastIndex(path, `["`), 0)]
	}
	return path[:max(strings.LastIndexByte(path, '.'), 0)]
}

// seal tells what a review was of: a change that is another one has another seal. It tells nothing of secrets.
func (e *editing) seal(patch document.Value) string {
	sum := sha256.Sum256([]byte(e.ETag + "\n" + jobform.Masked(patch, e.typed, "***").String()))
	return hex.EncodeToString(sum[:])
}

// do does what a button asks for.
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

// turn shows what was typed in the other way.
func (e *editing) turn(as string) error {
	if e.As == as || !e.legible() {
		return e.show(http.StatusOK)
	}
	if len(e.typed) > 0 && as == asYAML {
		e.Notes = append(e.Notes, e.call.Say("edit.untyped"))
	}
	e.As = as
	e.begin(e.mine)
	return e.show(http.StatusOK)
}

// legible reports whether what was typed is a document at all; what is not was told.
func (e *editing) legible() bool { return e.As == asForm || e.Text.parsed }

// call's service asks for the job as it was opened.
func (e *editing) patcher() (*service.Service, error) {
	if e.ETag == "" {
		return nil, frame.Problem{Status: http.StatusBadRequest, Text: e.call.Say("frame.form")}
	}
	when, err := scheduler.ReadCondition([]string{e.ETag}, nil)
	if err != nil {
		return nil, err
	}
	return e.room.service.If(when), nil
}

// save makes the change, if it is the one that was shown.
func (e *editing) save() error {
	patch, changed := e.patch()
	if !e.usable {
		return e.failed(nil)
	}
	if e.Reviewed != e.seal(patch) && (changed || e.Reviewed != "") {
		e.Notes = append(e.Notes, e.call.Say("edit.reviewed.other"))
		return e.review()
	}
	if !changed {
		return e.leave(e.call.Say("edit.unchanged"))
	}
	s, err := e.patcher()
	if err != nil {
		return e.failed(err)
	}
	if _, err := s.Patch(e.call.Lasting(), service.Edit{Key: e.Key, Body: patch.JSON(), KeepInLists: e.inLists()}); err != nil {
		return e.failed(err)
	}
	return e.leave(e.call.Say("edit.saved", e.Key))
}

// leave leads back to the job, and says something there. A script goes there itself, for it to be said once.
func (e *editing) leave(note string) error {
	e.call.Note(note)
	if !e.call.Part() {
		return e.call.Redirect(e.Path)
	}
	e.call.Writer.Header().Set("X-Carillon-Go", e.Path)
	e.call.Writer.WriteHeader(http.StatusNoContent)
	return nil
}

// failed shows what was typed with what is wrong.
func (e *editing) failed(err error) error {
	e.Review = nil
	switch {
	case err == nil:
	case errors.Is(err, scheduler.ErrPrecondition):
		return e.clash()
	case errors.Is(err, scheduler.ErrInvalid):
		e.place(scheduler.ProblemsIn(err))
		if len(scheduler.ProblemsIn(err)) == 0 {
			p := e.call.Describe(err)
			e.Problem = &p
		}
	default:
		p := e.call.Describe(err)
		if p.Status == http.StatusInternalServerError {
			return err // with its line in the log
		}
		if errors.Is(err, scheduler.ErrNotFound) {
			p.Hint = e.call.Say("edit.gone")
		}
		e.Problem = &p
		return e.show(p.Status)
	}
	return e.show(http.StatusBadRequest)
}

// place puts problems beside what they are about.
func (e *editing) place(problems document.Problems) {
	problems = slices.Clone(problems.Short())
	for i := range problems {
		problems[i].Path = strings.TrimPrefix(problems[i].Path, "properties.")
	}
	if e.As == asYAML {
		e.Text.place(problems)
		return
	}
	var here document.Problems
	for _, p := range problems {
		if builder.Owns(p.Path) {
			e.others.Problems = append(e.others.Problems, p)
			e.Schedule.Problems = append(e.Schedule.Problems, p)
			continue
		}
		here = append(here, p)
	}
	e.Reading.Place(here)
}

// wrong is a problem with a link to where it is.
type wrong struct {
	Link, Label, Message string
}

// all are the problems with links.
func (e *editing) wrongs() []wrong {
	var list []wrong
	if e.As == asYAML {
		for _, l := range e.Text.Wrong {
			list = append(list, wrong{l.Link(), e.call.Say("edit.line", l.Line), l.Message})
		}
		return list
	}
	for _, p := range e.Schedule.Problems {
		list = append(list, wrong{"#wrong-" + builder.Prefix + e.Schedule.Place(p.Path), e.Schedule.Label(p.Path), p.Message})
	}
	for _, p := range e.Reading.Problems {
		w := wrong{"", p.Path, p.Message}
		if p.Field != "" {
			w.Link, w.Label = "#"+p.Field, p.Label
		}
		list = append(list, w)
	}
	return list
}

// show sends the page, or the part of it that a script asks for.
func (e *editing) show(status int) error {
	if e.As == asForm {
		s := builder.Read(e.Schedule.Sent())
		e.Outlook, _ = s.Look(e.call.Context(), e.room.service.Previewer, e.Key.Job, e.call.Zone()) // who changes the schedule asks again
	}
	e.Wrong = e.wrongs()
	p := &frame.Page{
		Status: status, Title: e.call.Say("edit.title", e.Key), Template: page, Data: e,
		Scripts: []string{builder.Script, "jobform/jobform.js", "edit/edit.js", "edit/complete.js"},
		Styles:  []string{builder.Style, "jobform/jobform.css", "edit/edit.css"},
	}
	if e.call.Part() {
		p.Part = "editor"
	}
	return e.call.Show(p)
}
