// Package job is the console's page of one job: what it is, what it did and will do, why, and what can be done with it.
//
// What is told of runs is told by occurrence: package scheduler's records of one, its attempts, retries and errorActions, are
// one line. The page is brought up to date by its events, which send what is small, and have the script fetch the rest; so
// nothing is lost with a connection, as whatever is fetched comes from the store.
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

// Config says what the page is of. Service is required.
type Config struct {
	Service *service.Service

	// Prefix begins the NATS subjects of published specs. Default carillon.
	Prefix string
}

type room struct {
	service *service.Service
	prefix  string
}

// root is where jobs are.
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

// key is the job that the path of a request names.
func key(c *frame.Call) scheduler.Key {
	return scheduler.Key{Collection: c.Request.PathValue("c"), Job: c.Request.PathValue("j")}
}

// shown is a page of the room.
func shown(title, main string, data any) *frame.Page {
	return &frame.Page{
		Title: title, Template: page, NoHeading: true, Data: within{main, data},
		Scripts: []string{"job/job.js"}, Styles: []string{"job/job.css"},
	}
}

// within is what the template "main" gets: which one it is to show, and what of.
type within struct {
	Main string
	Data any
}
