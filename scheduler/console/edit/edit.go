// Package edit is the console's page that changes a job, as a form or as YAML.
//
//	open ──► type ──► review (dry run) ──► save (If-Match) ──► page of the job
//	           ▲          │                    │
//	           └─ problem ┘◄──── choices ◄─────┘ conflict
//
// The page has no state on the server: its form contains the job as it was opened.
//
// Guarantees:
//
//  1. Typed text is not lost: after a problem, an unreachable scheduler or a concurrent change, the page shows it again.
//     The exception is secrets, which no page contains; the script keeps them in their fields.
//  2. A dry run shows a change before it is saved: the differences, the next runs, and warnings. The saved change is the
//     shown one.
//  3. A change applies to the opened job (If-Match). After a concurrent change, the user chooses between both values of
//     each differing field and reviews the result before it is saved.
//  4. A change is a merge patch: untouched fields and stored secrets stay unchanged.
package edit

import (
	"embed"
	"net/http"
	"sync"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/access"
	"github.com/carillon-sched/carillon/scheduler/console/builder"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/console/jobform"
	"github.com/carillon-sched/carillon/scheduler/service"
)

//go:embed *.html
var files embed.FS

//go:embed assets
var assets embed.FS

var page = frame.Templates(files, "*.html").With(jobform.Files, "*.html").With(builder.Files, "*.html")

type room struct {
	service *service.Service
	form    func() *jobform.Form
	members func() []byte
}

// root is the path of jobs.
const root = frame.Root + "/jobs"

// Room returns the page.
func Room(s *service.Service) frame.Room {
	r := room{service: s}
	r.form = sync.OnceValue(func() *jobform.Form { return jobform.New(s.JobShape()) })
	r.members = sync.OnceValue(func() []byte { return r.form().Members() })
	const path = root + "/{c}/{j}/edit"
	return frame.Room{Name: "edit", Right: access.Known, Assets: assets, Routes: []frame.Route{
		{Method: http.MethodGet, Path: path, Right: access.Operate, Do: r.open},
		{Method: http.MethodPost, Path: path, Right: access.Operate, Do: r.change},
		{Method: http.MethodGet, Path: membersPath, Right: access.Known, Do: r.showMembers},
	}}
}

// membersPath is the path of the fields of a job, for the script.
const membersPath = frame.Root + "/members"

// showMembers answers with the fields of a job, for completion.
func (r room) showMembers(c *frame.Call) error {
	data := r.members()
	h := c.Writer.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "private, max-age=300")
	c.Writer.WriteHeader(http.StatusOK)
	_, _ = c.Writer.Write(data)
	return nil
}

// key returns the job in the path of a request.
func key(c *frame.Call) scheduler.Key {
	return scheduler.Key{Collection: c.Request.PathValue("c"), Job: c.Request.PathValue("j")}
}

// open shows the editor with the current job.
func (r room) open(c *frame.Call) error {
	e := r.editing(c)
	if err := e.load(); err != nil {
		return err
	}
	e.As = c.Query("as")
	e.begin(e.base)
	return e.show(http.StatusOK)
}

// change performs the action of a button.
func (r room) change(c *frame.Call) error {
	values, err := c.ShortForm()
	if err != nil {
		return err
	}
	e := r.editing(c)
	if err := e.reopen(values); err != nil {
		return err
	}
	return e.do(values.Get(jobform.Do))
}
