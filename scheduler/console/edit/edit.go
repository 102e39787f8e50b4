// Package edit is the console's page on which a job is changed: as a form or as YAML.
//
// # Guarantees
//
//  1. What was typed is never lost: when it is wrong, when the scheduler cannot be reached, and when somebody else changed the
//     job meanwhile, the page comes back with it. Secrets alone do not come back, as no page has one; the script keeps them in
//     their fields.
//  2. A change is shown before it is made, by a dry run: what will be different, when the job runs then, and what may not be
//     meant so. What is saved is what was shown.
//  3. A change is of the job that was opened (If-Match). When it was changed meanwhile, each member that differs is a choice
//     between theirs and yours, and what comes of it is shown again before it is saved.
//  4. A change is a merge patch: members that nobody touched, and secrets that are stored, stay as they are.
//
// The page keeps no state on the server: its form carries the job as it was opened.
package edit

import (
	"embed"
	"io/fs"
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

// root is where jobs are.
const root = frame.Root + "/jobs"

// Room returns the page.
func Room(s *service.Service) frame.Room {
	r := room{service: s}
	r.form = sync.OnceValue(func() *jobform.Form { return jobform.New(s.JobShape()) })
	r.members = sync.OnceValue(func() []byte { return r.form().Members() })
	own, err := fs.Sub(assets, "assets")
	if err != nil {
		panic(err) // it is part of the program
	}
	const path = root + "/{c}/{j}/edit"
	return frame.Room{Name: "edit", Right: access.Known, Assets: own, Routes: []frame.Route{
		{Method: http.MethodGet, Path: path, Right: access.Operate, Do: r.open},
		{Method: http.MethodPost, Path: path, Right: access.Operate, Do: r.change},
		{Method: http.MethodGet, Path: membersPath, Right: access.Known, Do: r.showMembers},
	}}
}

// membersPath is where the script finds what a job may have.
const membersPath = frame.Root + "/members"

// showMembers answers with what a job may have, for completion.
func (r room) showMembers(c *frame.Call) error {
	data := r.members()
	h := c.Writer.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "private, max-age=300")
	c.Writer.WriteHeader(http.StatusOK)
	_, _ = c.Writer.Write(data)
	return nil
}

// key is the job that the path of a request names.
func key(c *frame.Call) scheduler.Key {
	return scheduler.Key{Collection: c.Request.PathValue("c"), Job: c.Request.PathValue("j")}
}

// open shows a job as it is, to be changed.
func (r room) open(c *frame.Call) error {
	e := r.editing(c)
	if err := e.load(); err != nil {
		return err
	}
	e.As = c.Query("as")
	e.begin(e.base)
	return e.show(http.StatusOK)
}

// change does what a button of the page asks for.
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
