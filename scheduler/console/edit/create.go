package edit

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/console/builder"
	"github.com/carillon-sched/carillon/scheduler/console/command"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/console/jobform"
	"github.com/carillon-sched/carillon/scheduler/console/words"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/spec"
	"github.com/carillon-sched/carillon/scheduler/variable"
)

// creating is the page of a new job.
type creating struct {
	fields

	Beginnings  []beginning
	From        string // the copied job
	Collections []string
	Again       bool // a typed secret must be typed again
	Pasted      bool // a whole job was pasted

	Problem *frame.Problem // a problem without a field
	Wrong   []wrong        // problems of fields
	Checked *checked
	Trial   *trial // result of a test run
	Text    *exported
}

// Folded reports whether a section is folded by default, until it has a value.
func (s *creating) Folded(id string) bool {
	return slices.Contains([]string{"trigger", "retry", "failure", "more"}, id)
}

// input returns the input of the job's form.
func (r section) input(c *frame.Request, s *creating) (jobform.Input, error) {
	in := jobform.Input{New: true, Tries: true, Except: builder.Members(), Secrets: r.secrets(c)}
	names, err := c.Collections(r.service, auth.Operate)
	in.Collections, s.Collections = names, names
	return in, err
}

// begin shows the form of a template or of a copied job.
func (r section) begin(c *frame.Request) error {
	s := &creating{}
	in, err := r.input(c, s)
	if err != nil {
		return err
	}
	doc, err := r.beginning(c, s)
	if err != nil {
		return err
	}
	schedule := builder.Fields(document.Value{})
	if s.From != "" {
		schedule = builder.Fields(doc)
	}
	in.Document = doc.Without(builder.Members()...)
	s.fill(r, in, schedule.Propose(c.Zone().String()))
	return r.showNew(c, s, http.StatusOK)
}

func (r section) showNew(c *frame.Request, s *creating, status int) error {
	p := &frame.Page{
		Status: status, Title: c.Text("common.new-job"), Template: newPage, Data: s,
		Scripts: scripts, Styles: styles,
	}
	if c.Part() { // a script treats any answer as the form, even if the job has problems
		p.Part, p.Status = "newjob-form", http.StatusOK
	}
	for _, section := range s.Reading.Sections {
		for _, f := range section.Fields {
			if f.Path == "name" {
				f.Required, f.Hint, f.Default = true, c.Text("newjob.name.hint"), ""
			}
			begins(f)
		}
	}
	return c.Show(p)
}

// begins sets the default of a field for a new job, if existing jobs have another one.
func begins(f *jobform.Field) {
	_, rest, _ := strings.Cut(f.Default, "; ")
	fresh, ok := strings.CutSuffix(rest, " for a new job")
	if !ok {
		return
	}
	f.Default = fresh
	if len(f.Choices) > 0 && f.Choices[0].Value == "" {
		f.Choices[0].Text = words.Text("jobform.default", frame.State(fresh))
	}
}

// draft is the submitted job.
type draft struct {
	key scheduler.Key
	doc document.Value // with its secrets; without its name
}

// read parses the submitted form.
func (r section) read(in jobform.Input, values url.Values, s *creating) *draft {
	in.Values, in.Document = values, document.ObjectValue()
	v := s.submitted(r, in, builder.Schedule{})
	name, _ := v.Member("name")
	collection, _ := v.Member("collection")
	s.Again = len(s.Reading.Typed) > 0
	return &draft{scheduler.Key{Collection: collection.Text(), Job: name.Text()}, v.Without("name", "collection")}
}

// beginning is a template of a new job.
type beginning struct {
	Name, Text, Path string
	Current          bool
}

// jobTemplates are the templates, with the action types that they need. The first one is the default.
var jobTemplates = []struct{ name, kind, document string }{
	{"http", "http", `{"action": {"type": "http", "request": {"method": "POST", "headers": {"Content-Type": "application/json"}}}}`},
	{"servicebus", "serviceBusQueue", `{"action": {"type": "serviceBusQueue", "serviceBusQueueMessage": {"message": "",
		"authentication": {"type": "sharedAccessKey", "sasKeyName": "RootManageSharedAccessKey"}}}}`},
	{"storagequeue", "storageQueue", `{"action": {"type": "storageQueue", "queueMessage": {"message": ""}}}`},
	{"nats", "natsMessage", `{"action": {"type": "natsMessage", "natsMessage": {"mode": "publish", "message": ""}}}`},
}

// beginning returns the document of the requested template, and lists the templates.
func (r section) beginning(c *frame.Request, s *creating) (document.Value, error) {
	if from := c.Query("from"); from != "" {
		return r.copyOf(c, s, from)
	}
	var known []string
	for _, b := range jobTemplates {
		if slices.ContainsFunc(r.service.ActionTypes(), func(kind string) bool { return strings.EqualFold(kind, b.kind) }) {
			known = append(known, b.name)
		}
	}
	name, doc := c.Choice("template", known...), document.ObjectValue()
	for _, b := range jobTemplates {
		if !slices.Contains(known, b.name) {
			continue
		}
		name = cmp.Or(name, b.name)
		to := frame.Address(NewPath, nil, "template", b.name, "collection", c.Query("collection"))
		s.Beginnings = append(s.Beginnings, beginning{b.name, words.Text("newjob.from." + b.name), to, b.name == name})
		if b.name == name {
			v, err := document.Parse([]byte(b.document))
			if err != nil {
				return doc, fmt.Errorf("the template %s: %w", name, err)
			}
			doc = v
		}
	}
	collection := c.Query("collection")
	if collection == "" && len(s.Collections) > 0 {
		if collection = s.Collections[0]; slices.Contains(s.Collections, scheduler.DefaultCollection) {
			collection = scheduler.DefaultCollection
		}
	}
	return doc.With(document.StringValue(collection), "collection"), nil
}

// copyOf returns the document of a job as a template. It has no secrets and no name.
func (r section) copyOf(c *frame.Request, s *creating, from string) (document.Value, error) {
	collection, job, _ := strings.Cut(from, "/")
	if err := auth.Check(c.Context(), auth.Read, collection); err != nil {
		return document.Value{}, err
	}
	v, err := r.service.Get(c.Context(), scheduler.Key{Collection: collection, Job: job})
	if err != nil {
		return document.Value{}, err
	}
	if v.Job.State == scheduler.Damaged {
		return document.Value{}, frame.Problem{Status: http.StatusConflict, Text: c.Text("newjob.damaged", from)}
	}
	s.From = from
	doc, err := shareable(v.Job)
	if err == nil && slices.Contains(s.Collections, collection) {
		doc = doc.With(document.StringValue(collection), "collection")
	}
	return doc, err
}

// shareable returns the document of a job without secrets.
func shareable(j *scheduler.Job) (document.Value, error) {
	doc, err := document.Parse(j.Def.Document().JSON()) // which omits them
	if err == nil && j.State == scheduler.Disabled {
		doc = doc.With(document.StringValue(string(scheduler.Disabled)), "state")
	}
	return doc, err
}

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

// exported is the job for use in other programs, without secrets.
type exported struct {
	YAML, Curl string
	Secrets    []string // paths of the omitted secrets
}

// take performs the action of a button.
func (r section) take(c *frame.Request, values url.Values) error {
	s := &creating{From: c.Query("from")}
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
	case s.Reading.Reshaped, do == doPaste:
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
			return r.saved(c, v)
		case do == doShow:
			if s.Text, err = exportOf(c, v); err != nil {
				return err
			}
		default:
			s.Checked = &checked{t.key.String(), v.Warnings}
		}
	}
	return r.answer(c, s, t, status)
}

// answer shows the form with the result of the action.
func (r section) answer(c *frame.Request, s *creating, t *draft, status int) (err error) {
	if s.Outlook, err = s.Schedule.Look(c.Context(), r.service.Previewer, t.key.Job, c.Zone()); err != nil {
		return err
	}
	s.Wrong = s.wrongs()
	return r.showNew(c, s, status)
}

// placeholderName replaces a missing name, so that the rest of the job can be checked.
const placeholderName = "job-without-a-name"

// named returns the name of the job, or another one if it is incomplete.
func (t *draft) named() scheduler.Key {
	if missing(t.key) == nil {
		return t.key
	}
	return scheduler.Key{Collection: cmp.Or(t.key.Collection, scheduler.DefaultCollection), Job: placeholderName}
}

// put creates the job, or checks it in a dry run. It returns no job and no error if the form has problems.
func (r section) put(c *frame.Request, t *draft, s *creating, dry bool) (*v1.Job, error) {
	k := t.named()
	if k != t.key {
		s.place(missing(t.key))
	}
	if err := auth.Check(c.Context(), auth.Operate, k.Collection); err != nil {
		return nil, err
	}
	wrong := !s.usable()
	none, err := scheduler.ReadCondition(nil, []string{"*"}) // an existing job is never replaced
	if err != nil {
		return nil, err
	}
	ctx := c.Context()
	if dry = dry || wrong; !dry {
		ctx = c.Lasting()
	}
	v, _, err := r.service.If(none).Put(ctx, control.Edit{Key: k, Body: t.doc.JSON(), DryRun: dry})
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
func (r section) refused(c *frame.Request, err error, t *draft, s *creating) int {
	p := c.Describe(err)
	switch {
	case errors.Is(err, scheduler.ErrInvalid):
		s.place(scheduler.ProblemsIn(err))
		return http.StatusUnprocessableEntity
	case errors.Is(err, scheduler.ErrPrecondition):
		s.place(document.Problems{{Path: "name", Message: c.Text("newjob.exists", t.key.Job, t.key.Collection)}})
	case errors.Is(err, scheduler.ErrNotFound):
		s.place(document.Problems{{Path: "collection", Message: c.Text("newjob.collection", t.key.Collection)}})
	default:
		s.Problem = &p
	}
	return p.Status
}

// saved redirects to the created job.
func (r section) saved(c *frame.Request, v *v1.Job) error {
	k := v.Job.Key
	notes := []string{c.Text("newjob.saved", k)}
	for _, w := range v.Warnings {
		notes = append(notes, c.Text("newjob.warning", w.Path, w.Message))
	}
	c.Note(strings.Join(notes, " "))
	return c.Lead(frame.JobPath(k))
}

// exportOf returns a job as a file and as a request. The scheduler has parsed it and omits its secrets.
func exportOf(c *frame.Request, v *v1.Job) (*exported, error) {
	doc, err := shareable(v.Job)
	if err != nil {
		return nil, err
	}
	k := v.Job.Key
	name := document.Member{Name: "name", Value: document.StringValue(k.String())}
	file := document.ObjectValue(append([]document.Member{name}, variable.Escape(doc).Members()...)...)
	t := &exported{YAML: string(file.YAML())}
	t.Secrets, _ = v.Job.Def.Document().SecretPaths()
	t.Curl = command.Put(c.Server(), k, !c.Open(), "If-None-Match: *", string(doc.JSON()))
	return t, nil
}
