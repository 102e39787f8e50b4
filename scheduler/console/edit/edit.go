package edit

import (
	"cmp"
	"embed"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/console/builder"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/console/jobform"
	"github.com/carillon-sched/carillon/scheduler/console/words"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/schema"
)

//go:embed *.html
var files embed.FS

//go:embed assets
var assets embed.FS

var (
	changePage = templates("edit.html")
	newPage    = templates("newjob.html")
)

// The assets of both pages.
var (
	scripts = []string{builder.Script, "jobform/jobform.js", "edit/edit.js"}
	styles  = []string{builder.Style, "jobform/jobform.css", "edit/edit.css"}
)

func templates(name string) frame.Set {
	return frame.Templates(files, name, "wrong.html").With(jobform.Files, "*.html").With(builder.Files, "*.html")
}

// The paths of the section. [NewPath] has the parameters template (one of [jobTemplates]), from (the job to copy, as
// collection/job) and collection.
const (
	NewPath     = root + "/new"
	root        = frame.Root + "/jobs"
	changePath  = root + "/{c}/{j}/edit"
	membersPath = frame.Root + "/job-fields"
)

type section struct {
	service *control.Service
	form    func() *jobform.Form
	members func() ([]byte, error)
}

// Section returns the pages. They have no menu entry; the list of jobs and the page of a job link to them.
func Section(s *control.Service) frame.Section {
	r := section{service: s}
	r.form = sync.OnceValue(func() *jobform.Form { return jobform.New(s.JobShape()) })
	r.members = sync.OnceValues(func() ([]byte, error) { return json.Marshal(schema.Tree("job", s.JobShape())) })
	return frame.Section{Name: "edit", Right: auth.Known, Assets: assets, Routes: []frame.Route{
		frame.Get(NewPath, auth.OperateAny, r.begin),
		frame.Post(NewPath, auth.OperateAny, frame.WithShortForm(r.take)),
		frame.Get(changePath, auth.Operate, r.open),
		frame.Post(changePath, auth.Operate, frame.WithShortForm(r.change)),
		frame.Get(membersPath, auth.Known, r.showMembers),
	}}
}

// showMembers answers with the fields of a job, for completion.
func (r section) showMembers(c *frame.Request) error {
	data, err := r.members()
	if err != nil {
		return err
	}
	h := c.Writer.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "private, max-age=300")
	c.Writer.WriteHeader(http.StatusOK)
	_, _ = c.Writer.Write(data)
	return nil
}

// secrets returns the names of shared secrets if the caller may see them. Others type the names.
func (r section) secrets(c *frame.Request) (names []string) {
	if !c.May(auth.Administer, "") {
		return nil
	}
	all, err := r.service.Secrets(c.Context())
	if err != nil {
		return nil
	}
	for _, s := range all {
		names = append(names, s.Name)
	}
	return names
}

// fields are the fields of a job on a page.
type fields struct {
	Reading  *jobform.Reading
	Schedule builder.Schedule
	Outlook  *builder.Outlook // preview; nil: unknown
}

// fill shows a document: Document of the input, and its schedule.
func (f *fields) fill(r section, in jobform.Input, schedule builder.Form) {
	f.Reading, f.Schedule = r.form().Read(in), builder.Schedule{Form: schedule}
}

// submitted reads the submitted values of the input. It returns the document with the fields of the schedule that differ
// from before.
func (f *fields) submitted(r section, in jobform.Input, before builder.Schedule) document.Value {
	f.Reading, f.Schedule = r.form().Read(in), builder.Read(in.Values)
	v := f.Reading.Document
	for _, name := range builder.Members() {
		was, is := before.Members[name], f.Schedule.Members[name]
		if string(was) == string(is) {
			continue
		}
		v = v.Without(name)
		if now, err := document.Parse(is); is != nil && err == nil {
			v = v.With(now, name)
		}
	}
	if trigger, _ := v.Member("trigger"); f.Schedule.OnEvents && trigger.Kind() == document.KindNull { // it would run immediately
		f.Reading.Place(document.Problems{{Path: "trigger", Message: words.Text("builder.events.missing")}})
	}
	if f.Schedule.OnRequest && !before.OnRequest { // a job without a schedule has manual runs only
		v = v.With(document.StringValue(string(scheduler.Disabled)), "state")
	}
	return v
}

// usable reports whether the fields have no problems.
func (f *fields) usable() bool { return len(f.Reading.Problems)+len(f.Schedule.Problems) == 0 }

// place assigns problems to their fields. A field of the schedule with an earlier problem gets no other, which may be its
// consequence.
func (f *fields) place(problems document.Problems) {
	had := f.Schedule.Form
	problems = slices.DeleteFunc(slices.Clone(problems), func(p document.Problem) bool {
		path := strings.TrimPrefix(p.Path, "properties.")
		return builder.Owns(path) && len(had.Wrong(had.Place(path))) > 0
	})
	f.Reading.Place(f.Schedule.Invalid(problems))
}

// wrong is a problem with a link to its field.
type wrong struct{ Link, Label, Message string }

// wrongs returns the problems in the order of the page.
func (f *fields) wrongs() (list []wrong) {
	var action []wrong
	for _, p := range f.Reading.Problems {
		one := wrong{"", cmp.Or(p.Label, p.Path), p.Message}
		if p.Field != "" {
			one.Link = "#" + p.Field
		}
		if strings.HasPrefix(p.Path, "action") {
			action = append(action, one)
		} else {
			list = append(list, one)
		}
	}
	for _, p := range f.Schedule.Problems {
		form := f.Schedule.Form
		list = append(list, wrong{"#wrong-" + builder.Prefix + form.Place(p.Path), form.Label(p.Path), p.Message})
	}
	return append(list, action...)
}
