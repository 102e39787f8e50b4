// Package job is the console's page of one job: its definition, its past and next runs, explanations, and actions.
//
// A run is shown as one line per occurrence, which summarizes its records: attempts, retries and error actions. The
// page receives small updates as events, and its script fetches the rest. After a lost connection it is complete again,
// because its content comes from the store.
package job

import (
	"embed"
	"io/fs"
	"net/http"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/access"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/service"
)

//go:embed *.html
var files embed.FS

//go:embed assets
var assets embed.FS

var page = frame.Templates(files, "*.html")

// Config configures the page. Service is required.
type Config struct {
	Service *service.Service

	// Prefix is the prefix of the NATS subjects of published specs. Default: carillon.
	Prefix string
}

type room struct {
	service *service.Service
	prefix  string
}

// root is the path of jobs.
const root = frame.Root + "/jobs"

// Room returns the page.
func Room(cfg Config) frame.Room {
	if cfg.Prefix == "" {
		cfg.Prefix = "carillon"
	}
	r := room{cfg.Service, cfg.Prefix}
	own, err := fs.Sub(assets, "assets")
	if err != nil {
		panic(err)
	}
	const of = root + "/{c}/{j}"
	get := func(path string, do func(*frame.Call) error) frame.Route {
		return frame.Route{Method: http.MethodGet, Path: of + path, Right: access.Read, Do: do}
	}
	post := func(path string, do func(*frame.Call) error) frame.Route {
		return frame.Route{Method: http.MethodPost, Path: of + path, Right: access.Operate, Do: do}
	}
	return frame.Room{Name: "job", Right: access.ReadAny, Assets: own, Routes: []frame.Route{
		get("", r.show),
		{Method: http.MethodGet, Path: of + "/events", Right: access.Read, Do: r.events, Live: true},
		get("/next", r.showNext),
		get("/why", r.showWhy),
		get("/copy", r.showCopy),
		get("/runs/{occurrence}", r.showOccurrence),
		{Method: http.MethodGet, Path: of + "/delete", Right: access.Operate, Do: r.confirmDelete},
		{Method: http.MethodGet, Path: of + "/audit", Right: access.Administer, Do: r.showAudit},
		post("/run", r.run),
		post("/enable", r.enable),
		post("/disable", r.disable),
		post("/pause", r.pause),
		post("/resume", r.resume),
		post("/resubmit", r.resubmit),
		post("/cancel", r.cancel),
		post("/delete", r.remove),
	}}
}

// key returns the job in the path of a request.
func key(c *frame.Call) scheduler.Key {
	return scheduler.Key{Collection: c.Request.PathValue("c"), Job: c.Request.PathValue("j")}
}

// shown returns a page of the room.
func shown(title, main string, data any) *frame.Page {
	return &frame.Page{
		Title: title, Template: page, NoHeading: true, Data: within{main, data},
		Scripts: []string{"job/job.js"}, Styles: []string{"job/job.css"},
	}
}

// within is the input of the template "main": the selected page and its content.
type within struct {
	Main string
	Data any
}
