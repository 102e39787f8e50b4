package newjob

import (
	"embed"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/access"
	"github.com/carillon-sched/carillon/scheduler/console/builder"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/console/jobform"
	"github.com/carillon-sched/carillon/scheduler/console/words"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/service"
)

// Path is the path of the page. Its parameters are template (one of [beginnings]), from (the job to copy, as
// collection/job) and collection.
const Path = frame.Root + "/jobs/new"

//go:embed newjob.html
var files embed.FS

//go:embed assets
var assets embed.FS

var page = frame.Templates(files, "newjob.html").With(builder.Files, "*.html").With(jobform.Files, "*.html")

type room struct {
	service *service.Service
	form    func() *jobform.Form
}

// Room returns the page. It has no menu entry; the list of jobs links to it.
func Room(s *service.Service) frame.Room {
	r := room{s, sync.OnceValue(func() *jobform.Form { return jobform.New(s.JobShape()) })}
	return frame.Room{Name: "newjob", Right: access.OperateAny, Assets: assets, Routes: []frame.Route{
		{Method: http.MethodGet, Path: Path, Right: access.OperateAny, Do: r.begin},
		{Method: http.MethodPost, Path: Path, Right: access.OperateAny, Do: r.take},
	}}
}

// scheduled are the job fields of the builder.
var scheduled = []string{"recurrence", "startTime", "timeZone", "dst", "jitter", "catchUp", "overlap"}

// shown is the content of the page.
type shown struct {
	Beginnings  []beginning
	From        string // the copied job
	Collections []string

	Schedule builder.Form
	Outlook  *builder.Outlook
	Job      *jobform.Reading
	Again    bool // a typed secret must be typed again
	Pasted   bool // a whole job was pasted

	Wrong   *frame.Problem // a problem without a field
	Places  []place        // problems of fields
	Checked *checked
	Trial   *trial // result of a test run
	Text    *text

	Go string // target of the script's navigation
}

// place is a problem with the id of its field.
type place struct{ ID, Label, Message string }

// Folded reports whether a section is folded by default, until it has a value.
func (s *shown) Folded(id string) bool {
	return slices.Contains([]string{"retry", "failure", "more"}, id)
}

// input returns the input of the job's form.
func (r room) input(c *frame.Call, s *shown) (jobform.Input, error) {
	in := jobform.Input{New: true, Tries: true, Except: scheduled}
	all, err := r.service.Collections(c.Context())
	if err != nil {
		return in, err
	}
	for _, one := range all {
		if c.May(access.Operate, one.Name) {
			in.Collections = append(in.Collections, one.Name)
		}
	}
	s.Collections = in.Collections
	if c.May(access.Administer, "") {
		shared, err := r.service.Secrets(c.Context())
		if err != nil {
			return in, err
		}
		for _, one := range shared {
			in.Secrets = append(in.Secrets, one.Name)
		}
	}
	return in, nil
}

// begin shows the form of a template or of a copied job.
func (r room) begin(c *frame.Call) error {
	s := &shown{}
	in, err := r.input(c, s)
	if err != nil {
		return err
	}
	doc, err := r.beginning(c, s)
	if err != nil {
		return err
	}
	s.Schedule = builder.Fields(nil)
	if s.From != "" {
		s.Schedule = builder.Fields(doc.JSON())
	}
	s.Schedule = s.Schedule.Propose(c.Zone().String())
	in.Document = doc.Without(scheduled...)
	s.Job = r.form().Read(in)
	return r.show(c, s, http.StatusOK)
}

func (r room) show(c *frame.Call, s *shown, status int) error {
	p := &frame.Page{
		Status: status, Title: c.Say("newjob.title"), Template: page, Data: s,
		Scripts: []string{builder.Script, "jobform/jobform.js", "newjob/newjob.js"},
		Styles:  []string{builder.Style, "jobform/jobform.css", "newjob/newjob.css"},
	}
	if c.Part() { // a script treats any answer as the form, even if the job has problems
		p.Part, p.Status = "newjob-form", http.StatusOK
	}
	for _, section := range s.Job.Sections {
		for _, f := range slices.Concat(section.Fields, section.More) {
			if f.Path == "name" {
				f.Required, f.Hint, f.Default = true, c.Say("newjob.name.hint"), ""
			}
			begins(f)
		}
	}
	return c.Show(p)
}

// begins sets the default of a field for a new job, if it differs from that of an existing job.
func begins(f *jobform.Field) {
	_, rest, _ := strings.Cut(f.Default, "; ")
	fresh, ok := strings.CutSuffix(rest, " for a new job")
	if !ok {
		return
	}
	f.Default = fresh
	if len(f.Choices) > 0 && f.Choices[0].Value == "" {
		f.Choices[0].Text = words.Say("jobform.default", fresh)
	}
}

// typed is the submitted job.
type typed struct {
	schedule builder.Schedule
	key      scheduler.Key
	doc      document.Value // with its secrets; without its name
}

// read parses the submitted form.
func (r room) read(in jobform.Input, values url.Values, s *shown) *typed {
	in.Values = values
	in.Document = document.ObjectValue()
	s.Job = r.form().Read(in)
	t := &typed{schedule: builder.Read(values), doc: s.Job.Document.Without("name", "collection")}
	name, _ := s.Job.Document.Member("name")
	collection, _ := s.Job.Document.Member("collection")
	t.key = scheduler.Key{Collection: collection.Text(), Job: name.Text()}
	for _, member := range scheduled {
		data, ok := t.schedule.Members[member]
		if !ok {
			continue
		}
		if v, err := document.Parse(data); err == nil { // JSON of the builder
			t.doc = t.doc.With(v, member)
		}
	}
	if t.schedule.OnRequest {
		t.doc = t.doc.With(document.StringValue(string(scheduler.Disabled)), "state")
	}
	s.Again = len(s.Job.Typed) > 0
	return t
}
